"""The shape of a graph: every component is the same but for the names of its nodes."""

from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

CHAIN = 2  # nodes of the dead end at each node of the two ways


class Component(NamedTuple):
    """A connected graph with two ways between two nodes; its nodes are numbers from 0.

    Attributes:
        nodes: Number of nodes.
        edges: Pairs of nodes.
        shortest: The nodes of the shortest way, from the one end to the other.
        neighbours: Node -> its neighbours, in increasing order.
    """

    nodes: int
    edges: tuple[tuple[int, int], ...]
    shortest: tuple[int, ...]
    neighbours: tuple[tuple[int, ...], ...]


@lru_cache(maxsize=16)
def component(distance: int) -> Component:
    """Return the component whose ends are a distance apart.

    One way between the ends has `distance` edges, and one has two more. At each node of both ways begins a dead end of
    two nodes, so every node of a way has three neighbours, the ends included. It has 6 * (distance + 1) nodes, and as
    many edges.

    Args:
        distance: Edges of the shortest way, at least 1.
    """
    shortest = tuple(range(distance + 1))
    longer = (0, *range(distance + 1, 2 * distance + 2), distance)
    edges = [*_pairs(shortest), *_pairs(longer)]
    nodes = 2 * distance + 2
    for node in range(nodes):
        chain = (node, *range(nodes + CHAIN * node, nodes + CHAIN * (node + 1)))
        edges += _pairs(chain)
    total = nodes * (1 + CHAIN)
    neighbours: list[list[int]] = [[] for _ in range(total)]
    for one, other in edges:
        neighbours[one].append(other)
        neighbours[other].append(one)
    return Component(total, tuple(edges), shortest, tuple(tuple(sorted(each)) for each in neighbours))


def _pairs(way: tuple[int, ...]) -> list[tuple[int, int]]:
    return list(pairwise(way))
