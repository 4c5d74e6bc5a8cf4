"""Shards of a task: together they are all its items, and no item twice."""

import pytest

from waybench.core import SHARD, UsageError, resolve
from waybench.evaluation.tasks import find_task
from waybench.evaluation.tasks._catalogue import split_args_into_shards
from waybench.evaluation.tasks._entry import missing_shards_text
from waybench.evaluation.tasks._items import task_items


def ids(task: str, **given: object) -> list[str]:
    entry = find_task(task)
    return [f"{one.environment.id} {one.item.id}" for one in task_items(entry.parts, resolve(entry.options, given))]


@pytest.mark.parametrize(("task", "limit"), [("guessnum", 7), ("aqa", 2), ("mango_route", 3)])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_shards_are_all_items_in_their_order(task: str, limit: int, count: int) -> None:
    every = ids(task, limit=limit)
    shards = [ids(task, limit=limit, shard=f"{number}/{count}") for number in range(1, count + 1)]
    assert [one for shard in shards for one in shard] == every
    assert max(map(len, shards)) - min(map(len, shards)) <= 1


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "1/2/3", "-1/2", "one/two", "1/0", "1/9999999"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="second of eight"):
        ids("guessnum", limit=4, shard=text)


def test_more_shards_than_items_are_refused_or_fewer() -> None:
    with pytest.raises(UsageError, match="only 4 items"):
        ids("guessnum", limit=4, shard="5/5")
    assert [args[SHARD] for args in split_args_into_shards(find_task("guessnum"), {"limit": 2}, 5)] == ["1/2", "2/2"]
    assert split_args_into_shards(find_task("guessnum"), {"limit": 1}, 5) == [{"limit": 1}]


@pytest.mark.parametrize("task", ["alicia", "horizon_maze"])
def test_ladders_and_searches_have_none(task: str) -> None:
    assert split_args_into_shards(find_task(task), {}, 5) == [{}]
    assert SHARD not in {option.name for option in find_task(task).options}


def test_missing_shards_are_those_of_the_same_number() -> None:
    assert missing_shards_text("2/3", ["2/3", "1/3", "3/3"]) == ""
    assert missing_shards_text("2/3", ["2/3", "1/2", "3/4", "", "x"]).endswith("missing: 1, 3")
