"""How far a cell is on the way to the exit."""

from typing import Any

from waybench.core import Potential
from waybench.envs.maze._instance import Maze


def _gained(state: Any) -> float:
    maze: Maze = state.maze
    at: int = state.at
    far = maze.lattice.distances(maze.exit)
    return 1 - far[at] / far[maze.entrance]


POTENTIALS: tuple[Potential[Any], ...] = (
    Potential("distance", "Share of the shortest path from the entrance to the exit that is gained.", _gained),
)
"""Of states with a maze and a cell, `maze` and `at`: of mazes that are seen as a whole, and in part."""
