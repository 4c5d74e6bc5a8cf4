"""Sequential comparisons: the specification's numbers, lost items, races, and errors over many streams."""

import numpy as np
import pytest

from waybench.results.stats._sequential import DecisionRule, Race, confidence_sequence, evidence, score_differences

RULE = DecisionRule()
GRADED = [0.25, -0.5, 0, 0.75, 0.5, 1, -0.25, 0.5] * 3


def counted(won: int, lost: int, alike: int) -> np.ndarray:
    return np.array([1.0] * won + [-1.0] * lost + [0.0] * alike)


def decide(ahead: list[float], rule: DecisionRule = RULE) -> Race:
    race = Race(rule)
    for difference in ahead:
        race.add_unit(np.array([[0.0, difference], [-difference, 0.0]]))
    return race


@pytest.mark.parametrize(
    ("counts", "expected", "ends"),
    [
        ((10, 2, 20), (7.08685, 0.121968, 16.6985, 0.146244), (-0.0937, 0.5539)),
        ((31, 15, 94), (7.36009, 0.0311736, 89.9165, 0.067622), (-0.0357, 0.2636)),
        ((40, 40, 420), (0.176045, 0.176045, 16.0784, 16.0784), (-0.0566, 0.0566)),
    ],
)
def test_numbers_of_won_and_lost_items_give_the_evidence_and_the_sequence(
    counts: tuple[int, int, int], expected: tuple[float, ...], ends: tuple[float, float]
) -> None:
    ahead = counted(*counts)
    values = [evidence(side, mu, RULE.bets) for mu in (0.0, -RULE.margin) for side in (ahead, -ahead)]
    assert values == pytest.approx(expected, rel=2e-5)
    assert confidence_sequence(ahead, -ahead, RULE.bets, 40) == pytest.approx(ends, abs=5e-5)


def test_graded_scores_and_clusters_give_the_evidence() -> None:
    ahead = np.array(GRADED)
    assert evidence(ahead, 0, RULE.bets) == pytest.approx(13.7356, rel=1e-5)
    assert evidence(-ahead, -0.05, RULE.bets) == pytest.approx(0.18326, rel=1e-5)
    assert confidence_sequence(ahead, -ahead, RULE.bets, 40) == pytest.approx((-0.0551, 0.5701), abs=5e-5)
    clusters = np.array([0.2, 0.1, 0, 0.3, -0.1, 0.25] * 4)
    assert evidence(clusters, 0, DecisionRule(clusters=True).bets) == pytest.approx(7.80995, rel=1e-6)


def test_the_earliest_decisions() -> None:
    assert decide([1.0] * 8).ended_at == 8 and decide([1.0] * 7).ended_at == 0
    assert decide([1.0] * 8).live.tolist() == [True, False]
    assert decide([0.0] * 93).ended_at == 93 and decide([0.0] * 92).ended_at == 0
    assert decide([0.0] * 93).live.all()
    assert decide([0.0] * 50, DecisionRule(margin=0.1)).ended_at == 43


def test_several_tasks_take_more_evidence() -> None:
    assert decide([1.0] * 40, DecisionRule(tasks=4)).ended_at > 8


def test_evidence_unit_by_unit_is_that_of_the_whole_stream_to_the_last_bit() -> None:
    race = decide(GRADED)
    ahead = np.array(GRADED)
    assert race.better[0, 1] == evidence(ahead, 0, RULE.bets)
    assert race.better[1, 0] == evidence(-ahead, 0, RULE.bets)


def test_a_lost_item_speaks_against_both_models() -> None:
    nan = float("nan")
    assert score_differences([[1.0], [nan]]).tolist() == [[0.0, -1.0], [-1.0, -1.0]]
    halves = score_differences([[1.0, nan, 0.5], [0.0, 1.0, 0.5]])
    assert halves[0, 1] == pytest.approx(0.0) and halves[1, 0] == pytest.approx(-2 / 3)
    with_result, lost = Race(RULE), Race(RULE)
    with_result.add_unit(score_differences([[0.0], [1.0]]))
    lost.add_unit(score_differences([[nan], [1.0]]))
    assert (lost.better <= with_result.better).all() and lost.better[1, 0] < with_result.better[1, 0]


def test_a_race_drops_losers_keeps_their_evidence_and_ends_when_one_is_sure() -> None:
    rule = DecisionRule(models=4)
    race = Race(rule)
    while race.live.all():
        race.add_unit(score_differences([[1.0], [1.0], [0.0], [0.0]]))
    assert race.live.tolist() == [True, True, False, False] and not race.ended_at
    assert race.dropped_at.tolist() == [0, 0, race.units, race.units]
    assert race.better[:, 2].sum() / 3 >= rule.better_threshold > 70
    evidence_when_dropped = race.better[:, 2:].copy()
    while not race.ended_at:
        race.add_unit(score_differences([[1.0], [1.0], [1.0], [1.0]]))
    assert (race.better[:, 2:] == evidence_when_dropped).all()
    assert race.unbeaten.tolist() == [True, True, False, False]


def test_a_race_of_equal_models_ends_when_one_is_shown_to_be_within_the_margin_of_all() -> None:
    race = Race(DecisionRule(models=3))
    while not race.ended_at:
        race.add_unit(score_differences([[1.0], [1.0], [1.0]]))
    assert race.live.all() and race.unbeaten.all() and 93 < race.ended_at < 150


def test_equal_models_are_seldom_told_apart_at_any_stop() -> None:
    rng = np.random.default_rng(5)
    race = Race(RULE, (2_000,))
    for _ in range(400):
        ahead = rng.choice([1.0, -1.0, 0.0], size=2_000, p=[0.15, 0.15, 0.7])
        matrices = np.zeros((2_000, 2, 2))
        matrices[:, 0, 1], matrices[:, 1, 0] = ahead, -ahead
        race.add_unit(matrices)
    told_apart = ~race.live.all(axis=-1)
    assert 0.005 < told_apart.mean() < 0.05
    first = int(np.flatnonzero(told_apart)[0])
    assert race.dropped_at[first].max() == race.ended_at[first]
