"""What a person types in place of a list of objects."""

from waybench.envs.textmap._answer import MOST_HOPS, Hop, Trajectory
from waybench.envs.textmap._game import Asked
from waybench.envs.textmap._map_instance import LONGEST_NAME
from waybench.envs.textmap._score import SOUND, ground

HELP = "Type the actions of a route with commas between them, or the place of a destination, or the reply itself."


def typed(text: str, state: Asked) -> Trajectory | None:
    """Return the answer that a typed line stands for.

    Args:
        text: Actions with commas between them, if a route is asked for; a place, if a destination is.
        state: What is asked.

    Returns:
        The trajectory, its places those that the actions lead to; None if the line is empty or too long.
    """
    question, here = state.question, state.question.source
    if question.path:
        place = text.strip()
        if not 1 <= len(place) <= LONGEST_NAME:
            return None
        *before, last = (Hop(edge.source, edge.action, edge.target) for edge in question.path)
        return (*before, last._replace(after=place))
    hops: list[Hop] = []
    for said in (part.strip() for part in text.split(",")):
        if not 1 <= len(said) <= LONGEST_NAME or len(hops) == MOST_HOPS:
            return None
        ends = ground(question.map).follow(here, [said], SOUND)
        there = min(ends, default=here)
        hops.append(Hop(here, said, there))
        here = there
    return tuple(hops)
