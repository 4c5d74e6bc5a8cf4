"""The game of one answer: a path, or whether there is one."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, cast

from waybench.core import AnswerState, DataError, Json, Judgement, OneAnswerGame, Outcome, Stream
from waybench.envs.graph._instance import Question, neighbours

Answer = tuple[int, ...] | bool
GraphState = AnswerState[Question]
LONGEST = 10_000  # nodes of an answer


class GraphGame(OneAnswerGame[Question, Answer]):
    """A question about a graph, with one answer."""

    def answers(self, instance: Question) -> Sequence[Answer]:
        """Return yes and no, or the paths of one edge."""
        if instance.question == "reachable":
            return (True, False)
        start, _ = instance.ends
        return [(start, node) for node in neighbours(instance, start)]

    def judge(self, instance: Question, answer: Answer) -> Judgement:
        """Judge an answer.

        The events say of a path whether its ends are right ("ends"), how many of its steps are no edges ("invented"),
        and how many edges it has beyond the shortest ("excess", of a path of edges between the right ends).
        """
        if instance.question == "reachable":
            return Judgement(float(answer is instance.reachable), outcome=Outcome.OK)
        path = answer if isinstance(answer, tuple) else ()
        ends = len(path) >= 2 and (path[0], path[-1]) == instance.ends
        invented = sum(after not in neighbours(instance, before) for before, after in pairwise(path))
        events: dict[str, Json] = {"ends": ends, "invented": invented}
        if ends and not invented:
            events["excess"] = len(path) - 1 - instance.distance
        return Judgement(float(events.get("excess") == 0), events, Outcome.OK)

    def encode(self, action: Answer) -> Json:
        """Return the answer as true, false or a list."""
        return list(action) if isinstance(action, tuple) else action

    def decode(self, action: Json) -> Answer:
        """Return the answer that `encode` wrote.

        Raises:
            DataError: If it wrote no such thing.
        """
        if isinstance(action, bool):
            return action
        if isinstance(action, list | tuple):
            nodes = cast("Sequence[Any]", action)
            if len(nodes) <= LONGEST and all(type(node) is int for node in nodes):
                return tuple(nodes)
        raise DataError("graph: an answer is true, false or a list of nodes")

    def perturb(self, state: GraphState, action: Answer, rate: float, rng: Stream) -> Answer:
        """Spoil an answer: each step of a path leads, with the given rate, to any neighbour of the node before."""
        if not isinstance(action, tuple):
            return (not action) if rng.random() < rate else action
        path = list(action)
        for number in range(1, len(path)):
            if rng.random() < rate:
                path[number] = rng.choice(neighbours(state.instance, path[number - 1]) or (path[number],))
        return tuple(path)
