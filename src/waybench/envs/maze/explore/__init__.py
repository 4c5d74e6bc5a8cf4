"""The partly seen maze: a window that moves with the player, one move a turn."""

from waybench.envs.maze.explore._environment import EXPLORE
from waybench.envs.maze.explore._exploration import best_step, oracle_steps
from waybench.envs.maze.explore._game import Sight

__all__ = ["EXPLORE", "Sight", "best_step", "oracle_steps"]
