"""Failure kinds of minigames: where the chosen action leads."""

from waybench.core import EpisodeRecord, FailureKind, Outcome, general_failure
from waybench.envs.textmap.map import event

SAME_PLACE = FailureKind(
    "same_place", "another move to the same place", "The action leads to the same place as the walkthrough's move."
)
NOT_MOVING = FailureKind("not_moving", "actions that do not lead away", "The action leads nowhere on the map.")
BACK = FailureKind("back", "moves to places visited before", "The action leads back to a place of the walkthrough.")
AHEAD = FailureKind("ahead", "moves to other new places", "The action leads to another new place.")
MINIGAME_FAILURES = (
    FailureKind("illegal", "actions that are not listed", "The action is not on the list."),
    SAME_PLACE,
    NOT_MOVING,
    BACK,
    AHEAD,
)


def minigame_failure(record: EpisodeRecord) -> FailureKind:
    """Return where a wrong action leads."""
    if event(record, "moving") is None or record.turns[-1].outcome is Outcome.ILLEGAL:
        return general_failure(record)
    if event(record, "arrives"):
        return SAME_PLACE
    if not event(record, "moving"):
        return NOT_MOVING
    return BACK if event(record, "visited") else AHEAD
