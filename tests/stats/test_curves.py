"""Curves of success against difficulty: sums over all of them."""

import numpy as np
import pytest

from waybench.stats import Array, Shape, fitted
from waybench.stats._curves import Curves


@pytest.mark.parametrize("shape", [Shape(), Shape(guess=0.25, lapse={0.02: 1.0}), Shape(links=("normal",), log=False)])
def test_sums_are_those_of_the_rates(shape: Shape) -> None:
    curves, rng = Curves(shape, 5, 101), np.random.default_rng(1)
    for at in (np.array([5.0, 21.0, 101.0]), np.array([9.0, 49.0, 57.0]), np.array([7.0])):
        weights = rng.random((2, len(curves.middle))) - 0.2
        assert curves.sums(at, weights) == pytest.approx(weights @ curves.rates(at), rel=1e-9, abs=1e-9)


def test_where_a_share_is_reached_is_worked_out_once_and_stays() -> None:
    curves = Curves(Shape(), 5, 101)
    first = curves.reaches(0.5)
    assert first.tolist() == Curves(Shape(), 5, 101).reaches(0.5).tolist()
    assert curves.reaches(0.5) is first
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 0.0
    assert curves.reaches(0.9).tolist() != first.tolist()


_LADDER: Array = np.array([5.0, 9, 13, 21, 29, 35, 41, 49, 69, 101], dtype=np.float64)


def _steps(start: float, runs: int, items: int = 10) -> tuple[int, int]:
    """Return how many runs of a player that fails above a random step are held by plain and by spanned intervals."""
    rng, at = np.random.default_rng([21, 7, int(start)]), np.repeat(_LADDER, items)
    plain = spanned = 0
    for _ in range(runs):
        step = start * (float(_LADDER[start < _LADDER][0]) / start) ** rng.random()
        solved: Array = (at < step).astype(np.float64)
        fit = fitted(Shape(), at, solved, range(len(at)))
        _, low, high = fit.horizon(0.5, 0.9)
        plain += low <= step <= high
        _, low, high = fit.spanned_horizon(0.5, 0.9)
        spanned += low <= step <= high
    return plain, spanned


def test_a_step_between_two_levels_is_not_located_better_than_the_gap() -> None:
    solved = (np.repeat(_LADDER, 10) < 60).astype(np.float64)
    fit = fitted(Shape(), np.repeat(_LADDER, 10), solved, range(len(solved)))
    _, plain_low, plain_high = fit.horizon(0.5, 0.9)
    assert 49 < plain_low < plain_high < 69  # the prior alone says so
    median, low, high = fit.spanned_horizon(0.5, 0.9)
    assert (low, high) == (49, 69)
    assert low < median < high


def test_spanned_intervals_hold_steps_that_plain_ones_miss() -> None:
    plain, spanned = _steps(49, runs=30)
    assert plain < 0.85 * 30
    assert spanned >= 0.85 * 30


def test_a_horizon_outside_the_levels_has_no_gap() -> None:
    at = np.repeat(_LADDER, 3)
    fit = fitted(Shape(), at, np.ones(len(at)), range(len(at)))
    assert fit.spanned_horizon(0.5, 0.9) == fit.horizon(0.5, 0.9)
    assert fit.horizon(0.5, 0.9)[0] > 101
