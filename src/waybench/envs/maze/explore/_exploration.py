"""Optimal exploration of small mazes, and ways through a maze of which only a part was seen."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from math import inf
from typing import NamedTuple

from waybench.envs.maze._game import Maze
from waybench.envs.maze._items import build, connects, opening, walls_between
from waybench.envs.maze.explore._game import (
    Sight,
    directions_from,
    exit_side,
    first_sight,
    frontier,
    in_window,
    known_ways,
)
from waybench.envs.spaces import DIRECTIONS

LARGEST_EXACT = 7  # beyond it there are too many mazes: 1,293 for an entrance and a side at 7, 10 at 5

_TINY = 1e-9  # sums in another order differ by less; of equal choices the first counts


class Choice(NamedTuple):
    """Where to walk to.

    Attributes:
        steps: The expected number of steps to the exit.
        cell: The next cell at which something can be learnt, or the exit.
        first: The first cell on the way to it.
    """

    steps: float
    cell: int
    first: int


@lru_cache(maxsize=8)
def possible_mazes(size: int, entrance: int, side: str) -> tuple[Maze, ...]:
    """Return the mazes of a dimension with this entrance and an exit on a side, with any number of loops.

    Args:
        size: The dimension.
        entrance: Cell number of the entrance.
        side: The side of the exit.
    """
    rooms = size // 2
    passages = walls_between(rooms)
    shapes = [
        shape
        for opened in range(rooms * rooms - 1, len(passages) + 1)
        for shape in combinations(passages, opened)
        if connects(shape, rooms * rooms)
    ]
    exits = [cell for room in range(rooms) if (cell := opening(size, side, room)) != entrance]
    return tuple(build(size, shape, entrance, exit_) for shape in shapes for exit_ in exits)


class Beliefs:
    """The optimal choices among the mazes that are possible.

    Args:
        mazes: The possible mazes, of one dimension and with one entrance.
        window: Cells along each side of what is seen.
    """

    def __init__(self, mazes: Sequence[Maze], window: int) -> None:
        self._size, self._window = mazes[0].size, window
        cells = range(self._size * self._size)
        self._all = (1 << len(mazes)) - 1
        self._open = [sum(1 << number for number, maze in enumerate(mazes) if maze.lattice.cells[c]) for c in cells]
        self._exit = [sum(1 << number for number, maze in enumerate(mazes) if maze.exit == c) for c in cells]
        # What tells possible mazes apart from a cell. An open cell of the border is the exit.
        telling = [{self._open[cell], self._exit[cell]} - {0, self._all} for cell in cells]
        self._told = [
            tuple(set[int]().union(*(telling[c] for c in in_window(self._size, cell, window)))) for cell in cells
        ]
        self._near = [
            [
                (y + dy) * self._size + x + dx
                for direction in directions_from(mazes[0])
                for dx, dy in [DIRECTIONS[direction]]
                if 0 <= x + dx < self._size and 0 <= y + dy < self._size
            ]
            for cell in cells
            for y, x in [divmod(cell, self._size)]
        ]
        self._choices: dict[tuple[int, int], Choice] = {}

    def after(self, sight: Sight) -> int:
        """Return the mazes that agree with what was seen, as bits of a number."""
        left = self._all
        for cell in range(self._size * self._size):
            if sight.seen >> cell & 1:
                left &= self._open[cell] if sight.maze.lattice.cells[cell] else ~self._open[cell]
                left &= self._exit[cell] if cell == sight.maze.exit else ~self._exit[cell]
        return left

    def choice(self, possible: int, at: int) -> Choice:
        """Return the best choice.

        Args:
            possible: The possible mazes, at least one, all of which agree with what is seen here.
            at: The player's cell.
        """
        if not possible & ~self._exit[at]:
            return Choice(0.0, at, at)
        found = self._choices.get((possible, at))
        if found is None:
            found = self._choices[possible, at] = self._best(possible, at)
        return found

    def _best(self, possible: int, at: int) -> Choice:
        total, best = possible.bit_count(), Choice(inf, at, at)
        for cell, steps, first in self._informative(possible, at):
            if steps >= best.steps:
                break
            parts = self._parts(possible, cell)
            expected = steps + sum(part.bit_count() * self.choice(part, cell).steps for part in parts) / total
            if expected < best.steps - _TINY:
                best = Choice(expected, cell, first)
        return best

    def _informative(self, possible: int, at: int) -> Iterator[tuple[int, int, int]]:
        """Yield the next cells where something can be learnt, or the exit, with their distances and the first cell."""
        far, first, todo = {at: 0}, {at: at}, [at]
        for cell in todo:
            if cell != at and (self._splits(possible, cell) or not possible & ~self._exit[cell]):
                yield cell, far[cell], first[cell]
                continue
            for near in self._near[cell]:
                if near not in far and not possible & ~self._open[near]:
                    far[near] = far[cell] + 1
                    first[near] = near if cell == at else first[cell]
                    todo.append(near)

    def _splits(self, possible: int, at: int) -> bool:
        return any(0 != possible & mask != possible for mask in self._told[at])

    def _parts(self, possible: int, at: int) -> list[int]:
        """Return the possible mazes by what is seen from a cell."""
        parts = [possible]
        for mask in self._told[at]:
            parts = [part for whole in parts for part in (whole & mask, whole & ~mask) if part]
        return parts


@lru_cache(maxsize=32)
def beliefs(size: int, entrance: int, side: str, window: int) -> Beliefs:
    """Return the choices among all mazes of a dimension with an entrance and a side of the exit.

    Args:
        size: The dimension, at most `LARGEST_EXACT`.
        entrance: Cell number of the entrance.
        side: The side of the exit.
        window: Cells along each side of what is seen.
    """
    return Beliefs(possible_mazes(size, entrance, side), window)


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
