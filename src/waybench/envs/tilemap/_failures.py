"""How an episode on a tile map fails: by what most of its objectives were missed."""

from collections.abc import Iterator, Sequence

from waybench.core import (
    NO_ANSWER,
    TURN_LIMIT,
    End,
    EpisodeRecord,
    FailureKind,
    TurnRecord,
    general_failure,
    main_cause,
)
from waybench.envs.tilemap._protocol import PROTOCOLS

ENEMY = FailureKind("enemy", "meeting an enemy", "Most objectives were lost because an enemy met the player.")
HAZARD = FailureKind("hazard", "stepping on a hazard", "Most objectives were lost because the player stepped on one.")
CRASHED = FailureKind(
    "crashed",
    "plans that ended the program",
    'In "paper", most objectives were lost because of an "action" with which the published program ended.',
)
WRONG_NAME = FailureKind(
    "wrong_name", "names that are no action", "Most objectives were missed by plans with a name that is no action."
)
BLOCKED = FailureKind(
    "blocked",
    "moves into obstacles",
    "Most objectives were missed by plans of actions only, with a move into a wall or off the map.",
)
STRATEGIC = FailureKind(
    "strategic",
    "plans that end elsewhere",
    "Most objectives were missed by plans of actions only, all of which could be made.",
)

FAILURES = (ENEMY, HAZARD, CRASHED, WRONG_NAME, BLOCKED, STRATEGIC)
"""The kinds of this family. Unreadable replies count for the objectives that were given up after them."""

# What leaves least to the player's plan comes first, where causes are equally frequent.
_ORDER = (ENEMY, HAZARD, CRASHED, *NO_ANSWER, WRONG_NAME, BLOCKED, STRATEGIC, TURN_LIMIT)
_DEATHS = {"enemy": ENEMY, "hazard": HAZARD}


def failure(record: EpisodeRecord) -> FailureKind:
    """Return what most of the missed objectives were missed by."""
    return main_cause(_missed(record), _ORDER) or general_failure(record)


def _missed(record: EpisodeRecord) -> Iterator[FailureKind]:
    """Yield for each objective that was not reached why it was not.

    What ends the map, such as an enemy, takes all objectives that are left.
    """
    left = len(record.instance["objectives"])
    if not PROTOCOLS[record.options["protocol"]].unreachable:
        left -= len(record.proof["unreachable"])
    unread: list[str] = []
    plans: list[TurnRecord] = []
    for turn in record.turns:
        events = turn.events
        fatal = CRASHED if events.get("crashed") else _DEATHS.get(str(events.get("death", "")))
        if fatal is not None:
            yield from [fatal] * left
            return
        if turn.action is None:
            unread.append(str(turn.outcome))
            if len(unread) == record.options["max_failures"]:
                yield max(NO_ANSWER, key=lambda kind: unread.count(kind.name))
                left, unread, plans = left - 1, [], []
            continue
        unread = []
        plans.append(turn)
        if events["final"]:
            if list(events["off"]) != [0, 0]:
                yield _by_plans(plans)
            left, plans = left - 1, []
    if record.end is End.TURN_LIMIT:
        yield from [TURN_LIMIT] * left  # a budget of the caller's: nothing was asked for the rest


def _by_plans(plans: Sequence[TurnRecord]) -> FailureKind:
    """Return why plans for one objective, the last of which ended elsewhere, have missed it."""
    causes = (
        WRONG_NAME if plan.events["unknown"] else BLOCKED if plan.events["blocked"] else STRATEGIC for plan in plans
    )
    return main_cause(causes, _ORDER) or STRATEGIC
