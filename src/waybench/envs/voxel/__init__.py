"""The search for a biome in a world of blocks (after SmartPlay's Minecraft tasks)."""

from waybench.envs.voxel._environment import FIND
from waybench.envs.voxel._game import FindRules, World
from waybench.envs.voxel._instance import Search
from waybench.envs.voxel._source import SearchSource, recorded_level
from waybench.envs.voxel.engines import ENGINES, PLAINS, Body, Terrain, terrain

__all__ = [
    "ENGINES",
    "FIND",
    "PLAINS",
    "Body",
    "FindRules",
    "Search",
    "SearchSource",
    "Terrain",
    "World",
    "recorded_level",
    "terrain",
]
