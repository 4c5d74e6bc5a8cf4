"""Engines as the search knows them without starting one: their interface and properties, our blocks and biomes.

Blocks are called as MineDojo's descriptions call them ("grass block" is the ground and "grass" the plant on it), but
for wood and leaves, which say of which tree they are.
"""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from waybench._package_data import read_toml
from waybench.envs.voxel._wording import Raw

_DATA = read_toml(__file__, "blocks.toml")
BLOCKS: tuple[str, ...] = _DATA["blocks"]
NUMBER = {name: number for number, name in enumerate(BLOCKS)}
AIR, BEDROCK, WATER = NUMBER["air"], NUMBER["bedrock"], NUMBER["water"]

# The blocks that the terrain is made of whatever the biome, in the order in which the kernel takes them.
GROUND: tuple[str, ...] = _DATA["ground"]
SOLID = tuple(name not in _DATA["thin"] for name in BLOCKS)


class Tree(NamedTuple):
    """The shape of a kind of tree.

    Attributes:
        low: Least height of the trunk, in blocks.
        high: Greatest height of the trunk.
        shape: 0 round, 1 conical, 2 flat, 3 a column without a crown, 4 a spike that is thicker below.
        radius: How far the crown reaches from the trunk, in blocks; at most 3.
    """

    trunk: str
    crown: str
    low: int
    high: int
    shape: int
    radius: int


_SHAPES = {"round": 0, "cone": 1, "flat": 2, "column": 3, "spike": 4}
TREES = {name: Tree(**tree)._replace(shape=_SHAPES[tree["shape"]]) for name, tree in _DATA["trees"].items()}
_TREE_NUMBER = {name: number for number, name in enumerate(TREES)}


class BiomeLook(NamedTuple):
    """The appearance of a biome.

    Attributes:
        top: Block of the surface.
        filler: Block of the three layers below.
        trees: Two kinds of trees; every fourth tree is of the second kind.
        wood: Number of trees in 256 patches of six by six columns.
        plants: Two kinds of plants on the surface.
        sown: How many of 256 columns have each of the two.
        cold: Whether there is snow on the ground, and ice on the water.
    """

    top: str
    filler: str
    trees: tuple[str, str]
    wood: int
    plants: tuple[str, str]
    sown: tuple[int, int]
    cold: bool
    colour: str


BIOMES = {name: BiomeLook(**biome) for name, biome in _DATA["biomes"].items()}
BIOME_NUMBER = {name: number for number, name in enumerate(BIOMES)}

# The goals whose tasks are published (shared/specs/smartplay.md, section 2), in their order.
GOALS = ("plains", "forest", "ocean", "beach", "taiga", "ice spikes", "jungle", "desert")


def counts_as_goal(goal: str, biome: str) -> bool:
    """Return whether a biome counts as a goal: as published, if its name contains the goal's word."""
    return goal in biome.lower()


def number_tables() -> tuple[list[int], list[list[int]], list[list[int]]]:
    """Return ground, biomes and trees as rows of numbers, whose columns `_generate` names."""
    ground = [NUMBER[name] for name in GROUND]
    biomes = [
        [
            *(NUMBER[biome.top], NUMBER[biome.filler], *(_TREE_NUMBER[tree] for tree in biome.trees), biome.wood),
            *(*(NUMBER[plant] for plant in biome.plants), *biome.sown, biome.cold),
        ]
        for biome in BIOMES.values()
    ]
    trees = [
        [NUMBER[tree.trunk], NUMBER[tree.crown], tree.low, tree.high, tree.shape, tree.radius]
        for tree in TREES.values()
    ]
    return ground, biomes, trees


TICKS = 50  # of one step (shared/specs/smartplay.md, section 8)
EYES = 1.62  # blocks above the feet


class Body(NamedTuple):
    """The walker's position.

    Attributes:
        x: To the east, in blocks.
        y: Upwards, of the feet.
        z: To the south.
        yaw: Where it looks: 0 is south, 90 west; degrees from -180 to 180, whole numbers except in MineDojo.
        rise: Its speed upwards, in blocks a tick.
    """

    x: float
    y: float
    z: float
    yaw: float
    rise: float = 0.0


class WalkResult(NamedTuple):
    """The result of a walk.

    Attributes:
        arrived: Whether it ended in a goal biome.
        length: The length of the way over the ground, in blocks.
        ticks: Number of ticks that were walked.
    """

    body: Body
    arrived: bool
    length: float
    ticks: int


class Near(NamedTuple):
    """The column and row of the nearest cell of some biomes, and its horizontal distance, in blocks."""

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
        """Return what is seen and felt from a location."""
        ...

    def walk(self, body: Body, ticks: bytes, goals: tuple[str, ...]) -> WalkResult:
        """Walk from a body's position in the direction of its yaw, until a tick ends in a biome of `goals`.

        `ticks` says what is done in each tick: 0 or 1 straight ahead, 2 to the left, 3 to the right; plus 4 for
        sprinting in place of jumping.
        """
        ...


OWN, LUANTI, MINEDOJO = "own", "luanti", "minedojo"


class EngineProperties(NamedTuple):
    """The properties of an engine, known without starting it.

    Attributes:
        goals: The goals that are drawn.
        biomes: All biomes, and their colours on maps.
        farthest: Columns from the middle of a world in which a search can begin.
        worlds: Number of worlds that the searches of a set share; 0: each search has its own.
        tries: Number of starts that are tried for a search of one goal.
        charted: Whether its maps are known, so that there are levels, an oracle and drawings.
    """

    goals: tuple[str, ...]
    biomes: Mapping[str, str]
    farthest: int = 1_000_000
    worlds: int = 0
    tries: int = 2000
    charted: bool = True

    def goal_words(self) -> tuple[str, ...]:
        """Return all words that can be goals: the goals that are drawn, and every biome of a known map."""
        return (*self.goals, *(name for name in self.biomes if self.charted and name not in self.goals))

    def matching_biomes(self, goal: str) -> tuple[str, ...]:
        """Return the biomes that count as a goal."""
        return tuple(name for name in self.biomes if counts_as_goal(goal, name))


_BIOMES = read_toml(__file__, "biomes.toml")
# The goals of "luanti" are its counterparts of the eight published goals. A server is one world, and takes a second to
# start; so the searches of a set share a few worlds.
_LUANTI = EngineProperties(
    goals=("grassland", "forest", "ocean", "beach", "taiga", "icesheet", "rainforest", "desert"),
    biomes=_BIOMES["luanti"],
    farthest=20_000,
    worlds=8,
    tries=100,
)
ENGINES = {OWN: EngineProperties(GOALS, {name: biome.colour for name, biome in BIOMES.items()}), LUANTI: _LUANTI}

MINECRAFT_BIOMES: Mapping[int, str] = {int(number): name for number, name in _BIOMES["minecraft"].items()}
"""The names of Minecraft's biomes by the numbers that MineDojo reports."""
# Goal -> the number of MineDojo's creative task that SmartPlay registers (shared/specs/smartplay.md, 2).
CREATIVE: Mapping[str, int] = dict(zip(GOALS, (0, 1, 2, 4, 5, 7, 8, 9), strict=True))
PUBLISHED_GOALS: Mapping[str, str] = {f"MinedojoCreative{number}": goal for goal, number in CREATIVE.items()}
"""The goals of SmartPlay's settings in Minecraft, by the settings' names."""
ENGINES[MINEDOJO] = EngineProperties(GOALS, dict.fromkeys(MINECRAFT_BIOMES.values(), ""), farthest=0, charted=False)
PLAINS = {name: engine.goals[0] for name, engine in ENGINES.items()}
"""Engine -> its counterpart of plains, the goal of the setting that is recorded."""


def counterpart_goal(goal: str, engine: str) -> str:
    """Return the goal of an engine that corresponds to a published goal; in most engines the same."""
    return ENGINES[engine].goals[GOALS.index(goal)]
