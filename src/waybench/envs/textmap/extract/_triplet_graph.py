"""Graphs of triplets, and the answers that a search finds in them (MANGO, section C.4)."""

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from functools import lru_cache
from statistics import fmean
from typing import NamedTuple

from waybench.envs.textmap.extract._instance import EXAMPLES, Extraction
from waybench.envs.textmap.map import Difficulty, Edge, reached
from waybench.envs.textmap.questions import PAPER, Hop, Question, Rules, Trajectory, normal, success
from waybench.envs.textmap.worlds import opposite

Said = tuple[Hop | None, ...]
"""The triplets of a player, in the order of the steps; None where none could be read."""


class TripletGraph:
    """The graph of some triplets; names are the same but for case, width and blanks.

    Args:
        triplets: Place before, action, place after. Those that stay where they are do not count.
        opposites: Whether a move with an opposite leads back by it, where no triplet says where that leads.
    """

    def __init__(self, triplets: Iterable[Hop], *, opposites: bool) -> None:
        self._ways: dict[str, dict[str, list[Hop]]] = {}
        moves = [hop for hop in triplets if normal(hop.before) != normal(hop.after)]
        for hop in moves:
            self._add(hop)
        told = {(normal(hop.before), normal(hop.action)) for hop in moves}
        for before, action, after in moves if opposites else ():
            back = opposite(normal(action))
            if back is not None and (normal(after), back) not in told:
                self._add(Hop(after, back, before))

    def _add(self, hop: Hop) -> None:
        ways = self._ways.setdefault(normal(hop.before), {}).setdefault(normal(hop.action), [])
        if all(normal(hop.after) != normal(other.after) for other in ways):
            ways.append(hop)

    @property
    def edges(self) -> frozenset[tuple[str, str, str]]:
        """All moves, by the names as they are compared."""
        hops = (hop for ways in self._ways.values() for leads in ways.values() for hop in leads)
        return frozenset((normal(hop.before), normal(hop.action), normal(hop.after)) for hop in hops)

    def answer(self, question: Question) -> Trajectory:
        """Return a shortest route, or where the given moves lead; nothing if the graph does not say."""
        return self._follow(question) if question.actions else self._route(question)

    def _route(self, question: Question) -> Trajectory:
        source, target = normal(question.source), normal(question.target)
        came: dict[str, Hop] = {}
        queue = deque([source])
        while queue and target not in came:
            ways = self._ways.get(queue.popleft(), {})
            for hop in (hop for leads in ways.values() for hop in leads):
                after = normal(hop.after)
                if after != source and after not in came:
                    came[after] = hop
                    queue.append(after)
        way: list[Hop] = []
        while target in came:
            way.append(came[target])
            target = normal(came[target].before)
        return tuple(reversed(way))

    def _follow(self, question: Question) -> Trajectory:
        """Make the given moves; where one can lead to several places, so that all can be made."""
        ways: dict[str, Trajectory] = {normal(question.source): ()}
        for action in question.actions:
            longer: dict[str, Trajectory] = {}
            for place, way in ways.items():
                for hop in self._ways.get(place, {}).get(normal(action), ()):
                    longer.setdefault(normal(hop.after), (*way, hop))
            ways = longer
        return next(iter(ways.values()), ())


class Answered(NamedTuple):
    """What came of one question.

    Attributes:
        kind: "route" or "destination".
        difficulty: How hard it is for who has read what is shown.
        success: Of the answer found in the graph, with the opposites of its moves.
        bare: Of the answer found in the graph without them.
    """

    kind: str
    difficulty: Difficulty | None
    success: float
    bare: float


class Result(NamedTuple):
    """What came of an extraction.

    Attributes:
        answered: Of each question.
        triplets: Share of the steps whose triplet is right.
        moving: The same of the steps that lead to another place; None if there is none.
        precision: Share of the graph's moves that are moves of the map; None if it has no move.
        recall: Share of the moves that a reader can know that the graph has; None if there is none.
    """

    answered: tuple[Answered, ...]
    triplets: float
    moving: float | None
    precision: float | None
    recall: float | None

    @property
    def success(self) -> float:
        """Mean success of all questions."""
        return fmean(each.success for each in self.answered)


def wanted(instance: Extraction, mode: str) -> Trajectory:
    """Return the true triplets of the steps that the player is asked for."""
    return instance.truth[EXAMPLES:] if mode == "steps" else instance.truth


@lru_cache(maxsize=256)
def result(instance: Extraction, said: Said, mode: str, rules: Rules) -> Result:
    """Return what comes of some triplets.

    The graph has those of the examples, too, where these were shown; but who has said nothing has no graph.

    Args:
        instance: The walkthrough and the questions.
        said: What the player has said.
        mode: "steps" or "whole".
        rules: How answers are scored; for a whole walkthrough at once, `PAPER` compares the triplets one by one with
            the steps, so that one that is left out makes all that follow wrong.
    """
    read = [hop for hop in said if hop is not None]
    given = [*instance.truth[:EXAMPLES], *read] if mode == "steps" and read else read
    graph, bare = TripletGraph(given, opposites=True), TripletGraph(given, opposites=False)
    answered = tuple(
        Answered(
            "destination" if question.path else "route",
            question.labels.difficulty(question.cutoff),
            _worth(instance, question, graph, rules),
            _worth(instance, question, bare, rules),
        )
        for question in instance.questions
    )
    right = said_right(wanted(instance, mode), said, in_place=mode == "steps" or rules is PAPER)
    moves = [number for number, hop in enumerate(wanted(instance, mode)) if hop.before != hop.after]
    every = frozenset(_names(edge) for edge in instance.map.edges)
    known = frozenset(_names(edge) for edge in instance.map.edges if reached(edge.known, instance.cutoff))
    return Result(
        answered,
        fmean(right),
        fmean(right[number] for number in moves) if moves else None,
        len(graph.edges & every) / len(graph.edges) if graph.edges else None,
        len(graph.edges & known) / len(known) if known else None,
    )


def _names(edge: Edge) -> tuple[str, str, str]:
    return normal(edge.source), normal(edge.action), normal(edge.target)


def same(one: Hop, other: Hop) -> bool:
    """Whether two triplets are the same but for case, width and blanks."""
    return all(normal(mine) == normal(yours) for mine, yours in zip(one, other, strict=True))


def said_right(truth: Trajectory, said: Said, *, in_place: bool) -> list[float]:
    """Return for each step whether its triplet was said: for this very step, or for any step so often.

    No more triplets count than there are steps, so that nothing is gained by saying all that could be.
    """
    if in_place:
        padded = [*said[: len(truth)], *[None] * (len(truth) - len(said))]
        return [float(hop is not None and same(hop, true)) for true, hop in zip(truth, padded, strict=True)]
    left = Counter(tuple(map(normal, hop)) for hop in said[: len(truth)] if hop is not None)
    right: list[float] = []
    for hop in truth:
        key = tuple(map(normal, hop))
        right.append(float(left[key] > 0))
        left[key] -= 1
    return right


def _worth(instance: Extraction, question: Question, graph: TripletGraph, rules: Rules) -> float:
    answer: Sequence[Hop] = graph.answer(question)
    return success(instance.map, question, answer, rules, any_reached=not rules.similar) if answer else 0.0
