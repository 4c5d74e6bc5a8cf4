"""The game of one answer: a path, or whether there is one."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

from waybench.core import DataError, End, Facts, Game, Json, Outcome, Stream, Transition
from waybench.envs.graph._instance import Question, neighbours

Answer = tuple[int, ...] | bool
LONGEST = 10_000  # nodes of an answer


@dataclass(frozen=True, slots=True)
class GraphState:
    """A question and the outcome of the answer.

    Attributes:
        question: The question.
        end: None before the answer.
    """

    question: Question
    end: End | None = None


class GraphGame(Game[Question, GraphState, Answer]):
    """A question about a graph, with one answer."""

    facts = Facts(deterministic=True, turns=1)

    def start(self, instance: Question) -> GraphState:
        """Return the state before the answer."""
        return GraphState(instance)

    def legal(self, state: GraphState) -> Sequence[Answer]:
        """Return yes and no, or the paths of one edge; empty after the answer."""
        if state.end is not None:
            return ()
        if state.question.question == "reachable":
            return (True, False)
        start, _ = state.question.ends
        return [(start, node) for node in neighbours(state.question, start)]

    def apply(self, state: GraphState, action: Answer, rng: Stream) -> Transition[GraphState]:
        """Judge an answer.

        The events say of a path whether its ends are right ("ends"), how many of its steps are no edges ("invented"),
        and how many edges it has beyond the shortest ("excess", of a path of edges between the right ends).
        """
        question = state.question
        if question.question == "reachable":
            right, events = action is question.reachable, dict[str, Json]()
        else:
            path = action if isinstance(action, tuple) else ()
            ends = len(path) >= 2 and (path[0], path[-1]) == question.ends
            invented = sum(after not in neighbours(question, before) for before, after in pairwise(path))
            events = {"ends": ends, "invented": invented}
            if ends and not invented:
                events["excess"] = len(path) - 1 - question.distance
            right = events.get("excess") == 0
        after = GraphState(question, End.SOLVED if right else End.FAILED)
        return Transition(after, float(right), {"success": float(right), **events}, Outcome.OK)

    def terminal(self, state: GraphState) -> End | None:
        """Return the end of the game; None before the answer."""
        return state.end

    def forfeit(self, state: GraphState) -> GraphState:
        """Count an answer that cannot be read as wrong."""
        return GraphState(state.question, End.FAILED)

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
                path[number] = rng.choice(neighbours(state.question, path[number - 1]) or (path[number],))
        return tuple(path)
