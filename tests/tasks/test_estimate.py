"""What a task asks of a model, before anything is sent: compared with episodes that are played."""

from typing import Any

import pytest

import waybench
from waybench.core import Episode, Item, Price, policy, resolve
from waybench.evaluation._adaptive import estimate_episode_tokens
from waybench.evaluation.tasks import find_task
from waybench.evaluation.tasks._entry import resolve_key
from waybench.evaluation.tasks._estimate import TaskQuote, estimate_of_items, estimate_of_ladders
from waybench.evaluation.tasks._items import task_items


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
    found = estimate_of_items(listed)
    turns = Episode(waybench.load("hanoi/rods"), listed[0].item, {}).limits.turns
    assert (found.episodes, found.requests) == (6, 6 * turns)
    assert found.least is not None
    assert found.most is not None
    by_hand = sum(each.attempts * tokens("hanoi/rods", [each.item]) for each in listed)
    assert sum(found.least) == pytest.approx(by_hand)
    assert sum(found.most) > sum(found.least)  # who moves at random plays on to the limit


def test_a_ladder() -> None:
    entry = find_task("alicia")
    estimate = estimate_of_ladders(entry, given("alicia", max_dimension=9))
    assert estimate.levels == [5, 7, 9]
    assert (estimate.episodes, estimate.requests) == (30, 90)  # ten mazes, three attempts of three requests
    assert estimate.least is not None
    environment = waybench.load("maze/alicia")
    one_each = [environment.source(level=level).item(0) for level in estimate.levels]
    assert sum(estimate.least) == pytest.approx(10 * tokens("maze/alicia", one_each))


def test_in_words() -> None:
    row = TaskQuote(find_task("hanoi_3"), {"limit": 2}).row("openai/a", Price(1000.0, 1000.0, 1000.0))
    assert (row.task, row.model, row.episodes) == ("hanoi_3", "openai/a", "2")
    least, most = row.tokens.split(" to ")
    dollars = [float(end.replace(",", "")) for end in row.dollars.split(" to ")]
    assert dollars == pytest.approx([float(end[:-1]) for end in (least, most)], rel=0.01)  # 1,000 tokens: a dollar
    climbs = TaskQuote(find_task("alicia"), {"max_dimension": 7})
    assert climbs.row("openai/a").requests == "90 at dimension 5"
    assert any("climbs from dimension 5 to at most 7" in note for note in climbs.notes)


def test_long_episodes_are_extrapolated_from_their_first_turns() -> None:
    crafter = waybench.load("crafter/survival")
    items = [crafter.source().item(0)]
    options = crafter.resolve_options({"steps": 60})
    whole = sum(estimate_episode_tokens(crafter, options, items, "random"))
    assert sum(estimate_episode_tokens(crafter, options, items, "random", 30)) == pytest.approx(whole, rel=0.2)
    chat = waybench.load("search/dfs")
    items = [chat.source(level=40).item(0)]
    options = chat.resolve_options({})
    whole = sum(estimate_episode_tokens(chat, options, items, "random"))
    assert sum(estimate_episode_tokens(chat, options, items, "random", 15)) == pytest.approx(whole, rel=0.3)


def test_a_quote_says_what_it_extrapolates_and_who_takes_most() -> None:
    long = " ".join(TaskQuote(find_task("crafter"), {"limit": 1}).notes)
    assert "of episodes of up to 19,998 turns the first 100 are played, the rest is extrapolated" in long
    short = " ".join(TaskQuote(find_task("hanoi_3"), {"limit": 1}).notes)
    assert "from an optimal player to one that moves at random" in short
    assert "extrapolated" not in short


def test_a_ladder_knows_what_an_optimal_player_needs_to_its_last_level() -> None:
    found = TaskQuote(find_task("alicia"), {"max_dimension": 9})
    environment = waybench.load("maze/alicia")
    by_hand = sum(10 * tokens("maze/alicia", [environment.source(level=level).item(0)]) for level in (5, 7, 9))
    assert found.needed == pytest.approx(by_hand)
    assert found.requests == 90
    fixed = TaskQuote(find_task("hanoi_3"), {"limit": 1})
    assert (fixed.needed, fixed.requests > 0) == (None, True)


def test_a_limit_that_nobody_asked_for_leaves_what_shorter_episodes_take() -> None:
    names = ("bandit_high_low", "rps_basic", "hanoi_3", "messenger_l1", "messenger_l2", "voxel_find")
    of_random = 0.0
    for name in names:
        most = estimate_of_items(list(task_items(find_task(name).parts, given(name, limit=1)))).most
        assert most is not None
        of_random += sum(most)
    assert TaskQuote(find_task("smartplay"), {"limit": 1}).needed == pytest.approx(of_random, rel=0.3)
    assert TaskQuote(find_task("smartplay"), {"limit": 1, "crafter_steps": 100}).needed is None
