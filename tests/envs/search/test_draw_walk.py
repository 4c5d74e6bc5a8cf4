"""The drawing of walks, read back."""

import re
from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import given

import waybench
from tests.drawings import Point, box, dots, drawer, inside, number, parts, points, read, steps, texts, told, written
from tests.envs.search.cases import SQUARE, TREE, WALKS, after, breadth_first, depth_first, graph, neighbours, trees
from waybench.core import play_to_end, policy
from waybench.envs.search._drawing_walk import MOST_NODES
from waybench.envs.search._walk import decode

PLAYERS = ("random", "heuristic", "noisy-0.3", "oracle")
DRAW = {name: drawer(f"search/{name}") for name in ("dfs", "cavedfs", "bfs", "cavebfs")}
draw_depth, draw_breadth = DRAW["dfs"], DRAW["bfs"]


def places(svg: str) -> dict[int, Point]:
    """Return where the nodes are, by their labels."""
    return {int(said): (x, y) for name in ("walk-inside", "walk-label") for said, x, y in written(svg, name)}


def nodes(svg: str, name: str) -> list[int]:
    """Return the nodes that have a dot of a class."""
    at = {place: node for node, place in places(svg).items()}
    return sorted(at[place] for place in dots(svg, name))


def current(svg: str) -> int:
    """Return the node with a ring."""
    (ring,) = parts(svg, "walk-current")
    return {place: node for node, place in places(svg).items()}[number(ring, "cx"), number(ring, "cy")]


def lines(svg: str, name: str) -> set[frozenset[int]]:
    """Return the pairs of nodes between which there are lines of a class."""
    at = {place: node for node, place in places(svg).items()}
    ends = [at[point] for e in parts(svg, name) for point in points(e)]
    return {frozenset(pair) for pair in zip(ends[::2], ends[1::2], strict=True)}


def lines_of(svg: str, name: str) -> set[str]:
    """Return the lines of a class as they are written."""
    return {line for e in parts(svg, name) for line in e.get("d", "").split("M")}


def orders(svg: str, *names: str) -> dict[int, int]:
    """Return the numbers of nodes in groups that are a little beside them."""
    at = {place: node for node, place in places(svg).items()}
    return {at[x, y]: int(said) for name in names for said, x, y in written(svg, name)}


def visits(svg: str) -> dict[int, int]:
    """Return the numbers of first visits."""
    return orders(svg, "walk-order", "walk-wrong")


def best(svg: str) -> list[int]:
    """Return the nodes in the order of the reference, whose grounds are where its numbers are."""
    assert {(x, y) for _, x, y in written(svg, "walk-rank")} == {
        (x + 1 + (wide > 3) * 2, y) for x, y, wide in _grounds(svg)
    }
    found = {rank: node for node, rank in orders(svg, "walk-rank").items()}
    assert all("walk-rank" not in e.get("class", "") for e in read(svg))  # it is in the layer that can be hidden
    return [found[rank] for rank in range(1, len(found) + 1)]


def _grounds(svg: str) -> list[tuple[float, float, float]]:
    (group,) = parts(svg, "reference")
    drawn = "".join(e.get("d", "") for e in group)
    return [(float(x), float(y), float(wide)) for x, y, wide in re.findall(r"M(\d+) (\d+)h(\d+)", drawn)]


@pytest.mark.parametrize("player", PLAYERS)
@pytest.mark.parametrize("env", WALKS)
def test_what_is_visited_and_seen_after_each_turn(env: str, player: str) -> None:
    environment = waybench.load(f"search/{env}")
    for item in environment.source("draw", 9, cycles=8).head(3):
        episode = play_to_end(environment, item, policy(player))
        beside = neighbours(item.instance.to_json())
        drawings = steps(DRAW[env], episode)
        for count, svg in enumerate(drawings):
            way = [0, *(turn.events["node"] for turn in episode.turns[:count])]
            first = list(dict.fromkeys(way))
            assert sorted(nodes(svg, "walk-visited")) == sorted(first)
            fringe = {other for node in first for other in beside[node]} - set(first)
            assert sorted(nodes(svg, "walk-frontier")) == sorted(fringe)
            assert nodes(svg, "walk-outline") == nodes(svg, "walk-frontier")
            assert len(nodes(svg, "walk-unseen")) == 9 - len(first) - len(fringe)
            assert current(svg) == way[-1]
            assert visits(svg) == {node: rank for rank, node in enumerate(first) if rank}
            if env.endswith("dfs"):
                assert lines(svg, "walk-walked") == {frozenset(pair) for pair in pairwise(way)}
            else:  # a node is entered from that of its neighbours which was visited first
                sources = {node: next(other for other in first if other in beside[node]) for node in first[1:]}
                assert lines(svg, "walk-walked") == {frozenset(pair) for pair in sources.items()}
            assert lines_of(svg, "walk-walked") <= lines_of(svg, "walk-edge")
            assert f"first search: {len(first)} of 9 nodes visited, {count} " in told(svg)
            assert inside(svg)
        # Nothing moves on the way.
        assert len({box(svg) for svg in drawings}) == 1
        assert all(places(svg) == places(drawings[0]) and best(svg) == best(drawings[0]) for svg in drawings)


@given(trees(extra=3))
def test_the_reference_is_the_algorithm(data: Any) -> None:
    case = decode(data)

    def first(new: list[int]) -> int:
        return new[0]

    walked = list(dict.fromkeys([0, *depth_first(data, first)]))
    assert best(draw_depth(case)) == walked[1:]
    # Level by level, those of a level by the order in which the ones before were visited.
    assert best(draw_breadth(case)) == list(breadth_first(data, first))


def test_neighbours_are_in_the_order_shown() -> None:
    at = places(draw_depth(decode(graph((0, 4), (0, 2), (0, 1), (0, 3), (4, 5), (4, 6)))))
    assert sorted((4, 2, 1, 3), key=lambda node: at[node][0]) == [4, 2, 1, 3]
    assert at[5][0] < at[4][0] < at[6][0] < at[2][0]
    assert len({at[node][1] for node in (4, 2, 1, 3)}) == 1


def crossing(one: Sequence[Point], two: Sequence[Point]) -> bool:
    """Whether two lines cross."""

    def side(a: Point, b: Point, c: Point) -> float:
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    return side(*one, two[0]) * side(*one, two[1]) < 0 and side(*two, one[0]) * side(*two, one[1]) < 0


@given(trees(most=30))
def test_trees_have_no_crossings_and_nodes_are_apart(data: Any) -> None:
    svg = draw_depth(decode(data))
    at = places(svg)
    for (x, y), (to_x, to_y) in combinations(at.values(), 2):
        assert (x - to_x) ** 2 + (y - to_y) ** 2 > 30**2
    drawn = [(at[u], at[v]) for u, v in data["edges"]]
    assert lines(svg, "walk-edge") == {frozenset(edge) for edge in data["edges"]}
    assert not any(crossing(one, two) for one, two in combinations(drawn, 2))
    wide, high = map(float, box(svg).split()[2:])
    assert all(20 <= x <= wide - 20 and 20 <= y <= high - 20 for x, y in at.values())


def test_steps_that_leave_the_algorithm() -> None:
    # Back from 4 though 3 is still to be visited beside it; then down there, and at 3 there is only the way back.
    episode = after("dfs", TREE, "4", "0", "4", "3", "4", "0")
    assert [lines(svg, "walk-astray") for svg in steps(draw_depth, episode)] == [
        set(),
        set(),
        *[{frozenset((0, 4))}] * 5,
    ]
    # 1 is two steps away, and 2 and 4 are one; 2 is no new node.
    episode = after("bfs", TREE, "2", "1", "2", "4")
    svg = draw_breadth(episode.item.instance, episode.turns)
    assert (lines(svg, "walk-astray"), nodes(svg, "walk-again")) == ({frozenset((1, 2))}, [2])
    assert texts(svg, "walk-wrong") == ["2"]
    assert "2 deviations from the algorithm" in told(svg)


@pytest.mark.parametrize("env", ["dfs", "bfs"])
def test_the_oracle_never_leaves_it(env: str) -> None:
    environment = waybench.load(f"search/{env}")
    for item in environment.source("draw", 12, cycles=3).head(5):
        svg = DRAW[env](item.instance, play_to_end(environment, item, policy("oracle")).turns)
        assert (
            not parts(svg, "walk-astray")
            + parts(svg, "walk-wrong")
            + parts(svg, "walk-again")
            + parts(svg, "walk-tried")
        )
        assert list(visits(svg)) == best(svg)


@pytest.mark.parametrize("env", ["dfs", "bfs"])
def test_an_illegal_move_is_a_dashed_line_with_a_cross(env: str) -> None:
    before, then = (DRAW[env](e.item.instance, e.turns) for e in (after(env, TREE, "4"), after(env, TREE, "4", "5")))
    assert not parts(before, "walk-tried") + parts(before, "walk-illegal")
    assert lines(then, "walk-tried") == {frozenset((4, 5))}
    assert all(e.get("stroke-dasharray") for e in parts(then, "walk-tried"))
    (cross,) = parts(then, "walk-illegal")
    assert cross.get("d", "").count("M") == 1
    assert nodes(then, "walk-visited") == nodes(before, "walk-visited")
    assert "1 illegal" in told(then)
    # What is no node has a line all the same, to nowhere; the same mistake again is not drawn again.
    episode = after(env, TREE, "99", "99", "4")
    svg = DRAW[env](episode.item.instance, episode.turns)
    (line,) = parts(svg, "walk-tried")
    assert points(line)[0] == places(svg)[0]
    assert points(line)[1] not in places(svg).values()
    assert len(points(line)) == 2
    assert "2 illegal" in told(svg)


def test_replies_without_a_number_leave_it_as_it_was() -> None:
    one, two = after("dfs", TREE, "4"), after("dfs", TREE, "4", "<script>alert()</script>", "&lt;")
    before, then = (draw_depth(each.item.instance, each.turns) for each in (one, two))
    assert then.replace(", 2 unparsed", "").replace("2 unparsed", "") == before
    assert then != before


def test_what_a_teacher_or_a_coach_puts_in_its_place() -> None:
    taught = after("dfs", TREE, "2", "77", teacher_guided=True)  # it goes to 4 and then to 3
    svg = draw_depth(taught.item.instance, taught.turns)
    assert sorted(nodes(svg, "walk-visited")) == [0, 3, 4]
    assert _tried(svg) == [[0, 2], [4]]
    assert len(parts(svg, "walk-illegal")) == 1
    coached = after("bfs", TREE, "4", "3", weak_tg_chances=1)
    svg = draw_breadth(coached.item.instance, coached.turns)
    assert sorted(nodes(svg, "walk-visited")) == [0, 4]
    assert lines(svg, "walk-tried") == {frozenset((3, 4))}
    assert not parts(svg, "walk-illegal")


def _tried(svg: str) -> list[list[int]]:
    """Return the nodes at the ends of dashed lines, without ends that are at none."""
    at = {place: node for node, place in places(svg).items()}
    ends = [point for e in parts(svg, "walk-tried") for point in points(e)]
    return [[at[end] for end in pair if end in at] for pair in zip(ends[::2], ends[1::2], strict=True)]


def test_edges_past_other_nodes_of_a_layer_are_bent() -> None:
    # 1, 2 and 3 are beside each other; 1 and 3 are joined, with 2 between them.
    svg = draw_depth(decode(graph((0, 1), (0, 2), (0, 3), (1, 3))))
    (edges,) = parts(svg, "walk-edge")
    assert edges.get("d", "").count("Q") == 1
    assert lines(svg, "walk-edge") == {frozenset(pair) for pair in ((0, 1), (0, 2), (0, 3), (1, 3))}
    assert "Q" not in parts(draw_depth(decode(SQUARE)), "walk-edge")[0].get("d", "")


def test_nothing_of_a_reply_is_drawn() -> None:
    for env in WALKS:
        episode = after(env, TREE, '4"/><script>alert(1)</script>', "9" * 4000, "\ud800 2 <b>", "{{ 7 * 7 }}")
        svg = DRAW[env](episode.item.instance, episode.turns)
        assert not any(piece in svg for piece in ("script", "99", "<b", "{{", "\ud800"))
        assert inside(svg)


@pytest.mark.parametrize("shape", ["path", "star"])
def test_large_graphs(shape: str) -> None:
    environment = waybench.load("search/dfs")
    for level in (200, MOST_NODES + 1):
        episode = play_to_end(environment, environment.source("draw", level, shape=shape).item(0), policy("oracle"))
        svg = draw_depth(episode.item.instance, episode.turns)
        assert len(dots(svg, "walk-visited")) == (level if level <= MOST_NODES else 0)
        assert f"{level} of {level} nodes visited" in told(svg)
