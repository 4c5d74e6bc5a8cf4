"""Derives the moves of a map from the moves that a walkthrough makes."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from waybench.envs.textmap.map._place_map import NEVER, Edge

Move = tuple[str, str, str]
"""Source, action, target."""


class Traversal(NamedTuple):
    """A move of the walkthrough.

    Attributes:
        step: Step of the walkthrough.
        move: The move.
        stays: Numbers of the stays before and after it.
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
        named_at: For each stay at a place, the step that shows its name; `NEVER` if none does.
        inferred: Move that can be inferred -> number in `traversals` of the move that it is inferred from.
    """
    named_steps = _named_steps(traversals, list(named_at))
    times: dict[Move, list[int]] = {}
    for number, traversal in enumerate(traversals):
        times.setdefault(traversal.move, []).append(number)
    edges: list[Edge] = []
    for move in times.keys() | inferred.keys():
        forward, forward_named = _first(traversals, named_steps, times.get(move, ()))
        start = inferred.get(move)
        backs = () if start is None else [number for number in times[traversals[start].move] if number >= start]
        back, back_named = _first(traversals, named_steps, backs)
        source, action, target = move
        edges.append(Edge(source, target, action, forward, back, forward_named, back_named))
    return tuple(sorted(edges, key=lambda edge: (edge.known, edge.forward, edge[:3])))


def _first(traversals: Sequence[Traversal], named_steps: Sequence[int], numbers: Sequence[int]) -> tuple[int, int]:
    """Return the first step of the given traversals, and the first at which the names of both places are known."""
    if not numbers:
        return NEVER, NEVER
    return traversals[numbers[0]].step, min(named_steps[number] for number in numbers)


def _named_steps(traversals: Sequence[Traversal], named_at: list[int]) -> list[int]:
    """Return for each traversal the step at which the names of both places are known.

    A name that is not shown during a stay is still known if the move to the place was known before.
    """
    steps: list[int] = []
    known: dict[Move, int] = {}
    for step, move, (left_stay, entered_stay) in traversals:
        named_at[entered_stay] = min(named_at[entered_stay], max(step, known.get(move, NEVER)))
        steps.append(max(step, named_at[left_stay], named_at[entered_stay]))
        known[move] = min(known.get(move, NEVER), steps[-1])
    return steps
