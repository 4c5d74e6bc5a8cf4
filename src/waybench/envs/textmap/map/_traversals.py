"""From the moves that a walkthrough makes to the moves of a map."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from waybench.envs.textmap.map._place_map import NEVER, Edge

Move = tuple[str, str, str]
"""Where it begins, what is typed, where it ends."""


class Traversal(NamedTuple):
    """A move of the walkthrough.

    Attributes:
        step: When it is made.
        move: The move.
        stays: The numbers of the stays between which it lies.
    """

    step: int
    move: Move
    stays: tuple[int, int]


def edges_of_traversals(
    traversals: Sequence[Traversal], named_at: Sequence[int], inferred: Mapping[Move, int]
) -> tuple[Edge, ...]:
    """Return the moves of a map, in the order in which they become known.

    Args:
        traversals: The moves of the walkthrough, in its order.
        named_at: For each stay at a place the step at which its name is told; `NEVER` if it is not.
        inferred: For each move that can be inferred, from which made one, by its number in `traversals`.
    """
    named = _named_steps(traversals, list(named_at))
    times: dict[Move, list[int]] = {}
    for number, traversal in enumerate(traversals):
        times.setdefault(traversal.move, []).append(number)
    edges: list[Edge] = []
    for move in times.keys() | inferred.keys():
        forward, forward_named = _first(traversals, named, times.get(move, ()))
        start = inferred.get(move)
        backs = () if start is None else [number for number in times[traversals[start].move] if number >= start]
        back, back_named = _first(traversals, named, backs)
        source, action, target = move
        edges.append(Edge(source, target, action, forward, back, forward_named, back_named))
    return tuple(sorted(edges, key=lambda edge: (edge.known, edge.forward, edge[:3])))


def _first(traversals: Sequence[Traversal], named: Sequence[int], numbers: Sequence[int]) -> tuple[int, int]:
    """Return the step at which one of some moves is first made, and first with the names of both places known."""
    if not numbers:
        return NEVER, NEVER
    return traversals[numbers[0]].step, min(named[number] for number in numbers)


def _named_steps(traversals: Sequence[Traversal], named_at: list[int]) -> list[int]:
    """Return for each move that is made the step at which its two places are known by name.

    A name that is not told during a stay is known all the same if the place was reached by a move whose places were
    known before.
    """
    steps: list[int] = []
    known: dict[Move, int] = {}
    for step, move, (left_stay, entered_stay) in traversals:
        named_at[entered_stay] = min(named_at[entered_stay], max(step, known.get(move, NEVER)))
        steps.append(max(step, named_at[left_stay], named_at[entered_stay]))
        known[move] = min(known.get(move, NEVER), steps[-1])
    return steps
