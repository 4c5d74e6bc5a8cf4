"""Ratios of two horizons, and forecasts of the cost of a search."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from waybench.results.stats._adaptive import HORIZON_CONFIDENCE, Candidate, Seeker, StoppingRule, Trial
from waybench.results.stats._curves import quantiles
from waybench.results.stats._fit import Fit
from waybench.results.stats._trials import Array

_POINTS = 400  # equally probable values that stand for a posterior
_ALPHA = 0.05


class HorizonRatio(NamedTuple):
    """How many times as far one player reaches as another.

    Attributes:
        value: The median of the posterior; None if a horizon is outside the levels that its player was tested on.
        low: Lower end of the 90 % interval; None if the levels tested do not bound it.
        high: Upper end, likewise.
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

    Args:
        first: The fit of the one player; both count difficulty in doublings.
        second: That of the other.
        share: The share of items that is solved at the horizon.

    Raises:
        ValueError: If a fit does not count difficulty in doublings.
    """
    if not (first.curves.shape.log and second.curves.shape.log):
        raise ValueError("ratios need curves on a log2 scale of difficulty")
    (one, low_one, high_one), (other, low_other, high_other) = (_ends(fit, share) for fit in (first, second))
    least, most = (np.subtract.outer(*pair).ravel() for pair in ((low_one, high_other), (high_one, low_other)))
    rest = (1 - HORIZON_CONFIDENCE) / 2
    gap, other_gap = _gap(first, one, share), _gap(second, other, share)
    gap_low, gap_high = gap[0] - other_gap[1], gap[1] - other_gap[0]
    low, sure_low = (min(gap_low, _quantile(least, tail)) for tail in (rest, _ALPHA / 2))
    high, sure_high = (max(gap_high, _quantile(most, 1 - tail)) for tail in (rest, _ALPHA / 2))
    is_known = bool(np.isfinite([_around(first, one), _around(second, other)]).all())
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
    return float(2**difference) if np.isfinite(difference) else None


_PLAYERS = 7
_SLOPE = 3.0  # success falls from 90 to 10 % within one and a half doublings of the difficulty


class Forecast(NamedTuple):
    """The trials and cost of a search of one player.

    Attributes:
        trials: Episodes.
        cost: Their cost, in the unit of the candidates'.
    """

    trials: int
    cost: float


def forecast(rule: StoppingRule, candidates: Sequence[Candidate]) -> list[Forecast]:
    """Return what searches of simulated players take, of horizons all over the range, the cheapest first.

    The players' curves have one usual shape, episodes cost what was expected, and there is no budget.

    Args:
        rule: When the search stops.
        candidates: What can be tried, easiest first.
    """
    low, high = (math.log2(candidates[end].at) for end in (0, -1))
    seeker = Seeker(rule, candidates[0].at, candidates[-1].at)
    forecasts: list[Forecast] = []
    for number in range(_PLAYERS):
        middle = low + (high - low) * (number + 0.5) / _PLAYERS
        rates = 1 / (1 + np.exp(_SLOPE * (np.log2([candidate.at for candidate in candidates]) - middle)))
        trials, _ = simulated(seeker, candidates, rates.tolist(), np.random.default_rng(number))
        forecasts.append(Forecast(len(trials), sum(trial.expected_cost for trial in trials)))
    return sorted(forecasts, key=lambda forecast_: forecast_.cost)


def simulated(
    seeker: Seeker, candidates: Sequence[Candidate], rates: Sequence[float], rng: np.random.Generator
) -> tuple[list[Trial], str]:
    """Run a search on a simulated player; return its trials, at the expected costs, and the reason why it stopped.

    Args:
        seeker: The search.
        candidates: What can be tried.
        rates: Of each candidate, the share of its items that the player solves.
        rng: The player's chance.
    """
    trials: list[Trial] = []
    left = list(candidates)
    while not (decision := seeker.next(trials, left)).stop:
        for number in decision.candidates:
            candidate = left[number]
            left[number] = candidate._replace(left=None if candidate.left is None else candidate.left - 1)
            trials.append(Trial(candidate.at, bool(rng.random() < rates[number]), candidate.cost, candidate.cost))
    return trials, decision.stop
