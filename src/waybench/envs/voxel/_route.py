"""Walking distances from all cells to the nearest goal, over land and water. Compiled."""

from functools import lru_cache
from heapq import heappop, heappush

import numpy as np

from waybench._compile import compiled
from waybench.envs.voxel._game import Search, nearest_goal
from waybench.envs.voxel.engines._engines import open_charted_world
from waybench.envs.voxel.engines._generate import CELL, Bytes, Ints

_BESIDE = 160  # blocks around start and goal in which ways are looked for
_DRY, _WET = 4, 9  # what a cell costs, on land and in water, where one is slower
_FAR = 1 << 40


@compiled
def _write_costs_to_goal(is_goal: Bytes, heights: Ints, sea: int, steepest: int, costs: Ints) -> None:
    """Write what the cheapest way from each cell to a goal costs.

    Args:
        is_goal: 1 for each cell that is a goal; shape (columns, rows).
        heights: The layer of the ground in each; of the same shape.
        sea: The layer of the water's surface.
        steepest: Blocks from one cell to the next that can be climbed.
        costs: Receives the costs; of the same shape.
    """
    wide, deep = costs.shape
    queue = [0]  # costs, and in the lower 32 bits places; the number in it tells the compiler what they are
    queue.pop()
    for i in range(wide):
        for j in range(deep):
            costs[i, j] = 0 if is_goal[i, j] else _FAR
            if is_goal[i, j]:
                heappush(queue, i * deep + j)
    while len(queue) > 0:
        first = heappop(queue)
        cost, cell = first >> 32, first & 0xFFFFFFFF
        i, j = cell // deep, cell % deep
        if cost > costs[i, j]:
            continue
        for way in range(4):
            a, b = i + (way == 0) - (way == 1), j + (way == 2) - (way == 3)
            if not (0 <= a < wide and 0 <= b < deep):
                continue
            climb = max(heights[i, j], sea) - max(heights[a, b], sea)  # one comes from there
            if climb > steepest:
                continue
            total = cost + (_WET if heights[a, b] < sea else _DRY) + (climb if climb > 3 else 0)
            if total < costs[a, b]:
                costs[a, b] = total
                heappush(queue, total << 32 | a * deep + b)


class Route:
    """The costs of ways to the goals nearest to a search's start."""

    def __init__(self, search: Search) -> None:
        near = nearest_goal(search, search.x, search.z)
        self._goal = (search.x, search.z) if near is None else (near.x, near.z)
        ends = ((search.x, self._goal[0]), (search.z, self._goal[1]))
        self._west, self._north = ((min(coordinates) - _BESIDE) // CELL for coordinates in ends)
        shape = tuple((max(coordinates) - min(coordinates) + 2 * _BESIDE) // CELL + 1 for coordinates in ends)
        heights, self._costs = np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.int64)
        is_goal = np.empty(shape, dtype=np.uint8)
        world = open_charted_world(search.engine, search.seed)
        world.chart(self._west, self._north, search.goals, heights, is_goal)
        _write_costs_to_goal(is_goal, heights, world.sea, world.steepest, self._costs)

    def distance_left(self, x: float, z: float) -> float:
        """Return the remaining way from a place, in blocks on land; a large number where no way is known."""
        i, j = int(x // CELL) - self._west, int(z // CELL) - self._north
        straight = float(np.hypot(x - self._goal[0], z - self._goal[1]))
        if 0 <= i < self._costs.shape[0] and 0 <= j < self._costs.shape[1] and self._costs[i, j] < _FAR:
            return float(self._costs[i, j]) + straight / 1000  # of cells with equal costs the nearer one
        return _FAR + straight


@lru_cache(maxsize=32)
def cached_route(search: Search) -> Route:
    """Return the costs of ways to a search's nearest goals; the last 32 are cached."""
    return Route(search)
