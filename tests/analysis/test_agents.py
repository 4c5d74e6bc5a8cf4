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


def test_attempts_at_the_only_puzzle_are_a_sample() -> None:
    environment = waybench.load("hanoi/rods")
    item = environment.source(level=3).item(0)
    episodes = [
        LoggedEpisode(
            model="m",
            task="hanoi_3",
            record=play_out(environment, item, policy("random"), attempt=attempt).record(),
            run="run",
        )
        for attempt in range(1, 9)
    ]
    found = only(episodes)
    mean = found.scores["Hanoi3Disk"]
    scores = [float(environment.metrics[0].of(each.record)) / 3 for each in episodes]
    assert (mean.n, mean.clusters) == (8, 8)
    assert mean.value == pytest.approx(sum(scores) / 8)
    half = stats.t.ppf(0.975, 7) * stats.sem(scores)
    assert (mean.low, mean.high) == pytest.approx((mean.value - half, mean.value + half))
    assert found.ranges["paper"][0] is not None


def test_people_have_not_played_with_other_entities() -> None:
    environment = waybench.load("messenger/roles")
    for cast, known in (("published", "MessengerL1"), ("further", None)):
        record = play_out(environment, environment.source(level=1, cast=cast).item(0), policy("oracle")).record()
        assert environment.setting(record) == known
