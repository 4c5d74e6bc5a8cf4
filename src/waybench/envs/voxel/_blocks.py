"""The world's blocks and biomes, and the blocks of each biome.

Blocks are called as MineDojo's descriptions call them ("grass block" is the ground and "grass" the plant on it), but
for wood and leaves, which say of which tree they are.
"""

from typing import NamedTuple

from waybench._package_data import read_toml

_DATA = read_toml(__file__, "blocks.toml")
BLOCKS: tuple[str, ...] = _DATA["blocks"]
NUMBER = {name: number for number, name in enumerate(BLOCKS)}
AIR, BEDROCK, WATER = NUMBER["air"], NUMBER["bedrock"], NUMBER["water"]

# The blocks that the terrain is made of whatever the biome, in the order in which the kernel takes them.
GROUND: tuple[str, ...] = _DATA["ground"]
SOLID = tuple(name not in _DATA["thin"] for name in BLOCKS)

# How a tree is built: trunk, crown, height from, height to, shape. Shapes: 0 round, 1 conical, 2 flat, 3 a column
# without a crown, 4 a spike that is thicker below.
ROUND, CONE, FLAT, COLUMN, SPIKE = range(5)


class Tree(NamedTuple):
    """The shape of a kind of tree.

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


_SHAPES = {"round": ROUND, "cone": CONE, "flat": FLAT, "column": COLUMN, "spike": SPIKE}
TREES = {name: Tree(**tree)._replace(shape=_SHAPES[tree["shape"]]) for name, tree in _DATA["trees"].items()}
_TREE_NUMBER = {name: number for number, name in enumerate(TREES)}


class Biome(NamedTuple):
    """The appearance of a biome.

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


BIOMES = {name: Biome(**biome) for name, biome in _DATA["biomes"].items()}
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
