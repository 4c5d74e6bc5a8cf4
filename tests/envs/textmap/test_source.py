"""Sets of questions about worlds by key."""

from collections import Counter
from functools import partial
from typing import Any

import pytest

import waybench
from waybench.core import Item, UsageError
from waybench.core._items import item_set_hash
from waybench.envs.textmap import _paths
from waybench.envs.textmap._items import MapQuestion

ROUTE, DESTINATION = waybench.load("textmap/route"), waybench.load("textmap/destination")
BOTH = pytest.mark.parametrize("environment", [ROUTE, DESTINATION], ids=["route", "destination"])


def drawn(environment: Any, level: int, count: int, **options: Any) -> list[Item[MapQuestion]]:
    return environment.source("key", level, **options).head(count)


@BOTH
def test_questions_come_in_turn_and_each_once(environment: Any) -> None:
    found = drawn(environment, 3, 40, questions=20)
    assert [item.proof["difficulty"] for item in found[:20]] == ["easy", "hard"] * 10
    assert len({item.instance.map.name for item in found}) == 2
    questions = [
        (item.instance.map.name, item.instance.source, item.instance.target, item.instance.path) for item in found
    ]
    assert len(set(questions)) == 40
    assert all(item.proof["answerable"] for item in found)


@BOTH
def test_the_first_questions_do_not_depend_on_how_many_there_are(environment: Any) -> None:
    few, many = (drawn(environment, 3, count, questions=count) for count in (6, 30))
    assert [item.instance for item in few] == [item.instance for item in many[:6]]


@BOTH
@pytest.mark.parametrize("difficulty", ["easy", "hard"])
def test_one_difficulty_alone(environment: Any, difficulty: str) -> None:
    found = drawn(environment, 2, 20, difficulty=difficulty)
    assert {item.proof["difficulty"] for item in found} == {difficulty}


def test_another_world_stands_in_where_there_are_too_few_questions() -> None:
    found = drawn(ROUTE, 1, 60, questions=60)
    maps = Counter(item.instance.map for item in found)
    assert len(maps) > 1  # seven places have no more than 42 pairs
    assert len({item.instance for item in found}) == 60
    # Whoever makes one item alone makes the same.
    assert [ROUTE.source("key", 1, questions=60).item(index) for index in (0, 45, 59)] == [
        found[index] for index in (0, 45, 59)
    ]


def test_what_no_world_has_is_refused() -> None:
    with pytest.raises(UsageError, match="these worlds have no such question"):
        drawn(ROUTE, 1, 1, prefix_steps=1, difficulty="hard", one_way=1.0, special=0.0)


def test_only_a_prefix_is_shown_and_asked_about() -> None:
    for item in drawn(ROUTE, 3, 10, prefix_steps=20):
        assert item.instance.cutoff == 20
        assert item.proof["answerable_from"] <= 20
        assert len(item.instance.map.steps) == 22


def test_short_paths() -> None:
    found = drawn(DESTINATION, 3, 20, longest=3)
    assert {len(item.instance.path) for item in found} <= {1, 2, 3}


def test_ids_tell_all_places_apart() -> None:
    plain, ids = drawn(ROUTE, 2, 5, confusable=1.0), drawn(ROUTE, 2, 5, confusable=1.0, names="ids")
    for item in ids:
        assert all(place.endswith(")") and "(obj" in place for place in item.instance.map.places)
    assert item_set_hash(plain) != item_set_hash(ids)


@BOTH
@pytest.mark.parametrize("level", [1, 2, 3, 4, 5, 6, 7])
def test_all_sizes(environment: Any, level: int) -> None:
    found = drawn(environment, level, 4, questions=4)
    least = 2 << level
    assert all(least <= len(item.instance.map.places) < 2 * least for item in found)
    assert {item.level for item in found} == {level}


def test_too_many_paths_to_draw_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_paths, "Paths", partial(_paths.Paths, budget=10))
    with pytest.raises(UsageError, match=r"set longest, the most moves of a path \(12, say\), or show less"):
        drawn(DESTINATION, 3, 1, questions=3)
    with pytest.raises(UsageError, match="lower longest, the most moves of a path, or show less"):
        drawn(DESTINATION, 3, 1, questions=3, longest=20)


@pytest.mark.parametrize("level", [0, 8])
def test_levels_that_do_not_exist(level: int) -> None:
    with pytest.raises(UsageError, match="size class from 1 to 7"):
        drawn(ROUTE, level, 1)


def test_public_sets_are_pinned() -> None:
    """A change of these hashes is a change of the public set: it raises the version."""
    assert {
        environment.id: item_set_hash(environment.source(level=3).head(20))[:16] for environment in (ROUTE, DESTINATION)
    } == {"textmap/route": "67b6328f1c8ac882", "textmap/destination": "34fc5c7198bf3b9d"}
