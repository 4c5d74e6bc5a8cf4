"""The partly seen maze: a window that moves with the player, one move a turn."""

from waybench.envs.maze.explore._environment import EXPLORE
from waybench.envs.maze.explore._plans import best_step, oracle_steps
from waybench.envs.maze.explore._sight import Sight

__all__ = ["EXPLORE", "Sight", "best_step", "oracle_steps"]
