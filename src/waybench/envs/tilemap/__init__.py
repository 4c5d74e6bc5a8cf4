"""Tile maps: plans of moves from objective to objective (GameTraversalBenchmark)."""

from waybench.envs.tilemap._board import MOVES, Crew, Location, MovePlan, Style
from waybench.envs.tilemap._environment import GTB, STATE, STEPWISE
from waybench.envs.tilemap._file import MapFile
from waybench.envs.tilemap._game import TileGame
from waybench.envs.tilemap._instance import Objective, TileMap, outside, tile_list, tour
from waybench.envs.tilemap.worlds import WorldSource

__all__ = [
    "GTB",
    "MOVES",
    "STATE",
    "STEPWISE",
    "Crew",
    "Location",
    "MapFile",
    "MovePlan",
    "Objective",
    "Style",
    "TileGame",
    "TileMap",
    "WorldSource",
    "outside",
    "tile_list",
    "tour",
]
