"""All questions about a map, and their numbers at a cutoff, as in the tables of the paper."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from waybench.envs.textmap.map import (
    Difficulty,
    Edge,
    Ints,
    Labels,
    Paths,
    PlaceMap,
    Rule,
    edge_labels,
    reached,
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
    def step_count(self) -> int:
        """Number of moves."""
        return len(self.edges)

    @property
    def diff_shortest(self) -> int:
        """Number of moves in excess of a shortest path."""
        return self.step_count - self.shortest


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

    def difficulty(self, cutoff: int, rule: Rule = "released") -> Difficulty | None:
        """Return the difficulty for a reader of the steps 0 to `cutoff`; None if the question is not answerable."""
        return route_difficulty(self.labels, self.walked, cutoff, rule)


def destination_questions(place_map: PlaceMap) -> Iterator[DestinationQuestion]:
    """Yield the questions of all simple paths, in constant memory.

    Raises:
        UsageError: When there are more paths than are ever enumerated (`BUDGET`).
    """
    edges, table = place_map.edges, routes(place_map)
    texts = [json.dumps({"action": edge.action, "node": edge.target, "prev_node": edge.source}) for edge in edges]
    edge_steps: Ints = np.array([edge_labels(edge) for edge in edges], dtype=np.int64)
    for block in Paths(place_map).blocks():
        for path, labels in zip(block, block.greatest(edge_steps).tolist(), strict=True):
            numbers: list[int] = path.tolist()
            moves = tuple(edges[number] for number in numbers)
            shortest = table.shortest(moves[0].source, moves[-1].target)
            assert shortest is not None, "the path itself is a way"
            published = f"[{', '.join(texts[number] for number in numbers)}]"  # the same separator as `json.dumps`
            yield DestinationQuestion(_hash(published), moves, shortest, Labels(*labels))


def route_questions(place_map: PlaceMap) -> Iterator[RouteQuestion]:
    """Yield the questions of all ordered pairs of different places, in the order of the map's places.

    Raises:
        UsageError: If there are more paths than are ever enumerated (`BUDGET`).
    """
    counts = Paths(place_map).tally().pairs
    table = routes(place_map)
    for source, row in zip(place_map.places, counts, strict=True):
        for target, count in zip(place_map.places, row.tolist(), strict=True):
            if source != target:
                identity = _hash(json.dumps({"dst_node": target, "src_node": source}))
                shortest, labels = table.shortest(source, target), table.labels(source, target)
                walked = table.is_walked(source, target)
                yield RouteQuestion(identity, source, target, count, shortest, labels, walked)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()


class Counts(NamedTuple):
    """One row of Tables 3 and 5 to 8.

    Attributes:
        places: Places at the ends of moves known at the cutoff.
        edges: Moves known at the cutoff.
        average_length: Mean number of moves of the answerable paths; 0 if there is none.
        steps: The cutoff.
        destination_easy: Answerable paths that are easy.
        destination_hard: Answerable paths that are hard.
        route_easy: Answerable pairs of places that are easy.
        route_hard: Answerable pairs of places that are hard.
    """

    places: int
    edges: int
    average_length: float
    steps: int
    destination_easy: int
    destination_hard: int
    route_easy: int
    route_hard: int


def count_questions(place_map: PlaceMap, cutoff: int, rule: Rule) -> Counts:
    """Count the questions that are answerable from the steps 0 to `cutoff`.

    Raises:
        UsageError: If there are more paths than are ever enumerated (`BUDGET`).
    """
    known = [edge for edge in place_map.edges if reached(edge_labels(edge).answerable_from(rule), cutoff)]
    tally = Paths(place_map, cutoff, rule).tally()
    easy, hard = tally.lengths.sum(axis=1).tolist()
    routes: Counter[Difficulty | None] = Counter(
        question.difficulty(cutoff, rule) for question in route_questions(place_map)
    )
    places = {place for edge in known for place in (edge.source, edge.target)}
    return Counts(len(places), len(known), tally.average_length, cutoff, easy, hard, routes["easy"], routes["hard"])
