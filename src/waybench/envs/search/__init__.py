"""Algorithmic search: number guessing and walks through unknown graphs (AQA-Bench)."""

from waybench.envs.search._environment import BFS, CAVEBFS, CAVEDFS, COIN, DFS, GUESSNUM

__all__ = ["BFS", "CAVEBFS", "CAVEDFS", "COIN", "DFS", "GUESSNUM"]
