"""Models as agents: normalised scores at published settings, and capabilities."""

from dataclasses import asdict
from typing import Any

import pytest
from scipy import stats

import waybench
from waybench.core import play_to_end, policy
from waybench.envs.smartplay import RECORDED
from waybench.envs.smartplay._capabilities import CAPABILITIES, capability_scores
from waybench.results import LoggedEpisode, rows
from waybench.results.estimates._agents import Agent, HumanScore, _capability_interval, agents_of_rows
from waybench.results.stats import clustered_mean
from waybench.results.stats._intervals import clustered_error


def played(who: str, model: str = "vendor/model", count: int = 4, **options: Any) -> list[LoggedEpisode]:
    """Return episodes of slot machines in the recorded setting."""
    environment = waybench.load("bandit/arms")
    items = environment.source("key", 2, setting="high_low").head(count)
    return [
        LoggedEpisode(
            model=model,
            task="bandit_high_low",
            record=play_to_end(environment, item, policy(who), options).record(),
            settings={"setting": "high_low"},
            run="run",
        )
        for item in items
    ]


def only(episodes: list[LoggedEpisode]) -> Agent:
    (found,) = agents_of_rows(rows(episodes))
    return found


def test_scores_and_capabilities_by_hand() -> None:
    episodes = played("thompson", count=6)
    found = only(episodes)
    scores = [sum(turn.events.get("optimal", False) for turn in each.record.turns) / 45 for each in episodes]
    hashes = [each.record.instance_hash for each in episodes]
    # The score is 0 to 50, and people had 45.
    assert found.scores == {"BanditTwoArmedHighLowFixed": clustered_mean(scores, hashes, 0, 50 / 45)}
    by_hand = clustered_mean([45 * each for each in scores], hashes, 0, 50)
    assert by_hand is not None
    assert asdict(found.raw["BanditTwoArmedHighLowFixed"]) == pytest.approx(asdict(by_hand))
    mean = sum(scores) / 6
    assert [each.value for each in found.capabilities["paper"]] == pytest.approx([mean] * 9)
    asked = {each.name for each in found.capabilities["code"] if each.value is not None}
    assert asked == {"Generalization", "Understanding the Odds", "Learning from Interactions"}
    assert set(found.capabilities["paper"][0].missing) == set(RECORDED) - {"BanditTwoArmedHighLowFixed"}
    # Of one game alone, a capability is as uncertain as the game.
    half = stats.t.ppf(0.975, 5) * stats.sem(scores)
    assert found.ranges["paper"][0] == pytest.approx((mean - half, min(mean + half, 50 / 45)))


def test_a_capability_stays_within_what_its_games_can_come_to() -> None:
    for who in ("random", "thompson"):
        ends = only(played(who, count=6)).ranges["paper"][0]
        assert ends is not None
        assert 0 <= ends[0] < ends[1] <= 50 / 45 + 1e-9


def test_what_is_not_as_published_has_no_human_score() -> None:
    assert agents_of_rows(rows(played("oracle", steps=20))) == []
    environment = waybench.load("bandit/arms")
    free = [
        LoggedEpisode(model="m", task="t", record=play_to_end(environment, item, policy("oracle")).record())
        for item in environment.source("key", 2).head(3)
    ]
    assert agents_of_rows(rows(free)) == []


def test_ways_of_asking_are_agents_of_their_own() -> None:
    found = agents_of_rows(
        rows([*played("oracle"), *played("random", wording="chat"), *played("oracle", "waybench/oracle")])
    )
    assert [(agent.model, dict(agent.settings)["wording"]) for agent in found] == [
        ("vendor/model", "two_questions"),
        ("vendor/model", "chat"),
        ("waybench/oracle", "two_questions"),
    ]
    assert found[0].scores["BanditTwoArmedHighLowFixed"].value == pytest.approx(50 / 45)


def test_who_is_shown_another_history_is_another_agent() -> None:
    found = agents_of_rows(
        rows([*played("oracle"), *played("random", history=1, count=6), *played("oracle", history=50)])
    )
    assert [dict(agent.settings).get("history") for agent in found] == [None, 1]
    assert found[0].scores["BanditTwoArmedHighLowFixed"].value == pytest.approx(50 / 45)


def test_an_agent_as_json() -> None:
    told = only(played("random")).to_json()
    assert [each["name"] for each in told["capabilities"]["paper"]] == list(CAPABILITIES)
    assert set(told["scores"]) == {"BanditTwoArmedHighLowFixed"}
    assert set(told["raw"]) == {"BanditTwoArmedHighLowFixed"}


def test_attempts_at_the_only_puzzle_are_a_sample() -> None:
    environment = waybench.load("hanoi/rods")
    item = environment.source(level=3).item(0)
    episodes = [
        LoggedEpisode(
            model="m",
            task="hanoi_3",
            record=play_to_end(environment, item, policy("random"), attempt=attempt).record(),
            run="run",
        )
        for attempt in range(1, 9)
    ]
    found = only(episodes)
    mean = found.scores["Hanoi3Disk"]
    scores = [float(environment.scoring.metrics[0].of(each.record)) / 3 for each in episodes]
    assert (mean.n, mean.clusters) == (8, 8)
    assert mean.value == pytest.approx(sum(scores) / 8)
    assert mean == clustered_mean(scores, range(8), 0, 1)
    assert found.ranges["paper"][0] is not None


def test_people_have_not_played_with_other_entities() -> None:
    environment = waybench.load("messenger/roles")
    for cast, known in (("published", "MessengerL1"), ("further", None)):
        record = play_to_end(environment, environment.source(level=1, cast=cast).item(0), policy("oracle")).record()
        assert environment.scoring.published_setting(record) == known


RUNNING = {"BanditTwoArmedHighLowFixed": 0.8, "Hanoi3Disk": 0.5, "Crafter": 20.0}


def test_shares_of_games_in_a_capability() -> None:
    # Planning has degree 1 in bandits, and 3 in Hanoi and Crafter (Table 3): (0.8 + 1.5 + 60) / 7.
    found = {each.name: each for each in capability_scores(RUNNING)}["Planning"]
    assert found.value == pytest.approx(62.3 / 7)
    sums = {"BanditTwoArmedHighLowFixed": 0.8, "Hanoi3Disk": 1.5, "Crafter": 60}
    assert found.parts == pytest.approx({game: part / 7 for game, part in sums.items()})
    assert found.shares == pytest.approx({game: part / 62.3 for game, part in sums.items()})
    # Of parts below 0 there are no shares.
    (below, *_) = capability_scores({"MessengerL1": -1.5, "Crafter": 1.0})
    assert below.shares is None
    assert sum(below.parts.values()) == pytest.approx(below.value)


def test_the_capped_form_cuts_every_game() -> None:
    def planning(formula: str, **more: float) -> float | None:
        return {each.name: each for each in capability_scores({**RUNNING, **more}, formula)}["Planning"].value

    assert planning("paper_capped") == pytest.approx((0.8 + 1.5 + 3) / 7)
    assert planning("code") == pytest.approx((2 * 0.5 + 2 * 20) / 4)
    assert planning("code_capped") == pytest.approx((2 * 0.5 + 2 * 1) / 4)
    assert planning("paper_capped", MessengerL1=-0.5) == pytest.approx((0.8 + 1.5 + 3 + 0) / 8)


def test_the_interval_of_a_capped_capability() -> None:
    # Where all of the interval is beyond 1, nothing is left of it.
    scores = [20.0, 21.0, 25.0, 20.0, 21.0, 25.0]
    mean = clustered_mean(scores, "abcdef")
    assert mean is not None
    group = only(played("thompson", count=5)).groups["BanditTwoArmedHighLowFixed"]
    far = {"Crafter": HumanScore(group, mean, clustered_error(scores, "abcdef"), (0, 82), mean)}
    (first, *_) = capability_scores({"Crafter": mean.value}, "paper_capped")
    assert (first.value, _capability_interval(first, far, "paper_capped")) == (1, (1, 1))
    few = only(played("thompson", count=5))
    assert few.ranges["paper_capped"][0] is None
    own = only(played("thompson", count=6))
    score, ends = own.scores["BanditTwoArmedHighLowFixed"], own.ranges["paper_capped"][0]
    assert score.low is not None
    assert score.high is not None
    assert score.low < 1 < score.high
    scores = [
        sum(turn.events.get("optimal", False) for turn in each.record.turns) / 45
        for each in played("thompson", count=6)
    ]
    assert ends == pytest.approx((min(score.value, 1.0) - stats.t.ppf(0.975, 5) * stats.sem(scores), 1))


def test_shares_and_capped_forms_as_json() -> None:
    told = only(played("oracle")).to_json()["capabilities"]
    assert isinstance(told, dict)
    assert list(told) == ["paper", "paper_capped", "code", "code_capped"]
    first = told["paper"][0]
    assert first["shares"] == {"BanditTwoArmedHighLowFixed": 1}
    assert first["parts"] == pytest.approx({"BanditTwoArmedHighLowFixed": 50 / 45})
    assert told["paper_capped"][0]["value"] == 1
