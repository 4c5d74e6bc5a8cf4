"""The search for a biome in a world of blocks (after SmartPlay's Minecraft tasks)."""

from typing import TYPE_CHECKING

from waybench._late import late_names
from waybench.envs.voxel.engines import PLAINS, PUBLISHED_GOALS, Body, counterpart, terrain

if TYPE_CHECKING:
    from waybench.envs.voxel._environment import FIND
    from waybench.envs.voxel._game import FindRules, Search, SearchSource, World, recorded_level

__all__ = [
    "FIND",
    "PLAINS",
    "PUBLISHED_GOALS",
    "Body",
    "FindRules",
    "Search",
    "SearchSource",
    "World",
    "counterpart",
    "recorded_level",
    "terrain",
]

# The published goals are known, and tasks named after them, without the environment's code.
__getattr__ = late_names(
    __name__,
    {"_environment": ("FIND",), "_game": ("FindRules", "Search", "SearchSource", "World", "recorded_level")},
)
