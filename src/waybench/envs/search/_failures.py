"""How a search fails: illegal answers, unproductive answers, or the limit on steps."""

from collections.abc import Iterator

from waybench.core import ILLEGAL, EpisodeRecord, FailureKind, Outcome, TurnRecord, general_failure, main_cause

NUMBER_FAILURES = (
    FailureKind("illegal", "guesses out of the range", "Most replies without effect were such guesses."),
    FailureKind(
        "unproductive",
        "guesses excluded by earlier answers",
        "The guesses ran out, and earlier answers had excluded at least half of them.",
    ),
    FailureKind("turn_limit", "running out of guesses", "The guesses ran out before the number was found."),
)


def number_failure(record: EpisodeRecord) -> FailureKind:
    """Return how a search for a number failed; what a coach refused, and a teacher's steps, count in nothing."""
    return general_failure(record, _judged(record))


NO_NODE = FailureKind("no_node", "nodes that do not exist", "Most invalid nodes do not exist.")
NOT_BESIDE = FailureKind(
    "not_beside",
    "nodes that cannot be reached",
    "Most invalid nodes are not neighbours of the current node (in breadth-first search: of any visited node).",
)
REVISITS = FailureKind("unproductive", "revisits", "The steps ran out, and at least half of them visited nodes again.")
UNVISITED = FailureKind("turn_limit", "running out of steps", "The steps ran out before all nodes were visited.")
WALK_FAILURES = (REVISITS, UNVISITED, NO_NODE, NOT_BESIDE)


def walk_failure(record: EpisodeRecord) -> FailureKind:
    """Return how a walk failed, with a kind of its own for invalid nodes."""
    general = general_failure(record, _judged(record))
    return main_cause(_invalid(record), WALK_FAILURES) or general if general == ILLEGAL else general


def _judged(record: EpisodeRecord) -> list[TurnRecord]:
    return [turn for turn in record.own_turns if turn.executed is None and "coached" not in turn.events]


def _invalid(record: EpisodeRecord) -> Iterator[FailureKind]:
    size = len(record.instance["nodes"])
    for turn in _judged(record):
        if turn.outcome is Outcome.ILLEGAL:
            yield NOT_BESIDE if 0 <= turn.action < size else NO_NODE
