"""What a search needs of a world, whatever makes it."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from waybench.core import UsageError
from waybench.envs.voxel._wording import Raw
from waybench.envs.voxel.engines._engines import ENGINES, LUANTI, MINEDOJO

if TYPE_CHECKING:
    from waybench.envs.voxel.engines._luanti import LuantiTerrain

TICKS = 50  # of one step (shared/specs/smartplay.md, section 8)
EYES = 1.62  # blocks above the feet


class Body(NamedTuple):
    """Where the walker is.

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
    """A world whose map is known. It is a pure function of its seed: what it is asked, and how often, changes nothing.

    Attributes:
        sea: The layer of the water's surface.
        steepest: Blocks from the middle of a cell to that of the next that can mostly be climbed.
        version: What a seed's world depends on besides; "" for nothing.
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

    def chart(self, west: int, north: int, goals: tuple[str, ...], heights: Any, found: Any) -> None:
        """Write down what cells of four by four columns are like, as on a map.

        Args:
            west: The first column of cells.
            north: The first row of cells.
            goals: The biomes that are wanted.
            heights: Receives the layer of the ground in each cell's middle; whole numbers, shape (columns, rows).
            found: Receives 1 for each cell of a biome that is wanted, otherwise 0; bytes of the same shape.
        """
        ...


def terrain(engine: str, seed: int, goal: str = "") -> Terrain:
    """Return a world.

    Args:
        engine: One of ENGINES.
        seed: From 0 to 2**62 - 1.
        goal: What is looked for; only MineDojo needs to know.

    Raises:
        UsageError: If there is no such engine, or it is not installed.
    """
    return chart(engine, seed) if engine != MINEDOJO else _minedojo(seed, goal)


def chart(engine: str, seed: int) -> Chart:
    """Return a world whose map is known.

    Args:
        engine: One of ENGINES.
        seed: From 0 to 2**62 - 1.

    Raises:
        UsageError: If there is no such engine, its maps are not known, or it is not installed.
    """
    if engine not in ENGINES:
        raise UsageError(f"engine {engine!r}: give one of {', '.join(ENGINES)}")
    if not ENGINES[engine].charted:
        raise UsageError(f"engine={engine}: its maps are not known; choose a player that needs none")
    return _luanti(seed) if engine == LUANTI else _own(seed)


@lru_cache(maxsize=4)  # each holds some ten megabytes of chunks
def _own(seed: int) -> Chart:
    from waybench.envs.voxel.engines._own import OwnTerrain  # numpy and numba, which nothing else here needs

    return OwnTerrain(seed)


def _luanti(seed: int) -> Chart:
    world = _servers(seed)
    if world.ended:
        _servers.cache_clear()
        world = _servers(seed)
    return world


# Each is a server of its own, of a gigabyte or so; it stops when nobody needs it any more. A set's are all kept, for to
# come back to one that has stopped takes seconds.
@lru_cache(maxsize=8)
def _servers(seed: int) -> "LuantiTerrain":
    from waybench.envs.voxel.engines._luanti import LuantiTerrain

    return LuantiTerrain(seed)


@lru_cache(maxsize=1)  # each is a Minecraft
def _minedojo(seed: int, goal: str) -> Terrain:
    from waybench.envs.voxel.engines._minedojo import MinedojoTerrain

    return MinedojoTerrain(seed, goal)


def drawable(engine: str) -> bool:
    """Whether an engine's maps are known, and it can be used here."""
    if engine == LUANTI:
        from waybench.envs.voxel.engines._server import program

        return program() is not None
    return ENGINES[engine].charted
