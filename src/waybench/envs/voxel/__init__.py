"""The search for a biome in a world of blocks (after SmartPlay's Minecraft tasks)."""

from typing import TYPE_CHECKING

from waybench._late import lazy_names

if TYPE_CHECKING:
    from waybench.envs.voxel._environment import FIND

__all__ = ["FIND"]

# The published goals are known, and tasks named after them, without the environment's code.
__getattr__ = lazy_names(__name__, {"_environment": ("FIND",)})
