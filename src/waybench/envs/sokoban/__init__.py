"""Sokoban. Read `_rooms` first."""

from waybench.envs.sokoban._environment import ROOMS

__all__ = ["ROOMS"]
