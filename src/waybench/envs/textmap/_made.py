"""From the moves that a walkthrough makes to the moves of a map."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from waybench.envs.textmap._map import NEVER, Edge

Move = tuple[str, str, str]
"""Where it begins, what is typed, where it ends."""


class Made(NamedTuple):
    """A move of the walkthrough.

    Attributes:
        step: When it is made.
        move: The move.
        stays: The numbers of the stays between which it lies.
    """

    step: int
    move: Move
    stays: tuple[int, int]


def edges_made(made: Sequence[Made], told: Sequence[int], inferred: Mapping[Move, Move]) -> tuple[Edge, ...]:
    """Return the moves of a map, in the order in which they become known.

    Args:
        made: The moves of the walkthrough, in its order.
        told: For each stay at a place the step at which its name is told; `NEVER` if it is not.
        inferred: For each move that can be inferred, the one from which.
    """
    forward, named = _when(made, list(told))
    edges: list[Edge] = []
    for move in forward.keys() | inferred.keys():
        other = inferred.get(move)
        back, back_named = (forward[other], named[other]) if other else (NEVER, NEVER)
        source, action, target = move
        whole = (forward.get(move, NEVER), back, named.get(move, NEVER), back_named)
        edges.append(Edge(source, target, action, *whole))
    return tuple(sorted(edges, key=lambda edge: (edge.known, edge.forward, edge[:3])))


def _when(made: Sequence[Made], told: list[int]) -> tuple[dict[Move, int], dict[Move, int]]:
    """Return for each move the step at which it is first made, and at which its two places are known by name.

    A name that is not told during a stay is known all the same if the place was reached by a move whose places were
    known before.
    """
    forward: dict[Move, int] = {}
    named: dict[Move, int] = {}
    for step, move, (left, entered) in made:
        forward.setdefault(move, step)
        known = max(step, named.get(move, NEVER))
        told[entered] = min(told[entered], known)
        named[move] = min(named.get(move, NEVER), max(step, told[left], told[entered]))
    return forward, named
