"""Algorithmic search: number guessing and walks through unknown graphs (AQA-Bench)."""

from waybench.envs.search._environment import BFS, CAVEBFS, CAVEDFS, COIN, DFS, GUESSNUM
from waybench.envs.search._items import CaseFile
from waybench.envs.search._number import GuessGame, Number
from waybench.envs.search._walk import Terrain, WalkGame

__all__ = [
    "BFS",
    "CAVEBFS",
    "CAVEDFS",
    "COIN",
    "DFS",
    "GUESSNUM",
    "CaseFile",
    "GuessGame",
    "Number",
    "Terrain",
    "WalkGame",
]
