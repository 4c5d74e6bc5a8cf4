"""Numbers of questions of a map at a cutoff, as in the tables of the paper."""

from collections import Counter
from typing import NamedTuple

from waybench.envs.textmap.map import Difficulty, Paths, PlaceMap, Rule, edge_labels, reached
from waybench.envs.textmap.questions._questions import route_questions


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
