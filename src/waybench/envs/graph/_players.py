"""Scripted players, who see the graph and not its text."""

from collections.abc import Mapping

from waybench.core import Player, Stream
from waybench.envs.graph._game import Answer, GraphState
from waybench.envs.graph._instance import neighbours

_LONGEST = 1_000  # steps of a walk at random


def oracle(state: GraphState, rng: Stream) -> Answer:
    """Return the right answer."""
    question = state.instance
    return question.shortest if question.question == "path" else question.reachable


def heuristic(state: GraphState, rng: Stream) -> Answer:
    """Return the path that a depth-first search finds, lower numbers first; whether it is the shortest is chance.

    Whether there is a path it does not look up: it says that there is.
    """
    question = state.instance
    if question.question == "reachable":
        return True
    start, goal = question.ends
    came_from, open_ = {start: start}, [start]
    while open_ and goal not in came_from:
        node = open_.pop()
        for name in sorted(neighbours(question, node), reverse=True):
            if name not in came_from:
                came_from[name] = node
                open_.append(name)
    path = [goal]
    while path[-1] != start:
        path.append(came_from[path[-1]])
    return tuple(reversed(path))


def random(state: GraphState, rng: Stream) -> Answer:
    """Return a walk at random up to the goal, or yes or no at random."""
    question = state.instance
    if question.question == "reachable":
        return bool(rng.below(2))
    start, goal = question.ends
    walk = [start]
    while walk[-1] != goal and len(walk) <= _LONGEST:
        walk.append(rng.choice(neighbours(question, walk[-1])))
    return tuple(walk)


PLAYERS: Mapping[str, Player[GraphState, Answer]] = {"oracle": oracle, "heuristic": heuristic, "random": random}
