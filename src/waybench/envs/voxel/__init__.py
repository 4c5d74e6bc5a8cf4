"""The search for a biome in a world of blocks (after SmartPlay's Minecraft tasks)."""

from waybench.envs.voxel._engines import ENGINES, PLAINS
from waybench.envs.voxel._find import FIND
from waybench.envs.voxel._rules import FindRules, World
from waybench.envs.voxel._search import Search
from waybench.envs.voxel._source import SearchSource, recorded_level
from waybench.envs.voxel._terrain import Body, Terrain, terrain

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
