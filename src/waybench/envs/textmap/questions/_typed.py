"""Parser of the short answers that people type."""

from collections.abc import Sequence

from waybench.core import AnswerState
from waybench.envs.textmap.questions._answer import MOST_HOPS, Hop, Trajectory
from waybench.envs.textmap.questions._instance import MapQuestion
from waybench.envs.textmap.questions._score import SOUND, move_index

HELP = "Type the actions of a route with commas between them, or the place of a destination, or the reply itself."

_OPEN = "?"


def parse_typed(text: str, state: AnswerState[MapQuestion]) -> Trajectory | None:
    """Return the answer that a typed line stands for.

    Args:
        text: Comma-separated actions for a route question, a place for a destination question.
        state: The question.

    Returns:
        The trajectory, or None if the line names an action or a place that is nowhere on the map: a slip of the keys
        costs a person nothing, where it would be the only answer. The places on a route are those that the actions lead
        to. The places before a destination are unknown, so that the answer gets no credit for reasoning.
    """
    question, here = state.instance, state.instance.source
    if question.path:
        place = _named(text, question.map.places)
        if place is None:
            return None
        *before, last = (Hop(_OPEN, action, _OPEN) for action in question.actions)
        return (*before, last._replace(after=place))
    hops: list[Hop] = []
    for action in (_named(part, question.map.actions) for part in text.split(",")):
        if action is None or len(hops) == MOST_HOPS:
            return None
        ends = move_index(question.map).follow(here, [action], SOUND)
        there = min(ends, default=here)
        hops.append(Hop(here, action, there))
        here = there
    return tuple(hops)


def _named(text: str, names: Sequence[str]) -> str | None:
    """Return the name that a text is, whatever the case of its letters; None for no such name."""
    wanted = text.strip().casefold()
    return next((name for name in names if name.casefold() == wanted), None)
