"""Mazes: a plan of movements from the entrance to the exit (AliciaBench)."""

from waybench.envs.maze._environment import ALICIA, MazeSource, known_horizon
from waybench.envs.maze._game import Maze, MazeGame, MazeState, Movement, MovePlan, noisy_success
from waybench.envs.maze._wording import REPRESENTATIONS, MazeWording

__all__ = [
    "ALICIA",
    "REPRESENTATIONS",
    "Maze",
    "MazeGame",
    "MazeSource",
    "MazeState",
    "MazeWording",
    "MovePlan",
    "Movement",
    "known_horizon",
    "noisy_success",
]
