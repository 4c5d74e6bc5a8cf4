"""How many questions a map has at a cutoff, as the paper's tables tell it."""

from collections import Counter
from typing import NamedTuple

from waybench.envs.textmap.map import BUDGET, Difficulty, Paths, PlaceMap, Rule, edge_labels, reached
from waybench.envs.textmap.questions._questions import route_questions


class Counts(NamedTuple):
    """One row of Tables 3 and 5 to 8.

    Attributes:
        places: Places that a move known at the cutoff begins or ends at.
        edges: Moves known at the cutoff.
        average_length: Mean number of moves of the paths that can be asked about; 0 if there is none.
        steps: The cutoff.
        destination_easy: Paths that can be asked about and are easy.
        destination_hard: The other ones that can be asked about.
        route_easy: Pairs of places that can be asked about and are easy.
        route_hard: The other ones that can be asked about.
    """

    places: int
    edges: int
    average_length: float
    steps: int
    destination_easy: int
    destination_hard: int
    route_easy: int
    route_hard: int


def count_questions(place_map: PlaceMap, cutoff: int, rule: Rule = "released", *, budget: int = BUDGET) -> Counts:
    """Count the questions that can be asked of who has read the steps 0 to `cutoff`.

    Raises:
        UsageError: If there are more paths than the budget allows to walk.
    """
    known = [edge for edge in place_map.edges if reached(edge_labels(edge).answerable_from(rule), cutoff)]
    tally = Paths(place_map, cutoff, rule, budget=budget).tally()
    easy, hard = tally.lengths.sum(axis=1).tolist()
    routes: Counter[Difficulty | None] = Counter(
        question.difficulty(cutoff, rule) for question in route_questions(place_map, budget=budget)
    )
    places = {place for edge in known for place in (edge.source, edge.target)}
    return Counts(len(places), len(known), tally.average_length, cutoff, easy, hard, routes["easy"], routes["hard"])
