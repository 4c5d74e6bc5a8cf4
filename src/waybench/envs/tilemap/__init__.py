"""Tile maps: plans of moves from objective to objective (GameTraversalBenchmark)."""

from waybench.envs.tilemap._environment import GTB, STATE, STEPWISE

__all__ = ["GTB", "STATE", "STEPWISE"]
