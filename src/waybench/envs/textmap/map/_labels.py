"""From which step on a path or a pair of places can be asked about, and whether it is then easy."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from waybench.envs.textmap.map._place_map import NEVER, Edge

Difficulty = Literal["easy", "hard"]
DIFFICULTIES: tuple[Difficulty, ...] = ("easy", "hard")
Rule = Literal["released", "tables"]
"""How steps become labels.

"released" is the rule of the published data and program: a move can be asked about from the step at which it was made
or could be inferred, its places' names known. "tables" is the rule that gives the paper's Tables 5 to 8 (the paper does
not state it): a move that is ever made counts from then only and never as inferred before, names play no part, and a
pair of places is easy if some shortest way of the whole map consists of moves that are ever made.
"""


class Labels(NamedTuple):
    """Steps of a move; of a path, the greatest of its moves; of a pair of places, the least of its paths.

    Each is taken by itself: a pair's two steps can come from two paths.

    Attributes:
        forward: See `Edge`, as for the others.
        known: `min_step_total` of the published files.
        forward_named: `min_step_forward_answerable`, the published label of an easy question.
        known_named: `min_step_total_answerable`, the published label of an answerable question.
        counted: What stands for `known` in the rule of the tables.
    """

    forward: int
    known: int
    forward_named: int
    known_named: int
    counted: int

    def answerable_from(self, rule: Rule = "released") -> int:
        """Return the step from which on it can be asked about; `NEVER` if it cannot."""
        return self.known_named if rule == "released" else self.counted

    def easy_from(self, rule: Rule = "released") -> int:
        """Return the step from which on it is easy, as all of it was walked; `NEVER` if it never is."""
        return self.forward_named if rule == "released" else self.forward

    def difficulty(self, cutoff: int, rule: Rule = "released") -> Difficulty | None:
        """Return how hard it is for who has read the steps 0 to `cutoff`; None if it cannot be answered."""
        if not reached(self.answerable_from(rule), cutoff):
            return None
        return "easy" if reached(self.easy_from(rule), cutoff) else "hard"


def route_difficulty(labels: Labels, walked: bool, cutoff: int, rule: Rule = "released") -> Difficulty | None:
    """Return how hard a route is to find for who has read the steps 0 to `cutoff`; None if nobody can know one.

    Args:
        labels: Of its pair of places.
        walked: Whether some shortest route on the whole map consists of moves that are ever made.
        cutoff: The last step that is shown.
        rule: How steps become labels.
    """
    if rule == "released":
        return labels.difficulty(cutoff, rule)
    if not reached(labels.answerable_from(rule), cutoff):
        return None
    return "easy" if walked else "hard"


def reached(step: int, cutoff: int) -> bool:
    """Return whether a step is within the steps 0 to `cutoff`; `NEVER` is not, however great the cutoff."""
    return step <= cutoff and step < NEVER


def edge_labels(edge: Edge) -> Labels:
    """Return the labels of one move."""
    return Labels(edge.forward, edge.known, edge.forward_named, edge.known_named, edge.counted)


def path_labels(edges: Iterable[Edge]) -> Labels:
    """Return the labels of a path of at least one move."""
    return Labels(*map(max, zip(*map(edge_labels, edges), strict=True)))
