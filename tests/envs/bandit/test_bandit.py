"""Slot machines: what they pay, what counts, and who plays them well."""

from collections import Counter
from statistics import fmean, pvariance
from typing import Any

import pytest

import waybench
from waybench.core import DataError, Episode, Stream, UsageError, play_to_end, policy
from waybench.envs.bandit._game import SETTINGS, Bandit, BanditRules, Machines, decode, draw_beta, thompson
from waybench.results import LoggedEpisode, overall
from waybench.results.results._anchors import ReferenceLookup
from waybench.results.results._measured_row import measured_row

ENVIRONMENT = waybench.load("bandit/arms")
RULES = BanditRules(published=True)


class Numbers(Stream):
    """A stream of given numbers."""

    def __init__(self, *numbers: float) -> None:
        super().__init__("given")
        self.left = list(numbers)

    def random(self) -> float:
        return self.left.pop(0)


def data(*arms: list[float], drift: float = 0, draw: int = 0) -> dict[str, Any]:
    return {"arms": [list(arm) for arm in arms], "drift": drift, "draw": draw}


def pulls(bandit: Bandit, *steps: tuple[int, float]) -> Machines:
    """Return the machines after pulls of (arm, uniform number)."""
    world = RULES.begin(bandit)
    for arm, number in steps:
        world = RULES.step(world, arm, Numbers(number)).world
    return world


def values(record: Any) -> dict[str, float | None]:
    return {metric.name: metric.of(record) for metric in ENVIRONMENT.scoring.metrics}


def said(*actions: str, instance: dict[str, Any], **options: Any) -> Any:
    """Return the record of replies to the one question."""
    episode: Episode[Any, Any, Any] = Episode(
        ENVIRONMENT, ENVIRONMENT.item(instance), {"wording": "one_question", "steps": len(actions), **options}
    )
    for action in actions:
        episode.step(action)
    return episode.record()


ONE, TWO = "Pull slot machine 1.", "Pull slot machine 2."


# Rules


def test_a_machine_pays_or_takes_as_much() -> None:
    bandit = Bandit(((0.3, 2.5), (0.5, 1.0)))
    assert RULES.step(RULES.begin(bandit), 0, Numbers(0.2999)).reward == 2.5
    assert RULES.step(RULES.begin(bandit), 0, Numbers(0.3)).reward == -2.5
    assert RULES.observe(pulls(bandit, (0, 0.9))) == "You pulled slot machine 1, you received reward -2.5."
    assert RULES.observe(pulls(bandit, (1, 0.4))) == "You pulled slot machine 2, you received reward 1."


def test_the_best_machine_has_the_highest_expected_reward() -> None:
    # 0.9 * 1 - 0.1 * 1 = 0.8, and 0.7 * 3 - 0.3 * 3 = 1.2
    world = RULES.begin(Bandit(((0.9, 1.0), (0.7, 3.0), (0.2, 5.0))))
    assert world.best == 1
    assert world.gaps == pytest.approx((0.4, 0, 4.2))


def test_of_equal_machines_the_first_counts() -> None:
    world = pulls(Bandit(((0.2, 1.0), (0.6, 1.0), (0.6, 1.0))), (1, 0.5), (2, 0.5))
    assert (world.score, world.gaps[2]) == (1, 0)


def test_what_was_seen_is_counted() -> None:
    world = pulls(Bandit(((0.5, 1.0), (0.5, 1.0))), (0, 0.1), (1, 0.9), (0, 0.2), (0, 0.7))
    assert world.counts == (2, 1, 0, 1)


def test_probabilities_drift_and_are_reflected() -> None:
    bandit = Bandit(((0.05, 1.0), (0.95, 1.0), (0.5, 1.0)), drift=0.1)
    step = RULES.step(RULES.begin(bandit), 1, Numbers(0.5, 0.0, 1.0, 0.75))
    assert step.world.chances == pytest.approx((0.05, 0.95, 0.55))  # -0.05 and 1.05 come back
    assert step.events == {"optimal": True, "regret": 0.0}
    down = RULES.step(step.world, 0, Numbers(0.5, 0.5, 0.0, 0.0)).world
    assert down.chances == pytest.approx((0.05, 0.85, 0.45))
    assert down.best == 1


def test_drifting_probabilities_stay_within_bounds() -> None:
    world, rng = RULES.begin(Bandit(((0.5, 1.0), (0.5, 1.0)), drift=0.5)), Stream("drift")
    seen: list[float] = []
    for _ in range(2000):
        world = RULES.step(world, 0, rng).world
        seen += world.chances
    assert 0 <= min(seen) < 0.02
    assert 0.98 < max(seen) <= 1
    assert fmean(seen) == pytest.approx(0.5, abs=0.05)  # a reflected walk is uniform in the long run


def test_the_manual_counts_the_machines_and_tells_of_drift() -> None:
    bandit = Bandit(((0.5, 1.0),) * 7)
    assert RULES.manual(bandit).startswith("You are in the casino with 7 slot machines in front of you.")
    assert RULES.actions(bandit)[6] == "Pull slot machine 7."
    drifting = RULES.manual(Bandit(bandit.arms, drift=0.01))
    assert drifting.startswith(RULES.manual(bandit))
    assert "change" in drifting.removeprefix(RULES.manual(bandit))


# Items


@pytest.mark.parametrize("setting", SETTINGS)
def test_registered_settings_come_in_both_orders(setting: str) -> None:
    items = ENVIRONMENT.source("order", 2, setting=setting).head(400)
    orders = Counter(item.instance.arms for item in items)
    assert set(orders) == {SETTINGS[setting], SETTINGS[setting][::-1]}
    assert 160 < orders[SETTINGS[setting]] < 240  # binomial: the standard deviation is 10
    assert {item.instance.setting for item in items} == {setting}
    assert len({item.instance.hash for item in items}) == 400  # each with draws of its own


def test_items_of_the_same_machines_have_chances_of_their_own() -> None:
    items = [item for item in ENVIRONMENT.source(level=2, setting="high_low").head(20) if item.proof["best"] == 1]
    rewards = {tuple(turn.reward for turn in play_to_end(ENVIRONMENT, item, policy("oracle")).turns) for item in items}
    assert len(rewards) == len(items) > 5


@pytest.mark.parametrize("level", [2, 5, 20, 50])
def test_free_machines_have_a_leader(level: int) -> None:
    for payoffs in ("equal", "unequal"):
        for item in ENVIRONMENT.source("free", level, payoffs=payoffs).head(5):
            worth = sorted(chance * payoff - (1 - chance) * payoff for chance, payoff in item.instance.arms)
            assert worth[-1] - worth[-2] >= 0.1 - 1e-12
            assert all(0.05 <= chance <= 0.95 for chance, _ in item.instance.arms)
            paid = {payoff for _, payoff in item.instance.arms}
            assert paid == {1} if payoffs == "equal" else paid <= {1, 2, 3, 4, 5}


def test_a_setting_that_drifts_is_no_registered_one() -> None:
    item = ENVIRONMENT.source(level=2, setting="high_low", drift=0.1).item(0)
    assert (item.instance.setting, item.instance.drift) == (None, 0.1)


def test_levels_that_do_not_fit() -> None:
    with pytest.raises(UsageError, match="setting=high_low has 2 slot machines, not 3: give level 2"):
        ENVIRONMENT.source(level=3, setting="high_low")
    for level in (1, 51):
        with pytest.raises(UsageError, match="from 2 to 50"):
            ENVIRONMENT.source(level=level)


@pytest.mark.parametrize(
    "bad",
    [
        {},
        data([0.5, 1]),
        data([0.5, 1], [1.5, 1]),
        data([0.5, 1], [0.5, 0]),
        data([0.5, 1], [0.5, -1]),
        data([0.5, 1], [0.5]),
        data([0.5, 1], [True, 1]),
        data([0.5, 1], [0.5, 1], drift=-0.1),
        data([0.5, 1], [0.5, 1], draw=-1),
        data([0.5, 1], [0.5, float("nan")]),
        {**data([0.5, 1], [0.5, 1]), "best": 0},
    ],
)
def test_what_is_no_instance(bad: Any) -> None:
    with pytest.raises(DataError, match="instance: "):
        decode(bad)


# Scores


def test_scores_of_an_episode() -> None:
    record = said(ONE, TWO, TWO, ONE, instance=data([0.2, 1], [0.8, 1]))
    found = values(record)
    assert found["score"] == 2
    assert found["regret"] == pytest.approx(2 * 1.2)
    assert found["scaled"] == pytest.approx((2 - 2) / (4 - 2))
    assert found["human"] is None  # four steps are not the published fifty
    assert found["reward"] == sum(turn.reward for turn in record.turns)
    optimal, regret = ENVIRONMENT.scoring.series
    assert optimal.of(record) == [0, 1, 1, 0]
    assert regret.of(record) == pytest.approx([1.2, 1.2, 1.2, 2.4])


def test_a_lost_step_is_charged_as_the_worst_machine() -> None:
    record = said(TWO, "no", ONE, "?", instance=data([0.2, 1], [0.8, 1]), protocol="sound")
    assert values(record)["score"] == 1
    assert values(record)["regret"] == pytest.approx(3 * 1.2)
    assert ENVIRONMENT.scoring.series[0].of(record) == [1, 0, 0, 0]


def test_the_learning_curve_has_no_thoughts_in_it() -> None:
    item = ENVIRONMENT.source(level=2, setting="high_low").item(0)
    record = play_to_end(ENVIRONMENT, item, policy("oracle")).record()
    assert len(record.turns) == 100
    assert ENVIRONMENT.scoring.series[0].of(record) == [1.0] * 50
    assert values(record)["human"] == pytest.approx(50 / 45)


def test_published_figures_of_people_are_for_one_setting() -> None:
    for setting in SETTINGS:
        item = ENVIRONMENT.source(level=2, setting=setting).item(0)
        record = play_to_end(ENVIRONMENT, item, policy("random"), {"wording": "one_question"}).record()
        assert (values(record)["human"] is None) == (setting != "high_low")


def test_the_random_player_has_its_expected_score() -> None:
    items = ENVIRONMENT.source("random", 4).head(60)
    options = {"wording": "one_question"}
    found = [values(play_to_end(ENVIRONMENT, item, policy("random"), options).record()) for item in items]
    assert fmean(one["score"] for one in found) == pytest.approx(12.5, abs=1.6)  # four standard errors
    assert fmean(one["scaled"] for one in found) == pytest.approx(0, abs=0.05)


# Players


@pytest.mark.parametrize(("a", "b"), [(1, 1), (3, 2), (10, 30), (50, 70)])
def test_beta(a: int, b: int) -> None:
    rng = Stream("beta", a, b)
    drawn = [draw_beta(a, b, rng) for _ in range(2000)]
    mean, variance = a / (a + b), a * b / ((a + b) ** 2 * (a + b + 1))
    assert fmean(drawn) == pytest.approx(mean, abs=4 * (variance / 2000) ** 0.5)
    assert pvariance(drawn) == pytest.approx(variance, rel=0.2)


def test_beta_keeps_the_proportion_of_large_counts() -> None:
    rng = Stream("beta")
    assert fmean(draw_beta(90_000, 10_000, rng) for _ in range(200)) == pytest.approx(0.9, abs=0.01)


def test_thompson_pulls_what_has_paid() -> None:
    bandit = Bandit(((0.1, 1.0), (0.9, 1.0)))
    world = pulls(bandit, *[(0, 0.99), (1, 0.0)] * 30)
    assert {thompson(bandit, world, Stream("thompson", number)) for number in range(50)} == {1}


def test_thompson_does_not_know_a_payoff_before_it_has_seen_it() -> None:
    small, large = (Bandit(((0.5, 1.0), (0.5, payoff))) for payoff in (1.0, 100.0))
    for number in range(20):
        rng = [Stream("unseen", number) for _ in range(2)]
        chosen = [
            thompson(bandit, pulls(bandit, (0, 0.0)), one) for bandit, one in zip((small, large), rng, strict=True)
        ]
        assert chosen[0] == chosen[1]


def test_learning_beats_the_rule_of_thumb_which_beats_chance() -> None:
    items = ENVIRONMENT.source("learning", 2, setting="high_low").head(60)
    options = {"wording": "one_question"}
    scores = {
        name: fmean(values(play_to_end(ENVIRONMENT, item, policy(name), options).record())["score"] for item in items)
        for name in ("oracle", "thompson", "heuristic", "random")
    }
    assert scores["oracle"] == 50 > scores["thompson"] > scores["heuristic"] > scores["random"]
    assert scores["thompson"] > 45  # as people do
    # Staying after a win and shifting after a loss is a Markov chain: 0.8 / (0.8 + 0.2) of the time at the better one.
    assert scores["heuristic"] == pytest.approx(40, abs=1.5)


def test_a_person_can_type_a_number() -> None:
    episode: Episode[Any, Any, Any] = Episode(ENVIRONMENT, ENVIRONMENT.source(level=5).item(0))
    assert ENVIRONMENT.typing.parse is not None
    assert ENVIRONMENT.typing.parse(" 5 ", episode.state).action == 4
    assert ENVIRONMENT.typing.parse("6", episode.state) is None
    assert ENVIRONMENT.typing.parse("0", episode.state) is None


@pytest.mark.parametrize("protocol", ["paper", "sound"])
def test_the_floor_is_chance_and_the_ceiling_the_best_machine(protocol: str) -> None:
    # Of five machines random choices pull the best one in a fifth of 50 steps: 10. The best one always: 50.
    known = ReferenceLookup()
    for player, score in (("oracle", 1.0), ("random", 0.0)):
        episodes = [
            LoggedEpisode("m", "t", play_to_end(ENVIRONMENT, one, policy(player), {"protocol": protocol}).record())
            for one in ENVIRONMENT.source(level=5).head(30)
        ]
        (found,) = overall(
            measured_row(each, anchors=known.scores(each.record, measured_row(each).group)) for each in episodes
        )
        assert found.rescaled is not None
        assert (found.rescaled.floor, found.rescaled.ceiling) == (10.0, 50.0)
        assert found.rescaled.floor_player == "a random player, on average,"
        assert found.rescaled.mean.value == pytest.approx(score, abs=0.08)
