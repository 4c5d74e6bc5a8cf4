"""The partly seen maze: a window that moves with the player, one move a turn."""

from waybench.envs.maze.explore._environment import EXPLORE
from waybench.envs.maze.explore._game import ExploreGame, judge
from waybench.envs.maze.explore._plans import best_step, nearest_step, oracle_steps
from waybench.envs.maze.explore._sight import Sight
from waybench.envs.maze.explore._wording import ExploreWording

__all__ = [
    "EXPLORE",
    "ExploreGame",
    "ExploreWording",
    "Sight",
    "best_step",
    "judge",
    "nearest_step",
    "oracle_steps",
]
