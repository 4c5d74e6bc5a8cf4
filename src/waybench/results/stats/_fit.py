"""The posterior distribution of success curves after some trials, its horizons, and ratios of two horizons."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from waybench.results.stats._curves import (
    CELLS,
    LEAST_CONFIDENCE,
    NO_WEIGHT,
    Array,
    Curves,
    Indices,
    Shape,
    Trials,
    fits,
    monotone_bounds,
    quantiles,
)

_MOST_GRIDS = 2  # grids of curves that are kept: each takes up to 100 MB with what it keeps
_grids: list[Curves] = []
HORIZON_CONFIDENCE = 0.9  # of the intervals of horizons
_POINTS = 400  # equally probable values that stand for a posterior
_ALPHA = 0.05


@dataclass(frozen=True)
class Fit:
    """The posterior distribution of curves.

    Attributes:
        trials_done: What was tried.
        design: By how much trials that were drawn together say less than as many apart (the design effect).
        is_adaptive: Whether an adaptive search chose the trials, which closes the gaps around the horizon itself.
    """

    curves: Curves
    trials_done: Trials
    design: float = 1.0
    is_adaptive: bool = False

    @cached_property
    def weights(self) -> Array:
        """The posterior probability of each curve."""
        return self.curves.posterior(self.curves.log_likelihood(self.trials_done) / self.design)

    @cached_property
    def _relevant(self) -> tuple[Indices, Array]:
        """The numbers of the curves that are probable enough to count, and their probabilities."""
        relevant = np.flatnonzero(self.weights > NO_WEIGHT * self.weights.max())
        return relevant, self.weights[relevant]

    def rate(self, at: Array) -> Array:
        """Return the expected success rate at some difficulties."""
        return self.curves.sums(at, self.weights[None])[0]

    def band(self, at: Array, confidence: float) -> tuple[Array, Array]:
        """Return the ends of the success rate's interval at each of some difficulties, to a thousandth.

        Each interval is by itself: it holds the rate at its difficulty with the confidence, not the whole curve.
        """
        tail = (1 - confidence) / 2
        relevant, weights = self._relevant
        ends = np.empty((2, len(at)))
        # Sums by cell, for to sort all rates at every difficulty takes several times as long.
        for number, cells in enumerate(self.curves.cells(at)):
            below = np.cumsum(np.bincount(cells[relevant], weights=weights, minlength=CELLS))
            ends[:, number] = np.searchsorted(below, np.array([tail, 1 - tail]) * below[-1])
        low, high = (ends + 0.5) / CELLS
        return low, high

    def horizon(self, share: float, confidence: float) -> tuple[float, float, float]:
        """Return the median of the difficulty at which a share is solved, and the ends of its interval."""
        tail = (1 - confidence) / 2
        relevant, weights = self._relevant
        bounds = quantiles(self.curves.reaches(share)[relevant], weights, (0.5, tail, 1 - tail))
        median, low, high = (self.curves.shape.back(bound) for bound in bounds)
        return median, low, high

    @cached_property
    def is_adequate(self) -> bool:
        """Whether the trials agree with the most probable curve; False where they have a plateau or a dip."""
        best = np.zeros(len(self.weights), dtype=np.bool_)
        best[int(self.weights.argmax())] = True
        # A trial that is the mean of several attempts counts once: if attempts end with a success, it is not a mean of
        # as many independent ones.
        trials = self.trials_done.weighted(1 / max(self.design, 1.0))
        return fits(trials, self.curves.rates(trials.at, best)[0])

    @cached_property
    def _independent(self) -> Trials:
        """As many independent trials as these are worth."""
        return self.trials_done.weighted(1 / self.design)

    def least_interval(self, share: float, confidence: float) -> tuple[float, float]:
        """Return what an interval of a horizon has to contain, whatever the curves say.

        This is where the success rate most probably crosses the share if nothing is assumed but that it falls: curves
        without plateaus would place the horizon too precisely. If the curves do not fit, these bounds have the
        interval's own confidence.

        Returns:
            The bounds, infinite where they are outside the tried difficulties; the reverse, so that they hold nothing,
            if there is no success or no failure.
        """
        trials = self._independent
        if not 0 < trials.solved.sum() < trials.trials.sum():
            return np.inf, -np.inf
        # Each of the two ends is tested by itself.
        return monotone_bounds(trials, share, LEAST_CONFIDENCE if self.is_adequate else 2 * confidence - 1)

    def spanned_horizon(self, share: float, confidence: float) -> tuple[float, float, float]:
        """Return a horizon whose interval contains the gap between tried difficulties that its median lies in.

        Nothing was tried within that gap. Where every item was solved at its lower end and none at its upper end, the
        data fit a step anywhere between the two equally well, and a narrower interval would come from the prior of
        slopes alone. The interval contains `least_interval`, too. For the trials of an adaptive search it is
        `horizon`, unless the curves do not fit.
        """
        median, low, high = self.horizon(share, confidence)
        if self.is_adaptive and self.is_adequate:
            return median, low, high
        least, most = self.least_interval(share, confidence)
        at = self.trials_done.at
        if at[0] <= median <= at[-1]:
            low = min(low, float(at[at <= median][-1]))
            high = max(high, float(at[at >= median][0]))
        return median, min(low, least), max(high, most)


def _grid(shape: Shape, lowest: float, highest: float) -> Curves:
    """Return a grid of curves; the last few are kept, for fits of several players over a range use the same ones."""
    for number, curves in enumerate(_grids):
        if (curves.shape, curves.lowest, curves.highest) == (shape, lowest, highest):
            _grids.append(_grids.pop(number))
            return curves
    _grids.append(Curves(shape, lowest, highest))
    for curves in _grids[:-_MOST_GRIDS]:
        curves.forget()  # fits still have it
    del _grids[:-_MOST_GRIDS]
    return _grids[-1]


def fit_curves(
    shape: Shape,
    at: Array,
    solved: Array,
    clusters: Sequence[int],
    sizes: Sequence[int] | None = None,
    searched: tuple[float, float] | None = None,
) -> Fit:
    """Return the curves after some trials.

    Trials of one cluster depend on each other. Their log-likelihood is divided by the design effect, the ratio of what
    the clusters' residuals vary by to what they would if trials were independent: a quasi-likelihood (McCullagh,
    Annals of Statistics 11, 1983), whose posterior is as wide as the clustered variance says. It is not below 1, or
    where a trial is the mean of several attempts, not below what it would be if these were independent.

    Args:
        shape: What is taken for granted.
        at: Each trial's difficulty.
        solved: 1 where it was solved, 0 where not; between them where a trial is the mean of several attempts.
        clusters: Number of each trial's cluster, from 0.
        sizes: Number of attempts that each trial is the mean of; 1 by default.
        searched: The least and the greatest difficulty that an adaptive search could try, if one chose the trials.
    """
    places, where = np.unique(at, return_inverse=True)
    trials_done = Trials(
        places, np.bincount(where, weights=solved).astype(np.float64), np.bincount(where).astype(np.float64)
    )
    curves = _grid(shape, *(searched or (float(places[0]), float(places[-1]))))
    plain = Fit(curves, trials_done, is_adaptive=searched is not None)
    groups = max(clusters) + 1
    least = 1.0 if sizes is None else float(np.mean(1 / np.asarray(sizes)))
    if groups == len(at) and least == 1:
        return plain
    rate = plain.rate(places)[where]
    residuals = np.bincount(clusters, weights=solved - rate)
    expected = float((rate * (1 - rate)).sum())
    design = float((residuals**2).sum()) / expected * groups / max(groups - 1, 1) if expected > 0 else 1.0
    return replace(plain, design=max(least, design))


class HorizonRatio(NamedTuple):
    """How many times as far one player reaches as another.

    Attributes:
        value: The median of the posterior; None if a horizon is outside the levels that its player was tested on.
        low: Lower end of the 90 % interval; None if the levels tested do not bound it.
        further: Which horizon is larger, at 5 % (two-sided): 1 the first, -1 the second, 0 if neither is shown to be.
    """

    value: float | None
    low: float | None
    high: float | None
    further: int


def horizon_ratio(first: Fit, second: Fit, share: float = 0.5) -> HorizonRatio:
    """Return the ratio of two horizons; the players' trials are independent.

    What a fit says outside the levels that were tested comes from its prior. So a horizon there is only known to be
    above the hardest or below the easiest level, and bounds the ratio on one side.

    Raises:
        ValueError: If a fit does not count difficulty in doublings.
    """
    if not (first.curves.shape.log and second.curves.shape.log):
        raise ValueError("ratios need curves on a log2 scale of difficulty")
    (median, low_one, high_one), (other, low_other, high_other) = (_ends(fit, share) for fit in (first, second))
    least, most = (np.subtract.outer(*pair).ravel() for pair in ((low_one, high_other), (high_one, low_other)))
    outside = (1 - HORIZON_CONFIDENCE) / 2
    gap, other_gap = _gap(first, median, share), _gap(second, other, share)
    gap_low, gap_high = gap[0] - other_gap[1], gap[1] - other_gap[0]
    low, sure_low = (min(gap_low, _quantile(least, tail)) for tail in (outside, _ALPHA / 2))
    high, sure_high = (max(gap_high, _quantile(most, 1 - tail)) for tail in (outside, _ALPHA / 2))
    is_known = bool(np.isfinite([_around(first, median), _around(second, other)]).all())
    value = (
        float(2 ** np.median(np.subtract.outer(_points(first, share), _points(second, share)))) if is_known else None
    )
    return HorizonRatio(value, _ratio(low), _ratio(high), 1 if sure_low > 0 else -1 if sure_high < 0 else 0)


def _points(fit: Fit, share: float) -> Array:
    tails = (np.arange(_POINTS) + 0.5) / _POINTS
    return np.array(quantiles(fit.curves.reaches(share), fit.weights, tails.tolist()), dtype=np.float64)


def _ends(fit: Fit, share: float) -> tuple[float, Array, Array]:
    """Return a horizon's median, and the least and greatest that each point of its posterior may stand for."""
    points, done = _points(fit, share), fit.trials_done
    tried = fit.curves.shape.scale(done.at)
    has_failure, has_success = bool((done.solved < done.trials).any()), bool((done.solved > 0).any())
    low = np.where(points < tried[0], -np.inf, np.minimum(points, tried[-1]))
    high = np.where(points > tried[-1], np.inf, np.maximum(points, tried[0]))
    # Without a failure or a success nothing was seen of the fall, and its place comes from the prior.
    if not has_failure:
        return np.inf, low, np.full_like(high, np.inf)
    if not has_success:
        return -np.inf, np.full_like(low, -np.inf), high
    return float(np.median(points)), low, high


def _gap(fit: Fit, middle: float, share: float) -> tuple[float, float]:
    """Return the tried difficulties around a horizon; those around any falling curve's where the fitted one is wrong.

    An adaptive search closes the gap between tried difficulties itself. The bounds of `Fit.least_interval` are for one
    horizon. Their difference would be twice as wide as a ratio needs.
    """
    low, high = _around(fit, middle)
    least, most = fit.least_interval(share, HORIZON_CONFIDENCE)
    if fit.is_adequate or least > most:
        is_closed = fit.is_adaptive and bool(np.isfinite([low, high]).all())
        return (middle, middle) if is_closed else (low, high)
    return min(low, float(np.log2(least)) if least > 0 else -np.inf), max(high, float(np.log2(most)))


def _around(fit: Fit, middle: float) -> tuple[float, float]:
    """Return the tried difficulties around a horizon; infinite outside them."""
    tried = fit.curves.shape.scale(fit.trials_done.at)
    if middle < tried[0]:
        return -np.inf, float(tried[0])
    if middle > tried[-1]:
        return float(tried[-1]), np.inf
    return float(tried[tried <= middle][-1]), float(tried[tried >= middle][0])


def _quantile(values: Array, tail: float) -> float:
    return float(np.quantile(values, tail, method="inverted_cdf"))  # no interpolation: some values are infinite


def _ratio(difference: float) -> float | None:
    """Return 2 to the power of a difference of logarithms; None if that is not finite."""
    return float(2**difference) if np.isfinite(difference) else None
