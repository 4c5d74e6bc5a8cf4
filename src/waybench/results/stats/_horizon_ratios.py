"""Ratios of two horizons, and which of two is the larger one."""

from typing import NamedTuple

import numpy as np

from waybench.results.stats._curves import Array, quantiles
from waybench.results.stats._fit import HORIZON_CONFIDENCE, MAYBE, Fit

_POINTS = 400  # equally probable values that stand for a posterior in the interval of a ratio
_CELLS = 1024  # to a doubling: horizons in one cell count as equal for the order of two
_FAR = 60.0  # doublings below the easiest level: where curves count that are nowhere above the share
_ALPHA = 0.05


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
        return self.larger if p < _ALPHA else 0


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
    if MAYBE in (first.plateau_side(share), second.plateau_side(share)):
        return HorizonOrder(1.0, 0)
    one, other = _horizon_summary(first, share), _horizon_summary(second, share)
    if one.gap[0] <= other.gap[1] and other.gap[0] <= one.gap[1]:
        return HorizonOrder(1.0, 0)
    against = _probability_not_above(one.least, other.most), _probability_not_above(other.least, one.most)
    p = min(1.0, 2 * min(against))
    return HorizonOrder(p, 0 if p >= 1 else 1 if against[0] < against[1] else -1)


def _probability_not_above(least: _Distribution, most: _Distribution) -> float:
    """Return the probability that a value of `least` is not above one of `most`, with ties as one half."""
    reversed_sums = np.cumsum(most.weights[::-1])[::-1]
    above = np.concatenate([reversed_sums, [0.0]])
    first, last = (np.searchsorted(most.values, least.values, side=side) for side in ("left", "right"))
    return float((least.weights * (above[first] + above[last])).sum() / 2)  # half of those in one cell


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
    if MAYBE in (first.plateau_side(share), second.plateau_side(share)):
        return _UNKNOWN_RATIO
    points, other_points = _posterior_points(first, share), _posterior_points(second, share)
    (low_one, high_one), (low_other, high_other) = _point_limits(first, points), _point_limits(second, other_points)
    least, most = (np.subtract.outer(*pair).ravel() for pair in ((low_one, high_other), (high_one, low_other)))
    outside = (1 - HORIZON_CONFIDENCE) / 2
    one, other = _horizon_summary(first, share), _horizon_summary(second, share)
    low = min(one.gap[0] - other.gap[1], _exact_quantile(least, outside))
    high = max(one.gap[1] - other.gap[0], _exact_quantile(most, 1 - outside))
    value = None
    if bool(
        np.isfinite(
            [_tried_difficulties_around(first, one.median), _tried_difficulties_around(second, other.median)]
        ).all()
    ):
        value = float(
            2 ** np.median(np.subtract.outer(_finite_points(first, points), _finite_points(second, other_points)))
        )
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
    """Return the least and the greatest horizons that each point may stand for, given what was tried."""
    tried = fit.curves.shape.to_scale(fit.trials_done.at)
    has_failure, has_success = _has_failure_and_success(fit)
    low = np.where(points < tried[0], -np.inf, np.minimum(points, tried[-1]))
    high = np.where(points > tried[-1], np.inf, np.maximum(points, tried[0]))
    # Without a failure or a success nothing was seen of the fall, and its place comes from the prior.
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
    cells, where = np.unique(np.floor(values * _CELLS), return_inverse=True)
    return _Distribution(cells, np.bincount(where, weights=weights).astype(np.float64))


def _gap_around_horizon(fit: Fit, middle: float, share: float) -> tuple[float, float]:
    """Return the gap between tried difficulties around a horizon, wider where the curves do not fit.

    An adaptive search closes the gap between tried difficulties itself. The bounds of `Fit.minimum_interval` are for
    one horizon. Their difference would be twice as wide as a ratio needs.
    """
    low, high = _tried_difficulties_around(fit, middle)
    least, most = fit.minimum_interval(share, HORIZON_CONFIDENCE)
    if fit.is_adequate or least > most:
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
