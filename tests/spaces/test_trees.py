"""Spanning trees: by every algorithm a tree, and by Wilson's every tree alike."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waybench.core import Stream
from waybench.envs.spaces import TREES, spanning_tree


def pieces(rooms: int, edges: list[tuple[int, int]]) -> int:
    """Count connected pieces by painting them."""
    colour = list(range(rooms))
    for a, b in edges:
        colour = [colour[a] if each == colour[b] else each for each in colour]
    return len(set(colour))


def grid_edges(columns: int, rows: int) -> set[tuple[int, int]]:
    across = {(y * columns + x, y * columns + x + 1) for y in range(rows) for x in range(columns - 1)}
    down = {(y * columns + x, (y + 1) * columns + x) for y in range(rows - 1) for x in range(columns)}
    return across | down


@given(st.sampled_from(sorted(TREES)), st.integers(1, 8), st.integers(1, 8), st.integers())
def test_a_spanning_tree(algorithm: str, columns: int, rows: int, key: int) -> None:
    tree, rest = spanning_tree(columns, rows, algorithm, Stream("tree", key))
    assert len(tree) == columns * rows - 1
    assert pieces(columns * rows, tree) == 1
    assert set(tree) | set(rest) == grid_edges(columns, rows)
    assert len(tree) + len(rest) == len(grid_edges(columns, rows))
    assert rest == sorted(rest)


@pytest.mark.parametrize("algorithm", sorted(TREES))
def test_the_stream_decides(algorithm: str) -> None:
    drawn = [spanning_tree(6, 6, algorithm, Stream("tree", key)) for key in (1, 1, 2)]
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]


def counted(algorithm: str, draws: int) -> Counter[tuple[tuple[int, int], ...]]:
    stream = Stream("count")
    return Counter(tuple(sorted(spanning_tree(3, 2, algorithm, stream)[0])) for _ in range(draws))


def chi_squared(counts: Counter[tuple[tuple[int, int], ...]], draws: int) -> float:
    return sum((count - draws / 15) ** 2 / (draws / 15) for count in counts.values())


@pytest.mark.parametrize("algorithm", sorted(TREES))
def test_every_tree_can_come(algorithm: str) -> None:
    # A ladder of three rungs has 15 spanning trees. Its two sides with the middle rung are none of depth-first search.
    missing = {((0, 1), (1, 2), (1, 4), (3, 4), (4, 5))} if algorithm == "backtracker" else set()
    found = set(counted(algorithm, 2000))
    assert len(found | missing) == 15
    assert not found & missing


def test_wilson_favours_no_tree() -> None:
    bound = 14 + 5 * 28**0.5  # the mean and five standard deviations, for one fixed stream
    assert chi_squared(counted("wilson", 6000), 6000) < bound
    assert chi_squared(counted("prim", 6000), 6000) > bound


def dead_ends(algorithm: str) -> float:
    rooms = 15
    found = 0
    for key in range(10):
        tree, _ = spanning_tree(rooms, rooms, algorithm, Stream("ends", key))
        degree = Counter(room for edge in tree for room in edge)
        found += sum(count == 1 for count in degree.values())
    return found / (10 * rooms * rooms)


def test_algorithms_make_the_dead_ends_they_are_known_for() -> None:
    share = {algorithm: dead_ends(algorithm) for algorithm in TREES}
    assert share["backtracker"] < 0.15 < 0.25 < share["wilson"] < share["prim"]
    assert share["kruskal"] > 0.25
