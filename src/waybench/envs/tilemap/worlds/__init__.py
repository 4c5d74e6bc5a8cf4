"""Generated worlds of tiles."""

from waybench.envs.tilemap.worlds._source import WORLD_OPTIONS, WorldSource

__all__ = ["WORLD_OPTIONS", "WorldSource"]
