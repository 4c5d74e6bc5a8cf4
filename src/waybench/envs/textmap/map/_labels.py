"""Labels: the step from which a question is answerable, and the step from which it is easy."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from waybench.envs.textmap.map._place_map import NEVER, Edge

Difficulty = Literal["easy", "hard"]
DIFFICULTIES: tuple[Difficulty, ...] = ("easy", "hard")
Rule = Literal["released", "tables"]
"""How labels are derived from steps.

"released" is the rule of the published data and program: a move is answerable from the step at which it was made or can
be inferred and the names of both places are known. "tables" is the rule that reproduces Tables 5 to 8 of the paper,
which does not state it: a move that is made at some step counts from that step only and never as inferred before, names
play no part, and a pair of places is easy if some shortest path of the whole map has only moves that are made.
"""


class Labels(NamedTuple):
    """Steps of a move; of a path, the maximum over its moves; of a pair of places, the minimum over its paths.

    Each label is computed separately: two labels of a pair can come from two paths.

    Attributes:
        forward: See `Edge`, also for the other labels.
        known: `min_step_total` of the published files.
        forward_named: `min_step_forward_answerable`, the published label of an easy question.
        known_named: `min_step_total_answerable`, the published label of an answerable question.
        counted: The counterpart of `known` in the rule "tables".
    """

    forward: int
    known: int
    forward_named: int
    known_named: int
    counted: int

    def answerable_from(self, rule: Rule = "released") -> int:
        """Return the step from which the question is answerable; `NEVER` if it never is."""
        return self.known_named if rule == "released" else self.counted

    def easy_from(self, rule: Rule = "released") -> int:
        """Return the step from which the question is easy, since all moves were made; `NEVER` if it never is."""
        return self.forward_named if rule == "released" else self.forward

    def difficulty(self, cutoff: int, rule: Rule = "released") -> Difficulty | None:
        """Return the difficulty for a reader of the steps 0 to `cutoff`; None if the question is not answerable."""
        if not reached(self.answerable_from(rule), cutoff):
            return None
        return "easy" if reached(self.easy_from(rule), cutoff) else "hard"


def reached(step: int, cutoff: int) -> bool:
    """Return whether a step is one of 0 to `cutoff`; `NEVER` is not, for any cutoff."""
    return step <= cutoff and step < NEVER


def edge_labels(edge: Edge) -> Labels:
    """Return the labels of one move."""
    return Labels(edge.forward, edge.known, edge.forward_named, edge.known_named, edge.counted)


def path_labels(edges: Iterable[Edge]) -> Labels:
    """Return the labels of a path of at least one move."""
    return Labels(*map(max, zip(*map(edge_labels, edges), strict=True)))
