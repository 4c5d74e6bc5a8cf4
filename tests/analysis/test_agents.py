"""Models as agents: normalised scores at published settings, and capabilities."""

from typing import Any

import pytest
from scipy import stats

import waybench
from waybench.agent import CAPABILITIES, RECORDED
from waybench.analysis import Agent, LoggedEpisode, agents, clustered_mean, rows
from waybench.core import play_out, policy


def played(who: str, model: str = "vendor/model", count: int = 4, **options: Any) -> list[LoggedEpisode]:
    """Return episodes of slot machines in the recorded setting."""
    environment = waybench.load("bandit/arms")
    items = environment.source("key", 2, setting="high_low").head(count)
    return [
        LoggedEpisode(
            model=model,
            task="bandit_high_low",
            record=play_out(environment, item, policy(who), options).record(),
            settings={"setting": "high_low"},
            run="run",
        )
        for item in items
    ]


def only(episodes: list[LoggedEpisode]) -> Agent:
    (found,) = agents(rows(episodes))
    return found


def test_scores_and_capabilities_by_hand() -> None:
    episodes = played("thompson", count=5)
    found = only(episodes)
    scores = [sum(turn.events.get("optimal", False) for turn in each.record.turns) / 45 for each in episodes]
    hashes = [each.record.instance_hash for each in episodes]
    assert found.scores == {"BanditTwoArmedHighLowFixed": clustered_mean(scores, hashes)}
    mean = sum(scores) / 5
    assert [each.value for each in found.capabilities["paper"]] == pytest.approx([mean] * 9)
    asked = {each.name for each in found.capabilities["code"] if each.value is not None}
    assert asked == {"Generalization", "Understanding the Odds", "Learning from Interactions"}
    assert set(found.capabilities["paper"][0].missing) == set(RECORDED) - {"BanditTwoArmedHighLowFixed"}
    # Of one game alone, a capability is as uncertain as the game.
    own = found.scores["BanditTwoArmedHighLowFixed"]
    half = stats.t.ppf(0.975, 4) * stats.sem(scores)
    assert found.ranges["paper"][0] == pytest.approx((mean - half, mean + half)) == (own.low, own.high)


def test_what_is_not_as_published_has_no_human_score() -> None:
    assert agents(rows(played("oracle", steps=20))) == []
    environment = waybench.load("bandit/arms")
    free = [
        LoggedEpisode(model="m", task="t", record=play_out(environment, item, policy("oracle")).record())
        for item in environment.source("key", 2).head(3)
    ]
    assert agents(rows(free)) == []


def test_ways_of_asking_are_agents_of_their_own() -> None:
    found = agents(rows([*played("oracle"), *played("random", wording="chat"), *played("oracle", "waybench/oracle")]))
    assert [(agent.model, dict(agent.settings)["wording"]) for agent in found] == [
        ("vendor/model", "two_questions"),
        ("vendor/model", "chat"),
        ("waybench/oracle", "two_questions"),
    ]
    assert found[0].scores["BanditTwoArmedHighLowFixed"].value == pytest.approx(50 / 45)


def test_who_is_shown_another_history_is_another_agent() -> None:
    found = agents(rows([*played("oracle"), *played("random", history=1, count=6), *played("oracle", history=50)]))
    assert [dict(agent.settings).get("history") for agent in found] == [None, 1]
    assert found[0].scores["BanditTwoArmedHighLowFixed"].value == pytest.approx(50 / 45)


def test_an_agent_as_json() -> None:
    told = only(played("random")).to_json()
    assert [each["name"] for each in told["capabilities"]["paper"]] == list(CAPABILITIES)
    assert set(told["scores"]) == {"BanditTwoArmedHighLowFixed"}
