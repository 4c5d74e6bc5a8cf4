import subprocess
import sys
from collections import Counter
from math import comb
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
import rustworkx as rx
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import PATIENCE
from tests.envs.textmap import HOUSE, all_paths, edge, maps, of_edges, square
from waybench import _compile
from waybench.core import Stream, UsageError
from waybench.envs.textmap import _paths
from waybench.envs.textmap._paths import Paths, PathSelection
from waybench.envs.textmap._place_map import PlaceMap
from waybench.envs.textmap._prefix import Rule, path_labels

Path = tuple[int, ...]


def listed(paths: Paths, choice: PathSelection = _paths.ALL) -> list[Path]:
    found: list[Path] = []
    for block in paths.blocks(choice):
        found += [tuple(path.tolist()) for path in block]
    return found


def ends(place_map: PlaceMap, path: Path) -> tuple[str, str]:
    return place_map.edges[path[0]].source, place_map.edges[path[-1]].target


@st.composite
def choices(draw: st.DrawFn) -> PathSelection:
    return PathSelection(draw(st.sampled_from([None, "easy", "hard"])), draw(st.none() | st.integers(0, 5)))


def chosen(place_map: PlaceMap, choice: PathSelection, cutoff: int | None, rule: Rule) -> list[Path]:
    """Return what `Paths` should find, from the labels of every path of the map."""
    found: list[Path] = []
    for path in all_paths(place_map, range(len(place_map.edges))):
        labels = path_labels(place_map.edges[number] for number in path)
        difficulty = labels.difficulty(9998 if cutoff is None else cutoff, rule)
        if (
            difficulty in ("easy", "hard")
            and choice.difficulty in (None, difficulty)
            and len(path) <= (choice.longest if choice.longest is not None else len(path))
        ):
            found.append(path)
    return found


@given(st.data(), maps(), st.none() | st.integers(0, 10), st.sampled_from(["released", "tables"]))
def test_all_ways_of_asking_agree_with_the_definition(
    data: st.DataObject, place_map: PlaceMap, cutoff: int | None, rule: Rule
) -> None:
    choice = data.draw(choices())
    expected = chosen(place_map, choice, cutoff, rule)
    paths = Paths(place_map, cutoff, rule)
    found = listed(paths, choice)
    assert sorted(found) == sorted(expected)

    tally = paths.count_paths(choice)
    pairs = Counter(ends(place_map, path) for path in expected)
    names = place_map.places
    assert {(names[i], names[j]): int(tally.pairs[i, j]) for i, j in np.argwhere(tally.pairs)} == dict(pairs)
    assert tally.total == len(expected)
    assert tally.average_length == (sum(map(len, expected)) / len(expected) if expected else 0)
    bound = 9998 if cutoff is None else cutoff
    lengths = Counter(
        (path_labels(place_map.edges[number] for number in path).difficulty(bound, rule), len(path))
        for path in expected
    )
    kinds = ("easy", "hard")
    assert {(kinds[i], int(j)): int(tally.lengths[i, j]) for i, j in np.argwhere(tally.lengths)} == dict(lengths)

    drawn = paths.sample_paths(4, Stream("few"), choice)
    assert len(set(drawn)) == len(drawn) == min(4, len(expected))
    assert set(drawn) <= set(expected)
    assert drawn == paths.sample_paths(9, Stream("few"), choice)[:4]
    assert sorted(paths.sample_paths(10**6, Stream("all"), choice)) == sorted(expected)


@given(maps())
def test_paths_agree_with_networkx(place_map: PlaceMap) -> None:
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(place_map.places)
    for number, each in enumerate(place_map.edges):
        graph.add_edge(each.source, each.target, key=number)
    expected = [
        tuple(key for _, _, key in path)
        for source in place_map.places
        for target in place_map.places
        if source != target
        for path in nx.all_simple_edge_paths(graph, source, target)
    ]
    assert sorted(listed(Paths(place_map))) == sorted(expected)


def test_counts_agree_with_rustworkx_on_a_larger_map() -> None:
    graph = rx.PyDiGraph()
    place_map = square(4)
    graph.add_nodes_from(place_map.places)
    number = {place: number for number, place in enumerate(place_map.places)}
    graph.add_edges_from([(number[each.source], number[each.target], None) for each in place_map.edges])
    expected = {
        (source, target): len(paths)
        for source, targets in rx.all_pairs_all_simple_paths(graph).items()
        for target, paths in targets.items()
    }
    pairs = Paths(place_map).count_paths().pairs
    assert {(int(i), int(j)): int(pairs[i, j]) for i, j in np.argwhere(pairs)} == expected


def test_known_numbers_of_paths() -> None:
    # Ways from corner to corner of a square grid that come to no place twice: OEIS A007764.
    corner = [int(Paths(square(size)).count_paths().pairs[0, -1]) for size in range(2, 6)]
    assert corner == [2, 12, 184, 8512]


@given(maps())
def test_the_compiled_loop_does_what_it_says(place_map: PlaceMap) -> None:
    compiled = listed(Paths(place_map, 5))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_paths, "_compiled_enumeration", lambda: _paths.enumerate_simple_paths)
        assert listed(Paths(place_map, 5)) == compiled


def test_paths_come_in_a_fixed_order() -> None:
    found = [" ".join(HOUSE.edges[number].action for number in path) for path in listed(Paths(HOUSE))]
    assert found[:4] == ["up", "out", "out dig", "out up"]  # from the hall
    assert found[4:10] == ["down", "down out", "down out dig", "jump", "jump out", "jump out dig"]  # from the attic
    assert found[10:] == ["in", "in up", "dig", "up", "up down", "up jump"]  # from the garden


@pytest.mark.parametrize(("paths", "moves"), [(100, 10_000), (10**4, 500), (10**4, 1)])
def test_blocks_are_bounded(monkeypatch: pytest.MonkeyPatch, paths: int, moves: int) -> None:
    place_map = square(4)
    whole = listed(Paths(place_map))
    monkeypatch.setattr(_paths, "BLOCK", paths)
    monkeypatch.setattr(_paths, "BLOCK_MOVES", moves)
    assert listed(Paths(place_map)) == whole
    blocks = list(Paths(place_map).blocks())
    assert max(len(list(block)) for block in blocks) <= paths
    assert max(len(block.moves) for block in blocks) <= max(moves, len(place_map.places))
    assert len(blocks) >= len(whole) / paths


def test_what_is_written_to_does_not_grow_with_the_number_of_paths() -> None:
    def size_of(place_map: PlaceMap) -> int:
        search = Paths(place_map)._start_search(_paths.ALL, writes=True)
        return sum(each.nbytes for each in vars(search).values() if isinstance(each, np.ndarray))

    few, many = size_of(square(3)), size_of(square(6))  # 644 paths, and more than anyone can walk
    assert few > 1 << 19 and many - few < 4096


def test_blocks_are_the_callers_to_keep() -> None:
    blocks = list(Paths(square(4)).blocks())
    kept = [block.moves.copy() for block in blocks]
    list(Paths(square(4)).blocks())
    assert all((block.moves == moves).all() for block, moves in zip(blocks, kept, strict=True))


def test_the_greatest_value_on_each_path() -> None:
    values = np.array([[each.forward, number] for number, each in enumerate(HOUSE.edges)])
    for block in Paths(HOUSE).blocks():
        for path, greatest in zip(block, block.maximum_over_moves(values), strict=True):
            assert (greatest == values[path].max(axis=0)).all()


def test_a_budget_ends_the_walk() -> None:
    total = Paths(square(3)).count_paths().total
    assert Paths(square(3), budget=total).count_paths().total == total
    short = Paths(square(3), budget=total - 1)
    expected = f"map square 3: more than {total - 1} simple paths would have to be walked: lower the cutoff"
    for walk in (short.count_paths, lambda: list(short.blocks()), lambda: short.sample_paths(1, Stream("x"))):
        with pytest.raises(UsageError, match=expected):
            walk()
    assert short.count_paths(PathSelection(longest=2)).total < total  # each call has the whole of it
    assert short.count_paths(PathSelection(longest=2)).total < total


def test_endless_maps_end(watchdog: None) -> None:
    with pytest.raises(UsageError, match="more than 1,000,000 simple paths"):
        Paths(square(12), budget=10**6).count_paths()
    assert Paths(square(12), budget=10**6).count_paths(PathSelection(longest=3)).total > 1000


def test_a_long_way_needs_no_deep_stack() -> None:
    length = 1000
    line = of_edges("line", [edge(str(place), "on", str(place + 1), forward=1) for place in range(length)])
    assert Paths(line).count_paths().total == length * (length + 1) // 2
    (longest,) = (path for block in Paths(line).blocks() for path in block if len(path) == length)
    assert longest.tolist() == list(range(length))


def test_samples_are_uniform() -> None:
    place_map = square(3)
    choice = PathSelection(longest=3)
    every = listed(Paths(place_map), choice)
    rounds = 1200
    seen: Counter[Path] = Counter()
    firsts: Counter[Path] = Counter()
    paths = Paths(place_map)
    for number in range(rounds):
        drawn = paths.sample_paths(5, Stream("uniform", number), choice)
        seen.update(drawn)
        firsts.update(drawn[:1])
    for counts, expected in ((seen, 5 * rounds / len(every)), (firsts, rounds / len(every))):
        chi = sum((counts[path] - expected) ** 2 / expected for path in every)
        freedom = len(every) - 1
        assert abs(chi - freedom) < 4 * (2 * freedom) ** 0.5


def test_pairs_of_a_sample_are_uniform() -> None:
    # All ordered pairs of different paths are equally probable: 16 paths of the house, of which two are drawn.
    paths = Paths(HOUSE)
    kinds = 2 * comb(paths.count_paths().total, 2)
    seen = Counter(tuple(paths.sample_paths(2, Stream("pairs", number))) for number in range(20 * kinds))
    chi = sum((count - 20) ** 2 / 20 for count in seen.values()) + 20 * (kinds - len(seen))
    assert abs(chi - (kinds - 1)) < 4 * (2 * (kinds - 1)) ** 0.5


def test_samples_are_the_same_everywhere() -> None:
    assert Paths(HOUSE).sample_paths(5, Stream("pinned")) == [(1, 3), (3, 7), (2, 3), (3, 6), (7, 2)]
    (path,) = Paths(square(5)).sample_paths(1, Stream("pinned"))
    assert path == (3, 1, 14, 32, 50, 67, 69, 74, 57, 55, 37, 16, 22, 38, 42, 48, 30, 11)


def test_maps_without_paths() -> None:
    for place_map in (
        of_edges("empty", []),
        of_edges("one", [], ["here"]),
        of_edges("loop", [edge("a", "on", "a", 1)]),
    ):
        paths = Paths(place_map)
        assert (paths.count_paths().total, paths.count_paths().average_length) == (0, 0.0)
        assert listed(paths) == paths.sample_paths(3, Stream("x")) == []


def test_numba_waits_until_it_is_needed() -> None:
    script = (
        "import sys\n"
        "from waybench.envs.textmap import _paths, _place_map\n"
        "paths = _paths.Paths(_place_map.PlaceMap('m', ('a',), (), (), ()))\n"
        "assert 'numba' not in sys.modules\n"
        "paths.count_paths()\n"
        "assert 'numba' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=PATIENCE)


def test_it_compiles_where_nothing_can_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_options: list[dict[str, bool]] = []

    def njit(**options: bool) -> object:
        compile_options.append(options)
        if options.get("cache"):
            raise RuntimeError("cannot cache function 'walk': no locator available")
        return lambda function: function

    monkeypatch.setattr(_compile, "import_module", lambda name: SimpleNamespace(njit=njit))
    assert _paths._compiled_enumeration.__wrapped__() is _paths.enumerate_simple_paths
    assert compile_options == [{"cache": True, "nogil": True}, {"nogil": True}]
