"""Tile maps: plans of moves from objective to objective (GameTraversalBenchmark)."""

from waybench.envs.tilemap._board import MOVES, MovePlan
from waybench.envs.tilemap._environment import GTB, STATE, STEPWISE
from waybench.envs.tilemap._instance import Objective, TileMap, outside, tile_list, tour
from waybench.envs.tilemap._items import MapFile

__all__ = [
    "GTB",
    "MOVES",
    "STATE",
    "STEPWISE",
    "MapFile",
    "MovePlan",
    "Objective",
    "TileMap",
    "outside",
    "tile_list",
    "tour",
]
