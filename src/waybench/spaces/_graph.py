"""Undirected graphs in which the order of the edges says in which order a node's neighbours are shown."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Graph:
    """An undirected graph of the nodes 0 to size - 1.

    Attributes:
        size: Number of nodes.
        edges: Pairs of nodes. An edge (u, v) puts v at the end of u's neighbours and u at the end of v's. Graphs with
            the same neighbours in the same order are equal, whatever else the order of their edges is.
        neighbours: Of each node, its neighbours in that order.
        masks: Of each node, its neighbours as bits of a number.
    """

    size: int
    edges: tuple[tuple[int, int], ...] = field(compare=False)
    neighbours: tuple[tuple[int, ...], ...] = field(init=False, repr=False)
    masks: tuple[int, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Put the neighbours together."""
        lists: list[list[int]] = [[] for _ in range(self.size)]
        for u, v in self.edges:
            lists[u].append(v)
            lists[v].append(u)
        object.__setattr__(self, "neighbours", tuple(map(tuple, lists)))
        object.__setattr__(self, "masks", tuple(sum(1 << node for node in neighbours) for neighbours in lists))

    @property
    def cycles(self) -> int:
        """Number of independent cycles of a connected graph: edges beyond those of a spanning tree."""
        return len(self.edges) - self.size + 1

    def reached_from(self, node: int) -> int:
        """Return the number of nodes that can be reached from a node, itself included."""
        visited, todo = {node}, [node]
        while todo:
            for neighbour in self.neighbours[todo.pop()]:
                if neighbour not in visited:
                    visited.add(neighbour)
                    todo.append(neighbour)
        return len(visited)
