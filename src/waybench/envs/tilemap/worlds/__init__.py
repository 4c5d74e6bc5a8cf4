"""Generated worlds of tiles."""

from waybench.envs.tilemap.worlds._items import WORLD_OPTIONS, WorldSource

__all__ = ["WORLD_OPTIONS", "WorldSource"]
