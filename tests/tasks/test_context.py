"""Searches along the length of the context: what is played, and what is found, without the engine."""

import json
from typing import Any

import pytest

from tests.tasks.test_handover import plan
from waybench.core import Episode, EpisodeRecord, Item, Reply, UsageError, policy
from waybench.envs import registry
from waybench.evaluation._adaptive import HorizonSearch
from waybench.results import LoggedEpisode, rows
from waybench.results.horizons import horizons
from waybench.results.horizons._searches import search_results

REACH = 40_000  # characters that the player reads: 10 thousand tokens


def read_and_played(metadata: Any) -> EpisodeRecord:
    """Play a sample as the oracle, if the whole item is in the part that is read."""
    head = EpisodeRecord.from_parts(metadata["waybench"])
    environment = registry.load(head.env)
    item = Item(environment.items.decode(head.instance), **head.item, proof=head.proof)
    plain = {name: value for name, value in head.options.items() if not name.startswith("context")}
    own = "".join(message.text for message in Episode(environment, item, plain).messages)
    episode: Episode[Any, Any, Any] = Episode(environment, item, head.options)
    text = "".join(message.text for message in episode.messages)
    episode.step(Reply(policy("oracle").reply(episode) if own in text[:REACH] else ""))
    return episode.record()


@pytest.mark.parametrize(("task", "level"), [("horizon_maze", 7), ("horizon_textmap", 2)])
def test_each_length_asks_the_same_items(task: str, level: int) -> None:
    found = plan(task, axis="context_length", level=level, longest_context=30)
    assert found.strata[-1].difficulty == 27
    for each in (found.strata[0], found.strata[-1]):
        item, at = each.item(3)
        assert each.options == {"context_tokens": at * 1000}
        episode: Episode[Any, Any, Any] = Episode(found.environment, item, {**found.options, **each.options})
        assert found.axis.of(episode.record()) == at
        assert at * 900 < sum(len(message.text) for message in episode.messages) / 4 + 3000 and item.level == level
    first, last = found.strata[0], found.strata[-1]
    assert [first.item(n)[0].instance for n in range(5)] == [last.item(n)[0].instance for n in range(5)]


@pytest.mark.slow
def test_a_search_finds_how_far_a_player_reads() -> None:
    found = plan("horizon_maze", axis="context_length", level=9, longest_context=200, precision=0.2, most=120)
    search = HorizonSearch(found)
    at = search.initial_state("reader")
    samples, episodes = search.initial_samples(), list[LoggedEpisode]()
    while samples:
        following: list[Any] = []
        for sample in samples:
            assert sample.metadata is not None
            record = read_and_played(sample.metadata)
            goal = json.loads(sample.metadata["waybench_search"])
            episodes.append(LoggedEpisode("reader", "horizon_maze", record, {}, design=goal))
            following += search.samples_after(at, str(sample.id), record)
        samples = following
    all_rows = rows(episodes)
    assert len({row.group for row in all_rows}) == 1
    assert dict(all_rows[0].group.options)["context_tokens"] == "N"
    assert all(set(row.axes) == {"context_length"} and row.adaptive for row in all_rows)
    (one,) = search_results(episodes, all_rows)
    # It has half of the items in what it reads where a prompt is twice as long, whatever the item.
    assert one.low < 20 < one.high and one.high < 2 * one.low
    assert "context length" in one.text
    half, _ = horizons(all_rows)
    assert half.axis == "context_length" and half.value is not None
    assert one.low < half.value < one.high


@pytest.mark.parametrize(
    ("name", "given", "why"),
    [
        ("horizon_maze", {"axis": "context_length"}, "give the level of the items"),
        ("horizon_maze", {"axis": "context_length", "level": 9, "context_tokens": 4000}, "chooses it"),
        ("horizon_maze", {"axis": "context_length", "level": 9, "longest_context": 1}, "too few tokens"),
        ("horizon_maze", {"axis": "context_length", "level": 9, "context_tokenizer": "file"}, "characters or tiktoken"),
        ("horizon_dfs", {"axis": "context_length", "level": 9}, "cannot stand among others"),
    ],
)
def test_what_does_not_fit_is_refused(name: str, given: Any, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        plan(name, **given)
