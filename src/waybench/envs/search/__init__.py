"""Algorithmic search: number guessing and walks through unknown graphs (AQA-Bench)."""

from waybench.envs.search._environment import BFS, CAVEBFS, CAVEDFS, COIN, DFS, GUESSNUM
from waybench.envs.search._game_number import GuessGame, Number
from waybench.envs.search._game_walk import Terrain, WalkGame
from waybench.envs.search._source import CaseFile

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
