"""Generator of worlds of tiles."""

from typing import TYPE_CHECKING

from waybench._late import late_names
from waybench.envs.tilemap.worlds._tiles import BIOMES

if TYPE_CHECKING:
    from waybench.envs.tilemap.worlds._world import make_world

__all__ = ["BIOMES", "make_world"]

__getattr__ = late_names(__name__, {"_world": ("make_world",)})  # it imports numpy
