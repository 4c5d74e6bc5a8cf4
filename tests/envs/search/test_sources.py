"""Where the cases come from: drawn by key, or read from files of the published form."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import waybench
from tests.envs.search.cases import TREE, breadth_first, depth_first, neighbours, number
from waybench.core import DataError, UsageError
from waybench.envs.search import _items as sources
from waybench.envs.search._items import CaseFile

GUESSNUM, DFS, BFS = (waybench.load(f"search/{env}") for env in ("guessnum", "dfs", "bfs"))


def test_targets_are_drawn_uniformly_from_the_range_with_both_ends() -> None:
    source = GUESSNUM.source("k", 3)
    drawn = Counter(item.instance.target for item in source.head(900))
    assert sorted(drawn) == list(range(32, 41))
    assert source.space == len(drawn)
    assert sum((found - 100) ** 2 / 100 for found in drawn.values()) < 26.1  # 99.9 % with 8 degrees of freedom


def test_a_number_s_level_is_the_logarithm_of_its_range() -> None:
    for level in (3, 15, 25, 60):
        item = GUESSNUM.source("k", level).item(0)
        assert (item.instance.low, item.instance.high) == (32, 32 + 2**level)
        assert (item.level, item.instance.level, item.proof["minimum"] <= level + 1) == (level, level, True)


def test_the_range_can_be_given() -> None:
    items = GUESSNUM.source("k", 6, lowest=100, span=99).head(50)
    assert {(item.instance.low, item.instance.high, item.level) for item in items} == {(100, 199, 6)}
    assert len({item.instance.target for item in items}) > 20


@pytest.mark.parametrize(
    ("level", "options", "message"),
    [
        (2, {}, "level 2: give"),
        (61, {}, "level 61: give"),
        (7, {"span": 99}, "span=99 is of level 6, not 7"),
        (6, {"span": 0}, "out of range"),
        (6, {"lowest": -1}, "out of range"),
    ],
)
def test_ranges_that_do_not_exist(level: int, options: dict[str, int], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        GUESSNUM.source("k", level, **options)


@pytest.mark.parametrize("environment", [DFS, BFS])
def test_graphs_are_drawn_in_the_shape_and_with_the_cycles_asked_for(environment: Any) -> None:
    for shape, most in (("path", 2), ("star", 9), ("balanced", 3)):
        graphs = [item.instance.graph for item in environment.source("k", 10, shape=shape).head(5)]
        assert all(graph.cycle_count == 0 and max(map(len, graph.neighbours)) == most for graph in graphs)
    for item in environment.source("k", 10, cycles=4).head(5):
        assert (item.level, item.instance.graph.cycle_count, item.proof["cycles"]) == (10, 4, 4)


def test_the_optimum_of_a_drawn_tree_is_the_number_of_the_search_s_steps() -> None:
    for environment, search, level in ((DFS, depth_first, 13), (BFS, breadth_first, 15)):
        for item in environment.source("k", level).head(30):
            assert item.proof["minimum"] == len(list(search(item.instance.to_json(), lambda new: new[0])))


def test_the_order_of_neighbours_says_nothing() -> None:
    ascending = [
        some == sorted(some)
        for item in DFS.source("k", 8).head(100)
        for some in neighbours(item.instance.to_json())
        if len(some) == 3
    ]
    assert 0.08 < sum(ascending) / len(ascending) < 0.26  # a sixth of all orders


@pytest.mark.parametrize(
    ("level", "options", "error"), [(4, {}, "level 4"), (10_001, {}, "level 10001"), (8, {"shape": "ring"}, "ring")]
)
def test_graphs_that_cannot_be_drawn(level: int, options: dict[str, str], error: str) -> None:
    with pytest.raises(UsageError, match=error):
        DFS.source("k", level, **options)


@pytest.mark.parametrize(
    ("environment", "option"), [(GUESSNUM, {"lowest": 33}), (DFS, {"cycles": 1}), (BFS, {"shape": "path"})]
)
def test_an_item_is_a_function_of_key_level_options_and_number(environment: Any, option: dict[str, Any]) -> None:
    source = environment.source("k", 8)
    late, early = source.item(7), source.head(8)
    assert environment.source("k", 8).item(7) == late == early[7]
    assert (late.id, late.key, late.index) == ("8-7", "k", 7)
    others = [environment.source("l", 8), environment.source("k", 9), environment.source("k", 8, **option)]
    for other in others:
        assert [item.instance for item in other.head(8)] != [item.instance for item in early]
    assert environment.item(late.instance.to_json()).proof == late.proof


def test_options_are_part_of_what_is_drawn_from() -> None:
    offsets = [
        [item.instance.target - item.instance.low for item in GUESSNUM.source("k", 15, lowest=lowest).head(8)]
        for lowest in (32, 33)
    ]
    assert offsets[0] != offsets[1]
    trees, graphs = ([item.instance.graph.edges for item in DFS.source("k", 8, cycles=n).head(8)] for n in (0, 1))
    assert not any(set(tree) <= set(graph) for tree, graph in zip(trees, graphs, strict=True))


# Files


def read(path: Path, environment: Any = GUESSNUM, **common: int) -> CaseFile[Any]:
    return CaseFile(
        path,
        "set",
        [environment.id],
        environment.items.decode,
        environment.items.level_of,
        environment.items.prove,
        common,
    )


@pytest.fixture
def write(tmp_path: Path) -> Callable[[Any], Path]:
    """Return a function that writes a file: bytes as they are, anything else as JSON."""

    def written(data: Any) -> Path:
        path = tmp_path / "cases.json"
        path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
        return path

    return written


def test_cases_of_a_file(write: Callable[[Any], Path]) -> None:
    source = read(write([{"target": 7}, {"target": 9}, {"target": 1, "min": 0, "max": 3}]), min=5, max=20)
    assert (len(source), source.space) == (3, 3)
    assert [item.instance.to_json() for item in source.head(3)] == [number(7, 5, 20), number(9, 5, 20), number(1, 0, 3)]
    last = source.item(-1)
    assert last == source.item(2)
    assert (last.id, last.key, last.index, last.level, last.proof) == ("set-2", "set", 2, 1, {"minimum": 2})


def test_graphs_of_a_file(write: Callable[[Any], Path]) -> None:
    assert read(write([TREE]), DFS).item(0).instance.to_json() == TREE


@pytest.mark.parametrize("index", [2, -3])
def test_a_file_has_only_so_many_cases(write: Callable[[Any], Path], index: int) -> None:
    with pytest.raises(UsageError, match=f"case {index} of set: it has only 2"):
        read(write([number(40), number(50)])).item(index)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file has no cases"),
        (b"[{]", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'[{"target": 1' + b"0" * 5000 + b"}]", "not JSON"),
        ([], "the file has no cases"),
        ({"target": 40}, "line 1: instance: give"),
        ([number(40), 7], "record 1: instance: give"),
        ([number(40), number(50), number(31)], "record 2: instance: the target must be"),
        ([{"target": 40}], "record 0: instance: give"),
        (b'[{"target": NaN, "min": 1, "max": 2}]', "line 1: NaN is not JSON"),
    ],
)
def test_files_that_are_none(write: Callable[[Any], Path], data: Any, message: str) -> None:
    path = write(data)
    with pytest.raises(DataError, match=message) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_a_wrong_graph_is_named_by_its_number(write: Callable[[Any], Path]) -> None:
    broken = {"nodes": [0, 1, 2], "edges": [[0, 1]]}
    with pytest.raises(DataError, match="record 2: instance: not every node can be reached"):
        read(write([TREE, TREE, broken]), BFS)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read .*absent.json: No such file"):
        read(tmp_path / "absent.json")
    with pytest.raises(UsageError, match=r"cannot read .*: Is a directory"):
        read(tmp_path)


def test_a_huge_file_is_not_even_read(write: Callable[[Any], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    path = write([number(40)])
    monkeypatch.setattr(sources, "LARGEST_FILE", path.stat().st_size)
    assert len(read(path)) == 1
    monkeypatch.setattr(sources, "LARGEST_FILE", path.stat().st_size - 1)
    with pytest.raises(DataError, match="not a file of cases"):
        read(path)


@pytest.mark.parametrize(
    ("name", "environment", "high", "cases", "distinct"),
    [
        ("binary_search_0", GUESSNUM, 32800, 800, 792),
        ("hard_binary_search_0", GUESSNUM, 33554464, 1500, 1500),
        ("dfs_0", DFS, None, 800, 797),
        ("hard_dfs_0", DFS, None, 1500, 1500),
        ("bfs_0", BFS, None, 800, 800),
        ("hard_bfs_0", BFS, None, 1500, 1500),
    ],
)
def test_the_published_files(
    data_dir: Callable[..., Path], name: str, environment: Any, high: int | None, cases: int, distinct: int
) -> None:
    source = read(data_dir("aqa", f"{name}.json"), environment, **({} if high is None else {"min": 32, "max": high}))
    instances = {item.instance for item in source.head(len(source))}
    assert (len(source), len(instances)) == (cases, distinct)
    if high:
        extremes = [choose(instance.target for instance in instances) for choose in (min, max)]
        assert extremes == {32800: [58, 32725], 33554464: [33699, 33525539]}[high]
