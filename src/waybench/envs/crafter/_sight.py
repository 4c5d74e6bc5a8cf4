"""What is in view: the nearest cell of every kind. Compiled."""

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
    seen = np.zeros((2 * ACROSS + 1, 2 * DOWN + 1), np.int32)
    for i in range(2 * ACROSS + 1):
        for j in range(2 * DOWN + 1):
            column, row = x + i - ACROSS, y + j - DOWN
            if 0 <= column < SIZE and 0 <= row < SIZE:
                seen[i, j] = land[column * SIZE + row]
    for being in range(len(beings)):
        i, j = beings[being, X] - x + ACROSS, beings[being, Y] - y + DOWN
        if 0 <= i <= 2 * ACROSS and 0 <= j <= 2 * DOWN:
            seen[i, j] = beings[being, KIND]
    found = np.full((PLANT + 1, 3), -1, np.int32)
    for i in range(2 * ACROSS + 1):
        for j in range(2 * DOWN + 1):
            kind, away = seen[i, j], abs(i - ACROSS) + abs(j - DOWN)
            if kind and (found[kind, 2] < 0 or away < found[kind, 2]):
                found[kind, 0], found[kind, 1], found[kind, 2] = i - ACROSS, j - DOWN, away
    found[0, 0] = seen[ACROSS + dx, DOWN + dy] or -1
    return found
