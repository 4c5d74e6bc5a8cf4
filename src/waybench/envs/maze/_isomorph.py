"""Isomorphic mazes: rotated ones, in which every path has a counterpart of the same length and with the same turns."""

from waybench.core import draw_appearance
from waybench.envs.maze._instance import Maze
from waybench.spaces import ROTATIONS, Lattice, transform, transform_place


def isomorph(maze: Maze, key: str, number: int) -> Maze:
    """Return the maze after one of the three rotations of the square, which the set's key and number determine.

    Three sets in a row, from the first one on, have all three. A maze that is symmetrical itself can stay as it is.
    Mirrored mazes are left out: there, a player that keeps a hand on the wall goes another way.

    Args:
        maze: The maze.
        key: The key of its set.
        number: The number of the isomorphic set, from 1.
    """
    symmetry = draw_appearance(ROTATIONS, number, "maze", key, maze.hash)
    size = maze.size
    rows = transform(symmetry, [maze.lattice.cells[start : start + size] for start in range(0, size * size, size)])

    def moved(cell: int) -> int:
        row, column = transform_place(symmetry, *divmod(cell, size), size, size)
        return row * size + column

    cells = bytes(cell for row in rows for cell in row)
    return Maze(Lattice(size, size, cells), moved(maze.entrance), moved(maze.exit))
