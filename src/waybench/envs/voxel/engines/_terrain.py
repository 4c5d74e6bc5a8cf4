"""The interface between the biome search and a voxel engine."""

from typing import Any, NamedTuple, Protocol

from waybench.envs.voxel._wording import Raw

TICKS = 50  # of one step (shared/specs/smartplay.md, section 8)
EYES = 1.62  # blocks above the feet


class Body(NamedTuple):
    """The walker's position.

    Attributes:
        x: To the east, in blocks.
        y: Upwards, of the feet.
        z: To the south.
        yaw: Where it looks: 0 is south, 90 west; degrees, whole ones but in MineDojo, from -180 to 180.
        rise: Its speed upwards, in blocks a tick.
    """

    x: float
    y: float
    z: float
    yaw: float
    rise: float = 0.0


class Walked(NamedTuple):
    """The result of a walk.

    Attributes:
        body: Where it ended.
        arrived: Whether in a biome that was wanted.
        length: The length of the way over the ground, in blocks.
        ticks: How long it took.
    """

    body: Body
    arrived: bool
    length: float
    ticks: int


class Near(NamedTuple):
    """The nearest place of some biomes.

    Attributes:
        x: Its column.
        z: Its row.
        away: Its distance over the ground, in blocks.
    """

    x: int
    z: int
    away: float


class Terrain(Protocol):
    """A world to walk in."""

    def biome(self, x: int, z: int) -> str:
        """Return the name of a column's biome."""
        ...

    def stand(self, x: int, z: int) -> Body:
        """Return a walker that stands in the middle of a column, looking south."""
        ...

    def view(self, body: Body) -> Raw:
        """Return what is seen and felt from a place."""
        ...

    def walk(self, body: Body, ticks: bytes, goals: tuple[str, ...]) -> Walked:
        """Walk where one looks.

        Args:
            body: Who walks.
            ticks: What is done in each tick: 0 or 1 straight ahead, 2 to the left, 3 to the right; plus 4 for
                sprinting in place of jumping.
            goals: Biomes in which the walk ends.
        """
        ...


class Chart(Terrain, Protocol):
    """A world whose map is known. It is a pure function of its seed: queries do not change it.

    Attributes:
        sea: The layer of the water's surface.
        steepest: Blocks from the middle of a cell to that of the next that can mostly be climbed.
        version: What else a seed's world depends on; "" for nothing.
    """

    sea: int
    steepest: int
    version: str

    def clear(self, x: int, z: int) -> bool:
        """Whether one stands on the ground in a column: nothing is in the way, neither water nor a hole."""
        ...

    def nearest(self, x: int, z: int, goals: tuple[str, ...], most: int) -> Near | None:
        """Return the nearest place of some biomes within a distance in blocks; None if there is none."""
        ...

    def chart(self, west: int, north: int, goals: tuple[str, ...], heights: Any, is_goal: Any) -> None:
        """Write down what cells of four by four columns are like, as on a map.

        Args:
            west: The first column of cells.
            north: The first row of cells.
            goals: The biomes that are wanted.
            heights: Receives the layer of the ground in each cell's middle; whole numbers, shape (columns, rows).
            is_goal: Receives 1 for each cell of a biome that is wanted, otherwise 0; bytes of the same shape.
        """
        ...
