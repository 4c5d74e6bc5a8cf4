"""Shapes of trees, drawn from a random stream, and connected graphs made of them."""

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from types import MappingProxyType

from waybench.core import Stream
from waybench.spaces._graph import Graph

Edges = list[tuple[int, int]]


def _random(size: int, rng: Stream) -> Edges:
    """Draw a labelled tree uniformly, by decoding a random Pruefer sequence."""
    sequence = [rng.below(size) for _ in range(size - 2)]
    degree = [1] * size
    for node in sequence:
        degree[node] += 1
    leaves = [node for node in range(size) if degree[node] == 1]
    heapify(leaves)
    edges: Edges = []
    for node in sequence:
        edges.append((heappop(leaves), node))
        degree[node] -= 1
        if degree[node] == 1:
            heappush(leaves, node)
    return [*edges, (heappop(leaves), heappop(leaves))]


def _path(size: int, rng: Stream) -> Edges:
    return [(node, node + 1) for node in range(size - 1)]


def _star(size: int, rng: Stream) -> Edges:
    return [(0, node) for node in range(1, size)]


def _caterpillar(size: int, rng: Stream) -> Edges:
    """Join half of the nodes to a path, and hang each of the others on a random one of them."""
    spine = (size + 1) // 2
    return _path(spine, rng) + [(rng.below(spine), node) for node in range(spine, size)]


def _balanced(size: int, rng: Stream) -> Edges:
    """Give every node two children, level by level."""
    return [((node - 1) // 2, node) for node in range(1, size)]


SHAPES: MappingProxyType[str, Callable[[int, Stream], Edges]] = MappingProxyType(
    {"random": _random, "path": _path, "star": _star, "caterpillar": _caterpillar, "balanced": _balanced}
)
"""Name -> function of (size, stream) that returns the edges of a tree of the nodes 0 to size - 1, size at least 2."""


def connected_graph(shape: str, size: int, extra: int, rng: Stream) -> Graph:
    """Draw a connected graph: a tree of a shape with random names for its nodes, and extra edges.

    The edges come in random order, so that the order of neighbours says nothing.

    Args:
        shape: A name in `SHAPES`.
        size: Number of nodes, at least 2.
        extra: Number of edges beyond the tree's, each one making a cycle; as many as there is room for, at most.
        rng: Where the random numbers come from.
    """
    names = list(range(size))
    rng.shuffle(names)
    edges = [(names[u], names[v]) for u, v in SHAPES[shape](size, rng)]
    joined = {frozenset(edge) for edge in edges}
    room = size * (size - 1) // 2 - len(edges)
    for _ in range(min(extra, room)):
        u, v = rng.below(size), rng.below(size)
        while u == v or frozenset((u, v)) in joined:
            u, v = rng.below(size), rng.below(size)
        joined.add(frozenset((u, v)))
        edges.append((u, v))
    rng.shuffle(edges)
    return Graph(size, tuple((min(edge), max(edge)) for edge in edges))
