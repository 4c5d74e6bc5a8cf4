"""Distances from all cells to the nearest target. Compiled."""

import numpy as np
from numpy.typing import NDArray

from waybench._compile import compiled
from waybench.envs.crafter._ids import AREA, SIZE

FAR = 1_000_000
_DEAREST = 16  # costs are below this

Ints = NDArray[np.int32]


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
