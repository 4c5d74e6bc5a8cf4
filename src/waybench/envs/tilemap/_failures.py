"""How an episode on a tile map fails: the most frequent cause of missed objectives."""

from collections.abc import Iterator

from waybench.core import (
    End,
    EpisodeRecord,
    FailureKind,
    TurnRecord,
    general_failure,
    is_object,
    main_cause,
)
from waybench.envs.tilemap._board import MOVES
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
