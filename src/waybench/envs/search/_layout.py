"""The layout of a graph's drawing: in layers, those of a tree without a crossing."""

from functools import lru_cache
from typing import NamedTuple

from waybench.spaces import Graph

ACROSS = 34  # units from node to node in a layer
AHEAD = 37  # units both ways where layers stand upright
_LEAST, _MOST = 42, 100  # units from layer to layer, otherwise; the more the wider the drawing is
_TALL = 1.5  # how many times as many layers as nodes across there may be before the layers stand upright


class Layout(NamedTuple):
    """A drawing's geometry.

    Attributes:
        places: Of each node, x and y of its middle, in whole numbers.
        width: How far the nodes are apart across, at most.
        height: How far they are apart downwards, at most.
        layers: Of each node, its distance from node 0.
    """

    places: tuple[tuple[int, int], ...]
    width: int
    height: int
    layers: tuple[int, ...]

    def moved(self, x: int, y: int) -> "Layout":
        """Return the same, so far to the right and so far down."""
        return self._replace(places=tuple((across + x, down + y) for across, down in self.places))


@lru_cache(maxsize=8)  # an episode is drawn again and again, step by step
def layered(graph: Graph) -> Layout:
    """Place the nodes of a connected graph in layers by their distance from node 0, from (0, 0) on.

    Below each node are those that a breadth-first search reaches from it first, in the order shown, and a node is above
    the middle of its outer two. Deep graphs grow to the right in place of downwards.
    """
    order, children, depth = _spanned(graph)
    across = [0.0] * graph.size
    leaves = 0
    todo = [0]
    while todo:
        node = todo.pop()
        if not children[node]:
            across[node] = leaves
            leaves += 1
        todo += reversed(children[node])
    for node in reversed(order):
        if children[node]:
            across[node] = (across[children[node][0]] + across[children[node][-1]]) / 2
    layers, widest = depth[order[-1]], leaves - 1
    if layers + 1 > _TALL * leaves:
        places = [(AHEAD * y, round(AHEAD * x)) for x, y in zip(across, depth, strict=True)]
        return Layout(tuple(places), AHEAD * layers, AHEAD * widest, tuple(depth))
    down = min(max(_LEAST, ACROSS * widest // 2 // layers), _MOST)
    places = [(round(ACROSS * x), down * y) for x, y in zip(across, depth, strict=True)]
    return Layout(tuple(places), ACROSS * widest, down * layers, tuple(depth))


def _spanned(graph: Graph) -> tuple[list[int], list[list[int]], list[int]]:
    """Return the nodes in the order of a breadth-first search from node 0, their children in it, and their depths."""
    order, children, depth = [0], [list[int]() for _ in range(graph.size)], [-1] * graph.size
    depth[0] = 0
    for node in order:
        for neighbour in graph.neighbours[node]:
            if depth[neighbour] < 0:
                depth[neighbour] = depth[node] + 1
                children[node].append(neighbour)
                order.append(neighbour)
    return order, children, depth
