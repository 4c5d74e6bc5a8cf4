"""How a delivery fails: the actor that the agent met, or the task that was open when its steps ran out."""

from waybench.core import TURN_LIMIT, EpisodeRecord, FailureKind
from waybench.smartplay import steps_of

UNPRODUCTIVE = FailureKind(
    "unproductive", "moves against the edge", "The steps ran out, and at least half of them were against the edge."
)
ENEMY = FailureKind("enemy", "meeting the enemy", "The enemy ended the game.")
DECOY = FailureKind("decoy", "meeting a decoy", "A decoy ended the game; stage 3 only.")
GOAL = FailureKind(
    "goal", "meeting the goal without the message", "The player met the goal too early, which ended the game."
)
MESSAGE = FailureKind("message", "meeting the message again", "The message ended the game; stage 1 only.")
NOT_FOUND = FailureKind("not_found", "message not picked up in time", "The steps ran out without the message.")
UNDELIVERED = FailureKind(
    "undelivered", "message not delivered in time", "The steps ran out while the player had the message."
)

FAILURES = (UNPRODUCTIVE, ENEMY, DECOY, GOAL, MESSAGE, NOT_FOUND, UNDELIVERED)
_FATES = {"enemy": ENEMY, "decoy": DECOY, "goal": GOAL, "message": MESSAGE}


def own_failure(record: EpisodeRecord, general: FailureKind) -> FailureKind:
    """Return what ended the game, or what had not been done when its steps ran out."""
    steps = steps_of(record)
    fate = str(steps[-1].get("fate", "")) if steps else ""
    if fate in _FATES:
        return _FATES[fate]
    if general != TURN_LIMIT:
        return general
    carries = steps[-1]["carries"] if steps else record.instance["agent"]["carries"]
    return UNDELIVERED if carries else NOT_FOUND
