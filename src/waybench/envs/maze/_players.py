"""Scripted players of the maze. They see the whole maze, exit included."""

from waybench.core import Stream
from waybench.envs.maze._game import MazeState, Movement, MovePlan
from waybench.envs.maze._instance import Maze, movements

_RIGHT_OF = {"up": "right", "right": "down", "down": "left", "left": "up"}
_BACK = {"up": "down", "down": "up", "left": "right", "right": "left"}


def _plan(path: list[str] | tuple[str, ...]) -> MovePlan:
    return tuple(Movement(str(direction), int(cells)) for direction, cells in movements(tuple(path)))


def oracle(state: MazeState, rng: Stream) -> MovePlan:
    """Take a shortest path."""
    path = state.maze.lattice.shortest_path(state.at, state.maze.exit)
    return _plan(path or ())


def wall_follower(state: MazeState, rng: Stream) -> MovePlan:
    """Keep the right hand on the wall, all the way to the exit.

    From the border this always arrives, for entrance and exit part the same outer wall.
    """
    maze, at = state.maze, state.at
    inwards = {0: "down", maze.size - 1: "up"}
    x, y = maze.lattice.position(at)
    heading: str = inwards.get(y) or ("right" if x == 0 else "left")
    path: list[str] = []
    while at != maze.exit and len(path) < 4 * len(maze.lattice.cells):
        open_: dict[str, int] = dict(maze.lattice.exits(at))
        right = _RIGHT_OF[heading]
        heading = next(str(way) for way in (right, heading, _BACK[right], _BACK[heading]) if way in open_)
        at = open_[heading]
        path.append(heading)
    return _plan(path)


def wanderer(state: MazeState, rng: Stream) -> MovePlan:
    """Walk at random for 4 N cells, turning back only in dead ends; stop at the exit if it happens to be met."""
    maze, at = state.maze, state.at
    path: list[str] = []
    came_from = ""
    while at != maze.exit and len(path) < 4 * maze.size:
        ways = [(way, cell) for way, cell in maze.lattice.exits(at) if way != came_from]
        way, at = rng.choice(ways or list(maze.lattice.exits(at)))
        path.append(way)
        came_from = _BACK[way]
    return _plan(path)


def noisy_success(maze: Maze, rate: float) -> float:
    """Return how probable it is that the plan of an oracle that errs at a rate reaches the exit.

    An error turns into any of a cell's open directions, also into the right one (`MazeGame.perturb`). What is left out
    is that a later error, or a loop, makes good the first one, which is rare.

    Args:
        maze: The maze.
        rate: Probability of an error in each step.
    """
    lattice, at, chance = maze.lattice, maze.entrance, 1.0
    for direction in lattice.shortest_path(maze.entrance, maze.exit) or ():
        ways = dict(lattice.exits(at))
        chance *= 1 - rate * (len(ways) - 1) / len(ways)
        at = ways[direction]
    return chance


PLAYERS = {"heuristic": wall_follower, "oracle": oracle, "random": wanderer}
