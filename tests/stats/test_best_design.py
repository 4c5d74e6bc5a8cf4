"""The bound that searches are compared with in docs/evidence.md."""

import pytest

from benchmarks.calibration import PLACES, best_design


def logistic(x: float) -> float:
    return 1 / (1 + (x / 25) ** 4)


def test_the_best_design_for_a_horizon_tries_the_horizon() -> None:
    assert 25 in PLACES
    # In a doubling the odds fall 16-fold: the rate, 1/2, falls by ln(16) / 4 a doubling at the horizon, so a trial has
    # the information ln(16)**2 / 16 / (1/4) about the horizon.
    assert best_design(logistic, 0.5, [1.0] * len(PLACES)) == pytest.approx(4 / 2.7725887**2, rel=1e-3)


def test_a_design_pays_no_more_than_at_the_horizon() -> None:
    equal, rising = [1.0] * len(PLACES), [float(place**2) / 25**2 for place in PLACES]
    cost = best_design(logistic, 0.5, equal)
    assert best_design(logistic, 0.5, [3.0] * len(PLACES)) == pytest.approx(3 * cost)
    # A trial at the horizon costs 1 in both; where easy items cost less, others may do better, and none does worse.
    assert best_design(logistic, 0.5, rising) <= cost * (1 + 1e-9)
