"""The interface between the search and an engine, and what is known of each engine without starting it."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from waybench._package_data import read_toml
from waybench.envs.voxel._blocks import BIOMES, GOALS, fits
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


OWN, LUANTI, MINEDOJO = "own", "luanti", "minedojo"


class Engine(NamedTuple):
    """The properties of an engine, known without starting it.

    Attributes:
        goals: The goals that are drawn.
        biomes: All biomes, and their colours on maps.
        farthest: Columns from the middle of a world in which a search can begin.
        worlds: In how many worlds the searches of a set are; 0: each has its own.
        tries: Places that are tried for a search of one goal.
        charted: Whether its maps are known, so that there are levels, an oracle and drawings.
    """

    goals: tuple[str, ...]
    biomes: Mapping[str, str]
    farthest: int = 1_000_000
    worlds: int = 0
    tries: int = 2000
    charted: bool = True

    def words(self) -> tuple[str, ...]:
        """Return what can be a goal: those that are drawn, and every biome of a map that is known."""
        return (*self.goals, *(name for name in self.biomes if self.charted and name not in self.goals))

    def fitting(self, goal: str) -> tuple[str, ...]:
        """Return the biomes that count as a goal: as published, those whose names contain its word."""
        return tuple(name for name in self.biomes if fits(goal, name))


_BIOMES = read_toml(__file__, "biomes.toml")
# The goals of "luanti" are its counterparts of the eight published ones. A server is one world, and takes a second to
# start; so the searches of a set share some.
_LUANTI = Engine(
    goals=("grassland", "forest", "ocean", "beach", "taiga", "icesheet", "rainforest", "desert"),
    biomes=_BIOMES["luanti"],
    farthest=20_000,
    worlds=8,
    tries=100,
)
ENGINES = {OWN: Engine(GOALS, {name: each.colour for name, each in BIOMES.items()}), LUANTI: _LUANTI}

MINECRAFT_BIOMES: Mapping[int, str] = {int(number): name for number, name in _BIOMES["minecraft"].items()}
"""The names of Minecraft's biomes by the numbers that MineDojo reports."""
# Which of MineDojo's creative tasks has which goal: those that SmartPlay registers (shared/specs/smartplay.md, 2).
CREATIVE: Mapping[str, int] = dict(zip(GOALS, (0, 1, 2, 4, 5, 7, 8, 9), strict=True))
PUBLISHED_GOALS: Mapping[str, str] = {f"MinedojoCreative{number}": goal for goal, number in CREATIVE.items()}
"""The goals of SmartPlay's settings in Minecraft, by the settings' names."""
ENGINES[MINEDOJO] = Engine(GOALS, dict.fromkeys(MINECRAFT_BIOMES.values(), ""), farthest=0, charted=False)
PLAINS = {name: engine.goals[0] for name, engine in ENGINES.items()}
"""The goal of each engine that stands for the one whose setting is recorded."""


def counterpart(goal: str, engine: str) -> str:
    """Return the goal of an engine that stands for a published one; in most engines it is the same."""
    return ENGINES[engine].goals[GOALS.index(goal)]
