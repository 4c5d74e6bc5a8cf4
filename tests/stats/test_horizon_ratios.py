"""Ratios of two horizons: found where they are known, one-sided where a horizon is outside the levels tested."""

import numpy as np
import pytest

from waybench.results.stats import Array, Fit
from waybench.results.stats._curves import Shape
from waybench.results.stats._fit import fit_curves, horizon_ratio

LEVELS = np.array([5.0, 7, 9, 11, 13, 15, 17, 21, 25, 29, 35, 41, 49])
AT = np.repeat(LEVELS, 8)


def played(horizon: float, rng: np.random.Generator) -> Fit:
    rates = 1 / (1 + (AT / horizon) ** 5)
    return solved((rng.random(len(AT)) < rates).astype(np.float64))


def solved(values: Array) -> Fit:
    return fit_curves(Shape(), AT, values, range(len(AT)))


@pytest.mark.parametrize(("ratio", "least", "most"), [(1.0, 0.0, 0.06), (1.5, 0.9, 1.0)])
def test_a_ratio_is_shown_where_there_is_one_and_seldom_where_there_is_none(
    ratio: float, least: float, most: float
) -> None:
    rng, runs = np.random.default_rng([21, 2, round(10 * ratio)]), 60
    found = [horizon_ratio(played(ratio * 14, rng), played(14, rng)) for _ in range(runs)]
    assert least <= sum(one.further == 1 for one in found) / runs <= most
    assert sum(one.further == -1 for one in found) / runs <= 0.05
    held = sum((one.low or 0) <= ratio <= (one.high or np.inf) for one in found)
    assert held >= 0.85 * runs


def test_the_other_way_round_it_is_the_inverse() -> None:
    rng = np.random.default_rng(3)
    one, other = played(25, rng), played(12, rng)
    there, back = horizon_ratio(one, other), horizon_ratio(other, one)
    assert there.value == pytest.approx(1 / back.value, rel=1e-6) if back.value else False
    assert there.low == pytest.approx(1 / back.high, rel=0.01) if back.high else False
    assert (there.further, back.further) == (1, -1)


def test_who_solves_everything_bounds_the_ratio_on_one_side() -> None:
    one, other = solved(np.ones(len(AT))), played(10, np.random.default_rng(4))
    found = horizon_ratio(one, other)
    assert (found.value, found.high, found.further) == (None, None, 1)
    assert found.low is not None
    assert 2 < found.low < 49 / 9
    both = horizon_ratio(one, one)
    assert both == (None, None, None, 0)
    assert horizon_ratio(solved(np.zeros(len(AT))), other).further == -1


def test_two_steps_within_the_same_gap_are_not_told_apart() -> None:
    at = np.repeat([13.0, 49, 69, 101], 10)
    step = fit_curves(Shape(), at, (at < 60).astype(np.float64), range(len(at)))
    found = horizon_ratio(step, step)
    assert (found.low, found.high, found.further) == (pytest.approx(49 / 69), pytest.approx(69 / 49), 0)
