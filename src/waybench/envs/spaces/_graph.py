"""Undirected graphs, shapes of trees, and spanning trees of rooms."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import filterfalse
from types import MappingProxyType

from waybench.core import Stream


@dataclass(frozen=True, slots=True)
class Graph:
    """An undirected graph of the nodes 0 to size - 1.

    Attributes:
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
        """Collect the neighbours of each node."""
        lists: list[list[int]] = [[] for _ in range(self.size)]
        for u, v in self.edges:
            lists[u].append(v)
            lists[v].append(u)
        object.__setattr__(self, "neighbours", tuple(map(tuple, lists)))
        object.__setattr__(self, "masks", tuple(sum(1 << node for node in neighbours) for neighbours in lists))

    @property
    def cycle_count(self) -> int:
        """Number of independent cycles of a connected graph: edges beyond those of a spanning tree."""
        return len(self.edges) - self.size + 1

    def count_reachable_from(self, node: int) -> int:
        """Return the number of nodes that can be reached from a node, itself included."""
        visited, todo = {node}, [node]
        while todo:
            for neighbour in self.neighbours[todo.pop()]:
                if neighbour not in visited:
                    visited.add(neighbour)
                    todo.append(neighbour)
        return len(visited)


Edges = list[tuple[int, int]]


def _random_tree(size: int, rng: Stream) -> Edges:
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


def _path_tree(size: int, rng: Stream) -> Edges:
    """Return a path through all nodes."""
    return [(node, node + 1) for node in range(size - 1)]


def _star_tree(size: int, rng: Stream) -> Edges:
    """Return a star with node 0 in the middle."""
    return [(0, node) for node in range(1, size)]


def _caterpillar_tree(size: int, rng: Stream) -> Edges:
    """Draw a path of half of the nodes, with each of the others on a random one of them."""
    spine = (size + 1) // 2
    return _path_tree(spine, rng) + [(rng.below(spine), node) for node in range(spine, size)]


def _balanced_binary_tree(size: int, rng: Stream) -> Edges:
    """Return a tree in which nodes have two children, filled level by level."""
    return [((node - 1) // 2, node) for node in range(1, size)]


SHAPES: MappingProxyType[str, Callable[[int, Stream], Edges]] = MappingProxyType(
    {
        "random": _random_tree,
        "path": _path_tree,
        "star": _star_tree,
        "caterpillar": _caterpillar_tree,
        "balanced": _balanced_binary_tree,
    }
)
"""Name -> function of (size, stream) that returns the edges of a tree of the nodes 0 to size - 1, size at least 2."""


def connected_graph(shape: str, size: int, extra: int, rng: Stream) -> Graph:
    """Draw a connected graph: a tree of a shape in `SHAPES` with random names for its nodes, and extra edges.

    There are at least 2 nodes, and as many extra edges as asked for or as there is room for; each makes a cycle. The
    edges come in random order, so that the order of neighbours says nothing.
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


Edge = tuple[int, int]  # two room numbers, the smaller first
Neighbours = list[list[int]]


@lru_cache(maxsize=4)  # mazes are drawn in sets of one size; nobody changes the lists
def _room_neighbours(columns: int, rows: int) -> Neighbours:
    near: Neighbours = []
    for room in range(columns * rows):
        x, y = room % columns, room // columns
        near.append(
            [room - columns] * (y > 0)
            + [room + columns] * (y < rows - 1)
            + [room - 1] * (x > 0)
            + [room + 1] * (x < columns - 1)
        )
    return near


def _ordered_edge(a: int, b: int) -> Edge:
    """Return a pair of rooms, the smaller number first."""
    return (a, b) if a < b else (b, a)


def _backtracker_tree(near: Neighbours, rng: Stream) -> list[Edge]:
    """Draw a tree by depth-first search in random order: long corridors, few short dead ends."""
    room = rng.below(len(near))
    visited = bytearray(len(near))
    visited[room] = 1
    is_visited = visited.__getitem__
    trail, edges = [room], list[Edge]()
    while len(edges) < len(near) - 1:  # the way back from the last room has no choices
        here = trail[-1]
        fresh = [*filterfalse(is_visited, near[here])]
        if not fresh:
            trail.pop()
            continue
        room = fresh[rng.below(len(fresh))] if len(fresh) > 1 else fresh[0]
        visited[room] = 1
        edges.append((here, room) if here < room else (room, here))
        trail.append(room)
    return edges


def _wilson_tree(near: Neighbours, rng: Stream) -> list[Edge]:
    """Draw a tree by loop-erased random walks: every one is equally likely (Wilson, STOC 1996)."""
    inside = bytearray(len(near))
    order = list(range(len(near)))
    rng.shuffle(order)
    inside[order[0]] = 1
    leaves = [-1] * len(near)  # where the walk last left each room; rewriting it erases loops
    edges: list[Edge] = []
    for start in order[1:]:
        room = start
        while not inside[room]:
            leaves[room] = near[room][rng.below(len(near[room]))]
            room = leaves[room]
        room = start
        while not inside[room]:
            inside[room] = 1
            edges.append(_ordered_edge(room, leaves[room]))
            room = leaves[room]
    return edges


def _kruskal_tree(near: Neighbours, rng: Stream) -> list[Edge]:
    """Draw a tree by opening walls in random order where they part two pieces: many short dead ends."""
    passages = all_passages(near)
    rng.shuffle(passages)
    parent = list(range(len(near)))

    def find_root(room: int) -> int:
        """Return the room that stands for the piece of a room."""
        while parent[room] != room:
            parent[room] = parent[parent[room]]
            room = parent[room]
        return room

    edges: list[Edge] = []
    for a, b in passages:
        if find_root(a) != find_root(b):
            parent[find_root(a)] = find_root(b)
            edges.append((a, b))
    return edges


def _prim_tree(near: Neighbours, rng: Stream) -> list[Edge]:
    """Draw a tree by opening random walls of the piece grown so far: short paths, very many dead ends."""
    inside = bytearray(len(near))
    frontier: list[Edge] = []
    edges: list[Edge] = []
    room = rng.below(len(near))
    while True:
        inside[room] = 1
        frontier += [(room, neighbour) for neighbour in near[room] if not inside[neighbour]]
        while frontier:
            pick = rng.below(len(frontier))
            frontier[pick], frontier[-1] = frontier[-1], frontier[pick]
            home, room = frontier.pop()
            if not inside[room]:
                edges.append(_ordered_edge(home, room))
                break
        else:
            return edges


TREES: dict[str, Callable[[Neighbours, Stream], list[Edge]]] = {
    "backtracker": _backtracker_tree,
    "kruskal": _kruskal_tree,
    "prim": _prim_tree,
    "wilson": _wilson_tree,
}


@lru_cache(maxsize=4)
def _cached_passages(columns: int, rows: int) -> tuple[Edge, ...]:
    """Return all pairs of neighbouring rooms of a rectangle (cached)."""
    return tuple(all_passages(_room_neighbours(columns, rows)))


def all_passages(near: Neighbours) -> list[Edge]:
    """Return all pairs of neighbouring rooms, in order."""
    return [(a, b) for a, neighbours in enumerate(near) for b in sorted(neighbours) if a < b]


def spanning_tree(columns: int, rows: int, algorithm: str, rng: Stream) -> tuple[list[Edge], list[Edge]]:
    """Draw a spanning tree of the rooms of a rectangle by an algorithm in `TREES`; room (x, y) is y * columns + x.

    Return the columns * rows - 1 passages of the tree, and all other pairs of neighbouring rooms, in order.
    """
    near = _room_neighbours(columns, rows)
    tree = TREES[algorithm](near, rng)
    return tree, [*filterfalse(set(tree).__contains__, _cached_passages(columns, rows))]
