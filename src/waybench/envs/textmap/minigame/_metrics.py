"""Metrics of minigames (MANGO, section 3.5)."""

from waybench.core import EpisodeRecord, Json
from waybench.envs.textmap.map import MetricFunction, event, share
from waybench.envs.textmap.minigame._instance import Minigame


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
        "Whether the answer is the walkthrough's next action (section 3.5); what could not be read is not.",
    ),
    share(
        "success_known",
        _success_if(True),
        "Success, known moves",
        "The same where a reader can know the move: it was made before, or follows from one that was.",
    ),
    share("success_new", _success_if(False), "Success, new moves", "The same where the move leads into the unknown."),
    share(
        "parsed",
        lambda record: float(_event_value("success")(record) is not None),
        "Parsed",
        "Whether the answer is one of the actions, so that it could be read.",
    ),
    share("chance", lambda record: record.proof["chance"], "Chance", "Success of an answer at random.", better=""),
    share(
        "moving",
        _event_value("moving"),
        "Moving",
        "Whether the answer leads away from the place, as far as the map knows; of the answers that could be read.",
    ),
    share(
        "arrives",
        _event_value("arrives"),
        "Same place",
        "Whether the answer leads where the walkthrough goes, by the same move or another one.",
    ),
    share(
        "visited",
        _event_value("visited"),
        "Visited",
        "Whether the answer leads to a place where the walkthrough has been; of the answers that lead away.",
        better="",
    ),
    share(
        "known",
        lambda record: float(record.proof["known"]),
        "Known moves",
        "Whether a reader can know the right move.",
        better="",
    ),
)
