"""How far a cell is on the way to the exit."""

from waybench.core import Potential
from waybench.envs.maze._game import MazeState
from waybench.envs.maze._instance import Maze


def gained(maze: Maze, at: int) -> float:
    """Return the share of the shortest path from the entrance to the exit that is gained in a cell."""
    far = maze.lattice.distances(maze.exit)
    return 1 - far[at] / far[maze.entrance]


def _gained(state: MazeState) -> float:
    return gained(state.maze, state.at)


POTENTIALS = (
    Potential("distance", "Share of the shortest path from the entrance to the exit that is gained.", _gained),
)
