"""Searches along a hand-over: what is played, and what is found, without the engine."""

import json
from collections import Counter
from typing import Any

import pytest

from waybench.core import Episode, EpisodeRecord, Item, UsageError, play_to_end, policy, resolve
from waybench.core._prefix import count_oracle_steps
from waybench.envs import registry
from waybench.evaluation._adaptive import HorizonSearch
from waybench.evaluation.tasks import find_task
from waybench.evaluation.tasks._horizon import HorizonConfig, horizon_config
from waybench.results import LoggedEpisode, rows
from waybench.results.horizons import horizons
from waybench.results.horizons._searches import search_results


def plan(name: str = "horizon_dfs", **some: Any) -> HorizonConfig:
    entry = find_task(name)
    return horizon_config(entry, resolve(entry.options, some))


def played(metadata: Any, player: str) -> EpisodeRecord:
    """Play a sample as the solver does."""
    head = EpisodeRecord.from_parts(metadata["waybench"])
    environment = registry.load(head.env)
    item = Item(environment.items.decode(head.instance), **head.item, proof=head.proof)
    return play_to_end(environment, item, policy(player), dict(head.options)).record()


def test_each_level_leaves_as_many_steps_on_items_of_one_level() -> None:
    found = plan(axis="steps_left", level=10)
    assert [each.difficulty for each in found.strata][:6] == [1, 2, 3, 4, 6, 8]
    for each in found.strata:
        item, at = each.item(0)
        options = {**found.options, **each.options}
        episode: Episode[Any, Any, Any] = Episode(found.environment, item, options)
        whole = count_oracle_steps(episode)
        assert item.level == 10 and at == each.difficulty
        assert len(episode.turns) == whole - at > 0
        assert found.axis.of(episode.record()) == at


@pytest.mark.slow
def test_random_steps_come_after_good_ones_where_the_oracle_can_still_succeed() -> None:
    found = plan("horizon_maze_explore", axis="random_steps", level=7, first_steps=3)
    assert [each.difficulty for each in found.strata][:2] == [1, 2]
    for each in found.strata:
        assert each.options == {"prefix": f"oracle:3+random:{each.difficulty:g}"}
        item, _ = each.item(0)
        record = play_to_end(found.environment, item, policy("oracle"), {**found.options, **each.options}).record()
        assert found.environment.difficulty.is_success(record)
        assert found.axis.of(record) == each.difficulty


def test_a_search_finds_how_many_steps_a_player_can_do() -> None:
    found = plan(axis="steps_left", level=15, precision=0.25, most=120)
    search = HorizonSearch(found)
    at = search.initial_state("waybench/noisy-0.4")
    samples, episodes = search.initial_samples(), list[LoggedEpisode]()
    while samples:
        following: list[Any] = []
        for sample in samples:
            assert sample.metadata is not None
            record = played(sample.metadata, "noisy-0.4")
            goal = json.loads(sample.metadata["waybench_search"])
            episodes.append(LoggedEpisode("waybench/noisy-0.4", "horizon_dfs", record, {}, design=goal))
            following += search.samples_after(at, str(sample.id), record)
        samples = following
    ids = Counter(episode.record.item["id"] for episode in episodes)
    assert max(ids.values()) == 1
    all_rows = rows(episodes)
    assert len({row.group for row in all_rows}) == 1
    assert dict(all_rows[0].group.options)["prefix"] == "oracle:-N"
    assert all(set(row.axes) == {"steps_left"} and row.adaptive for row in all_rows)
    (one,) = search_results(episodes, all_rows)
    solved = Counter[float]()
    tried = Counter[float]()
    for row in all_rows:
        steps = float(row.axes["steps_left"] or 0)
        tried[steps] += 1
        solved[steps] += row.succeeded
    assert one.easiest < one.low < one.value < one.high < one.hardest
    easy = [steps for steps in tried if steps < one.low]
    hard = [steps for steps in tried if steps > one.high]
    assert sum(solved[n] for n in easy) * 2 >= sum(tried[n] for n in easy)
    assert sum(solved[n] for n in hard) * 2 <= sum(tried[n] for n in hard)
    assert "steps left" in one.text
    half, _ = horizons(all_rows)
    assert half.axis == "steps_left" and half.value is not None
    assert one.low < half.value < one.high


@pytest.mark.parametrize(
    ("name", "given", "why"),
    [
        ("horizon_dfs", {"axis": "steps_left"}, "give the level of the items"),
        ("horizon_dfs", {"axis": "steps_left", "level": 8, "prefix": "oracle:2"}, "chooses the prefix"),
        ("horizon_dfs", {"level": 8}, "this search chooses levels"),
        ("horizon_textmap", {"axis": "steps_left", "level": 2}, "only one turn"),
        ("horizon_dfs", {"axis": "length", "level": 8}, "axis"),
    ],
)
def test_what_does_not_fit_is_refused(name: str, given: Any, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        plan(name, **given)
