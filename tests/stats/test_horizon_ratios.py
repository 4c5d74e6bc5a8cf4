"""Ratios of two horizons: found where they are known, one-sided where a horizon is outside the levels tested."""

from itertools import combinations

import numpy as np
import pytest

from waybench.results.stats import FIXED_DESIGN, Array, Fit
from waybench.results.stats._curves import CurvePrior
from waybench.results.stats._fit import fit_curves
from waybench.results.stats._horizon_ratios import horizon_order, horizon_ratio

LEVELS = np.array([5.0, 7, 9, 11, 13, 15, 17, 21, 25, 29, 35, 41, 49])
AT = np.repeat(LEVELS, 8)


def played(horizon: float, rng: np.random.Generator) -> Fit:
    rates = 1 / (1 + (AT / horizon) ** 5)
    return solved((rng.random(len(AT)) < rates).astype(np.float64))


def solved(values: Array) -> Fit:
    return fit_curves(CurvePrior(), AT, values, range(len(AT)))


@pytest.mark.parametrize(("ratio", "least", "most"), [(1.0, 0.0, 0.06), (1.5, 0.9, 1.0)])
def test_a_ratio_is_shown_where_there_is_one_and_seldom_where_there_is_none(
    ratio: float, least: float, most: float
) -> None:
    rng, runs = np.random.default_rng([21, 2, round(10 * ratio)]), 60
    found = [horizon_ratio(played(ratio * 14, rng), played(14, rng)) for _ in range(runs)]
    assert least <= sum(one.significantly_larger(one.p) == 1 for one in found) / runs <= most
    assert sum(one.significantly_larger(one.p) == -1 for one in found) / runs <= 0.05
    held = sum((one.low or 0) <= ratio <= (one.high or np.inf) for one in found)
    assert held >= 0.85 * runs


def test_the_other_way_round_it_is_the_inverse() -> None:
    rng = np.random.default_rng(3)
    one, other = played(25, rng), played(12, rng)
    there, back = horizon_ratio(one, other), horizon_ratio(other, one)
    assert there.value == pytest.approx(1 / back.value, rel=1e-6) if back.value else False
    assert there.low == pytest.approx(1 / back.high, rel=0.01) if back.high else False
    assert (there.larger, back.larger) == (1, -1)
    assert there.p == pytest.approx(back.p)
    assert there.p < 0.05


def test_who_solves_everything_bounds_the_ratio_on_one_side() -> None:
    one, other = solved(np.ones(len(AT))), played(10, np.random.default_rng(4))
    found = horizon_ratio(one, other)
    assert (found.value, found.high, found.significantly_larger(found.p)) == (None, None, 1)
    assert found.low is not None
    assert 2 < found.low < 49 / 9
    both = horizon_ratio(one, one)
    assert both == (None, None, None, 1.0, 0)
    nothing = horizon_ratio(solved(np.zeros(len(AT))), other)
    assert nothing.significantly_larger(nothing.p) == -1


def test_two_steps_within_the_same_gap_are_not_told_apart() -> None:
    at = np.repeat([13.0, 49, 69, 101], 10)
    step = fit_curves(CurvePrior(), at, (at < 60).astype(np.float64), range(len(at)))
    found = horizon_ratio(step, step)
    assert (found.low, found.high, found.p) == (pytest.approx(49 / 69), pytest.approx(69 / 49), 1)


def test_p_is_twice_the_posterior_probability_of_the_other_order() -> None:
    at, rng = np.repeat(LEVELS, 2), np.random.default_rng(5)
    draws: list[Array] = []
    one, other = (
        fit_curves(
            CurvePrior(), at, (rng.random(len(at)) < 1 / (1 + (at / middle) ** 3)).astype(np.float64), range(len(at))
        )
        for middle in (30, 13)
    )
    for fit in (one, other):
        reached = fit.curves.horizons(0.5)[rng.choice(len(fit.weights), size=400_000, p=fit.weights)]
        draws.append(np.clip(reached, *np.log2(LEVELS[[0, -1]])))
    expected = 2 * float((draws[0] < draws[1]).mean() + (draws[0] == draws[1]).mean() / 2)
    assert 0.001 < expected < 0.2
    order = horizon_order(one, other)
    assert (order.p, order.larger) == (pytest.approx(expected, rel=0.05), 1)


def test_where_the_gaps_around_two_horizons_meet_nothing_is_shown() -> None:
    at = np.repeat([5.0, 13.0, 29.0, 49.0], 40)
    near, far = (fit_curves(CurvePrior(), at, (at < step).astype(np.float64), range(len(at))) for step in (20, 40))
    # The one is between 13 and 29, the other between 29 and 49: both may be at 29.
    assert horizon_order(near, far).p == 1
    nearer = fit_curves(CurvePrior(), at, (at < 10).astype(np.float64), range(len(at)))
    assert horizon_order(nearer, far).p < 0.001


def lapsing(lapse: float, rng: np.random.Generator, middle: float = 20.0) -> Fit:
    at = np.repeat(LEVELS, 10)
    rates = (1 - lapse) / (1 + (at / middle) ** 7)
    return fit_curves(FIXED_DESIGN, at, (rng.random(len(at)) < rates).astype(np.float64), range(len(at)))


@pytest.mark.filterwarnings("error")
def test_a_ratio_where_a_plateau_may_be_below_the_share_is_none_and_warns_of_nothing() -> None:
    rng = np.random.default_rng(8)
    fits = [lapsing(lapse, rng) for lapse in (0.0, 0.0, 0.05, 0.1, 0.15, 0.18, 0.3)]
    sides = [fit.plateau_side(0.8) for fit in fits]
    assert "plateau" in sides
    assert any(0 < fit.probability_unreached(0.8) < 0.1 for fit in fits)
    for (one, side), (other, other_side) in combinations(zip(fits, sides, strict=True), 2):
        ratio = horizon_ratio(one, other, 0.8)
        if "plateau" in (side, other_side):
            assert ratio == (None, None, None, 1.0, 0)
        elif not side and not other_side:
            assert ratio.value is not None and 0 < ratio.value < 10
