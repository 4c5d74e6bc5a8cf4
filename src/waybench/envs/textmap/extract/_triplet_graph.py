"""Graphs of triplets, and the answers of a search in them (MANGO, section C.4)."""

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from functools import lru_cache
from statistics import fmean
from typing import NamedTuple

from waybench.core import normal_name
from waybench.envs.textmap.extract._instance import EXAMPLES, Extraction
from waybench.envs.textmap.map import Difficulty, Edge, reached
from waybench.envs.textmap.questions import PAPER, Hop, Question, Rules, Trajectory, success
from waybench.envs.textmap.worlds import opposite

PlayerTriplets = tuple[Hop | None, ...]
"""The triplets of a player in the order of the steps; None where no triplet could be read."""


class TripletGraph:
    """The graph of triplets; names are compared after normalization.

    Args:
        triplets: Place before, action, place after. Triplets that end where they start are ignored.
        opposites: Whether to add the opposite move of each triplet, unless a triplet says where it leads.
    """

    def __init__(self, triplets: Iterable[Hop], *, opposites: bool) -> None:
        self._ways: dict[str, dict[str, list[Hop]]] = {}
        moves = [hop for hop in triplets if normal_name(hop.before) != normal_name(hop.after)]
        for hop in moves:
            self._add(hop)
        stated = {(normal_name(hop.before), normal_name(hop.action)) for hop in moves}
        for before, action, after in moves if opposites else ():
            back = opposite(normal_name(action))
            if back is not None and (normal_name(after), back) not in stated:
                self._add(Hop(after, back, before))

    def _add(self, hop: Hop) -> None:
        ways = self._ways.setdefault(normal_name(hop.before), {}).setdefault(normal_name(hop.action), [])
        if all(normal_name(hop.after) != normal_name(known.after) for known in ways):
            ways.append(hop)

    @property
    def edges(self) -> frozenset[tuple[str, str, str]]:
        """All moves, with normalized names."""
        hops = (hop for ways in self._ways.values() for leads in ways.values() for hop in leads)
        return frozenset((normal_name(hop.before), normal_name(hop.action), normal_name(hop.after)) for hop in hops)

    def answer(self, question: Question) -> Trajectory:
        """Return a shortest route, or the path of the given moves; empty if the graph has none."""
        return self._follow(question) if question.actions else self._route(question)

    def _route(self, question: Question) -> Trajectory:
        source, target = normal_name(question.source), normal_name(question.target)
        arrivals: dict[str, Hop] = {}
        queue = deque([source])
        while queue and target not in arrivals:
            ways = self._ways.get(queue.popleft(), {})
            for hop in (hop for leads in ways.values() for hop in leads):
                after = normal_name(hop.after)
                if after != source and after not in arrivals:
                    arrivals[after] = hop
                    queue.append(after)
        way: list[Hop] = []
        while target in arrivals:
            way.append(arrivals[target])
            target = normal_name(arrivals[target].before)
        return tuple(reversed(way))

    def _follow(self, question: Question) -> Trajectory:
        """Return a path of the given moves; if a move can lead to several places, one from which all can be made."""
        ways: dict[str, Trajectory] = {normal_name(question.source): ()}
        for action in question.actions:
            longer: dict[str, Trajectory] = {}
            for place, way in ways.items():
                for hop in self._ways.get(place, {}).get(normal_name(action), ()):
                    longer.setdefault(normal_name(hop.after), (*way, hop))
            ways = longer
        return next(iter(ways.values()), ())


class QuestionResult(NamedTuple):
    """The result of one question.

    Attributes:
        kind: "route" or "destination".
        difficulty: Difficulty for a reader of the prefix.
        success: Success of the answer in the graph with opposite moves.
        success_without_opposites: Success of the answer in the graph of the triplets alone.
    """

    kind: str
    difficulty: Difficulty | None
    success: float
    success_without_opposites: float


class ExtractionResult(NamedTuple):
    """The result of an extraction.

    Attributes:
        questions: Result of each question.
        triplets: Share of the steps with a right triplet.
        moving: Share of the steps to another place with a right triplet; None if there is no such step.
        precision: Share of the graph's moves that are moves of the map; None if the graph has no move.
        recall: Share of the moves known to a reader that the graph has; None if no move is known.
    """

    questions: tuple[QuestionResult, ...]
    triplets: float
    moving: float | None
    precision: float | None
    recall: float | None

    @property
    def success(self) -> float:
        """Mean success of all questions."""
        return fmean(question.success for question in self.questions)


def expected_triplets(instance: Extraction, mode: str) -> Trajectory:
    """Return the true triplets of the steps that the player has to give."""
    return instance.truth[EXAMPLES:] if mode == "steps" else instance.truth


@lru_cache(maxsize=256)
def result(instance: Extraction, triplets: PlayerTriplets, mode: str, rules: Rules) -> ExtractionResult:
    """Return the result of triplets.

    In mode "steps", the graph also has the triplets of the examples, unless the player gave none at all.

    Args:
        instance: The extraction.
        triplets: The triplets of the player.
        mode: "steps" or "whole".
        rules: The scoring rules. In mode "whole", `PAPER` compares triplets and steps by position, so a missing triplet
            makes all that follow wrong.
    """
    readable = [hop for hop in triplets if hop is not None]
    graph_triplets = [*instance.truth[:EXAMPLES], *readable] if mode == "steps" and readable else readable
    graph, plain_graph = TripletGraph(graph_triplets, opposites=True), TripletGraph(graph_triplets, opposites=False)
    question_results = tuple(
        QuestionResult(
            "destination" if question.path else "route",
            question.labels.difficulty(question.cutoff),
            _question_success(instance, question, graph, rules),
            _question_success(instance, question, plain_graph, rules),
        )
        for question in instance.questions
    )
    right = triplet_scores(expected_triplets(instance, mode), triplets, in_place=mode == "steps" or rules is PAPER)
    moves = [number for number, hop in enumerate(expected_triplets(instance, mode)) if hop.before != hop.after]
    map_moves = frozenset(_names(edge) for edge in instance.map.edges)
    known_moves = frozenset(_names(edge) for edge in instance.map.edges if reached(edge.known, instance.cutoff))
    given_moves = graph.edges
    return ExtractionResult(
        question_results,
        fmean(right),
        fmean(right[number] for number in moves) if moves else None,
        len(given_moves & map_moves) / len(given_moves) if given_moves else None,
        len(given_moves & known_moves) / len(known_moves) if known_moves else None,
    )


def _names(edge: Edge) -> tuple[str, str, str]:
    return normal_name(edge.source), normal_name(edge.action), normal_name(edge.target)


def same_triplet(first: Hop, second: Hop) -> bool:
    """Return whether two triplets are equal after normalization."""
    return all(normal_name(mine) == normal_name(yours) for mine, yours in zip(first, second, strict=True))


def triplet_scores(truth: Trajectory, triplets: PlayerTriplets, *, in_place: bool) -> list[float]:
    """Return 1 or 0 for each step: whether its triplet was given, for this step if `in_place`, otherwise for any.

    Only as many triplets count as there are steps, so that listing all possible triplets does not help.
    """
    if in_place:
        padded = [*triplets[: len(truth)], *[None] * (len(truth) - len(triplets))]
        return [float(hop is not None and same_triplet(hop, true)) for true, hop in zip(truth, padded, strict=True)]
    remaining = Counter(tuple(map(normal_name, hop)) for hop in triplets[: len(truth)] if hop is not None)
    right: list[float] = []
    for hop in truth:
        key = tuple(map(normal_name, hop))
        right.append(float(remaining[key] > 0))
        remaining[key] -= 1
    return right


def _question_success(instance: Extraction, question: Question, graph: TripletGraph, rules: Rules) -> float:
    answer: Sequence[Hop] = graph.answer(question)
    return success(instance.map, question, answer, rules, any_reached=not rules.similar) if answer else 0.0
