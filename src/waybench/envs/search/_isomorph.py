"""Isomorphic cases: a shifted range of numbers, and other numbers for the nodes of a graph."""

from waybench.core import Stream
from waybench.envs.search._game_number import LARGEST, Number
from waybench.envs.search._game_walk import Terrain
from waybench.spaces import Graph


def shifted(case: Number, key: str, number: int) -> Number:
    """Return a case with its range and target moved by the same amount, from 1 to the range's size.

    All cases of a set with the same range move by the same amount.

    Args:
        case: The case.
        key: The key of its set.
        number: The number of the isomorphic set, from 1.
    """
    span = case.high - case.low
    shift = 1 + Stream("isomorph", "number", key, case.low, case.high, number).below(span)
    if case.high + shift > LARGEST:
        shift = -min(shift, case.low)
    return Number(case.target + shift, case.low + shift, case.high + shift)


def relabelled(case: Terrain, key: str, number: int) -> Terrain:
    """Return a case with other numbers for all nodes but the first, in which the player starts.

    Neighbours are shown in the same order, so a player that goes by this order visits the same nodes.

    Args:
        case: The case.
        key: The key of its set.
        number: The number of the isomorphic set, from 1.
    """
    graph = case.graph
    labels = list(range(1, graph.size))
    Stream("isomorph", "walk", key, case.hash, number).shuffle(labels)
    labels.insert(0, 0)
    return Terrain(Graph(graph.size, tuple((labels[u], labels[v]) for u, v in graph.edges)))
