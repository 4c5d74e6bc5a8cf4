"""Costs of walking from all cells to the nearest goal, over land and water. Compiled."""

from functools import lru_cache
from heapq import heappop, heappush

import numpy as np

from waybench._compile import compiled
from waybench.envs.voxel._game import Search, nearest_goal
from waybench.envs.voxel.engines._engines import open_charted_world
from waybench.envs.voxel.engines._generate import CELL, Bytes, Ints

_BESIDE = 160  # blocks around start and goal in which ways are looked for
_DRY, _WET = 4, 9  # what a cell costs: its four blocks, and more in water, where walking is slower
_EASY_CLIMB = 3  # blocks from one cell to the next that cost nothing more
_FAR = 1 << 40  # the cost where no way is known


@compiled
def _write_costs_to_goal(is_goal: Bytes, heights: Ints, sea: int, steepest: int, costs: Ints) -> None:
    """Write to `costs` what the cheapest way from each cell to a goal costs, by Dijkstra's algorithm from the goals.

    `is_goal` has a 1 for each cell that is a goal, and `heights` the layer of the ground in each cell; all three have
    the shape (columns, rows). `sea` is the layer of the water's surface; a step of up to `steepest` blocks can be
    climbed from one cell to the next.
    """
    wide, deep = costs.shape
    queue = [0]  # cost << 32 | cell; the first entry only tells the compiler the type
    queue.pop()
    for i in range(wide):
        for j in range(deep):
            costs[i, j] = 0 if is_goal[i, j] else _FAR
            if is_goal[i, j]:
                heappush(queue, i * deep + j)
    while len(queue) > 0:
        entry = heappop(queue)
        cost, cell = entry >> 32, entry & 0xFFFFFFFF
        i, j = cell // deep, cell % deep
        if cost > costs[i, j]:
            continue
        for direction in range(4):
            next_i, next_j = i + (direction == 0) - (direction == 1), j + (direction == 2) - (direction == 3)
            if not (0 <= next_i < wide and 0 <= next_j < deep):
                continue
            climb = max(heights[i, j], sea) - max(heights[next_i, next_j], sea)  # the walk is towards the goal
            if climb > steepest:
                continue
            total = cost + (_WET if heights[next_i, next_j] < sea else _DRY) + (climb if climb > _EASY_CLIMB else 0)
            if total < costs[next_i, next_j]:
                costs[next_i, next_j] = total
                heappush(queue, total << 32 | next_i * deep + next_j)


class Route:
    """The ways from all cells around a search's start and its nearest goal to the goals in this area."""

    def __init__(self, search: Search) -> None:
        nearest = nearest_goal(search, search.x, search.z)
        self._goal = (search.x, search.z) if nearest is None else (nearest.x, nearest.z)
        ends = ((search.x, self._goal[0]), (search.z, self._goal[1]))
        self._west, self._north = ((min(coordinates) - _BESIDE) // CELL for coordinates in ends)
        shape = tuple((max(coordinates) - min(coordinates) + 2 * _BESIDE) // CELL + 1 for coordinates in ends)
        heights, self._costs = np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.int64)
        is_goal = np.empty(shape, dtype=np.uint8)
        world = open_charted_world(search.engine, search.seed)
        world.chart(self._west, self._north, search.goals, heights, is_goal)
        _write_costs_to_goal(is_goal, heights, world.sea, world.steepest, self._costs)

    def distance_left(self, x: float, z: float) -> float:
        """Return the remaining way from a location, in blocks on land; a large number where no way is known."""
        i, j = int(x // CELL) - self._west, int(z // CELL) - self._north
        straight = float(np.hypot(x - self._goal[0], z - self._goal[1]))
        if 0 <= i < self._costs.shape[0] and 0 <= j < self._costs.shape[1] and self._costs[i, j] < _FAR:
            return float(self._costs[i, j]) + straight / 1000  # of equal costs, the nearer location has the less
        return _FAR + straight


@lru_cache(maxsize=32)
def cached_route(search: Search) -> Route:
    """Return the `Route` of a search, which tells the way left from any location (cached)."""
    return Route(search)
