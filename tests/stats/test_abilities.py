"""The joint model of abilities, on simulated models whose abilities are known."""

from functools import cache

import numpy as np
import pytest

from waybench.results.stats import Array
from waybench.results.stats._abilities import Abilities, FamilyResults, joint_abilities

FAMILIES, ITEMS = 6, 40


def simulated(models: int, key: int, deviation: float = 0.4) -> tuple[Array, Array, list[FamilyResults]]:
    """Return general abilities, the expected score of each model and family, and results."""
    rng = np.random.default_rng(key)
    general = rng.normal(size=models)
    expected: list[Array] = []
    results: list[FamilyResults] = []
    for _ in range(FAMILIES):
        ability = rng.normal() + 1.5 * (general + deviation * rng.normal(size=models))
        level = rng.normal(size=(ITEMS, 1))
        difficulty = 0.8 * level[:, 0] + rng.normal(size=ITEMS)
        rates = 1 / (1 + np.exp(difficulty[:, None] - ability))
        expected.append(rates.mean(axis=0))
        solved = (rng.random(rates.shape) < rates).astype(np.float64)
        results.append(FamilyResults(solved, level, np.full(ITEMS, 1 / ITEMS)))
    return general, np.array(expected).T, results


def without(results: list[FamilyResults], model: int, family: int) -> list[FamilyResults]:
    """Return results without those of a model in a family."""
    shares = results[family].shares.copy()
    shares[:, model] = np.nan
    return [each._replace(shares=shares) if number == family else each for number, each in enumerate(results)]


@cache
def fitted() -> tuple[Array, Array, Abilities]:
    general, expected, results = simulated(10, 3)
    return general, expected, joint_abilities(without(results, 0, 5))


def test_general_abilities_are_recovered() -> None:
    general, _, found = fitted()
    values = np.array([each.value for each in found.general])
    assert np.corrcoef(values, general)[0, 1] > 0.9
    standard = (general - general.mean()) / general.std()
    held = [each.low <= ability <= each.high for each, ability in zip(found.general, standard, strict=True)]
    assert sum(held) >= 8
    assert 0 < found.shared.low < found.shared.value < found.shared.high < 1


def test_scores_of_families_that_were_run() -> None:
    _, expected, found = fitted()
    for model in range(1, 10):
        for family in range(FAMILIES):
            # Of 40 items, 90 % of runs are within 1.65 * sqrt(.25 / 40) = 0.13 of the expected score.
            assert found.scores[model][family].value == pytest.approx(expected[model, family], abs=0.16)


def test_left_out_family_is_predicted_with_a_wider_interval() -> None:
    _, expected, found = fitted()
    predicted = found.scores[0][5]
    assert predicted.low <= expected[0, 5] <= predicted.high
    assert predicted.high - predicted.low > 1.3 * (found.scores[1][5].high - found.scores[1][5].low)
    deviation = found.deviations[0][5]
    assert deviation.low < 0 < deviation.high


@pytest.mark.slow
def test_intervals_hold_and_beat_the_mean_over_families() -> None:
    errors: list[float] = []
    simple: list[float] = []
    held = 0
    for key in range(12):
        _, _, results = simulated(6, 100 + key)
        predicted = joint_abilities(without(results, 0, 5)).scores[0][5]
        scores = [float(each.shares[:, 0].mean()) for each in results]
        held += predicted.low <= scores[5] <= predicted.high
        errors.append(predicted.value - scores[5])
        simple.append(float(np.mean(scores[:5])) - scores[5])
    assert held >= 9
    assert np.square(errors).mean() < np.square(simple).mean()


def test_fewer_models_know_less() -> None:
    _, _, results = simulated(10, 3)
    few = [each._replace(shares=each.shares[:, :3]) for each in results]
    widths = [
        found.high - found.low
        for found in (joint_abilities(without(some, 0, 5)).scores[0][5] for some in (few, results))
    ]
    assert widths[0] > widths[1]


def test_one_ability_and_none_are_told_apart() -> None:
    shared = [joint_abilities(simulated(8, 5, deviation)[2]).shared for deviation in (0.1, 3.0)]
    assert shared[0].low > shared[1].high


def test_all_or_nothing_and_graded_results() -> None:
    _, _, results = simulated(4, 1)
    shares = results[0].shares.copy()
    shares[:, 0], shares[:, 1] = 1, 0
    shares[:, 2] = 0.5
    found = joint_abilities([results[0]._replace(shares=shares), *results[1:]])
    best, worst, graded, _ = (each[0] for each in found.scores)
    assert best.low > 0.85 and worst.high < 0.15
    assert graded.value == pytest.approx(0.5, abs=0.1)


def test_the_same_results_have_the_same_abilities() -> None:
    _, _, results = simulated(3, 1)
    assert joint_abilities(results) == joint_abilities(results)
