"""Ratios of two horizons, which of two is the larger one, and the power of such comparisons."""

import math
from bisect import bisect_left
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from waybench.results.stats._curves import FIXED_DESIGN, Array, Curves, quantiles
from waybench.results.stats._fit import HORIZON_CONFIDENCE, MAYBE_UNREACHED, Fit
from waybench.results.stats._intervals import ALPHA
from waybench.results.stats._power import POWER

_POINTS = 400  # equally probable values that stand for a posterior in the interval of a ratio
_CELLS = 1024  # to a doubling: horizons in one cell count as equal for the order of two
_FAR = 60.0  # doublings below the easiest level: where curves count that are nowhere above the share


class HorizonRatio(NamedTuple):
    """How many times as far one player reaches as another.

    Attributes:
        value: The median of the posterior; None if a horizon is outside the levels that its player was tested on, or
            not identified (`Fit.plateau_side`).
        low: Lower end of the 90 % interval; None if the levels tested do not bound it.
        p: The two-sided p value of "both reach as far": twice the posterior probability of the less probable order.
            1 where nothing tells them apart.
        larger: The more probable order: 1 where the first horizon is the larger one, -1 where the second is; 0 where p
            is 1.
    """

    value: float | None
    low: float | None
    high: float | None
    p: float = 1.0
    larger: int = 0

    def significantly_larger(self, p: float) -> int:
        """Return which horizon is larger, 1 (first) or -1, if a p value is significant; otherwise 0."""
        return self.larger if p < ALPHA else 0


_UNKNOWN_RATIO = HorizonRatio(None, None, None)


class HorizonOrder(NamedTuple):
    """Which of two horizons is larger; see `HorizonRatio`."""

    p: float
    larger: int


class _Distribution(NamedTuple):
    """Probabilities of values, which rise."""

    values: Array
    weights: Array


class _Summary(NamedTuple):
    """What the trials say of a horizon, on the curves' scale.

    Attributes:
        median: The posterior median; infinite where the trials have no failure or no success.
        gap: The tried difficulties around it.
        least: The least that the horizon may be, by the posterior: beyond what was tried, the hardest level.
        most: The greatest that it may be.
    """

    median: float
    gap: tuple[float, float]
    least: _Distribution
    most: _Distribution


def horizon_order(first: Fit, second: Fit, share: float = 0.5) -> HorizonOrder:
    """Return which of two horizons of independent fits is probably larger, with the p value.

    The p value is twice the posterior probability of the other order, summed over both grids of curves. It is 1 where
    the gaps between tried difficulties meet in which the horizons lie, and where one of them is not identified.
    """
    if MAYBE_UNREACHED in (first.plateau_side(share), second.plateau_side(share)):
        return HorizonOrder(1.0, 0)
    summary, other = _horizon_summary(first, share), _horizon_summary(second, share)
    if summary.gap[0] <= other.gap[1] and other.gap[0] <= summary.gap[1]:
        return HorizonOrder(1.0, 0)
    first_smaller = _probability_not_above(summary.least, other.most)
    second_smaller = _probability_not_above(other.least, summary.most)
    p = min(1.0, 2 * min(first_smaller, second_smaller))
    return HorizonOrder(p, 0 if p >= 1 else 1 if first_smaller < second_smaller else -1)


def _probability_not_above(least: _Distribution, most: _Distribution) -> float:
    """Return the probability that a value of `least` is not above one of `most`, with ties as one half."""
    sums_from_index = np.concatenate([np.cumsum(most.weights[::-1])[::-1], [0.0]])
    first_equal, first_above = (np.searchsorted(most.values, least.values, side=side) for side in ("left", "right"))
    # The mean of "at least" and "above" counts a tie, two values in one cell, as one half.
    return float((least.weights * (sums_from_index[first_equal] + sums_from_index[first_above])).sum() / 2)


def horizon_ratio(first: Fit, second: Fit, share: float = 0.5) -> HorizonRatio:
    """Return the ratio of two horizons of independent fits.

    What a fit says outside the levels that were tested comes from its prior. So a horizon there is only known to be
    above the hardest or below the easiest level, and bounds the ratio on one side. Where a plateau may be below the
    share, there is no ratio.

    Raises:
        ValueError: If a fit does not count difficulty in doublings.
    """
    if not (first.curves.shape.log and second.curves.shape.log):
        raise ValueError("ratios need curves on a log2 scale of difficulty")
    if MAYBE_UNREACHED in (first.plateau_side(share), second.plateau_side(share)):
        return _UNKNOWN_RATIO
    points, other_points = _posterior_points(first, share), _posterior_points(second, share)
    (lows, highs), (other_lows, other_highs) = _point_limits(first, points), _point_limits(second, other_points)
    least, most = np.subtract.outer(lows, other_highs).ravel(), np.subtract.outer(highs, other_lows).ravel()
    tail = (1 - HORIZON_CONFIDENCE) / 2
    summary, other = _horizon_summary(first, share), _horizon_summary(second, share)
    low = min(summary.gap[0] - other.gap[1], _exact_quantile(least, tail))
    high = max(summary.gap[1] - other.gap[0], _exact_quantile(most, 1 - tail))
    value = None
    gaps = _tried_difficulties_around(first, summary.median), _tried_difficulties_around(second, other.median)
    if bool(np.isfinite(gaps).all()):  # both horizons are within the levels tested
        differences = np.subtract.outer(_finite_points(first, points), _finite_points(second, other_points))
        value = float(2 ** np.median(differences))
    return HorizonRatio(
        value, _power_of_two_if_finite(low), _power_of_two_if_finite(high), *horizon_order(first, second, share)
    )


def _posterior_points(fit: Fit, share: float) -> Array:
    """Return equally probable values of a horizon, on the curves' scale."""
    tails = (np.arange(_POINTS) + 0.5) / _POINTS
    return np.array(quantiles(fit.curves.horizons(share), fit.weights, tails.tolist()), dtype=np.float64)


def _finite_points(fit: Fit, points: Array) -> Array:
    """Return points with those at -inf raised to far below the easiest level."""
    return np.maximum(points, fit.curves.shape.to_scale(fit.trials_done.at[:1]) - _FAR)


def _point_limits(fit: Fit, points: Array) -> tuple[Array, Array]:
    """Return the least and the greatest horizons that each point may stand for, given the lengths that were tried.

    Beyond these nothing was measured: a point there stands for any horizon from the nearest of them to infinity.
    """
    tried = fit.curves.shape.to_scale(fit.trials_done.at)
    has_failure, has_success = _has_failure_and_success(fit)
    low = np.where(points < tried[0], -np.inf, np.minimum(points, tried[-1]))
    high = np.where(points > tried[-1], np.inf, np.maximum(points, tried[0]))
    # Without a failure or a success nothing is known of the curve's fall, and its place comes from the prior.
    return (low if has_success else np.full_like(low, -np.inf)), (high if has_failure else np.full_like(high, np.inf))


def _has_failure_and_success(fit: Fit) -> tuple[bool, bool]:
    """Return whether some trial failed, and whether some trial was solved."""
    done = fit.trials_done
    return bool((done.solved < done.trials).any()), bool((done.solved > 0).any())


def _horizon_summary(fit: Fit, share: float) -> _Summary:
    """Return the summary of a horizon; it is computed once for each fit and share."""
    if share not in fit.horizon_summaries:
        has_failure, has_success = _has_failure_and_success(fit)
        relevant, weights = fit.probable_curves
        (median,) = quantiles(fit.curves.horizons(share)[relevant], weights, (0.5,))
        median = median if has_failure and has_success else -np.inf if has_failure else np.inf
        least, most = (
            _binned_distribution(values, weights / weights.sum())
            for values in _point_limits(fit, fit.curves.horizons(share)[relevant])
        )
        fit.horizon_summaries[share] = _Summary(median, _gap_around_horizon(fit, median, share), least, most)
    return fit.horizon_summaries[share]


def _binned_distribution(values: Array, weights: Array) -> _Distribution:
    """Return the distribution of values that are rounded down to cells."""
    cells, index = np.unique(np.floor(values * _CELLS), return_inverse=True)
    return _Distribution(cells, np.bincount(index, weights=weights).astype(np.float64))


def _gap_around_horizon(fit: Fit, middle: float, share: float) -> tuple[float, float]:
    """Return the gap between tried difficulties around a horizon, wider where the curves do not fit.

    An adaptive search closes the gap between tried difficulties itself. The bounds of `Fit.minimum_interval` are for
    one horizon. Their difference would be twice as wide as a ratio needs.
    """
    low, high = _tried_difficulties_around(fit, middle)
    least, most = fit.minimum_interval(share, HORIZON_CONFIDENCE)
    if fit.is_adequate or least > most:  # that interval is empty without a success or a failure
        is_closed = fit.is_adaptive and bool(np.isfinite([low, high]).all())
        return (middle, middle) if is_closed else (low, high)
    return min(low, float(np.log2(least)) if least > 0 else -np.inf), max(high, float(np.log2(most)))


def _tried_difficulties_around(fit: Fit, middle: float) -> tuple[float, float]:
    """Return the tried difficulties next to a value; infinite outside them."""
    tried = fit.curves.shape.to_scale(fit.trials_done.at)
    if middle < tried[0]:
        return -np.inf, float(tried[0])
    if middle > tried[-1]:
        return float(tried[-1]), np.inf
    return float(tried[tried <= middle][-1]), float(tried[tried >= middle][0])


def _exact_quantile(values: Array, share: float) -> float:
    """Return a quantile that is one of the values, without interpolation."""
    return float(np.quantile(values, share, method="inverted_cdf"))  # no interpolation: some values are infinite


def _power_of_two_if_finite(difference: float) -> float | None:
    """Return 2 to the power of a difference of logarithms; None if that is infinite."""
    return float(2**difference) if np.isfinite(difference) else None


FALL = 1.5  # doublings within which success falls from 90 to 10 %: the usual curve of `Curves`
_LOG_ODDS_OF_FALL = 2 * math.log(9)  # by which the log odds change from 90 % (odds of 9) to 10 % (1/9)
_SHARE = 0.5  # horizons that are compared
_RUNS, _BATCH = 500, 100  # simulated pairs of runs, in all and at once
# Numbers of items and factors that are tried: their power is known to a point or two.
_ITEMS = (*range(2, 21), *(round(20 * 1.1**step) for step in range(1, 43)))
_FACTORS = tuple((1.02 ** np.arange(1, 351)).tolist())
# The analysis has twice as many lapse rates, with about the same power.
_PLANNED = replace(FIXED_DESIGN, lapse={0.0: 0.6, 0.05: 0.3, 0.2: 0.1})
_WIDTH, _WIDEST = 0.005, 50.0  # doublings: of bins of horizons, and below the levels, where nothing matters


class HorizonPlan(NamedTuple):
    """Assumptions about two models' runs on the same levels.

    Attributes:
        levels: At least two levels, each once, rising, above 0.
        fall: Doublings of the level within which success falls from 90 to 10 %.
    """

    levels: tuple[float, ...]
    fall: float = FALL


class _Grid:
    """Success curves at some levels, in the order of their horizons; many simulated runs share a grid."""

    def __init__(self, levels: tuple[float, ...]) -> None:
        curves, tried = Curves(_PLANNED, levels[0], levels[-1]), np.array(levels, dtype=np.float64)
        self.at: Array = curves.shape.to_scale(tried)
        # Curves that are nowhere above the share come first, and are below all levels.
        horizons = np.maximum(curves.horizons(_SHARE), self.at[0] - _WIDEST)
        bins = np.round(horizons / _WIDTH)
        order = np.argsort(bins, kind="stable")
        self._bins, self._starts = np.unique(bins[order], return_index=True)
        rates = np.clip(curves.rates(tried, order), 1e-9, 1 - 1e-9)  # logarithms stay finite
        self._solved, self._failed = (logs.T.astype(np.float32) for logs in (np.log(rates), np.log1p(-rates)))
        self._prior = np.log(curves.posterior(np.zeros(len(order)))[order]).astype(np.float32)

    def posteriors(self, solved: Array, items: int) -> Array:
        """Return each run's posterior (rows) over bins of horizons, from the items solved at each level."""
        successes = solved.astype(np.float32)
        logs = successes @ self._solved + (items - successes) @ self._failed + self._prior
        weights = np.add.reduceat(np.exp(logs - logs.max(axis=1, keepdims=True)), self._starts, axis=1)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float64)

    def are_first_greater(self, first: Array, second: Array, alpha: float) -> NDArray[np.bool_]:
        """Return for each pair of posteriors whether the first horizon is shown to be the greater one."""
        first_sums, second_sums = np.cumsum(first, axis=1), np.cumsum(second, axis=1)
        probability_second_greater = ((first_sums - first / 2) * second).sum(axis=1)  # of ties, one half
        medians = (_WIDTH * self._bins[(sums < 0.5).sum(axis=1)] for sums in (first_sums, second_sums))
        gap, other_gap = (np.searchsorted(self.at, median) for median in medians)
        return (2 * probability_second_greater < alpha) & (gap - other_gap > 1)


_cached_grid = lru_cache(maxsize=1)(_Grid)


def horizon_power(plan: HorizonPlan, factor: float, items: int, *, alpha: float = ALPHA) -> float:
    """Return the power to tell two 50 % horizons apart with a number of items at each level.

    The horizons are a factor apart, around the middle of the levels. The power is the share of 500 simulated pairs of
    runs in which twice the posterior probability of the other order is below alpha, and in which the gaps between tried
    levels that hold the two horizons do not meet. Its standard error is at most 2.2 points.

    Args:
        plan: Levels and steepness.
        factor: The one horizon divided by the other, above 1.
        items: Number of items of each level.
        alpha: The level of the test.
    """
    grid, rng = _cached_grid(plan.levels), np.random.default_rng(0)
    middle, slope = (grid.at[0] + grid.at[-1]) / 2, _LOG_ODDS_OF_FALL / plan.fall

    def simulated_posteriors(shift: float) -> Array:
        """Return the posteriors of a batch of runs whose horizon is shifted from the middle, in doublings."""
        rates = 1 / (1 + np.exp(slope * (grid.at - middle - shift)))
        return grid.posteriors(rng.binomial(items, rates, (_BATCH, len(rates))).astype(np.float64), items)

    half = math.log2(factor) / 2
    n_detected = sum(
        int(grid.are_first_greater(simulated_posteriors(half), simulated_posteriors(-half), alpha).sum())
        for _ in range(_RUNS // _BATCH)
    )
    return n_detected / _RUNS


def items_for_horizons(plan: HorizonPlan, factor: float, *, alpha: float = ALPHA, power: float = POWER) -> int | None:
    """Return the number of items at each level that tells two horizons apart, to a tenth; None if none does.

    Horizons in neighbouring gaps between levels are never distinguished: then more levels help, and no more items.
    The arguments are those of `horizon_power`, with the wanted power.
    """
    number = bisect_left(_ITEMS, power, key=lambda items: horizon_power(plan, factor, items, alpha=alpha))
    return _ITEMS[number] if number < len(_ITEMS) else None


def detectable_factor(plan: HorizonPlan, items: int, *, alpha: float = ALPHA, power: float = POWER) -> float | None:
    """Return the least factor between two horizons that some items at each level tell apart, to 2 %.

    It is None if no factor within the levels is. The arguments are those of `horizon_power`, with the wanted power.
    """
    factors = [factor for factor in _FACTORS if factor <= plan.levels[-1] / plan.levels[0]]
    number = bisect_left(factors, power, key=lambda factor: horizon_power(plan, factor, items, alpha=alpha))
    return factors[number] if number < len(factors) else None
