"""A lower bound on the cost of missing an objective, which proves that a full tour is the best play."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from waybench.envs.tilemap._board import Board
from waybench.envs.tilemap._protocol import GIVEN_UP

_REACHED = 200  # points for ending on an objective, by both tables of rewards


def tour_pays(board: Board, fenced: bytes, at: int, goals: Sequence[int], moves: int) -> bool:
    """Return whether no play that misses one of some goals is worth more than a tour of all of them.

    Args:
        board: The map.
        fenced: Its cells, a byte for each: 1 where one can stand.
        at: The player's cell.
        goals: Numbers of the goals that are left, in their order.
        moves: Moves of the tour.
    """
    if moves < GIVEN_UP * board.per_point:
        return True  # a goal that is missed costs more than all moves together
    return moves <= least_cost_of_missing(board, fenced, at, goals)


def least_cost_of_missing(board: Board, fenced: bytes, at: int, goals: Sequence[int]) -> int:
    """Return what a play costs at least that does not end on each of some goals, in moves.

    What costs is each move, and each plan that ends beside its goal: so many moves as its points would pay for. The
    bound is exact without beings. With them, plays can only cost more.

    Args:
        board: The map.
        fenced: Its cells, a byte for each: 1 where one can stand.
        at: The player's cell.
        goals: Numbers of the goals that are left, in their order, at least one.
    """
    width = board.case.width + 2
    reached_costs, missed_costs = {at: 0}, dict[int, int]()  # cell -> least cost of being there after the goals so far
    for goal in goals:
        row, column = board.goals[goal]
        target = (row + 1) * width + column + 1

        def loss(cell: int, row: int = row, column: int = column) -> int:
            points = board.style.protocol.worth(abs(cell // width - 1 - row), abs(cell % width - 1 - column)).reward
            return min(_REACHED - points, _REACHED + GIVEN_UP) * board.per_point  # the penalty has a limit

        walked = _walked(board, fenced, reached_costs)
        ended = {cell: cost + loss(cell) for cell, cost in walked.items() if cell != target}
        for cell, cost in _walked(board, fenced, missed_costs).items():
            ended[cell] = min(cost + loss(cell), ended.get(cell, cost + loss(cell)))
        reached_costs, missed_costs = {target: walked[target]}, ended
    return min(missed_costs.values())


def _walked(board: Board, fenced: bytes, costs: Mapping[int, int]) -> dict[int, int]:
    """Return the least cost of being at each cell, from what it costs to begin at some."""
    width = board.case.width + 2
    waiting = defaultdict[int, list[int]](list)
    for cell, cost in costs.items():
        waiting[cost].append(cell)
    cheapest: dict[int, int] = {}
    while waiting:
        cost = min(waiting)
        for cell in waiting.pop(cost):
            if cell in cheapest:
                continue
            cheapest[cell] = cost
            for way in (-width, width, -1, 1):
                neighbour = cell + way
                if fenced[neighbour] and neighbour not in cheapest and neighbour not in board.hazards:
                    waiting[cost + 1].append(neighbour)
    return cheapest
