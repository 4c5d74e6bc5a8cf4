"""What a player has seen of a maze through a window, and the cells that are sensible to walk to."""

from functools import lru_cache
from typing import NamedTuple

from waybench.envs.maze._instance import Maze
from waybench.spaces import DIRECTIONS, Lattice

CLOCKWISE = ("up", "right", "down", "left")


class Sight(NamedTuple):
    """What a player knows of a maze.

    Attributes:
        maze: The maze.
        at: The player's cell number.
        seen: The cells seen so far, as bits of a number.
        window: Cells along each side of what is seen, an odd number.
        before: The cell where the player stood before; -1 at the start.
    """

    maze: Maze
    at: int
    seen: int
    window: int
    before: int = -1

    def knows(self, cell: int) -> bool:
        """Return whether a cell was seen."""
        return bool(self.seen >> cell & 1)

    def moved(self, cell: int) -> "Sight":
        """Return what the player knows after a move to a cell."""
        seen = self.seen | window_mask(self.maze.size, cell, self.window)
        return Sight(self.maze, cell, seen, self.window, self.at)


def first_sight(maze: Maze, window: int) -> Sight:
    """Return what is known at the entrance."""
    return Sight(maze, maze.entrance, window_mask(maze.size, maze.entrance, window), window)


@lru_cache(maxsize=1 << 14)
def in_window(size: int, at: int, window: int) -> tuple[int, ...]:
    """Return the cell numbers in a window around a cell, without what lies outside the maze.

    Args:
        size: The maze's dimension.
        at: The cell in the middle.
        window: Cells along each side, an odd number.
    """
    x, y, half = at % size, at // size, window // 2
    return tuple(
        row * size + column
        for row in range(max(0, y - half), min(size, y + half + 1))
        for column in range(max(0, x - half), min(size, x + half + 1))
    )


@lru_cache(maxsize=1 << 14)
def window_mask(size: int, at: int, window: int) -> int:
    """Return the cells in a window around a cell as bits of a number."""
    return sum(1 << cell for cell in in_window(size, at, window))


@lru_cache(maxsize=256)
def directions_from(maze: Maze) -> tuple[str, ...]:
    """Return the four directions, the one into the maze first, then clockwise.

    Whoever tries directions in this order walks a rotated maze in the same way.
    """
    x, y = maze.lattice.position(maze.entrance)
    last = maze.size - 1
    inwards = {(True, False): "right", (False, True): "left"}.get((x == 0, x == last)) or ("down" if y == 0 else "up")
    first = CLOCKWISE.index(inwards)
    return CLOCKWISE[first:] + CLOCKWISE[:first]


def exit_side(maze: Maze) -> str:
    """Return the side that the exit is on: "top", "bottom", "left" or "right"."""
    x, y = maze.lattice.position(maze.exit)
    return "top" if y == 0 else "bottom" if y == maze.size - 1 else "left" if x == 0 else "right"


def known_ways(sight: Sight, start: int) -> dict[int, int]:
    """Return the distances over open cells that were seen, from a cell to all that can be reached, nearest first."""
    seen, neighbours = sight.seen, open_neighbours(sight.maze)
    far, todo = {start: 0}, [start]
    for cell in todo:
        for near in neighbours[cell]:
            if near not in far and seen >> near & 1:
                far[near] = far[cell] + 1
                todo.append(near)
    return far


@lru_cache(maxsize=64)
def open_neighbours(maze: Maze) -> tuple[tuple[int, ...], ...]:
    """Return the open neighbours of each cell, in the order of `directions_from`."""
    order = directions_from(maze)
    return tuple(
        tuple(near for direction in order if (near := maze.lattice.step(cell, direction)) is not None and cells[near])
        for cells in [maze.lattice.cells]
        for cell in range(len(cells))
    )


@lru_cache(maxsize=64)
def _around(size: int) -> tuple[int, ...]:
    """Return the cells next to each cell, as bits of a number."""
    lattice = Lattice(size, size, bytes(size * size))
    return tuple(
        sum(1 << near for direction in DIRECTIONS if (near := lattice.step(cell, direction)) is not None)
        for cell in range(size * size)
    )


def frontier(sight: Sight, far: dict[int, int]) -> list[int]:
    """Return the cells that can be reached and have a neighbour that was not seen, in the order of their distances.

    Args:
        sight: What is known.
        far: Distances from the player's cell.
    """
    around, unseen = _around(sight.maze.size), ~sight.seen
    return [cell for cell in far if around[cell] & unseen]
