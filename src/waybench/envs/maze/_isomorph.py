"""Isomorphic mazes: rotated and mirrored ones, whose paths have the same lengths."""

from waybench.core import draw_appearance
from waybench.envs.maze._instance import Maze
from waybench.spaces import SYMMETRIES, Lattice, transform, transform_place


def isomorph(maze: Maze, key: str, number: int) -> Maze:
    """Return the maze after one of the seven symmetries of the square, which the set's key and number determine.

    Seven sets in a row, from the first one on, have all seven. A maze that is symmetrical itself can stay as it is.

    Args:
        maze: The maze.
        key: The key of its set.
        number: The number of the isomorphic set, from 1.
    """
    symmetry = draw_appearance(SYMMETRIES, number, "maze", key, maze.hash)
    size = maze.size
    rows = transform(symmetry, [maze.lattice.cells[start : start + size] for start in range(0, size * size, size)])

    def moved(cell: int) -> int:
        row, column = transform_place(symmetry, *divmod(cell, size), size, size)
        return row * size + column

    cells = bytes(cell for row in rows for cell in row)
    return Maze(Lattice(size, size, cells), moved(maze.entrance), moved(maze.exit))
