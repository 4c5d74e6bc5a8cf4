"""Where a success rate falls below a share, if nothing is assumed but that it falls."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from waybench._late import LateModule
from waybench.stats._trials import Array, Trials

if TYPE_CHECKING:
    from scipy import special
else:
    special = LateModule("scipy.special")  # the curves of training do without it

LEAST_CONFIDENCE = 0.4  # of the bounds in every interval of a fixed design: 90 % intervals then hold plateaus in 85 %
_POOLED = 5  # trials of neighbouring difficulties that are compared with a curve together, at least
_FEWEST_POOLS = 5  # a curve with a place, a slope and a lapse rate fits fewer ones anyway
_PARAMETERS = 3
_MISFIT = 0.01  # p value


def monotone_bounds(trials: Trials, share: float, confidence: float) -> tuple[float, float]:
    """Return the difficulties between which a success rate falls below a share, for any curve that never rises.

    For each gap between neighbouring difficulties, the best curve that falls below the share in this gap is compared
    with the best one of all by their likelihoods (isotonic regression; Banerjee and Wellner, "Likelihood ratio tests
    for monotone functions", Annals of Statistics 29, 2001). Bounds are the ends of the gaps that are not rejected.

    Args:
        trials: The trials.
        share: The share, between 0 and 1.
        confidence: Of the two bounds; each gap is tested with the chi-squared distribution of one degree of freedom.

    Returns:
        The last difficulty below the horizon and the first one above it; infinite where there is none.
    """
    above = _best_from_left(trials.solved, trials.trials, share)
    # From the hardest down, failures fall: the same task from the other side.
    below = _best_from_left((trials.trials - trials.solved)[::-1], trials.trials[::-1], 1 - share)[::-1]
    logs = above + below
    gaps = np.flatnonzero(2 * (logs.max() - logs) <= special.chdtri(1, 1 - confidence) + 1e-9)
    ends = np.concatenate([[-np.inf], trials.at, [np.inf]])
    return float(ends[gaps[0]]), float(ends[gaps[-1] + 1])


def _best_from_left(solved: Array, trials: Array, least: float) -> Array:
    """Return the greatest log-likelihood of the first 0, 1, 2, ... counts, of rates that never rise nor go below one.

    It is the isotonic regression by pooling adjacent violators; where its rates are below the least one, this is best.
    """
    pools: list[tuple[float, float, float]] = [(0.0, 0.0, 0.0)]  # solved, trials, log-likelihood up to here
    logs = [0.0]
    for k, n in zip(solved.tolist(), trials.tolist(), strict=True):
        while len(pools) > 1 and pools[-1][0] * n <= k * pools[-1][1]:
            k, n = k + pools[-1][0], n + pools[-1][1]
            pools.pop()
        rate = max(k / n, least)
        log: float = (k * math.log(rate) if k else 0.0) + ((n - k) * math.log(1 - rate) if n > k else 0.0)
        pools.append((k, n, pools[-1][2] + log))
        logs.append(pools[-1][2])
    return np.array(logs, dtype=np.float64)


def fits(trials: Trials, rates: Array) -> bool:
    """Return whether trials agree with a fitted curve, at 1 %: False for a plateau or a dip that it cannot have.

    Neighbouring difficulties with few trials are pooled. The deviance is compared with the chi-squared distribution.

    Args:
        trials: The trials; may be weighted by a design effect.
        rates: The curve's success rate at each difficulty.
    """
    pools = _pools(trials.trials)
    if len(pools) < _FEWEST_POOLS:
        return True
    solved, counts, expected = (
        np.array([float(values[first:end].sum()) for first, end in pools], dtype=np.float64)
        for values in (trials.solved, trials.trials, trials.trials * rates)
    )
    deviance = 2 * float(
        (special.xlogy(solved, solved / np.clip(expected, 1e-12, None))).sum()
        + special.xlogy(counts - solved, (counts - solved) / np.clip(counts - expected, 1e-12, None)).sum()
    )
    return float(special.chdtrc(len(pools) - _PARAMETERS, max(deviance, 0.0))) >= _MISFIT


def _pools(trials: Array) -> Sequence[tuple[int, int]]:
    """Return the first and the end of neighbouring difficulties that have enough trials together."""
    pools: list[tuple[int, int]] = []
    first = 0
    for end in range(1, len(trials) + 1):
        if float(trials[first:end].sum()) >= _POOLED:
            pools.append((first, end))
            first = end
    if pools and first < len(trials):  # too few at the end belong to those before
        pools[-1] = pools[-1][0], len(trials)
    return pools
