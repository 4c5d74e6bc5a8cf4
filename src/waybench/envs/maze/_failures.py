"""How an attempt at a maze fails: the most frequent outcome of its plans."""

from collections.abc import Iterator

from waybench.core import NO_ANSWER, EpisodeRecord, FailureKind, general_failure, main_cause

WALL = FailureKind("wall", "movements into walls", "Most plans have a movement into a wall.")
OUTSIDE = FailureKind("outside", "movements out of the maze", "Most plans have a movement out of the matrix.")
STOPPED = FailureKind("stopped", "plans that stop before the exit", "Most plans were valid but did not reach the exit.")

FAILURES = (WALL, OUTSIDE, STOPPED)


def failure(record: EpisodeRecord) -> FailureKind:
    """Return the most frequent outcome of the plans, where most replies were plans."""
    general = general_failure(record)
    return general if general in NO_ANSWER else main_cause(_causes(record), FAILURES) or general


def _causes(record: EpisodeRecord) -> Iterator[FailureKind]:
    for turn in record.own_turns:
        if turn.action is not None:
            illegal = turn.events.get("illegal")
            yield STOPPED if illegal is None else OUTSIDE if illegal["obstacle"] == "outside" else WALL
