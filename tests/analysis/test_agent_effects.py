"""What an agent around a model gains on the same items, and what it costs."""

import json
from pathlib import Path
from typing import Any

import pytest

import waybench
from tests.report.pages import site
from waybench.core import Episode, EpisodeRecord, Price, Reply, Usage, policy
from waybench.results import LoggedEpisode, Row, rows
from waybench.results.comparisons._agent_effects import agent_effects, agent_effects_text
from waybench.results.results import exclude
from waybench.results.results._measured_row import measured_row
from waybench.results.stats._verdicts import Verdict

COIN = waybench.load("search/coin")
COUNT = 8
PRICE = Price(input=1.0, output=2.0, input_cache_read=1.0)


def played(player: str, index: int, tokens: int, options: dict[str, Any]) -> EpisodeRecord:
    """Return an episode whose replies took some input tokens each, and half as many output tokens."""
    item = COIN.source(level=6).item(index)
    episode: Episode[Any, Any, Any] = Episode(COIN, item, options)
    while not episode.done:
        usage = Usage(input_tokens=tokens, output_tokens=tokens // 2)
        episode.step(Reply(policy(player).reply(episode), usage=usage))
    return episode.record()


def episodes(
    player: str, agent: str = "", tokens: int = 0, count: int = COUNT, model: str = "m", **options: Any
) -> list[LoggedEpisode]:
    settings = {"agent": agent} if agent else {}
    return [
        LoggedEpisode(model=model, task="coin", record=played(player, index, tokens, options), settings=settings)
        for index in range(count)
    ]


def priced(logged: list[LoggedEpisode]) -> list[Row]:
    return exclude(measured_row(each, price=PRICE) for each in logged)


def test_gain_and_cost_are_those_of_the_items_of_both() -> None:
    # The bare model gives up after three invalid replies; the agent finds each number with more tokens.
    logged = [*episodes("null", tokens=100), *episodes("oracle", "react", 1_000, COUNT + 2)]
    (effect,) = agent_effects(priced(logged))
    one = effect.comparison
    assert (effect.agent, one.items, one.verdict) == ("react", COUNT, Verdict.FIRST)
    assert one.first_mean.value == 0 and one.second_mean.value == 1
    assert one.metric.better == "lower" and effect.gain == 1
    turns = [len(each.record.turns) for each in logged]
    bare, agent = (sum(turns[:COUNT]) / COUNT * 150, sum(turns[COUNT : 2 * COUNT]) / COUNT * 1500)
    assert effect.tokens == pytest.approx((agent, bare))
    # 1 USD per million input tokens, and 2 per million output tokens, which are half as many.
    dollars = (agent / 1.5 * 2e-6, bare / 1.5 * 2e-6)
    assert effect.costs == pytest.approx(dollars)
    assert effect.gain_per_dollar == pytest.approx(1 / (dollars[0] - dollars[1]))
    assert effect.gain_per_million == pytest.approx(1e6 / (agent - bare))
    text = agent_effects_text(priced(logged))
    assert "agents beside the bare model" in text and "gain per USD" in text and "m, react" in text
    without = agent_effects_text(rows(logged))
    assert "gain per 1M tokens" in without and "USD" not in without
    assert effect.to_json()["gain_per_dollar"] == effect.gain_per_dollar


def test_only_what_differs_in_the_agent_alone_is_paired() -> None:
    logged = [
        *episodes("oracle", "react"),
        *episodes("oracle", wording="code"),
        *episodes("oracle", model="other"),
        *episodes("oracle", interface="tools"),
    ]
    assert agent_effects(rows(logged)) == [] and agent_effects_text(rows(logged)) == ""
    found = agent_effects(rows([*logged, *episodes("null"), *episodes("oracle", "mine.plan:times=2")]))
    assert {each.agent for each in found} == {"react", "mine.plan:times=2"}
    for effect in found:
        assert effect.comparison.family_size == 2
        assert effect.costs is None and effect.gain_per_dollar is None  # replies without tokens are no tokens at all
        assert effect.tokens is None


@pytest.mark.slow
def test_the_page_has_the_table(tmp_path: Path) -> None:
    made = site(tmp_path, [*episodes("null", tokens=100), *episodes("oracle", "react", 1_000)])
    (page,) = [page for page in made.tasks.values() if "Agents beside the bare model" in page.text]
    headings, line = page.table("Agents beside the bare model: the same cases.")
    assert headings[1] == "Agent" and headings[-1] == "Gain per 1M tokens"
    assert line[0].split()[0] == "m" and line[1] == "react" and float(line[-1].replace(",", "")) > 0
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert [(each["items"], each["agent"]) for each in summary["agent_effects"]] == [(COUNT, "react")]
