"""What a search needs of a world, whatever makes it."""

from functools import lru_cache
from typing import NamedTuple, Protocol

from waybench.core import UsageError
from waybench.envs.voxel._describe import Raw

ENGINES = ("own",)
TICKS = 50  # of one step (shared/specs/smartplay.md, section 8)
EYES = 1.62  # blocks above the feet


class Body(NamedTuple):
    """Where the walker is.

    Attributes:
        x: To the east, in blocks.
        y: Upwards, of the feet.
        z: To the south.
        yaw: Where it looks: 0 is south, 90 west; whole degrees from -180 to 179.
        rise: Its speed upwards, in blocks a tick.
    """

    x: float
    y: float
    z: float
    yaw: int
    rise: float = 0.0


class Walked(NamedTuple):
    """What a walk came to.

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
    """A world, as a pure function of its seed: what it is asked, and how often, changes nothing in it."""

    def block(self, x: int, y: int, z: int) -> str:
        """Return the name of a block."""
        ...

    def biome(self, x: int, z: int) -> str:
        """Return the name of a column's biome."""
        ...

    def ground(self, x: int, z: int) -> int:
        """Return the layer of a column's highest block of the ground; trees and water do not count."""
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

    def nearest(self, x: int, z: int, goals: tuple[str, ...], most: int) -> Near | None:
        """Return the nearest place of some biomes within a distance in blocks; None if there is none."""
        ...


@lru_cache(maxsize=4)  # each holds some ten megabytes of chunks
def terrain(engine: str, seed: int) -> Terrain:
    """Return a world.

    Args:
        engine: One of ENGINES.
        seed: From 0 to 2**62 - 1.

    Raises:
        UsageError: If there is no such engine.
    """
    if engine == "own":
        from waybench.envs.voxel._own import OwnTerrain  # numpy and numba, which nothing else here needs

        return OwnTerrain(seed)
    raise UsageError(f"engine {engine!r}: give one of {', '.join(ENGINES)}")
