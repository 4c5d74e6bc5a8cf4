"""Algorithmic search: number guessing and walks through unknown graphs (AQA-Bench)."""

from waybench.envs.search._environment import BFS, CAVEBFS, CAVEDFS, COIN, DFS, GUESSNUM
from waybench.envs.search._number import GuessGame, Guessing, Number
from waybench.envs.search._source import CaseFile, NumberSource, WalkSource
from waybench.envs.search._walk import Terrain, Walk, WalkGame

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
