"""The posterior distribution of success curves after some trials, and its horizons."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from waybench.results.stats._curves import (
    CELLS,
    LEAST_CONFIDENCE,
    NO_WEIGHT,
    WIDE,
    WIDE_CONFIDENCE,
    Array,
    CurvePrior,
    Curves,
    Indices,
    Trials,
    is_good_fit,
    monotone_bounds,
    quantiles,
)

_MOST_GRIDS = 2  # grids of curves that are cached: each takes up to 100 MB with its own caches
_grids: list[Curves] = []
HORIZON_CONFIDENCE = 0.9  # of the intervals of horizons
# Where the posterior probability of curves that are nowhere above the share is between these, the horizon is not
# identified. A search stays near its horizon and learns little of a plateau, so it needs more certainty.
_PLATEAU, _PLATEAU_OF_SEARCH = (0.1, 0.9), (0.02, 0.98)
# Sides of a `HorizonPosition`.
BEYOND, BELOW, MAYBE_UNREACHED, NEVER_REACHED = "beyond", "below", "plateau", "never"


class HorizonPosition(NamedTuple):
    """Where a horizon is, as reports say it.

    Attributes:
        value: The posterior median; infinite where all or none of the trials succeeded, NaN where it is not identified.
        low: Lower end of its interval; -inf where there is none.
        high: Upper end; inf where there is none.
        side: "" where the value is between the easiest and the hardest level tested, "beyond" above them, "below" below
            them; "plateau" where the success rate may be below the share at all levels, however easy, so that there may
            be no horizon; "never" where it is.
    """

    value: float
    low: float
    high: float
    side: str


@dataclass(frozen=True)
class Fit:
    """The posterior distribution of curves.

    Attributes:
        trials_done: The trials and their results.
        design: The design effect: by how much trials that were drawn together say less than as many independent ones.
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
    def probable_curves(self) -> tuple[Indices, Array]:
        """Indices and posterior probabilities of the curves that are probable enough to matter."""
        relevant = np.flatnonzero(self.weights > NO_WEIGHT * self.weights.max())
        return relevant, self.weights[relevant]

    def expected_rates(self, at: Array) -> Array:
        """Return the expected success rate at some difficulties."""
        return self.curves.weighted_rate_sums(at, self.weights[None])[0]

    def rate_band(self, at: Array, confidence: float) -> tuple[Array, Array]:
        """Return the ends of the success rate's interval at each of some difficulties, to a thousandth.

        Each interval is by itself: it holds the rate at its difficulty with the confidence, not the whole curve.
        """
        tail = (1 - confidence) / 2
        relevant, weights = self.probable_curves
        ends = np.empty((2, len(at)))
        # Sums by cell, for to sort all rates at every difficulty takes several times as long.
        for number, cells in enumerate(self.curves.rate_cells(at)):
            cumulative = np.cumsum(np.bincount(cells[relevant], weights=weights, minlength=CELLS))
            ends[:, number] = np.searchsorted(cumulative, np.array([tail, 1 - tail]) * cumulative[-1])
        low, high = (ends + 0.5) / CELLS  # the middles of cells
        return low, high

    def horizon(self, share: float, confidence: float) -> tuple[float, float, float]:
        """Return the posterior median of the horizon for a share, and the ends of its interval."""
        tail = (1 - confidence) / 2
        relevant, weights = self.probable_curves
        bounds = quantiles(self.curves.horizons(share)[relevant], weights, (0.5, tail, 1 - tail))
        median, low, high = (self.curves.shape.from_scale(bound) for bound in bounds)
        return median, low, high

    def probability_unreached(self, share: float) -> float:
        """Return the posterior probability of the curves that are below a share everywhere."""
        relevant, weights = self.probable_curves
        return float(weights[np.isneginf(self.curves.horizons(share)[relevant])].sum() / weights.sum())

    def plateau_side(self, share: float) -> str:
        """Return the side of the horizon (`HorizonPosition`) where a share is perhaps unreached even at easy items.

        Returns:
            `NEVER_REACHED` where the success rate is below the share at all levels; `MAYBE_UNREACHED` where it may be,
            so that the horizon is not identified; "" where the curve starts above the share.
        """
        low, high = _PLATEAU_OF_SEARCH if self.is_adaptive else _PLATEAU
        unreached = self.probability_unreached(share)
        return NEVER_REACHED if unreached >= high else MAYBE_UNREACHED if unreached > low else ""

    @cached_property
    def is_adequate(self) -> bool:
        """Whether the trials agree with the most probable curve; False where they have a plateau or a dip."""
        is_most_probable = np.zeros(len(self.weights), dtype=np.bool_)
        is_most_probable[int(self.weights.argmax())] = True
        # A trial that is the mean of several attempts counts once: if attempts end with a success, it is not a mean of
        # as many independent ones.
        trials = self.trials_done.weighted(1 / max(self.design, 1.0))
        return is_good_fit(trials, self.curves.rates(trials.at, is_most_probable)[0])

    @cached_property
    def horizon_summaries(self) -> dict[float, Any]:
        """Cache by share of the summaries of its horizons that comparisons need (`horizon_ratio`)."""
        return {}

    def minimum_interval(self, share: float, confidence: float) -> tuple[float, float]:
        """Return the interval that a horizon's interval has to contain, whatever the curves say.

        This is where the success rate most probably crosses the share if nothing is assumed but that it falls: curves
        without plateaus would place the horizon too precisely. If the curves do not fit, these bounds have the
        interval's own confidence. They have 80 % where they span more than one and a half doublings then: rates stay
        near the share for so long that the curves, which fall at once, say nothing of where it is crossed. An adaptive
        search places a horizon near a plateau far too precisely, for it plays few easy items: it always has 80 %.

        Returns:
            The bounds, infinite where they are outside the tried difficulties; if there is no success or no failure,
            (inf, -inf), an empty interval.
        """
        trials = self.trials_done.weighted(1 / self.design)
        if not 0 < trials.solved.sum() < trials.trials.sum():
            return np.inf, -np.inf
        if not self.is_adequate:  # each of the two ends is tested by itself
            return monotone_bounds(trials, share, 2 * confidence - 1)
        low, high = monotone_bounds(trials, share, WIDE_CONFIDENCE)
        is_wide = low <= 0 or high > low * 2**WIDE
        return (low, high) if is_wide or self.is_adaptive else monotone_bounds(trials, share, LEAST_CONFIDENCE)

    def widened_horizon(self, share: float, confidence: float) -> tuple[float, float, float]:
        """Return a horizon whose interval contains the gap between tried difficulties around its median.

        Nothing was tried within that gap. Where every item was solved at its lower end and none at its upper end, the
        data fit a step anywhere between the two equally well, and a narrower interval would come from the prior of
        slopes alone. The interval contains `minimum_interval`, too. For the trials of an adaptive search it is
        `horizon`, unless the curves do not fit or a plateau may be below the share.
        """
        median, low, high = self.horizon(share, confidence)
        if self.is_adaptive and self.is_adequate and not self.probability_unreached(share):
            return median, low, high
        least, most = self.minimum_interval(share, confidence)
        at = self.trials_done.at
        if at[0] <= median <= at[-1]:
            low = min(low, float(at[at <= median][-1]))
            high = max(high, float(at[at >= median][0]))
        return median, min(low, least), max(high, most)

    def horizon_position(self, share: float, confidence: float) -> HorizonPosition:
        """Return the horizon's value, interval and side, as far as the trials can tell.

        Where all trials were solved the horizon is beyond the hardest level, and where none was, below the easiest: a
        value would be a guess from the prior alone. It is below the easiest, too, where its interval is, whether or
        not even easier items would be solved at the share.
        """
        value, low, high = self.widened_horizon(share, confidence)
        done, easiest, hardest = self.trials_done, float(self.trials_done.at[0]), float(self.trials_done.at[-1])
        if not (done.solved < done.trials).any():
            return HorizonPosition(np.inf, low, np.inf, BEYOND)
        plateau = self.plateau_side(share)
        if self.is_adaptive and plateau == NEVER_REACHED and high > easiest:
            plateau = MAYBE_UNREACHED  # a search ends as soon as the share looks unreached, by chance, too
        if not (done.solved > 0).any() or (plateau == MAYBE_UNREACHED and high <= easiest):
            return HorizonPosition(-np.inf, -np.inf, high, BELOW)
        if plateau:
            return HorizonPosition(-np.inf if plateau == NEVER_REACHED else np.nan, -np.inf, high, plateau)
        return HorizonPosition(value, low, high, BEYOND if value > hardest else BELOW if value < easiest else "")


def _cached_curves(shape: CurvePrior, lowest: float, highest: float) -> Curves:
    """Return a grid of curves over a range of difficulties; the grids used last are cached."""
    for number, curves in enumerate(_grids):
        if (curves.shape, curves.lowest, curves.highest) == (shape, lowest, highest):
            _grids.append(_grids.pop(number))  # to the end, as the one used last
            return curves
    _grids.append(Curves(shape, lowest, highest))
    for curves in _grids[:-_MOST_GRIDS]:
        curves.clear_caches()  # fits still refer to the grid, and would keep its caches alive
    del _grids[:-_MOST_GRIDS]
    return _grids[-1]


def fit_curves(
    shape: CurvePrior,
    at: Array,
    solved: Array,
    clusters: Sequence[int],
    sizes: Sequence[int] | None = None,
    searched: tuple[float, float] | None = None,
) -> Fit:
    """Return the posterior distribution of curves after some trials.

    Trials of one cluster depend on each other. Their log-likelihood is divided by the design effect, the variance of
    the clusters' residuals relative to that of independent trials: a quasi-likelihood (McCullagh, Annals of Statistics
    11, 1983), whose posterior is as wide as the clustered variance says. The design effect is not below 1 or, where a
    trial is the mean of several attempts, not below its value for independent attempts.

    Args:
        shape: The prior assumptions about curves.
        at: Each trial's difficulty.
        solved: 1 where it was solved, 0 where not; between them where a trial is the mean of several attempts.
        clusters: Number of each trial's cluster, from 0.
        sizes: Number of attempts that each trial is the mean of; 1 by default.
        searched: The least and the greatest difficulty that an adaptive search could try, if one chose the trials.
    """
    difficulties, index = np.unique(at, return_inverse=True)
    trials_done = Trials(
        difficulties, np.bincount(index, weights=solved).astype(np.float64), np.bincount(index).astype(np.float64)
    )
    curves = _cached_curves(shape, *(searched or (float(difficulties[0]), float(difficulties[-1]))))
    independent_fit = Fit(curves, trials_done, is_adaptive=searched is not None)
    n_clusters = max(clusters) + 1
    least_design = 1.0 if sizes is None else float(np.mean(1 / np.asarray(sizes)))
    if n_clusters == len(at) and least_design == 1:
        return independent_fit
    rates = independent_fit.expected_rates(difficulties)[index]
    residuals = np.bincount(clusters, weights=solved - rates)
    variance = float((rates * (1 - rates)).sum())  # of the sum of independent trials
    design = float((residuals**2).sum()) / variance * n_clusters / max(n_clusters - 1, 1) if variance > 0 else 1.0
    return replace(independent_fit, design=max(least_design, design))
