"""Graphs and the shapes that they are drawn from."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waybench.core import Stream
from waybench.envs.spaces._graph import SHAPES, Graph, connected_graph

SIZES = st.integers(2, 40)
NAMES = st.sampled_from(sorted(SHAPES))
EXTRA = st.integers(0, 60)
KEYS = st.text(max_size=10)


def is_connected(size: int, edges: list[tuple[int, int]]) -> bool:
    """Merge sets of nodes, edge by edge."""
    group = list(range(size))
    for u, v in edges:
        group = [group[u] if name == group[v] else name for name in group]
    return len(set(group)) == 1


def degrees(shape: str, size: int) -> list[int]:
    """Return the degree of each node of a shape, which has not been given random names yet."""
    count = Counter(node for edge in SHAPES[shape](size, Stream("degrees")) for node in edge)
    return [count[node] for node in range(size)]


@given(NAMES, SIZES, KEYS)
def test_every_shape_is_a_tree(shape: str, size: int, key: str) -> None:
    edges = SHAPES[shape](size, Stream(key))
    assert len(edges) == size - 1
    assert {node for edge in edges for node in edge} == set(range(size))
    assert is_connected(size, edges)


def test_a_path_has_two_ends() -> None:
    assert degrees("path", 6) == [1, 2, 2, 2, 2, 1]


def test_a_star_has_one_centre() -> None:
    assert degrees("star", 6) == [5, 1, 1, 1, 1, 1]


def test_in_a_balanced_tree_every_node_has_two_children() -> None:
    assert degrees("balanced", 7) == [2, 3, 3, 1, 1, 1, 1]


@given(SIZES, KEYS)
def test_without_its_leaves_a_caterpillar_is_a_path(size: int, key: str) -> None:
    edges = SHAPES["caterpillar"](size, Stream(key))
    spine = range((size + 1) // 2)
    inner = [edge for edge in edges if edge[0] in spine and edge[1] in spine]
    assert inner == [(node, node + 1) for node in spine[:-1]]
    assert all(edge[0] in spine for edge in edges)


@pytest.mark.parametrize("renamed", [False, True])
def test_every_labelled_tree_on_four_nodes_is_equally_likely(renamed: bool) -> None:
    count: Counter[frozenset[frozenset[int]]] = Counter()
    draws, trees = 3200, 16
    for number in range(draws):
        rng = Stream("sixteen trees", number)
        edges = connected_graph("random", 4, 0, rng).edges if renamed else SHAPES["random"](4, rng)
        count[frozenset(map(frozenset, edges))] += 1
    assert len(count) == trees
    expected = draws / trees
    chi_square = sum((found - expected) ** 2 / expected for found in count.values())
    assert chi_square < 37.7  # the 99.9th percentile with 15 degrees of freedom


@given(NAMES, SIZES, EXTRA, KEYS)
def test_a_drawn_graph_is_connected_and_simple(shape: str, size: int, extra: int, key: str) -> None:
    graph = connected_graph(shape, size, extra, Stream(key))
    assert is_connected(size, list(graph.edges))
    assert graph.count_reachable_from(size - 1) == size
    assert all(u < v for u, v in graph.edges)
    assert len(set(graph.edges)) == len(graph.edges)
    assert graph.cycle_count == min(extra, (size - 1) * (size - 2) // 2)  # as many as there is room for


@given(NAMES, SIZES, EXTRA, KEYS)
def test_the_same_key_draws_the_same_graph(shape: str, size: int, extra: int, key: str) -> None:
    first, again = (connected_graph(shape, size, extra, Stream(key)) for _ in range(2))
    assert first.edges == again.edges
    assert first == again


@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_another_key_draws_another_graph_with_other_names(shape: str) -> None:
    graphs = [connected_graph(shape, 12, 0, Stream("names", number)) for number in range(20)]
    assert len({graph.edges for graph in graphs}) == len(graphs)
    assert len({tuple(map(len, graph.neighbours)) for graph in graphs}) > 1


def test_neighbours_are_in_the_order_of_the_edges() -> None:
    graph = Graph(4, ((0, 3), (1, 2), (0, 1), (0, 2)))
    assert graph.neighbours == ((3, 1, 2), (2, 0), (1, 0), (0,))
    assert graph.cycle_count == 1


@given(NAMES, SIZES, EXTRA, KEYS)
def test_masks_agree_with_neighbours(shape: str, size: int, extra: int, key: str) -> None:
    graph = connected_graph(shape, size, extra, Stream(key))
    for some, mask in zip(graph.neighbours, graph.masks, strict=True):
        assert [node for node in range(size) if mask >> node & 1] == sorted(some)


def test_the_order_of_neighbours_does_not_tell_the_way_along_a_path() -> None:
    told = 0
    for number in range(100):
        graph = connected_graph("path", 6, 0, Stream("ways", number))
        walk = [next(node for node in range(6) if len(graph.neighbours[node]) == 1)]
        while len(walk) < 6:
            walk.append(next(node for node in graph.neighbours[walk[-1]] if node not in walk))
        back_first = [graph.neighbours[at][0] == before for before, at in pairwise(walk[:-1])]
        told += len(set(back_first)) == 1
    assert told < 30  # by chance an eighth of them


def test_only_what_is_connected_is_reached() -> None:
    graph = Graph(5, ((0, 2), (2, 4), (1, 3)))
    assert [graph.count_reachable_from(node) for node in range(5)] == [3, 2, 3, 2, 3]


def test_graphs_are_equal_if_their_neighbours_are_shown_in_the_same_order() -> None:
    one, same, other = (
        Graph(5, ((0, 1), (2, 3), (1, 2), (3, 4))),
        Graph(5, ((2, 3), (0, 1), (1, 2), (3, 4))),
        Graph(5, ((1, 2), (0, 1), (2, 3), (3, 4))),
    )
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
