"""How many items of each level tell two horizons apart: against the posterior of the whole analysis."""

import numpy as np
import pytest

from waybench.results.stats._curves import FIXED_DESIGN
from waybench.results.stats._fit import Fit, fit_curves
from waybench.results.stats._horizon_ratios import (
    HorizonPlan,
    detectable_factor,
    horizon_order,
    horizon_power,
    items_for_horizons,
)

LEVELS = tuple(4 * 2 ** (step / 2) for step in range(8))


def shown_share(plan: HorizonPlan, factor: float, items: int, runs: int) -> float:
    """Return in how many simulated pairs of runs the analysis shows the greater horizon as such."""
    rng = np.random.default_rng([20, items])
    at = np.log2(plan.levels)

    def run(shift: float) -> Fit:
        rates = 1 / (1 + np.exp(2 * np.log(9) / plan.fall * (at - (at[0] + at[-1]) / 2 - shift)))
        solved = (rng.random((len(at), items)) < rates[:, None]).astype(np.float64)
        return fit_curves(FIXED_DESIGN, np.repeat(plan.levels, items), solved.ravel(), list(range(solved.size)))

    half = np.log2(factor) / 2
    orders = [horizon_order(run(half), run(-half)) for _ in range(runs)]
    return float(np.mean([order.p < 0.05 and order.larger == 1 for order in orders]))


@pytest.mark.slow
@pytest.mark.parametrize(("fall", "factor", "items"), [(1.5, 2.0, 5), (3.0, 1.5, 20), (3.0, 2.0, 5), (1.5, 1.6, 20)])
def test_horizons_have_that_power(fall: float, factor: float, items: int) -> None:
    plan, runs = HorizonPlan(LEVELS, fall), 150
    planned = horizon_power(plan, factor, items)
    error = (planned * (1 - planned) * (1 / runs + 1 / 500)) ** 0.5
    assert shown_share(plan, factor, items, runs) == pytest.approx(planned, abs=3 * error + 0.02)


@pytest.mark.slow
def test_horizons_in_neighbouring_gaps_are_never_told_apart() -> None:
    # Levels are a factor of 4 apart: horizons at 14 and 18 are in one gap or in two that meet.
    assert horizon_power(HorizonPlan((4, 16, 64)), 1.3, 300) == 0
    assert items_for_horizons(HorizonPlan((4, 16, 64)), 1.3) is None


@pytest.mark.slow
def test_more_items_tell_smaller_factors_apart() -> None:
    plan = HorizonPlan(LEVELS)
    assert horizon_power(plan, 1.8, 5) + 0.1 < horizon_power(plan, 1.8, 20) < horizon_power(plan, 2.2, 20)
    assert horizon_power(plan, 1.8, 5, alpha=0.005) < horizon_power(plan, 1.8, 5)
    assert detectable_factor(HorizonPlan((4, 16)), 2, alpha=1e-6) is None
    equal = horizon_power(plan, 1.0, 20)
    assert equal < 0.03  # of one side, at 5 % for both
