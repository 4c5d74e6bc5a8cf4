"""The view: the nearest cell of every kind. Compiled."""

import numpy as np
from numpy.typing import NDArray

from waybench._compile import compiled
from waybench.envs.crafter._ids import ACROSS, DOWN, KIND, PLANT, SIZE, X, Y

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int32]


@compiled
def nearest(land: Bytes, beings: Ints, dx: int, dy: int) -> Ints:
    """Return for each kind how far its nearest cell is to the east and to the south, and how far; the last -1 if none.

    Of several that are equally near, the westernmost counts, and of these the northernmost. Beings hide their ground.
    Row 0 has the kind of what is at (dx, dy) from the player; -1 outside of the map.
    """
    x, y = beings[0, X], beings[0, Y]
    view = np.zeros((2 * ACROSS + 1, 2 * DOWN + 1), np.int32)
    for i in range(2 * ACROSS + 1):
        for j in range(2 * DOWN + 1):
            column, row = x + i - ACROSS, y + j - DOWN
            if 0 <= column < SIZE and 0 <= row < SIZE:
                view[i, j] = land[column * SIZE + row]
    for being in range(len(beings)):
        i, j = beings[being, X] - x + ACROSS, beings[being, Y] - y + DOWN
        if 0 <= i <= 2 * ACROSS and 0 <= j <= 2 * DOWN:
            view[i, j] = beings[being, KIND]
    nearest_cells = np.full((PLANT + 1, 3), -1, np.int32)
    for i in range(2 * ACROSS + 1):
        for j in range(2 * DOWN + 1):
            kind, away = view[i, j], abs(i - ACROSS) + abs(j - DOWN)
            if kind and (nearest_cells[kind, 2] < 0 or away < nearest_cells[kind, 2]):
                nearest_cells[kind, 0], nearest_cells[kind, 1], nearest_cells[kind, 2] = i - ACROSS, j - DOWN, away
    nearest_cells[0, 0] = view[ACROSS + dx, DOWN + dy] or -1
    return nearest_cells
