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
        visited, stack = {node}, [node]
        while stack:
            for neighbour in self.neighbours[stack.pop()]:
                if neighbour not in visited:
                    visited.add(neighbour)
                    stack.append(neighbour)
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
    """Draw a path of half of the nodes, with each other node on a random node of the path."""
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

    There are at least 2 nodes, and `extra` edges or as many as there is room for; each makes a cycle. The edges come in
    random order, so that the order of neighbours says nothing.
    """
    names = list(range(size))
    rng.shuffle(names)
    edges = [(names[u], names[v]) for u, v in SHAPES[shape](size, rng)]
    joined_pairs = {frozenset(edge) for edge in edges}
    n_unjoined = size * (size - 1) // 2 - len(edges)
    for _ in range(min(extra, n_unjoined)):
        u, v = rng.below(size), rng.below(size)
        while u == v or frozenset((u, v)) in joined_pairs:
            u, v = rng.below(size), rng.below(size)
        joined_pairs.add(frozenset((u, v)))
        edges.append((u, v))
    rng.shuffle(edges)
    return Graph(size, tuple((min(edge), max(edge)) for edge in edges))


Edge = tuple[int, int]  # two room numbers, the smaller first
Neighbours = list[list[int]]  # of each room, the rooms beside it


@lru_cache(maxsize=4)  # mazes are drawn in sets of one size; nobody changes the lists
def _room_neighbours(columns: int, rows: int) -> Neighbours:
    """Return the neighbours of each room of a rectangle: up, down, left and right, where there are any."""
    neighbours: Neighbours = []
    for room in range(columns * rows):
        y, x = divmod(room, columns)
        neighbours.append(
            [room - columns] * (y > 0)
            + [room + columns] * (y < rows - 1)
            + [room - 1] * (x > 0)
            + [room + 1] * (x < columns - 1)
        )
    return neighbours


def _ordered_edge(a: int, b: int) -> Edge:
    """Return a pair of rooms, the smaller number first."""
    return (a, b) if a < b else (b, a)


def _backtracker_tree(neighbours: Neighbours, rng: Stream) -> list[Edge]:
    """Draw a tree by depth-first search in random order: long corridors, few short dead ends."""
    room = rng.below(len(neighbours))
    visited = bytearray(len(neighbours))
    visited[room] = 1
    is_visited = visited.__getitem__
    trail, edges = [room], list[Edge]()
    while len(edges) < len(neighbours) - 1:  # the way back from the last room has no choices
        current = trail[-1]
        unvisited = [*filterfalse(is_visited, neighbours[current])]
        if not unvisited:
            trail.pop()
            continue
        room = unvisited[rng.below(len(unvisited))] if len(unvisited) > 1 else unvisited[0]
        visited[room] = 1
        edges.append((current, room) if current < room else (room, current))
        trail.append(room)
    return edges


def _wilson_tree(neighbours: Neighbours, rng: Stream) -> list[Edge]:
    """Draw a tree by loop-erased random walks: every one is equally likely (Wilson, STOC 1996)."""
    in_tree = bytearray(len(neighbours))
    order = list(range(len(neighbours)))
    rng.shuffle(order)
    in_tree[order[0]] = 1
    next_rooms = [-1] * len(neighbours)  # where the walk last left each room; rewriting it erases loops
    edges: list[Edge] = []
    for start in order[1:]:
        room = start
        while not in_tree[room]:
            next_rooms[room] = neighbours[room][rng.below(len(neighbours[room]))]
            room = next_rooms[room]
        room = start
        while not in_tree[room]:
            in_tree[room] = 1
            edges.append(_ordered_edge(room, next_rooms[room]))
            room = next_rooms[room]
    return edges


def _kruskal_tree(neighbours: Neighbours, rng: Stream) -> list[Edge]:
    """Draw a tree by opening walls in random order where they part two pieces: many short dead ends."""
    passages = all_passages(neighbours)
    rng.shuffle(passages)
    parents = list(range(len(neighbours)))

    def find_root(room: int) -> int:
        """Return the room that stands for the piece of a room."""
        while parents[room] != room:
            parents[room] = parents[parents[room]]
            room = parents[room]
        return room

    edges: list[Edge] = []
    for a, b in passages:
        if find_root(a) != find_root(b):
            parents[find_root(a)] = find_root(b)
            edges.append((a, b))
    return edges


def _prim_tree(neighbours: Neighbours, rng: Stream) -> list[Edge]:
    """Draw a tree by opening random walls of the piece grown so far: short paths, very many dead ends."""
    in_tree = bytearray(len(neighbours))
    frontier: list[Edge] = []
    edges: list[Edge] = []
    room = rng.below(len(neighbours))
    while True:
        in_tree[room] = 1
        frontier += [(room, neighbour) for neighbour in neighbours[room] if not in_tree[neighbour]]
        while frontier:
            index = rng.below(len(frontier))
            frontier[index], frontier[-1] = frontier[-1], frontier[index]
            tree_room, room = frontier.pop()
            if not in_tree[room]:
                edges.append(_ordered_edge(tree_room, room))
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


def all_passages(neighbours: Neighbours) -> list[Edge]:
    """Return all pairs of neighbouring rooms, in order."""
    return [(room, other) for room, others in enumerate(neighbours) for other in sorted(others) if room < other]


def spanning_tree(columns: int, rows: int, algorithm: str, rng: Stream) -> tuple[list[Edge], list[Edge]]:
    """Draw a spanning tree of the rooms of a rectangle by an algorithm in `TREES`; room (x, y) is y * columns + x.

    Return the columns * rows - 1 passages of the tree, and all other pairs of neighbouring rooms, in order.
    """
    neighbours = _room_neighbours(columns, rows)
    tree = TREES[algorithm](neighbours, rng)
    return tree, [*filterfalse(set(tree).__contains__, _cached_passages(columns, rows))]
