"""The symmetries of a rectangle: reflections and rotations of rows of cells, and of places on them."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

ROTATIONS = (3, 5, 6)
"""The rotations by 180 and 90 degrees. Bit 0 of a symmetry reverses the columns, bit 1 the rows; bit 2 then swaps rows
and columns."""
REFLECTIONS = (1, 2, 3)
"""The symmetries that keep height and width: columns reversed, rows reversed, and both."""


def transform(symmetry: int, rows: Sequence[Sequence[T]]) -> list[list[T]]:
    """Return the rows of a rectangle after a symmetry; the numbers 4 to 7 exchange its height and width."""
    turned = [list(row[::-1] if symmetry & 1 else row) for row in (rows[::-1] if symmetry & 2 else rows)]
    return [list(column) for column in zip(*turned, strict=True)] if symmetry & 4 else turned


def transform_place(symmetry: int, row: int, column: int, height: int, width: int) -> tuple[int, int]:
    """Return where a place is after a symmetry of a rectangle.

    Args:
        symmetry: The symmetry.
        row: Its row, which may lie outside the rectangle.
        column: Its column, likewise.
        height: Number of rows before.
        width: Number of columns before.
    """
    row = height - 1 - row if symmetry & 2 else row
    column = width - 1 - column if symmetry & 1 else column
    return (column, row) if symmetry & 4 else (row, column)
