"""What the world is made of: blocks, biomes, and which blocks a biome has.

Blocks are called as MineDojo's descriptions call them ("grass block" is the ground and "grass" the plant on it), but
for wood and leaves, which say of which tree they are.
"""

from typing import NamedTuple

# In alphabetical order, so that of two numbers the lower one is that of the first name, as the description needs it.
BLOCKS = (
    "acacia leaves",
    "acacia wood",
    "air",
    "bedrock",
    "birch leaves",
    "birch wood",
    "cactus",
    "clay",
    "coal ore",
    "dead bush",
    "dirt",
    "fern",
    "flower",
    "grass",
    "grass block",
    "gravel",
    "ice",
    "iron ore",
    "jungle leaves",
    "jungle wood",
    "lily pad",
    "melon",
    "mushroom",
    "oak leaves",
    "oak wood",
    "packed ice",
    "podzol",
    "sand",
    "sandstone",
    "snow block",
    "snow layer",
    "spruce leaves",
    "spruce wood",
    "stone",
    "water",
)
NUMBER = {name: number for number, name in enumerate(BLOCKS)}
AIR, BEDROCK, WATER = NUMBER["air"], NUMBER["bedrock"], NUMBER["water"]

_THIN = frozenset(
    ("air", "dead bush", "fern", "flower", "grass", "lily pad", "mushroom", "snow layer", "water")
)  # what one walks through
SOLID = tuple(name not in _THIN for name in BLOCKS)

# The blocks that the terrain is made of whatever the biome, in the order in which the kernel takes them.
GROUND = (
    *("air", "bedrock", "stone", "dirt", "water", "ice", "coal ore", "iron ore"),
    *("gravel", "clay", "sand", "snow layer", "lily pad", "grass block"),
)

# How a tree is built: trunk, crown, height from, height to, shape. Shapes: 0 round, 1 conical, 2 flat, 3 a column
# without a crown, 4 a spike that is thicker below.
ROUND, CONE, FLAT, COLUMN, SPIKE = range(5)


class Tree(NamedTuple):
    """How trees of a kind are built.

    Attributes:
        trunk: Block of the trunk.
        crown: Block of the leaves.
        low: Least height of the trunk, in blocks.
        high: Greatest height of the trunk.
        shape: ROUND, CONE, FLAT, COLUMN (no crown) or SPIKE (thicker below).
        radius: How far the crown reaches from the trunk, in blocks; at most 3.
    """

    trunk: str
    crown: str
    low: int
    high: int
    shape: int
    radius: int


TREES = {
    "oak": Tree("oak wood", "oak leaves", 5, 7, ROUND, 2),
    "birch": Tree("birch wood", "birch leaves", 6, 8, ROUND, 2),
    "spruce": Tree("spruce wood", "spruce leaves", 7, 10, CONE, 2),
    "jungle": Tree("jungle wood", "jungle leaves", 8, 13, ROUND, 3),
    "acacia": Tree("acacia wood", "acacia leaves", 5, 7, FLAT, 3),
    "cactus": Tree("cactus", "cactus", 1, 3, COLUMN, 0),
    "spike": Tree("packed ice", "packed ice", 8, 20, SPIKE, 2),
    "melon": Tree("melon", "melon", 1, 1, COLUMN, 0),
}
_TREE_NUMBER = {name: number for number, name in enumerate(TREES)}


class Biome(NamedTuple):
    """What a biome looks like.

    Attributes:
        top: Block of the surface.
        filler: Block of the three layers below.
        trees: Two kinds of trees, the second of which is every fourth one.
        wood: Trees in 256 patches of six by six columns.
        plants: Two kinds of plants on the surface.
        sown: How many of 256 columns have the one, and the other.
        cold: Whether there is snow on the ground, and ice on the water.
        colour: On maps.
    """

    top: str
    filler: str
    trees: tuple[str, str]
    wood: int
    plants: tuple[str, str]
    sown: tuple[int, int]
    cold: bool
    colour: str


_OAK = ("oak", "oak")
BIOMES = {
    "ocean": Biome("gravel", "gravel", _OAK, 0, ("grass", "grass"), (0, 0), False, "#2b5c9e"),
    "frozen ocean": Biome("gravel", "gravel", _OAK, 0, ("grass", "grass"), (0, 0), True, "#8fb3d9"),
    "beach": Biome("sand", "sand", _OAK, 0, ("dead bush", "grass"), (0, 0), False, "#f2e3a0"),
    "cold beach": Biome("sand", "sand", _OAK, 0, ("dead bush", "grass"), (0, 0), True, "#e8e6d4"),
    "river": Biome("sand", "dirt", _OAK, 0, ("grass", "grass"), (0, 0), False, "#5b8fd0"),
    "frozen river": Biome("sand", "dirt", _OAK, 0, ("grass", "grass"), (0, 0), True, "#b3cdea"),
    "plains": Biome("grass block", "dirt", _OAK, 6, ("grass", "flower"), (70, 10), False, "#a3d06b"),
    "forest": Biome("grass block", "dirt", ("oak", "birch"), 200, ("grass", "flower"), (30, 8), False, "#3f8f3a"),
    "birch forest": Biome(
        "grass block", "dirt", ("birch", "birch"), 180, ("grass", "flower"), (30, 6), False, "#74b86a"
    ),
    "swampland": Biome("grass block", "dirt", _OAK, 70, ("grass", "mushroom"), (50, 10), False, "#5e6b3b"),
    "extreme hills": Biome(
        "grass block", "stone", ("spruce", "oak"), 30, ("grass", "flower"), (15, 3), False, "#8c8c8c"
    ),
    "taiga": Biome("podzol", "dirt", ("spruce", "spruce"), 170, ("fern", "mushroom"), (50, 4), False, "#2f6b56"),
    "cold taiga": Biome("grass block", "dirt", ("spruce", "spruce"), 150, ("fern", "fern"), (15, 0), True, "#a9c9bd"),
    "ice plains": Biome("grass block", "dirt", ("spruce", "spruce"), 5, ("grass", "grass"), (0, 0), True, "#e9f1f5"),
    "ice spikes": Biome("snow block", "dirt", ("spike", "spike"), 45, ("grass", "grass"), (0, 0), True, "#7fd4e8"),
    "desert": Biome(
        "sand", "sandstone", ("cactus", "cactus"), 60, ("dead bush", "dead bush"), (5, 0), False, "#e6c35c"
    ),
    "savanna": Biome("grass block", "dirt", ("acacia", "acacia"), 50, ("grass", "grass"), (120, 0), False, "#b5a642"),
    "jungle": Biome("grass block", "dirt", ("jungle", "melon"), 240, ("fern", "grass"), (60, 60), False, "#1f6b16"),
}
BIOME_NUMBER = {name: number for number, name in enumerate(BIOMES)}

# The goals whose tasks are published (shared/specs/smartplay.md, section 2), in their order.
GOALS = ("plains", "forest", "ocean", "beach", "taiga", "ice spikes", "jungle", "desert")


def fits(goal: str, biome: str) -> bool:
    """Whether a biome counts as a goal: as published, if its name contains the goal's word, case aside."""
    return goal in biome.lower()


def tables() -> tuple[list[int], list[list[int]], list[list[int]]]:
    """Return ground, biomes and trees as numbers, as the kernel takes them."""
    ground = [NUMBER[name] for name in GROUND]
    biomes = [
        [
            *(NUMBER[each.top], NUMBER[each.filler], *(_TREE_NUMBER[tree] for tree in each.trees), each.wood),
            *(*(NUMBER[plant] for plant in each.plants), *each.sown, each.cold),
        ]
        for each in BIOMES.values()
    ]
    trees = [
        [NUMBER[tree.trunk], NUMBER[tree.crown], tree.low, tree.high, tree.shape, tree.radius]
        for tree in TREES.values()
    ]
    return ground, biomes, trees
