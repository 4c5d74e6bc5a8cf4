"""Cells of results, summed by independent clusters, and the intervals of their means."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from waybench.results.stats._intervals import (
    CONFIDENCE,
    FEWEST_CLUSTERS,
    IntervalEstimate,
    Numbers,
    cluster_numbers,
    cluster_totals,
    normal_quantile,
    robust_mean,
    satterthwaite_freedom,
    t_quantile,
    unequal_lengths_error,
)

ALIKE = 1e-9  # of the range: smaller differences are rounding


@dataclass(frozen=True, slots=True)
class Cell:
    """Values of one model in one task, summed by cluster.

    Attributes:
        clusters: The clusters, sorted by size and total, so that sums have the same bits for any order of the values. A
            cluster has the same id in all cells.
        totals: The sum of the values in each cluster.
        sizes: The size of each cluster.
        low: The least value possible; None if unbounded.
        high: The greatest value possible; None if unbounded.
        n: Number of values.
    """

    clusters: tuple[Hashable, ...]
    totals: Numbers
    sizes: Numbers
    low: float | None
    high: float | None
    n: int

    @classmethod
    def from_values(
        cls,
        values: Sequence[float],
        clusters: Sequence[Hashable],
        low: float | None = None,
        high: float | None = None,
        sizes: Sequence[float] | None = None,
    ) -> "Cell":
        """Return the cell of some values, summed by cluster.

        Args:
            values: The values; with sizes, each is a total of its size.
            clusters: The cluster of each value.
            low: The least value possible; None if unbounded.
            high: The greatest value possible; None if unbounded.
            sizes: What each value is a share of, 0 or more; by default 1.

        Raises:
            ValueError: If there is not one cluster for each value, or all sizes are 0.
        """
        if len(values) != len(clusters):
            raise unequal_lengths_error(values, clusters)
        names = sorted(dict.fromkeys(clusters), key=repr)
        numbers, _ = cluster_numbers([*names, *clusters])  # the names come first, so clusters are numbered in order
        columns = np.asarray(values, dtype=np.float64), np.ones(len(values)) if sizes is None else np.asarray(sizes)
        order = np.lexsort(columns)
        cluster_of_value = numbers[len(names) :][order]
        totals, cluster_sizes = (cluster_totals(cluster_of_value, column[order]) for column in columns)
        if not cluster_sizes.any():
            raise ValueError("no values, or all sizes are 0: leave the cell out")
        by_size: list[int] = np.lexsort((totals, cluster_sizes)).tolist()
        ordered_names = tuple(names[index] for index in by_size)
        return cls(ordered_names, totals[by_size], cluster_sizes[by_size], low, high, len(values))

    @property
    def value(self) -> float:
        """The mean of the values."""
        return float(self.totals.sum() / self.sizes.sum())

    def totals_of(self, clusters: Sequence[Hashable]) -> Numbers:
        """Return the totals of these clusters, in their order."""
        positions = {name: index for index, name in enumerate(self.clusters)}
        return self.totals[[positions[name] for name in clusters]]

    @property
    def shares(self) -> Numbers:
        """Each cluster's share of the total size."""
        return self.sizes / self.sizes.sum()

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the mean's error (`satterthwaite_freedom`); 1 for a single cluster with any size."""
        return satterthwaite_freedom(self.sizes) if self.shares.max() <= 1 - ALIKE else 1.0

    @property
    def residuals(self) -> Numbers:
        """CR2-adjusted residuals by cluster: their squares sum to the variance of the mean (`robust_mean`)."""
        scale = np.sqrt(np.maximum(1 - self.shares, 1e-12))
        return (self.totals - self.value * self.sizes) / self.sizes.sum() / scale

    @property
    def at_bounds(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Masks of the clusters with all values at the lower bound, and at the upper one."""
        if self.low is None or self.high is None:
            return np.zeros(len(self.totals), bool), np.zeros(len(self.totals), bool)
        rounding = ALIKE * (self.high - self.low) * self.sizes
        return (
            np.abs(self.totals - self.low * self.sizes) <= rounding,
            np.abs(self.totals - self.high * self.sizes) <= rounding,
        )

    @property
    def unit_scaled(self) -> "Cell":
        """The cell with its bounds scaled to 0 and 1."""
        assert self.low is not None and self.high is not None
        totals = (self.totals - self.low * self.sizes) / (self.high - self.low)
        return replace(self, totals=totals, low=0.0, high=1.0)

    def mean(self, confidence: float = CONFIDENCE, fewest: int = FEWEST_CLUSTERS) -> "IntervalEstimate":
        """Return the mean with its interval; see `clustered_mean`."""
        value, is_few = self.value, len(self.clusters) < fewest
        ends = None if is_few else self.interval_ends(self.freedom, (1 - confidence) / 2)
        # At a bound the ends are rounded, and may miss it by the last digit.
        low, high = (min(ends[0], value), max(ends[1], value)) if ends else (None, None)
        return IntervalEstimate(value, low, high, n=self.n, clusters=len(self.clusters))

    def scaled(self, factor: float) -> "Cell":
        """Return the cell with all values and bounds multiplied by a factor above 0."""
        low, high = (None if end is None else factor * end for end in (self.low, self.high))
        return replace(self, totals=factor * self.totals, low=low, high=high)

    def shifted(self, amount: float) -> "Cell":
        """Return the cell with an amount added to all values and bounds."""
        low, high = (None if end is None else end + amount for end in (self.low, self.high))
        return replace(self, totals=self.totals + amount * self.sizes, low=low, high=high)

    def interval_ends(self, freedom: float, tail: float, factor: float = 1.0) -> tuple[float, float] | None:
        """Return the ends of the interval of the mean, by the rule of `clustered_mean`.

        Args:
            freedom: Degrees of freedom where the quantile is Student's.
            tail: The probability beyond either end.
            factor: What the quantile is multiplied by.

        Returns:
            The ends; None for one cluster, and where all are alike between the bounds.
        """
        n_clusters = len(self.totals)
        if n_clusters == 1:
            return None
        is_at_low, is_at_high = self.at_bounds
        is_at_bound = is_at_low | is_at_high
        low, high = self.low, self.high
        is_binomial = is_at_bound.all() and (is_at_high.all() or not is_at_high.any() or np.ptp(self.sizes) == 0)
        if low is not None and high is not None and is_binomial:
            return wilson_interval(float(is_at_high.mean()), n_clusters, factor * normal_quantile(tail), low, high)
        mean = robust_mean(self.totals, self.sizes)
        if mean is None:
            return None
        quantile = factor * t_quantile(tail, freedom)
        if low is not None and high is not None and low < mean.value < high:
            share, error = (mean.value - low) / (high - low), mean.error / (high - low)
            # The allowance for rare values is for clusters of a single value.
            share_at_bounds = float(self.sizes[is_at_bound].sum() / self.sizes.sum()) if n_clusters == self.n else 0.0
            variance = variance_with_unseen(error**2, share, share_at_bounds, self.sizes)
            return wilson_interval(share, share * (1 - share) / variance, quantile, low, high)
        lower, upper = mean.value - quantile * mean.error, mean.value + quantile * mean.error
        return lower if low is None else max(low, lower), upper if high is None else min(high, upper)


def clustered_mean(
    values: Sequence[float],
    clusters: Sequence[Hashable],
    low: float | None = None,
    high: float | None = None,
    sizes: Sequence[float] | None = None,
    *,
    confidence: float = CONFIDENCE,
    fewest: int = FEWEST_CLUSTERS,
) -> IntervalEstimate | None:
    """Return the mean of values that come in clusters, with its confidence interval.

    The mean is a ratio, of the sum of the clusters' totals to the sum of their sizes. Its standard error is that of
    the linearised ratio (Cochran, Sampling Techniques, 3rd ed. 1977, chapter 9A), which is also the cluster-robust
    error of a regression on a constant and, but for the correction of small samples, the clustered error of Miller,
    "Adding Error Bars to Evals" (arXiv:2411.00640), equation 4. Correction and degrees of freedom are those of
    `robust_mean`, which hold where few clusters, or one of them, have most of the values.

    Where values have two bounds, the interval is Wilson's (J. Am. Stat. Assoc. 22, 1927) for as many independent trials
    as would have this error, with Student's t of these degrees of freedom in place of the normal quantile (Kott and
    Carr, J. Official Statistics 13, 1997; Korn and Graubard, Survey Methodology 24, 1998). It is for all values between
    the bounds, since their error shrinks towards a bound as that of a share does. Where each cluster is wholly at one
    bound, and either all at the same one or all of one size, clusters are a binomial sample: it is then Wilson's for
    their number, with the normal quantile; so that ten mazes all solved say 72 to 100 %, not a certain 100 %. Where
    single values are partly at a bound, the error allows for rare ones at the other bound (`variance_with_unseen`).
    Elsewhere it is Student's t around the mean, cut at the bound that there is.

    Fewer than six clusters give no interval: by any rule it would be too short for values that are not 0 or 1, and too
    long to be of use for those that are. Neither do clusters that are all alike between the bounds, which do not
    show how others would differ.

    Args:
        values: The values.
        clusters: The cluster of each value: values of the same cluster may depend on each other.
        low: The least value possible, None if unbounded.
        high: The greatest value possible, None if unbounded.
        sizes: What each value is a share of, 0 or more and not all 0; by default 1, and then the ratio is the mean.
        confidence: The interval's confidence.
        fewest: The least number of clusters that give an interval, where it is not for readers.

    Returns:
        The mean; None if there are no values, or all sizes are 0.

    Raises:
        ValueError: If there is not one cluster for each value.
    """
    if len(values) != len(clusters):
        raise unequal_lengths_error(values, clusters)
    if not values or (sizes is not None and not any(sizes)):
        return None
    return Cell.from_values(values, clusters, low, high, sizes).mean(confidence, fewest)


def variance_with_unseen(variance: float, mean: float, share_at_bounds: float, sizes: NDArray[np.float64]) -> float:
    """Return a variance of a mean of values from 0 to 1, raised for rare values at a bound.

    Nine mazes with full marks and one with 95 % say hardly more of the mazes that fail than ten with full marks do. So
    half a value is added at either bound, with the weight of the share of values that are at a bound: where that is
    great, such values are common. The variance is at most that of values that are all at the bounds.

    Args:
        variance: The variance.
        mean: The mean.
        share_at_bounds: The share of the values that are at a bound, from 0 to 1.
        sizes: The weight of each value, such as the number of items of a cluster.
    """
    added = share_at_bounds / 2 * (mean**2 + (1 - mean) ** 2) / len(sizes) ** 2
    most = mean * (1 - mean) * float(np.square(sizes / sizes.sum()).sum())
    return max(variance, min(variance + added, most))


def wilson_interval(share: float, trials: float, quantile: float, low: float, high: float) -> tuple[float, float]:
    """Return Wilson's interval of a share for any number of trials, scaled from (0, 1) to the bounds low and high."""
    square = quantile**2 / trials
    middle, half = share + square / 2, (square * (share * (1 - share) + square / 4)) ** 0.5
    lower, upper = max(0.0, (middle - half) / (1 + square)), min(1.0, (middle + half) / (1 + square))
    return low + (high - low) * lower, low + (high - low) * upper
