"""Algorithmic search: number guessing and walks through unknown graphs (AQA-Bench)."""

from waybench.envs.search._environment import BFS, CAVEBFS, CAVEDFS, COIN, DFS, GUESSNUM
from waybench.envs.search._game_number import GuessGame, Guessing, Number
from waybench.envs.search._game_walk import Terrain, Walk, WalkGame
from waybench.envs.search._source import CaseFile, NumberSource, WalkSource

__all__ = [
    "BFS",
    "CAVEBFS",
    "CAVEDFS",
    "COIN",
    "DFS",
    "GUESSNUM",
    "CaseFile",
    "GuessGame",
    "Guessing",
    "Number",
    "NumberSource",
    "Terrain",
    "Walk",
    "WalkGame",
    "WalkSource",
]
