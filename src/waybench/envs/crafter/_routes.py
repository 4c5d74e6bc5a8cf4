"""Compiled loops over cells: the nearest cell of every kind, and distances to targets."""

import numpy as np
from numpy.typing import NDArray

from waybench._compile import compiled
from waybench.envs.crafter._ids import ACROSS, AREA, DOWN, KIND, PLANT, SIZE, X, Y

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


FAR = 1_000_000
_DEAREST = 16  # costs are below this


@compiled
def distances(costs: Ints, targets: Ints) -> Ints:
    """Return for each cell what it costs to get to the nearest target; FAR where that is impossible.

    Args:
        costs: For each cell what it costs to enter it, 1 to 15; 0 where it cannot be entered.
        targets: The targets. To enter one costs 1, whatever it is.
    """
    lengths = np.full(AREA, FAR, np.int32)
    rings = np.empty((_DEAREST, 4 * AREA), np.int32)  # the cells at a distance, by its remainder
    sizes = np.zeros(_DEAREST, np.int32)
    for target in targets:
        lengths[target] = 0
        rings[0, sizes[0]] = target
        sizes[0] += 1
    now, empty = 0, 0
    while empty < _DEAREST:
        ring = now % _DEAREST
        count, sizes[ring] = sizes[ring], 0
        empty = empty + 1 if count == 0 else 0
        for position in range(count):
            cell = rings[ring, position]
            if lengths[cell] != now:
                continue
            enter = 1 if now == 0 else costs[cell]
            if enter == 0:
                continue
            x, y = cell // SIZE, cell % SIZE
            for dx, dy in ((-1, 0), (1, 0), (0, -1), (0, 1)):
                if 0 <= x + dx < SIZE and 0 <= y + dy < SIZE:
                    neighbour = cell + dx * SIZE + dy
                    if now + enter < lengths[neighbour]:
                        lengths[neighbour] = now + enter
                        into = (now + enter) % _DEAREST
                        rings[into, sizes[into]] = neighbour
                        sizes[into] += 1
        now += 1
    return lengths
