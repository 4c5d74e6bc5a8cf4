"""What is measured of minigames: metrics and failures."""

from waybench.core import EpisodeRecord, FailureKind, Json, Outcome, general_failure
from waybench.envs.textmap.map import MetricFunction, event, share
from waybench.envs.textmap.minigame._game import Minigame


def prove(game: Minigame) -> dict[str, Json]:
    """Return the facts about a minigame.

    Returns:
        known: whether the move is known before;
        walked: whether it was made before;
        choices: number of actions in the list;
        chance: success of a random action of the list.
    """
    choices = len(game.actions)
    return {"known": game.known, "walked": game.walked, "choices": choices, "chance": 1 / choices}


def _event_value(name: str) -> MetricFunction:
    """Return the metric of an event, undefined if the answer could not be read."""

    def compute(record: EpisodeRecord) -> float | None:
        value = event(record, name)
        return None if value is None else float(value)

    return compute


def success(record: EpisodeRecord) -> float:
    """Return whether the answer is right; an answer that could not be read is wrong."""
    return _event_value("success")(record) or 0.0


def _success_if(known: bool) -> MetricFunction:
    return lambda record: success(record) if record.proof["known"] is known else None


METRICS = (
    share(
        "success",
        success,
        "Success",
        "Whether the answer is the walkthrough's next action (section 3.5); unreadable answers count as wrong.",
    ),
    share(
        "success_known",
        _success_if(True),
        "Success, known moves",
        "The same for known moves: the walkthrough made the move or its opposite before.",
    ),
    share(
        "success_new", _success_if(False), "Success, new moves", "The same for unknown moves, which lead to new places."
    ),
    share(
        "parsed",
        lambda record: float(_event_value("success")(record) is not None),
        "Parsed",
        "Whether the answer is readable: one of the actions.",
    ),
    share("chance", lambda record: record.proof["chance"], "Chance", "Success rate of a random answer.", better=""),
    share(
        "moving",
        _event_value("moving"),
        "Moving",
        "Whether the answer leads away from the place on the map; among readable answers.",
    ),
    share(
        "arrives",
        _event_value("arrives"),
        "Same place",
        "Whether the answer leads to the same place as the walkthrough, by the same move or another.",
    ),
    share(
        "visited",
        _event_value("visited"),
        "Visited",
        "Whether the answer leads to a place that the walkthrough visited; among answers that lead away.",
        better="",
    ),
    share(
        "known",
        lambda record: float(record.proof["known"]),
        "Known moves",
        "Whether the right move is known: the walkthrough made it or its opposite before.",
        better="",
    ),
)


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
