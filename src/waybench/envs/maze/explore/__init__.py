"""The partly seen maze: a window that moves with the player, one move a turn."""

from waybench.envs.maze.explore._environment import EXPLORE

__all__ = ["EXPLORE"]
