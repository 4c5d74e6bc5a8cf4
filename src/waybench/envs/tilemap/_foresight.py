"""The best tour among beings, for a player that knows every step that they will make."""

from collections import deque
from collections.abc import Sequence
from functools import lru_cache
from heapq import heappop, heappush
from typing import NamedTuple

from waybench.envs.tilemap._beings import step_beings
from waybench.envs.tilemap._board import MOVES, Board, Location
from waybench.envs.tilemap._shortfall import tour_pays
from waybench.envs.tilemap._walk import fenced_now

LIMIT = 20_000  # states that one search looks at
_SINGLE = 10  # times fewer for single moves, for the search begins anew with each of them
_HASTE = 3  # weight of the moves that are still to be made, where the first search has found no tour


class Tour(NamedTuple):
    """A tour of the rest of a map.

    Attributes:
        plans: Names of moves for each goal, from the present one on.
        is_best: Whether no other play from here is worth more: the tour reaches every goal, no tour is shorter, and all
            of its moves cost less than missing a single goal.
    """

    plans: tuple[tuple[str, ...], ...]
    is_best: bool


class _Node(NamedTuple):
    """A node of the search: number of goals reached, number of actions taken so far, the player and the beings."""

    reached: int
    tick: int
    cell: int
    beings: tuple[int, ...]


def foresee(state: Location) -> Tour:
    """Return a shortest tour of all goals that meets no enemy and no hazard, as beings will move.

    The search for a shortest one (A*; the lower bound is the distance on the map without beings) stops after `LIMIT`
    states; a hasty search then looks for any tour. Where that stops too, the tour ends at the place nearest to its end
    that either has found.

    Args:
        state: The state.
    """
    return foresee_tour(state.board, state.removed, state.goal, state.cell, state.beings, state.tick)


@lru_cache(maxsize=1024)
def foresee_tour(
    board: Board, removed: tuple[tuple[int, int], ...], goal: int, at: int, beings: tuple[int, ...], tick: int
) -> Tour:
    world = _world(board, removed)
    numbers = [number for number in range(goal, len(board.goals)) if world.distances[number].get(at) is not None]
    search = _Search(
        world, [world.cells[number] for number in numbers], [world.distances[number] for number in numbers]
    )
    start = _Node(search.passed(0, at), tick, at, beings)
    tour = shortest = search.run(start, 1)
    if not shortest.complete:
        tour = min(search.run(start, _HASTE), shortest, key=lambda tour_found: tour_found.order)
    plans: list[tuple[str, ...]] = [() for _ in range(goal, len(board.goals))]
    for number, names in zip(numbers, tour.legs, strict=True):
        plans[number - goal] = tuple(names)
    moves = sum(map(len, plans))
    complete = shortest.complete and len(numbers) == len(plans)
    is_best = complete and tour_pays(board, world.fenced, at, numbers, moves)
    return Tour(tuple(plans), is_best)


class _World(NamedTuple):
    """A map for searches: the cells of goals, and the distances to each goal from every cell that leads there."""

    board: Board
    fenced: bytes
    cells: list[int]
    distances: list[dict[int, int]]


@lru_cache(maxsize=64)
def _world(board: Board, removed: tuple[tuple[int, int], ...]) -> _World:
    fenced = fenced_now(board, removed)
    width = board.case.width + 2
    inside = [
        (row + 1) * width + column + 1 if 0 <= row < board.case.height and 0 <= column < board.case.width else 0
        for row, column in board.goals
    ]
    return _World(board, fenced, inside, [_distances(board, fenced, cell) for cell in inside])


def _distances(board: Board, fenced: bytes, goal: int) -> dict[int, int]:
    if not fenced[goal]:  # a wall, or outside the map
        return {}
    width = board.case.width + 2
    distances = {goal: 0}
    waiting = deque((goal,))
    while waiting:
        cell = waiting.popleft()
        for way in (-width, width, -1, 1):
            neighbour = cell + way
            if fenced[neighbour] and neighbour not in distances and neighbour not in board.hazards:
                distances[neighbour] = distances[cell] + 1
                waiting.append(neighbour)
    return distances


class _SearchResult(NamedTuple):
    """The result of a search: the smaller its order, the further it reached.

    Attributes:
        complete: Whether it reached the last goal.
        order: Goals that are not reached, and the least number of moves from the end to the last one.
        legs: Names of moves to each goal; where the search did not complete, to the last place.
    """

    complete: bool
    order: tuple[int, int]
    legs: list[list[str]]


class _Search:
    """A search for a tour of some goals.

    Args:
        world: The map.
        goals: Cells of the goals, in their order.
        distances: To each of them, from every cell.
    """

    def __init__(self, world: _World, goals: Sequence[int], distances: Sequence[dict[int, int]]) -> None:
        self._world, self._goals, self._distances = world, goals, distances
        self._limit = LIMIT // (_SINGLE if world.board.style.single else 1)
        width = world.board.case.width + 2
        self._ways = [(name, rows * width + columns) for name, (rows, columns) in MOVES.items()]
        rest = [0]
        for number in range(len(goals) - 1, 0, -1):
            rest.append(rest[-1] + distances[number].get(goals[number - 1], 0))
        self._rest = rest[::-1]  # moves from each goal to the end
        self._before: dict[_Node, tuple[_Node, str]] = {}

    def passed(self, count: int, cell: int) -> int:
        """Return how many goals are reached at a cell, of which so many were reached before."""
        while count < len(self._goals) and self._goals[count] == cell:
            count += 1
        return count

    def _order(self, node: _Node) -> tuple[int, int]:
        return len(self._goals) - node.reached, self._left(node)

    def _left(self, node: _Node) -> int:
        """Return the least number of moves to the end."""
        count = node.reached
        if count == len(self._goals):
            return 0
        return self._distances[count][node.cell] + self._rest[count]

    def run(self, start: _Node, weight: int) -> _SearchResult:
        """Return a tour, or how far the search has come.

        Args:
            start: Where it begins.
            weight: Of the moves that are still to be made; with 1 the tour is a shortest one.
        """
        self._before = {start: (start, "")}
        left = self._left(start)
        waiting = [(left * weight, left, 0, start)]
        number, furthest = 0, start
        for _ in range(self._limit):
            if not waiting:
                break
            *_, node = heappop(waiting)
            if self._order(node) < self._order(furthest):
                furthest = node
            if node.reached == len(self._goals):
                break
            for name, following in self._following(node):
                if following not in self._before:  # every way to a state has as many actions as another
                    self._before[following] = node, name
                    left = self._left(following)
                    number += 1
                    ticks = following.tick - start.tick
                    heappush(waiting, (ticks + left * weight, left, number, following))
        complete = furthest.reached == len(self._goals)
        return _SearchResult(complete, self._order(furthest), self._legs(start, furthest))

    def _following(self, node: _Node) -> list[tuple[str, _Node]]:
        world = self._world
        board, fenced = world.board, world.fenced
        standing = node.beings[: board.style.crew.walkers]
        successors: list[tuple[str, _Node]] = []
        waited = False
        for name, way in self._ways:
            cell = node.cell + way
            if not fenced[cell] or cell in standing:
                if waited:
                    continue  # one move that leads nowhere is as good as another
                cell, waited = node.cell, True
            elif cell in board.hazards:
                continue
            beings, caught = step_beings(board, fenced, cell, node.beings, node.tick)
            if not caught:
                successors.append((name, _Node(self.passed(node.reached, cell), node.tick + 1, cell, beings)))
        return successors

    def _legs(self, start: _Node, end: _Node) -> list[list[str]]:
        legs: list[list[str]] = [[] for _ in self._goals]
        node = end
        while node != start:
            node, name = self._before[node]
            legs[node.reached].append(name)
        return [leg[::-1] for leg in legs]
