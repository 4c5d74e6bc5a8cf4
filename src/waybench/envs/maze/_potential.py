"""How far a cell is on the way to the exit."""

from waybench.core import Potential
from waybench.envs.maze._game import MazeState


def _gained(state: MazeState) -> float:
    maze = state.maze
    far = maze.lattice.distances(maze.exit)
    return 1 - far[state.at] / far[maze.entrance]


POTENTIALS = (
    Potential("distance", "Share of the shortest path from the entrance to the exit that is gained.", _gained),
)
