"""Spanning trees of a rectangle of rooms, by the algorithms that mazes are made with."""

from collections.abc import Callable
from functools import lru_cache
from itertools import filterfalse

from waybench.core import Stream

Edge = tuple[int, int]  # two room numbers, the smaller first
Neighbours = list[list[int]]


@lru_cache(maxsize=4)  # mazes are drawn in sets of one size; nobody changes the lists
def _neighbours(columns: int, rows: int) -> Neighbours:
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


def _edge(a: int, b: int) -> Edge:
    return (a, b) if a < b else (b, a)


def _backtracker(near: Neighbours, rng: Stream) -> list[Edge]:
    """Depth-first search in random order: long corridors, few short dead ends."""
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


def _wilson(near: Neighbours, rng: Stream) -> list[Edge]:
    """Loop-erased random walks: every spanning tree is equally likely (Wilson, STOC 1996)."""
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
            edges.append(_edge(room, leaves[room]))
            room = leaves[room]
    return edges


def _kruskal(near: Neighbours, rng: Stream) -> list[Edge]:
    """Walls in random order, each opened where it parts two pieces: many short dead ends."""
    passages = all_passages(near)
    rng.shuffle(passages)
    parent = list(range(len(near)))

    def root(room: int) -> int:
        while parent[room] != room:
            parent[room] = parent[parent[room]]
            room = parent[room]
        return room

    edges: list[Edge] = []
    for a, b in passages:
        if root(a) != root(b):
            parent[root(a)] = root(b)
            edges.append((a, b))
    return edges


def _prim(near: Neighbours, rng: Stream) -> list[Edge]:
    """A random wall of the piece grown so far, again and again: short ways, very many dead ends."""
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
                edges.append(_edge(home, room))
                break
        else:
            return edges


TREES: dict[str, Callable[[Neighbours, Stream], list[Edge]]] = {
    "backtracker": _backtracker,
    "kruskal": _kruskal,
    "prim": _prim,
    "wilson": _wilson,
}


@lru_cache(maxsize=4)
def _passages(columns: int, rows: int) -> tuple[Edge, ...]:
    return tuple(all_passages(_neighbours(columns, rows)))


def all_passages(near: Neighbours) -> list[Edge]:
    """Return all pairs of neighbouring rooms, in order."""
    return [(a, b) for a, neighbours in enumerate(near) for b in sorted(neighbours) if a < b]


def spanning_tree(columns: int, rows: int, algorithm: str, rng: Stream) -> tuple[list[Edge], list[Edge]]:
    """Draw a spanning tree of the rooms of a rectangle.

    Args:
        columns: Rooms in a row.
        rows: Rows of rooms; room (x, y) has number y * columns + x.
        algorithm: A name in `TREES`.
        rng: The random stream.

    Returns:
        The passages of the tree, columns * rows - 1 of them, and all other pairs of neighbouring rooms, in order.
    """
    near = _neighbours(columns, rows)
    tree = TREES[algorithm](near, rng)
    return tree, [*filterfalse(set(tree).__contains__, _passages(columns, rows))]
