"""What a task asks of a model, before anything is sent: compared with episodes that are played."""

import re
from typing import Any

import pytest

import waybench
from waybench.core import Episode, Item, Price, policy, resolve
from waybench.tasks import find_task, quote
from waybench.tasks._estimate import _fixed, _ladder
from waybench.tasks._items import task_items
from waybench.tasks._keys import resolve_key


def tokens(env: str, items: list[Item[Any]], **options: object) -> float:
    """Return what the oracle's requests and replies take, by hand: a token for four letters, four for a message."""
    environment, total = waybench.load(env), 0.0
    for item in items:
        episode = Episode(environment, item, environment.resolve_options(options))
        while not episode.done:
            messages = list(episode.messages)
            total += sum(len(message.text) / 4 + 4 for message in messages)
            reply = policy("oracle").reply(episode)
            total += len(reply) / 4
            episode.step(reply)
    return total


def given(task: str, **args: object) -> dict[str, object]:
    entry = find_task(task)
    return resolve_key(resolve(entry.options, args, "parameter"))


def test_items_that_are_all_played() -> None:
    listed = list(task_items(find_task("hanoi_3").parts, given("hanoi_3", limit=2, attempts=3)))
    found = _fixed(listed)
    turns = Episode(waybench.load("hanoi/rods"), listed[0].item, {}).limits.turns
    assert (found.episodes, found.requests) == (6, 6 * turns)
    assert found.tokens is not None
    by_hand = sum(each.attempts * tokens("hanoi/rods", [each.item]) for each in listed)
    assert sum(found.tokens) == pytest.approx(by_hand)


def test_a_ladder() -> None:
    entry = find_task("alicia")
    first, total, levels = _ladder(entry, given("alicia", max_dimension=9))
    assert levels == [5, 7, 9]
    assert (first.episodes, first.requests) == (30, 90)  # ten mazes, three attempts of three requests
    assert total is not None
    environment = waybench.load("maze/alicia")
    one_each = [environment.source(level=level).item(0) for level in levels]
    assert sum(total) == pytest.approx(10 * tokens("maze/alicia", one_each))


def test_in_words() -> None:
    text = quote(find_task("hanoi_3"), {"limit": 2}, "openai/a", Price(1000.0, 1000.0, 1000.0))
    match = re.search(
        r"^hanoi_3, openai/a: (\d+) episodes, at most (\d+) requests; about ([\d.]+)k tokens, ([\d.]+) USD", text
    )
    assert match, text
    assert float(match[4]) == pytest.approx(float(match[3]), rel=0.01)  # a thousand tokens cost a dollar
    assert "climbs from dimension 5" in quote(find_task("alicia"), {"max_dimension": 7}, "openai/a")
    assert quote(find_task("crafter"), {}, "openai/a").endswith(
        "tokens are not estimated for episodes as long as these"
    )
