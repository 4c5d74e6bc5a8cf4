"""Mazes by key: what every one of them is, and the public set, pinned."""

from collections import Counter
from collections.abc import Iterable
from itertools import combinations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.envs.maze.mazes import ALICIA, border, dijkstra, open_cells
from waybench.core import Item, UsageError
from waybench.core._items import item_set_hash
from waybench.envs.maze._environment import MazeSource
from waybench.envs.maze._game import Maze
from waybench.envs.spaces import TREES

SIDES = ("top", "bottom", "left", "right")
PAIRS = [f"{a}-{b}" for a in SIDES for b in SIDES if a != b]

KEYS = st.text(max_size=20)
SIZES = st.sampled_from([5, 7, 9, 11, 13, 15, 21, 31])
LOOPS = st.sampled_from([0, 0.01, 0.05, 0.1, 0.5, 0.9, 1]) | st.floats(0, 1)
ALGORITHMS = st.sampled_from(sorted(TREES))
ANY_SIDES = st.sampled_from(["any", *PAIRS])

# The set `alicia-v1`: ten mazes of each dimension. A change here changes everybody's benchmark: it is never right.
ALICIA_V1 = {
    5: "b33169693981f881da360b26c8c0e0547520cfe72bc01377ba7ed4f589aec0bb",
    7: "a1c8da5355b41db705c6fa50d05ffb95a7b39acd373fb06ea5a460753d3260f2",
    9: "74f202af41db112a8533654e4d2bbd1f86a19053510e0ee2863519074fa3f615",
    11: "ab6e6c2ca424f11874d20571552208b34f30ec97243a154018908a0bd1eab188",
    13: "39a86652fef2309f78acd7906a09cb1e16122845ea2bfacbf5b5ac6848930783",
    15: "18eee884a21ef4018e0871cca22901b77afb6a7edb143c6d1096a675424acc7b",
    17: "c5ab35c224163dd0f8a4a18241e80f3d7b4d73c28fef23afae15423267d2cc5e",
    19: "b98ac3851cf59ebaaa5ad15792f650d7f96e751b6e7ebbce19d1867e7cc15ab7",
    21: "1e099ad02666199a81f703bbea0bbe83335fd13d35811ca77c0ffcbdc25689bc",
    51: "176eb853746955765843d855a991e2fea1d0ce8a33712f62d9c0aa70aa6505a6",
}


@pytest.mark.parametrize("size", ALICIA_V1)
def test_the_public_set_is_pinned(size: int) -> None:
    source = ALICIA.source(level=size)
    assert source.item(0).key == "alicia-v1"
    assert item_set_hash(source.head(10)) == ALICIA_V1[size]


def test_the_first_public_maze() -> None:
    item = ALICIA.source().item(0)
    assert (item.id, item.level, item.key, item.index) == ("501", 5, "alicia-v1", 0)
    assert item.instance.canonical() == "000X0\n01010\n01010\n01110\n00010"


def asked(size: int, share: float) -> int:
    """Return the loops that are asked for: the share of the walls that a spanning tree leaves, at least one."""
    rooms = size // 2
    passages = 2 * rooms * (rooms - 1)
    left = passages - (rooms * rooms - 1)
    return max(1, round(share * left)) if share > 0 else 0


@pytest.mark.parametrize(
    ("size", "share", "loops"),
    [(7, 0.05, 1), (9, 0.05, 1), (9, 0, 0), (9, 1, 9), (9, 0.5, 4), (21, 0.05, 4), (21, 0.001, 1), (51, 0.05, 29)],
)
def test_loops_of_a_share(size: int, share: float, loops: int) -> None:
    assert asked(size, share) == loops
    assert ALICIA.source("k", size, loops=share).item(0).proof["loops"] == loops


def side_of(maze: Maze, cell: int) -> str:
    x, y = maze.lattice.position(cell)
    last = maze.size - 1
    (side,) = [name for name, on in zip(SIDES, (y == 0, y == last, x == 0, x == last), strict=True) if on]
    return side


def check_maze(item: Item[Maze], sides: str) -> None:
    maze, size = item.instance, item.instance.size
    cells = open_cells(maze)
    # Openings: exactly two in the border, none in a corner, on the asked sides.
    openings = cells & border(size)
    entrance, exit_ = (maze.lattice.position(cell) for cell in (maze.entrance, maze.exit))
    assert openings == {entrance, exit_}
    assert entrance != exit_
    found = f"{side_of(maze, maze.entrance)}-{side_of(maze, maze.exit)}"
    assert found in (PAIRS if sides == "any" else [sides])
    # Rooms at odd places, walls where neither number is odd.
    inside = cells - openings
    assert {(x, y) for x in range(1, size, 2) for y in range(1, size, 2)} <= inside
    assert all(x % 2 or y % 2 for x, y in inside)
    # Everything can be reached, and the proof tells the truth.
    far = dijkstra(cells, entrance)
    assert set(far) == cells
    assert item.proof["minimum"] == far[exit_]
    at, steps = entrance, {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
    for direction, count in item.proof["solution"]:
        for _ in range(count):
            at = (at[0] + steps[direction][0], at[1] + steps[direction][1])
            assert at in cells
    assert at == exit_
    assert sum(count for _, count in item.proof["solution"]) == far[exit_]
    near = {(x, y): [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)] for x, y in cells}
    degrees = [sum(other in cells for other in others) for others in near.values()]
    assert item.proof["loops"] == sum(degrees) // 2 - len(cells) + 1
    assert item.proof["junctions"] == sum(degree >= 3 for degree in degrees)


@given(KEYS, SIZES, st.integers(0, 100), LOOPS, ALGORITHMS, ANY_SIDES)
def test_every_maze(key: str, size: int, index: int, loops: float, algorithm: str, sides: str) -> None:
    item = ALICIA.source(key, size, loops=loops, algorithm=algorithm, sides=sides).item(index)
    check_maze(item, sides)
    if size >= 9:
        assert item.proof["loops"] == asked(size, loops)


@pytest.mark.slow
@given(KEYS, st.integers(0, 20), LOOPS, ANY_SIDES)
def test_loops_at_dimension_7(key: str, index: int, loops: float, sides: str) -> None:
    # With all walls opened, one side to one side, there are 9 mazes, which is not enough for ten.
    assume(asked(7, loops) < 4 or sides == "any")
    assert ALICIA.source(key, 7, loops=loops, sides=sides).item(index).proof["loops"] == asked(7, loops)


@settings(max_examples=25)
@given(st.sampled_from([33, 41, 51, 101]), KEYS)
def test_large_mazes(size: int, key: str) -> None:
    check_maze(ALICIA.source(key, size).item(0), "top-bottom")


def different(items: Iterable[Item[Maze]]) -> int:
    return len({item.instance.canonical() for item in items})


@given(KEYS, st.sampled_from([5, 7, 9, 11, 13, 15]), LOOPS, ALGORITHMS, ANY_SIDES)
def test_ten_different_mazes_for_every_key(key: str, size: int, loops: float, algorithm: str, sides: str) -> None:
    items = ALICIA.source(key, size, loops=loops, algorithm=algorithm, sides=sides).head(10)
    assert different(items) == 10
    assert len({item.id for item in items}) == 10


@pytest.mark.parametrize(("size", "count"), [(9, 16), (11, 25), (17, 64), (31, 64)])
def test_more_than_ten_differ_even_with_all_walls_opened(size: int, count: int) -> None:
    assert different(ALICIA.source("k", size, loops=1).head(count)) == count


def test_items_beyond_the_space_come_all_the_same() -> None:
    items = ALICIA.source("k", 9, loops=1).head(40)
    assert different(items) == 16
    assert different(items[16:32]) == 16


@given(KEYS, KEYS, st.sampled_from([9, 11, 13, 15, 21]), ALGORITHMS)
def test_keys_are_disjoint(one: str, other: str, size: int, algorithm: str) -> None:
    assume(one != other)
    first, second = (ALICIA.source(key, size, algorithm=algorithm).head(10) for key in (one, other))
    assert different([*first, *second]) == 20


def test_many_keys_are_disjoint_at_the_smallest_dimension_where_they_can_be() -> None:
    items = [item for key in range(60) for item in ALICIA.source(f"private {key}", 9).head(10)]
    assert different(items) == 600


def test_the_style_is_part_of_the_key() -> None:
    sets = [
        ALICIA.source("k", 21, **style).head(3)
        for style in ({}, {"algorithm": "wilson"}, {"sides": "any"}, {"loops": 0.051}, {"algorithm": "kruskal"})
    ]
    assert different(item for made in sets for item in made) == 15


@pytest.mark.parametrize(
    ("size", "options", "space"),
    [
        (5, {}, 20),
        (5, {"loops": 0}, 16),
        (5, {"loops": 1}, 20),
        (5, {"sides": "any"}, 48),
        (5, {"sides": "left-top", "loops": 0}, 16),
        (5, {"sides": "any", "loops": 0}, 192),
        (7, {"loops": 0}, 192 * 9),
        (7, {"loops": 1, "sides": "any"}, 108),
        (9, {}, None),
    ],
)
def test_space(size: int, options: dict[str, object], space: int | None) -> None:
    source = MazeSource("k", size, {"loops": 0.05, "algorithm": "wilson", "sides": "top-bottom", **options})
    assert source.space == space
    if space:
        assert different(source.head(min(space, 200))) == min(space, 200)
        assert different([source.item(0), source.item(space - 1)]) == 2
        assert different([source.item(7), source.item(7 + space)]) == 1


def test_space_at_dimension_7_by_counting() -> None:
    rooms = [(x, y) for x in range(3) for y in range(3)]
    pairs = [(a, b) for a, b in combinations(rooms, 2) if abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1]
    found = 0
    for chosen in combinations(pairs, 9):  # eight make a tree, and one of the four others is opened
        passages = {(2 * a[0] + 1, 2 * a[1] + 1) for a in rooms}
        passages |= {(a[0] + b[0] + 1, a[1] + b[1] + 1) for a, b in chosen}
        found += len(dijkstra(passages, (1, 1))) == len(passages)
    assert MazeSource("k", 7, {"loops": 0.05, "algorithm": "prim", "sides": "top-bottom"}).space == found * 9


@pytest.mark.slow
def test_space_at_dimension_9_by_counting() -> None:
    # What the documentation says of dimension 9: 2.8 million mazes with the default loops.
    pairs = [(room, room + 1) for room in range(16) if room % 4 < 3] + [(room, room + 4) for room in range(12)]
    found = 0
    for chosen in combinations(pairs, 16):
        piece = list(range(16))
        for a, b in chosen:
            while piece[a] != a:
                a = piece[a]
            while piece[b] != b:
                b = piece[b]
            piece[b] = a
        found += sum(piece[room] == room for room in range(16)) == 1
    assert found * 16 == 2_804_224


def test_loops_are_any_number_where_the_asked_one_leaves_too_few_mazes() -> None:
    assert {item.proof["loops"] for item in ALICIA.source("k", 5).head(20)} == {0, 1}
    assert {item.proof["loops"] for item in ALICIA.source("k", 5, sides="any").head(48)} == {1}


@pytest.mark.parametrize("size", [9, 21])
def test_openings_favour_no_place(size: int) -> None:
    counts = Counter[int]()
    for key in range(60):
        for item in ALICIA.source(f"places {key}", size).head(10):
            counts[item.instance.lattice.position(item.instance.entrance)[0]] += 1
    places = range(1, size, 2)
    expected = 600 / len(places)
    assert set(counts) == set(places)
    squared = sum((counts[place] - expected) ** 2 / expected for place in places)
    assert squared < len(places) - 1 + 5 * (2 * (len(places) - 1)) ** 0.5


def test_any_sides_draws_every_pair() -> None:
    items = ALICIA.source("k", 21, sides="any").head(200)
    found = Counter(f"{side_of(i.instance, i.instance.entrance)}-{side_of(i.instance, i.instance.exit)}" for i in items)
    assert set(found) == set(PAIRS)


@pytest.mark.parametrize("size", [9, 15])
def test_an_item_needs_no_other(size: int) -> None:
    head = ALICIA.source("k", size).head(5)
    assert ALICIA.source("k", size).item(4) == head[4]


@given(KEYS, st.integers(5, 24), st.integers(0, 40), st.sampled_from([1.0, 2.0, 0.5, 1.5, 0.7]), ANY_SIDES)
def test_even_and_rectangular_mazes(key: str, size: int, index: int, aspect: float, sides: str) -> None:
    """A line between rooms that is there twice lengthens passages, and changes nothing else."""
    item = ALICIA.source(key, size, aspect=aspect, sides=sides).item(index)
    maze, shorter = item.instance, max(5, round(size * min(aspect, 1 / aspect)))
    assert item.level == size
    wide, high = (size, shorter) if aspect >= 1 else (shorter, size)
    assert (maze.lattice.width, maze.lattice.height) == (wide, high)
    cells = open_cells(maze)
    edge = {(x, y) for x in range(wide) for y in range(high) if x in (0, wide - 1) or y in (0, high - 1)}
    assert cells & edge == {maze.lattice.position(maze.entrance), maze.lattice.position(maze.exit)}
    far = dijkstra(cells, maze.lattice.position(maze.entrance))
    assert set(far) == cells
    assert item.proof["minimum"] == far[maze.lattice.position(maze.exit)]
    rooms = (wide - 1) // 2 * ((high - 1) // 2)
    assert item.proof["loops"] <= rooms
    assert ALICIA.item(maze.to_json()).instance == maze


@pytest.mark.parametrize(("size", "aspect"), [(6, 1.0), (8, 1.0), (10, 1.0), (10, 2.0), (9, 0.5), (14, 1.4)])
def test_the_first_ten_of_other_shapes_differ(size: int, aspect: float) -> None:
    source = ALICIA.source("k", size, aspect=aspect)
    count = 10 if source.space is None else min(source.space, 10)
    assert len({item.instance.hash for item in source.head(count)}) == count


def test_ids() -> None:
    source = ALICIA.source("k", 11)
    assert [source.item(index).id for index in (0, 9, 98, 99, 100)] == ["1101", "1110", "1199", "11-100", "11-101"]


@pytest.mark.parametrize("size", [-5, 0, 3, 4, 1002, 1003])
def test_dimensions_that_do_not_exist(size: int) -> None:
    with pytest.raises(UsageError, match=f"^level {size}: a maze's dimension is from 5 to 1001$"):
        ALICIA.source("k", size)


@pytest.mark.parametrize("options", [{"loops": 2}, {"algorithm": "magic"}, {"sides": "top-top"}, {"size": 5}])
def test_source_options_that_do_not_exist(options: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        ALICIA.source("k", 9, **options)


def test_shortest_ways_grow_with_the_backtracker() -> None:
    mean = {
        algorithm: sum(item.proof["minimum"] for item in ALICIA.source("k", 31, algorithm=algorithm).head(10)) / 10
        for algorithm in ("backtracker", "prim")
    }
    assert mean["backtracker"] > 1.3 * mean["prim"]


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["backtracker", "kruskal", "prim", "wilson"])
def test_dimension_301(algorithm: str) -> None:
    item = ALICIA.source("large", 301, algorithm=algorithm).item(0)
    rooms = 150
    walls = 2 * rooms * (rooms - 1) - (rooms * rooms - 1)
    assert item.proof["loops"] == round(0.05 * walls)
    assert item.proof["minimum"] >= 300
    path = [cells for _, cells in item.proof["solution"]]
    assert sum(path) == item.proof["minimum"]
