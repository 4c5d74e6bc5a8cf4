"""The questions that a map gives rise to: where does a row of moves lead, and which moves lead from here to there."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from waybench.core import Stream, UsageError
from waybench.envs.textmap.map import (
    ALL,
    BUDGET,
    Choice,
    Difficulty,
    Edge,
    Ints,
    Labels,
    Paths,
    PlaceMap,
    Routes,
    Rule,
    edge_labels,
    path_labels,
    route_difficulty,
    routes,
)


class DestinationQuestion(NamedTuple):
    """Where do these moves lead? One for each simple path.

    Attributes:
        id: The published id.
        edges: The moves of the path.
        shortest: Number of moves of a shortest way between the path's two ends, on the whole map.
        labels: From which steps on it can be asked, and is easy.
    """

    id: str
    edges: tuple[Edge, ...]
    shortest: int
    labels: Labels

    @property
    def source(self) -> str:
        """The place where the path begins."""
        return self.edges[0].source

    @property
    def target(self) -> str:
        """The place where it ends: the answer."""
        return self.edges[-1].target

    @property
    def actions(self) -> tuple[str, ...]:
        """What is typed on the way."""
        return tuple(edge.action for edge in self.edges)

    @property
    def step_count(self) -> int:
        """Number of moves."""
        return len(self.edges)

    @property
    def diff_shortest(self) -> int:
        """How many more moves these are than a shortest way has."""
        return self.step_count - self.shortest

    def difficulty(self, cutoff: int, rule: Rule = "released") -> Difficulty | None:
        """Return how hard it is for who has read the steps 0 to `cutoff`; None if it cannot be answered."""
        return self.labels.difficulty(cutoff, rule)


class RouteQuestion(NamedTuple):
    """How does one get from here to there? One for each ordered pair of different places.

    Attributes:
        id: The published id.
        source: The place where the way is to begin.
        target: The place where it is to end.
        num_paths: Number of simple paths; 0 if there is no way.
        shortest: Number of moves of a shortest one on the whole map; None if there is no way.
        labels: From which steps on it can be asked, and is easy.
        walked: Whether some shortest one consists of moves that are all made within the walkthrough's labelled part.
    """

    id: str
    source: str
    target: str
    num_paths: int
    shortest: int | None
    labels: Labels
    walked: bool

    @property
    def actions(self) -> tuple[str, ...]:
        """Nothing: the moves are what is asked for."""
        return ()

    def difficulty(self, cutoff: int, rule: Rule = "released") -> Difficulty | None:
        """Return how hard it is for who has read the steps 0 to `cutoff`; None if it cannot be answered."""
        return route_difficulty(self.labels, self.walked, cutoff, rule)


def destination_questions(
    place_map: PlaceMap,
    choice: Choice = ALL,
    cutoff: int | None = None,
    rule: Rule = "released",
    *,
    budget: int = BUDGET,
) -> Iterator[DestinationQuestion]:
    """Pass through the questions of all simple paths, or of those that are meant, in constant memory.

    Args:
        place_map: The map.
        choice: Which paths.
        cutoff: Only those that can be answered by who has read the steps 0 to `cutoff`; None for all.
        rule: How steps become labels.
        budget: Most paths to walk.

    Raises:
        UsageError: If a place is unknown, or the budget does not suffice; the latter not before it is spent.
    """
    builder = _QuestionBuilder(place_map)
    for block in Paths(place_map, cutoff, rule, budget=budget).blocks(choice):
        labels = block.greatest(builder.labels)
        for number, row in enumerate(labels.tolist()):
            yield builder.question(block.path(number).tolist(), Labels(*row))


def sample_destination_questions(
    place_map: PlaceMap,
    count: int,
    stream: Stream,
    choice: Choice = ALL,
    cutoff: int | None = None,
    rule: Rule = "released",
    *,
    budget: int = BUDGET,
) -> list[DestinationQuestion]:
    """Draw questions, each equally probable and none twice; all of them, shuffled, if there are no more than that.

    Args:
        place_map: The map.
        count: How many; the first ones do not depend on it.
        stream: What they are drawn with.
        choice: Among which paths.
        cutoff: See `destination_questions`, as for the others.
        rule: How steps become labels.
        budget: Most paths to walk.

    Raises:
        UsageError: If a place is unknown, or the budget does not suffice.
    """
    builder = _QuestionBuilder(place_map)
    paths = Paths(place_map, cutoff, rule, budget=budget).sample(count, stream, choice)
    return [builder.question(path, path_labels(place_map.edges[number] for number in path)) for path in paths]


def destination_question(place_map: PlaceMap, edges: Iterable[Edge]) -> DestinationQuestion:
    """Return the question of one path.

    Raises:
        UsageError: If it is no simple path of the map.
    """
    number = {edge: number for number, edge in enumerate(place_map.edges)}
    path = tuple(edges)
    unknown = next((edge for edge in path if edge not in number), None)
    if unknown is not None:
        place_map.edge(unknown.source, unknown.action, unknown.target)  # says what is wrong with it, if there is none
        raise UsageError(f"map {place_map.name}: the move {unknown[:3]} has other steps on the map")
    if not path:
        raise UsageError(f"map {place_map.name}: a path has at least one move")
    for before, after in pairwise(path):
        if before.target != after.source:
            raise UsageError(f"map {place_map.name}: after {before.target!r} the path goes on from {after.source!r}")
    if len({path[0].source, *(edge.target for edge in path)}) <= len(path):
        raise UsageError(f"map {place_map.name}: the path comes to a place twice")
    return _QuestionBuilder(place_map).question([number[edge] for edge in path], path_labels(path))


def route_questions(place_map: PlaceMap, *, budget: int = BUDGET) -> Iterator[RouteQuestion]:
    """Pass through the questions of all ordered pairs of different places, in the order of the map's places.

    Raises:
        UsageError: If counting the paths takes more than the budget.
    """
    counts = Paths(place_map, budget=budget).tally().pairs
    known = routes(place_map)
    for source, row in zip(place_map.places, counts, strict=True):
        for target, count in zip(place_map.places, row.tolist(), strict=True):
            if source != target:
                yield _route(known, source, target, count)


def route_question(place_map: PlaceMap, source: str, target: str, *, budget: int = BUDGET) -> RouteQuestion:
    """Return the question of one pair of places.

    Raises:
        UsageError: If a place is unknown, both are the same, or counting the paths takes more than the budget.
    """
    if source == target:
        raise UsageError(f"map {place_map.name}: a route from {source!r} leads to another place")
    count = Paths(place_map, budget=budget).tally(Choice(source, target)).total
    return _route(routes(place_map), source, target, count)


def destination_id(edges: Iterable[Edge]) -> str:
    """Return the published id of a path."""
    return _hash(_json_list(map(_edge_json, edges)))


def route_id(source: str, target: str) -> str:
    """Return the published id of a pair of places."""
    return _hash(json.dumps({"dst_node": target, "src_node": source}))


def _route(known: Routes, source: str, target: str, count: int) -> RouteQuestion:
    shortest, labels = known.shortest(source, target), known.labels(source, target)
    identity = route_id(source, target)
    return RouteQuestion(identity, source, target, count, shortest, labels, known.is_walked(source, target))


class _QuestionBuilder:
    """Makes the questions of paths; what belongs to a move is made once for each move."""

    def __init__(self, place_map: PlaceMap) -> None:
        self._edges, self._routes = place_map.edges, routes(place_map)
        self._texts = [_edge_json(edge) for edge in place_map.edges]
        self.labels: Ints = np.array([edge_labels(edge) for edge in place_map.edges], dtype=np.int64)

    def question(self, path: Sequence[int], labels: Labels) -> DestinationQuestion:
        edges = tuple(self._edges[number] for number in path)
        shortest = self._routes.shortest(edges[0].source, edges[-1].target)
        assert shortest is not None, "the path itself is a way"
        return DestinationQuestion(_hash(_json_list(self._texts[number] for number in path)), edges, shortest, labels)


def _edge_json(edge: Edge) -> str:
    return json.dumps({"action": edge.action, "node": edge.target, "prev_node": edge.source})


def _json_list(texts: Iterable[str]) -> str:
    return f"[{', '.join(texts)}]"  # as `json.dumps` joins what is in a list


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()
