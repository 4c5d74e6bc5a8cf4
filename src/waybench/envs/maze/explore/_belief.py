"""Optimal exploration of small mazes: the least expected number of steps over all mazes that agree with what was seen.

Before anything is seen, the possible mazes are all those of the dimension that have this entrance and an exit on the
side that the rules name, and that the source can draw with any number of loops, each as probable as the others. Whoever
walks over cells whose surroundings are known learns nothing, so the only choices are the cells at which something can
be learnt, and the exit. The value of a choice is the way to it, plus the expected value of what is known there; it is
computed exactly, once for each set of possible mazes (a partially observable problem with deterministic moves, as in
L. P. Kaelbling, M. L. Littman and A. R. Cassandra, Artificial Intelligence 101, 1998).
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from math import inf
from typing import NamedTuple

from waybench.envs.maze._instance import Maze
from waybench.envs.maze._source import build, connects, opening, walls_between
from waybench.envs.maze.explore._sight import Sight, directions_from, in_window
from waybench.spaces import DIRECTIONS

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
