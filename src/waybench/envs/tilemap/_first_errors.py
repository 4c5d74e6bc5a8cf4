"""The first move that is not one of a shortest tour of the objectives."""

from collections import deque
from collections.abc import Iterator
from functools import lru_cache

from waybench.core import EpisodeRecord, FailureKind, FirstErrors, Step, is_object, unread
from waybench.envs.tilemap._board import MOVES, Board, board, style_of
from waybench.envs.tilemap._instance import decode

BLOCKED = FailureKind("blocked", "moves into obstacles", "The move is blocked.")
DIRECTION = FailureKind("direction", "moves away from the objective", "The move leads away from the objective.")
PASSED = FailureKind("passed", "moves past the objective", "The plan goes on after it has reached the objective.")
OTHER = FailureKind("other_action", "actions that are no moves", "The plan has another action, or no name of one.")
STOPPED = FailureKind("stopped", "stopping before the objective", "The last plan for an objective ends before it.")


def steps(record: EpisodeRecord) -> Iterator[Step]:
    """Yield the moves of all plans, up to the first that is not one of a shortest tour.

    With walkers and enemies a shortest path may have to wait or go around, so nothing is judged.
    """
    if record.options["walkers"] or record.options["enemies"]:
        return
    case = decode(record.instance)
    map_board = board(case, style_of(record.options))
    width = case.width + 2
    row, column = divmod(case.start, case.width)
    at = (row + 1) * width + column + 1
    for number, turn in enumerate(record.turns):
        if turn.action is None:
            yield Step(number, unread(turn))
            return
        goal = case.objectives[int(turn.events["goal"])]
        far = _distances(map_board, (goal.row + 1) * width + goal.column + 1)
        if at not in far:
            return  # no play reaches this objective
        for name in turn.action["action"] if is_object(turn.action) else turn.action:
            error = _error(name, at, far, width)
            yield Step(number, error)
            if error is not None:
                return
            rows, columns = MOVES[name]
            at += rows * width + columns
        if turn.events["final"] and far[at]:
            yield Step(number, STOPPED)
            return


def _error(name: str, at: int, far: dict[int, int], width: int) -> FailureKind | None:
    move = MOVES.get(name)
    if move is None:
        return OTHER
    following = at + move[0] * width + move[1]
    if following not in far:
        return BLOCKED
    if far[following] < far[at]:
        return None
    return DIRECTION if far[at] else PASSED


@lru_cache(maxsize=64)
def _distances(map_board: Board, goal: int) -> dict[int, int]:
    """Return the moves to a cell of the fenced map, around hazards, from all cells that it can be reached from."""
    width = map_board.case.width + 2
    far, todo = {goal: 0}, deque([goal])
    while todo:
        cell = todo.popleft()
        for way in (-width, width, -1, 1):
            other = cell + way
            if map_board.fenced[other] and other not in map_board.hazards and other not in far:
                far[other] = far[cell] + 1
                todo.append(other)
    return far


FIRST_ERRORS = FirstErrors((DIRECTION, BLOCKED, PASSED, OTHER, STOPPED), steps)
