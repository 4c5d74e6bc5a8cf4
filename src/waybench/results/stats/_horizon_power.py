"""The power of comparisons of horizons: how many items of each level tell two horizons apart."""

import math
from bisect import bisect_left
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from waybench.results.stats._curves import FIXED_DESIGN, Array, Curves
from waybench.results.stats._paired import ALPHA
from waybench.results.stats._power import POWER

FALL = 1.5  # doublings within which success falls from 90 to 10 %: the usual curve of `Curves`
_SHARE = 0.5  # horizons that are compared
_RUNS, _BATCH = 500, 100
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
    """Curves in the order of their horizons, which many simulated runs share."""

    def __init__(self, levels: tuple[float, ...]) -> None:
        curves, tried = Curves(_PLANNED, levels[0], levels[-1]), np.array(levels, dtype=np.float64)
        self.at: Array = curves.shape.to_scale(tried)
        # Curves that are nowhere above the share come first, and are below all levels.
        horizons = np.maximum(curves.horizons(_SHARE), self.at[0] - _WIDEST)
        bins = np.round(horizons / _WIDTH)
        order = np.argsort(bins, kind="stable")
        self._bins, self._starts = np.unique(bins[order], return_index=True)
        rates = np.clip(curves.rates(tried, order), 1e-9, 1 - 1e-9)
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
        below, other_below = np.cumsum(first, axis=1), np.cumsum(second, axis=1)
        other_order = ((below - first / 2) * second).sum(axis=1)
        medians = (_WIDTH * self._bins[(sums < 0.5).sum(axis=1)] for sums in (below, other_below))
        gap, other_gap = (np.searchsorted(self.at, median) for median in medians)
        return (2 * other_order < alpha) & (gap - other_gap > 1)


@lru_cache(maxsize=1)
def _cached_grid(levels: tuple[float, ...]) -> _Grid:
    """Return the grid of some levels; the last one is kept."""
    return _Grid(levels)


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
    middle, slope = (grid.at[0] + grid.at[-1]) / 2, 2 * math.log(9) / plan.fall

    def simulated_posteriors(shift: float) -> Array:
        """Return the posteriors of a batch of runs whose horizon is shifted from the middle, in doublings."""
        rates = 1 / (1 + np.exp(slope * (grid.at - middle - shift)))
        return grid.posteriors(rng.binomial(items, rates, (_BATCH, len(rates))).astype(np.float64), items)

    half = math.log2(factor) / 2
    shown = sum(
        int(grid.are_first_greater(simulated_posteriors(half), simulated_posteriors(-half), alpha).sum())
        for _ in range(_RUNS // _BATCH)
    )
    return shown / _RUNS


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
