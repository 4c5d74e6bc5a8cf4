"""What else is measured of an episode on a tile map: failures, first errors, beliefs and explanatory variables."""

from collections import deque
from collections.abc import Iterator
from functools import lru_cache, partial

from waybench.core import (
    Axis,
    Belief,
    End,
    EpisodeRecord,
    ExplanatoryVariables,
    FailureKind,
    FirstErrors,
    Step,
    TurnRecord,
    general_failure,
    is_object,
    main_cause,
    read_numbers,
    unread,
)
from waybench.envs.tilemap._board import MOVES, Board, Location, board, style_of
from waybench.envs.tilemap._instance import decode
from waybench.envs.tilemap._protocol import PROTOCOLS

ENEMY = FailureKind("enemy", "meeting an enemy", "Most objectives were lost because an enemy met the player.")
HAZARD = FailureKind("hazard", "stepping on a hazard", "Most objectives were lost because the player stepped on one.")
CRASHED = FailureKind(
    "crashed",
    "replies that crash the published program",
    'In "paper", most objectives were lost because of an "action" that ends the published program.',
)
_GIVEN_UP = "Most objectives were given up after {}."
UNREAD = (
    FailureKind("refused", "refusals", _GIVEN_UP.format("refusals")),
    FailureKind("truncated", "truncated replies", _GIVEN_UP.format("truncated replies")),
    FailureKind("overflow", "context overflow", _GIVEN_UP.format("the conversation outgrew the context")),
    FailureKind("unparsed", "unreadable replies", _GIVEN_UP.format("unreadable replies")),
)
OUT_OF_BUDGET = FailureKind(
    "turn_limit", "the turn limit", "Most objectives were not attempted, because tokens or messages ran out."
)
WRONG_NAME = FailureKind(
    "wrong_name",
    "names that are not actions",
    "Most objectives were missed by plans with a name that is not an action.",
)
BLOCKED = FailureKind(
    "blocked",
    "moves into obstacles",
    "Most objectives were missed by plans of actions only that obstacles stopped: at least half of the moves were "
    "into walls or off the map, or the plan would have ended at the objective without obstacles.",
)
STRATEGIC = FailureKind(
    "strategic",
    "plans that end elsewhere",
    "Most objectives were missed by plans of actions only that would have ended elsewhere even without obstacles.",
)

FAILURES = (ENEMY, HAZARD, CRASHED, *UNREAD, WRONG_NAME, BLOCKED, STRATEGIC, OUT_OF_BUDGET)
"""The kinds of this family. Of equally frequent causes the first is named, which leaves least to the player's plan."""

_DEATHS = {"enemy": ENEMY, "hazard": HAZARD}


def failure(record: EpisodeRecord) -> FailureKind:
    """Return the most frequent cause of missed objectives."""
    return main_cause(_causes_of_misses(record), FAILURES) or general_failure(record)


def _causes_of_misses(record: EpisodeRecord) -> Iterator[FailureKind]:
    """Yield the cause for each objective that was not reached.

    What ends the map, such as an enemy, takes all objectives that are left.
    """
    left = len(record.instance["objectives"])
    if not PROTOCOLS[record.options["protocol"]].unreachable:
        left -= len(record.proof["unreachable"])
    unread: list[str] = []
    case = decode(record.instance)
    at = divmod(case.start, case.width)
    plans: list[FailureKind] = []
    for turn in record.turns:
        events = turn.events
        fatal = CRASHED if events.get("crashed") else _DEATHS.get(str(events.get("death", "")))
        if fatal is not None:
            yield from [fatal] * left
            return
        if turn.action is None:
            unread.append(str(turn.outcome))
            if len(unread) == record.options["max_failures"]:
                yield max(UNREAD, key=lambda kind: unread.count(kind.name))
                left, unread, plans = left - 1, [], []
            continue
        unread = []
        goal = case.objectives[int(events["goal"])]
        plans.append(_cause(turn, at, (goal.row, goal.column)))
        at = (events["at"][0], events["at"][1])
        if events["final"]:
            if list(events["off"]) != [0, 0]:
                yield main_cause(plans, FAILURES) or STRATEGIC
            left, plans = left - 1, []
    if record.end is End.TURN_LIMIT:
        yield from [OUT_OF_BUDGET] * left  # the caller's budget ended the map before the rest


def _cause(plan: TurnRecord, begin: tuple[int, int], goal: tuple[int, int]) -> FailureKind:
    """Return why a plan ended elsewhere.

    Args:
        plan: Its turn.
        begin: Row and column where it began.
        goal: Row and column where it had to end.
    """
    events = plan.events
    if events["unknown"]:
        return WRONG_NAME
    names = plan.action["action"] if is_object(plan.action) else plan.action
    moves = [MOVES[name] for name in names if name in MOVES]
    free = begin[0] + sum(rows for rows, _ in moves), begin[1] + sum(columns for _, columns in moves)
    stopped = events["blocked"] and (2 * events["blocked"] >= len(moves) or free == goal)
    return BLOCKED if stopped else STRATEGIC


BLOCKED_ERROR = FailureKind("blocked", "moves into obstacles", "The move is blocked.")
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
        return BLOCKED_ERROR
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


FIRST_ERRORS = FirstErrors((DIRECTION, BLOCKED_ERROR, PASSED, OTHER, STOPPED), steps)


_FORM = "[<row>, <column>]"

POSITION: Belief[Location] = Belief(
    name="position",
    title="position",
    doc="The agent's row and column.",
    question="In which row and which column is the agent now? Both are counted from 0.",
    form=_FORM,
    expected=lambda state: [state.row, state.column],
    read=partial(read_numbers, count=2),
)
TARGET: Belief[Location] = Belief(
    name="target",
    title="target",
    doc="Row and column of the present objective.",
    question="In which row and which column is the present target? Both are counted from 0.",
    form=_FORM,
    expected=lambda state: list(state.board.goals[state.goal]),
    read=partial(read_numbers, count=2),
)
BELIEFS = (POSITION, TARGET)


def _cells(record: EpisodeRecord) -> float:
    return float(sum(map(len, record.instance["environment"].splitlines())))


def _blocked(record: EpisodeRecord) -> float:
    text, walkable = record.instance["environment"].replace("\n", ""), set(record.instance["walkable_tiles"])
    return sum(tile not in walkable for tile in text) / max(1, len(text))


def _longest_leg(record: EpisodeRecord) -> float | None:
    legs = [leg for leg in record.proof.get("legs", ()) if leg is not None]
    return float(max(legs)) if legs else None


VARIABLES = ExplanatoryVariables(
    items=(
        Axis(
            name="objectives",
            title="Objectives",
            of=lambda record: float(len(record.instance["objectives"])),
            doc="Objectives of the map.",
        ),
        Axis(
            name="longest_leg",
            title="Longest leg",
            of=_longest_leg,
            doc="Moves of the longest shortest path from one objective to the next.",
        ),
        Axis(name="cells", title="Cells", of=_cells, doc="Cells of the map."),
        Axis(
            name="blocked",
            title="Share of cells that block",
            of=_blocked,
            doc="Share of the cells whose tiles cannot be walked on.",
        ),
    )
)
