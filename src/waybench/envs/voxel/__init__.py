"""The search for a biome in a world of blocks (after SmartPlay's Minecraft tasks)."""

from waybench.envs.voxel._environment import FIND
from waybench.envs.voxel._game import FindRules, World
from waybench.envs.voxel._instance import Search
from waybench.envs.voxel._source import SearchSource, recorded_level
from waybench.envs.voxel.engines import ENGINES, PLAINS, PUBLISHED_GOALS, Body, Terrain, counterpart, terrain

__all__ = [
    "ENGINES",
    "FIND",
    "PLAINS",
    "PUBLISHED_GOALS",
    "Body",
    "FindRules",
    "Search",
    "SearchSource",
    "Terrain",
    "World",
    "counterpart",
    "recorded_level",
    "terrain",
]
