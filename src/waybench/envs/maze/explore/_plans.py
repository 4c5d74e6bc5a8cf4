"""Ways through a maze of which only a part was seen: the oracle's, and to the nearest frontier."""

from functools import lru_cache
from math import inf

from waybench.envs.maze._instance import Maze
from waybench.envs.maze.explore._belief import LARGEST_EXACT, beliefs
from waybench.envs.maze.explore._sight import Sight, directions_from, exit_side, first_sight, frontier, known_ways


def best_step(sight: Sight) -> str:
    """Return the direction that the oracle takes; it knows only what was seen.

    Up to dimension 7 it minimises the expected number of steps over the possible mazes (`beliefs`). In larger ones, and
    in mazes that the source cannot draw, it walks to the frontier or the exit for which the way to it, plus the least
    possible way from there to where the exit can still be, is shortest: planning with the freespace assumption
    (S. Koenig, C. Tovey and Y. Smirnov, Artificial Intelligence 147, 2003).

    Args:
        sight: What is known. The player does not stand on the exit.
    """
    maze = sight.maze
    if maze.size <= LARGEST_EXACT:
        known = beliefs(maze.size, maze.entrance, exit_side(maze), sight.window)
        if possible := known.after(sight):
            first = known.choice(possible, sight.at).first
            return next(direction for direction, cell in maze.lattice.exits(sight.at) if cell == first)
    return _towards(sight, _promising(sight))


def nearest_step(sight: Sight) -> str:
    """Return the direction to the exit if it was seen and can be reached, or else to the nearest frontier.

    Exploration by frontiers is B. Yamauchi's (CIRA 1997).
    """
    far = known_ways(sight, sight.at)
    return _towards(sight, sight.maze.exit if sight.maze.exit in far else frontier(sight, far)[0])


def _promising(sight: Sight) -> int:
    maze, far = sight.maze, known_ways(sight, sight.at)
    goals = [maze.exit] if sight.knows(maze.exit) else [cell for cell in _openings(maze) if not sight.knows(cell)]
    best, found = inf, maze.exit
    choices = frontier(sight, far)
    if maze.exit in far:
        choices.append(maze.exit)
    for cell in choices:
        if far[cell] >= best:
            continue
        length = far[cell] + (0 if cell == maze.exit else _least(maze.size, cell, goals))
        if length < best:
            best, found = length, cell
    return found


def _least(size: int, cell: int, goals: list[int]) -> int:
    x, y = cell % size, cell // size
    return min((abs(goal % size - x) + abs(goal // size - y) for goal in goals), default=0)


@lru_cache(maxsize=64)
def _openings(maze: Maze) -> tuple[int, ...]:
    """Return the cells where the exit can be, as the rules say it: those of its side, without the corners."""
    size, side = maze.size, exit_side(maze)
    lines = {"top": (0, 1), "bottom": (size * (size - 1), 1), "left": (0, size), "right": (size - 1, size)}
    start, step = lines[side]
    return tuple(start + step * along for along in range(1, size - 1))


def _towards(sight: Sight, goal: int) -> str:
    """Return the first direction of a shortest known way to a cell."""
    back = known_ways(sight, goal)
    for direction in directions_from(sight.maze):
        near = sight.maze.lattice.step(sight.at, direction)
        if near is not None and back.get(near, len(back)) == back[sight.at] - 1:
            return direction
    raise ValueError("there is no way")


@lru_cache(maxsize=4096)
def oracle_steps(maze: Maze, window: int) -> int:
    """Return how many steps the oracle takes from the entrance to the exit.

    Args:
        maze: The maze, whose exit can be reached.
        window: Cells along each side of what is seen.
    """
    sight, steps = first_sight(maze, window), 0
    while sight.at != maze.exit:
        sight, steps = sight.moved(dict(maze.lattice.exits(sight.at))[best_step(sight)]), steps + 1
    return steps
