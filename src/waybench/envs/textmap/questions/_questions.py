"""All questions about a map: destination questions, one for each simple path, and route questions."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from waybench.core import UsageError
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
    """Where do these moves lead? There is one question for each simple path.

    Attributes:
        id: The published id.
        edges: The moves of the path.
        shortest: Number of moves of a shortest path between the same places, on the whole map.
        labels: The steps from which it is answerable and easy.
    """

    id: str
    edges: tuple[Edge, ...]
    shortest: int
    labels: Labels

    @property
    def source(self) -> str:
        """The place where the path starts."""
        return self.edges[0].source

    @property
    def target(self) -> str:
        """The place where it ends: the answer."""
        return self.edges[-1].target

    @property
    def actions(self) -> tuple[str, ...]:
        """The actions of the path."""
        return tuple(edge.action for edge in self.edges)

    @property
    def step_count(self) -> int:
        """Number of moves."""
        return len(self.edges)

    @property
    def diff_shortest(self) -> int:
        """Number of moves in excess of a shortest path."""
        return self.step_count - self.shortest

    def difficulty(self, cutoff: int, rule: Rule = "released") -> Difficulty | None:
        """Return the difficulty for a reader of the steps 0 to `cutoff`; None if the question is not answerable."""
        return self.labels.difficulty(cutoff, rule)


class RouteQuestion(NamedTuple):
    """Which moves lead from one place to another? There is one question for each ordered pair of different places.

    Attributes:
        id: The published id.
        source: The start.
        target: The destination.
        num_paths: Number of simple paths; 0 if there is none.
        shortest: Number of moves of a shortest path on the whole map; None if there is none.
        labels: The steps from which it is answerable and easy.
        walked: Whether some shortest path has only moves that are made in the labelled part of the walkthrough.
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
        """Empty, since the moves are the answer."""
        return ()

    def difficulty(self, cutoff: int, rule: Rule = "released") -> Difficulty | None:
        """Return the difficulty for a reader of the steps 0 to `cutoff`; None if the question is not answerable."""
        return route_difficulty(self.labels, self.walked, cutoff, rule)


def destination_questions(
    place_map: PlaceMap,
    choice: Choice = ALL,
    cutoff: int | None = None,
    rule: Rule = "released",
    *,
    budget: int = BUDGET,
) -> Iterator[DestinationQuestion]:
    """Yield the questions of all simple paths of a choice, in constant memory.

    Args:
        place_map: The map.
        choice: The paths.
        cutoff: Yield only questions that are answerable from the steps 0 to `cutoff`; None for all.
        rule: How labels are derived from steps.
        budget: Most paths to enumerate.

    Raises:
        UsageError: If a place is unknown, or when the budget is spent.
    """
    builder = _QuestionBuilder(place_map)
    for block in Paths(place_map, cutoff, rule, budget=budget).blocks(choice):
        labels = block.greatest(builder.labels)
        for number, row in enumerate(labels.tolist()):
            yield builder.question(block.path(number).tolist(), Labels(*row))


def destination_question(place_map: PlaceMap, edges: Iterable[Edge]) -> DestinationQuestion:
    """Return the question of one path.

    Raises:
        UsageError: If it is not a simple path of the map.
    """
    number = {edge: number for number, edge in enumerate(place_map.edges)}
    path = tuple(edges)
    unknown = next((edge for edge in path if edge not in number), None)
    if unknown is not None:
        place_map.edge(unknown.source, unknown.action, unknown.target)  # raises the error if there is no such move
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
    """Yield the questions of all ordered pairs of different places, in the order of the map's places.

    Raises:
        UsageError: If there are more paths than the budget.
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
        UsageError: If a place is unknown, both are the same, or there are more paths than the budget.
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
    """Builds the questions of paths; the text of each move is computed once."""

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
    return f"[{', '.join(texts)}]"  # the same separator as `json.dumps`


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()
