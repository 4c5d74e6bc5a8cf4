"""Means with intervals over independent clusters, exact tests, regression lines, and components of variance."""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import fsum, sqrt
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from waybench._late import LazyModule
from waybench.results.stats._curves import Array

if TYPE_CHECKING:
    from scipy import special
else:
    special = LazyModule("scipy.special")  # it takes a while to load


Numbers = NDArray[np.float64]
CONFIDENCE = 0.95
ALPHA = 0.05  # level of a test; a p value that is adjusted for several tests is compared with it, too
FEWEST_POINTS = 5  # below which a line says nothing
FEWEST_CLUSTERS = 6  # below which a mean has no interval and no rank, and no test of signs shows anything at 5 %


@lru_cache(maxsize=4096)
def t_quantile(tail: float, freedom: float) -> float:
    """Return the value that Student's t exceeds with a probability `tail`."""
    return -float(special.stdtrit(freedom, tail))


@lru_cache(maxsize=64)
def normal_quantile(tail: float) -> float:
    """Return the value that a standard normal variable exceeds with a probability `tail`."""
    return -float(special.ndtri(tail))


def t_tail(value: float, freedom: float) -> float:
    """Return the probability that Student's t exceeds a value."""
    return float(special.stdtr(freedom, -value))


class RobustMean(NamedTuple):
    """A mean of clustered values with its standard error.

    Attributes:
        value: The ratio of the clusters' totals to their sizes.
        freedom: Degrees of freedom of Student's t for it.
    """

    value: float
    error: float
    freedom: float


def cluster_numbers(clusters: Sequence[Hashable]) -> tuple[NDArray[np.intp], int]:
    """Return each value's cluster number, from 0 in order of appearance, and the number of clusters."""
    numbers = {cluster: number for number, cluster in enumerate(dict.fromkeys(clusters))}
    return np.array([numbers[cluster] for cluster in clusters], dtype=np.intp), len(numbers)


def cluster_totals(numbers: NDArray[np.intp], values: Sequence[float] | Numbers | None) -> Numbers:
    """Return the sum of the values in each cluster, by their cluster numbers; without values, their counts."""
    weights = None if values is None else np.asarray(values, dtype=np.float64)
    return np.bincount(numbers, weights=weights).astype(np.float64)


def robust_mean(totals: Numbers, sizes: Numbers) -> RobustMean | None:
    """Return a mean over clusters, its cluster-robust standard error, and the error's degrees of freedom.

    The error is CR2 of a regression on a constant: each cluster's residual is divided by the root of 1 - h, with h the
    cluster's share of the whole size, which makes the variance unbiased for independent values. The degrees of freedom
    are Satterthwaite's for that case (Bell and McCaffrey, Survey Methodology 28, 2002; Imbens and Kolesár, Review of
    Economics and Statistics 98, 2016). G clusters of equal size have the error with the factor G / (G - 1) of Liang and
    Zeger, and G - 1 degrees of freedom. Of ten clusters of which one has half of the values they have 3.2.

    Args:
        totals: The sum of each cluster's values.
        sizes: The size of each cluster, such as its number of values.

    Returns:
        The mean; None where one cluster has everything, or all clusters are alike.
    """
    total_size = float(sizes.sum())
    shares = sizes / total_size
    if shares.max() > 1 - 1e-9:
        return None
    value = float(totals.sum()) / total_size
    residuals = totals - value * sizes
    if np.allclose(residuals, 0, rtol=0, atol=1e-9 * max(abs(value), 1e-3) * total_size / len(sizes)):
        return None
    error = float(np.sqrt((residuals**2 / (1 - shares)).sum())) / total_size
    return RobustMean(value, error, satterthwaite_freedom(sizes))


def clustered_error(values: Sequence[float], clusters: Sequence[Hashable]) -> RobustMean | None:
    """Return the mean of clustered values with its standard error (`robust_mean`)."""
    numbers, _ = cluster_numbers(clusters)
    return robust_mean(cluster_totals(numbers, values), cluster_totals(numbers, None)) if len(values) else None


def variance_upper_factor(count: int) -> float:
    """Return the factor from a variance of so many values to the upper end of its one-sided 80 % interval.

    For estimates that must not be too small (Browne, Statistics in Medicine 14, 1995, 1933).
    """
    return (count - 1) / float(special.chdtri(count - 1, 0.8)) if count > 1 else 1.0


def satterthwaite_freedom(sizes: Numbers) -> float:
    """Return the degrees of freedom of the CR2 error of a mean over clusters of these sizes (`robust_mean`)."""
    shares = sizes / sizes.sum()
    leverage = shares**2 / (1 - shares)
    # Sum of the squared elements of a matrix with the shares, which sum to 1, on its diagonal.
    return 1 / float((shares**2).sum() + leverage.sum() ** 2 - (leverage**2).sum())


def mcnemar_mid_p(won: int, lost: int) -> float:
    """Return the two-sided mid-p value of McNemar's test: half the probability of the observed result is left out.

    Args:
        won: Number of pairs in which only the first value is 1.
        lost: Number of pairs in which only the second value is 1.
    """
    rarer, pairs = min(won, lost), won + lost
    at_most = float(special.bdtr(rarer, pairs, 0.5))
    exactly = at_most - (float(special.bdtr(rarer - 1, pairs, 0.5)) if rarer else 0.0)
    return min(1.0, 2 * at_most - exactly)


def holm_adjusted(p_values: Sequence[float]) -> list[float]:
    """Return p values adjusted by Holm's procedure (Scandinavian Journal of Statistics 6, 1979, 65-70)."""
    adjusted, greatest = [0.0] * len(p_values), 0.0
    for rank, position in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        greatest = max(greatest, p_values[position] * (len(p_values) - rank))
        adjusted[position] = min(greatest, 1.0)
    return adjusted


def z_test_power(effect: float, n: float, alpha: float) -> float:
    """Return the power of a two-sided z test of the means of two samples of the same size.

    Args:
        effect: The difference of the means by the standard deviation, above 0.
        n: Number of values of each sample.
        alpha: The level of the test.
    """
    critical, shift = normal_quantile(alpha / 2), effect * math.sqrt(n / 2)
    return float(special.ndtr(shift - critical) + special.ndtr(-shift - critical))


@dataclass(frozen=True, slots=True)
class LostAttempts:
    """The attempts that a mean lacks, since their results are not known, and what the mean would be with them.

    Attributes:
        lost: Number of these attempts.
        planned: Number of all attempts, these included.
        lowest: The mean if each of them had the least value possible; None if there is no least value.
        highest: The mean if each of them had the greatest value possible; None if there is no greatest value.
    """

    lost: int
    planned: int
    lowest: float | None
    highest: float | None

    @property
    def n_with_result(self) -> int:
        """Number of attempts with a result."""
        return self.planned - self.lost

    def scaled(self, factor: float, shift: float = 0.0) -> "LostAttempts":
        """Return the lost attempts with their bounds less a shift and times a factor."""
        ends = [None if end is None else (end - shift) * factor for end in (self.lowest, self.highest)]
        lowest, highest = ends if factor >= 0 else reversed(ends)
        return LostAttempts(self.lost, self.planned, lowest, highest)


@dataclass(frozen=True, slots=True)
class IntervalEstimate:
    """A mean, or a number made of several means, with its interval.

    Attributes:
        value: The mean of all values, or the number.
        low: Lower end of the 95 % confidence interval; None where the data cannot tell one, as below six clusters.
        high: Upper end, None where `low` is.
        n: Number of values.
        clusters: Number of independent clusters that they come from.
        lost: The attempts that the mean lacks; None if it lacks none. Every text of such a mean says so, and it has no
            rank.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    clusters: int
    lost: LostAttempts | None = None

    @property
    def is_few(self) -> bool:
        """Whether there are too few clusters for an interval."""
        return self.clusters < FEWEST_CLUSTERS


def jackknife_estimate(
    values: Sequence[Sequence[float]],
    clusters: Sequence[Hashable],
    number_of_means: Callable[[Sequence[float]], float],
    low: float | None = None,
    high: float | None = None,
    scale: tuple[Callable[[float], float], Callable[[float], float]] | None = None,
) -> IntervalEstimate | None:
    """Return a function of several means, with a 95 % jackknife interval over clusters.

    The interval is that of the jackknife over clusters: each is left out in turn, and of Tukey's pseudo-values, which
    are as good as independent, it is Student's t with G - 1 degrees of freedom (Miller, Biometrika 61, 1974). It is
    around the number with its bias of order 1 / G taken out, is widened to hold the number itself, and cut at the
    bounds. A bootstrap's percentiles have that bias twice: of ten worlds, intervals of the Crafter score from
    `scipy.stats.bootstrap` held the true one in 24 to 93 % of samples (BCa, players of seven kinds), these in 68 to
    98 %. What happens in no cluster at all is in no interval of either kind.

    Fewer than six clusters give no interval, nor do clusters of which it makes no difference which one is left out.

    Args:
        values: Of each item the values of which means are taken, all of one length.
        clusters: The cluster of each item.
        number_of_means: The means -> the number.
        low: The least number possible, None if unbounded.
        high: The greatest number possible, None if unbounded.
        scale: A growing function and its inverse, to and from the scale on which the pseudo-values are taken.

    Returns:
        The number, `n` being that of items; None if there are no items.

    Raises:
        ValueError: If there is not one cluster for each item.
    """
    if len(values) != len(clusters):
        raise unequal_lengths_error(values, clusters)
    if not values:
        return None
    cluster_of_item, n_clusters = cluster_numbers(clusters)
    table = np.asarray(values, dtype=np.float64)
    totals = np.zeros((n_clusters, table.shape[1]))
    np.add.at(totals, cluster_of_item, table)
    counts = np.bincount(cluster_of_item).astype(np.float64)[:, None]
    number = number_of_means((totals.sum(axis=0) / counts.sum()).tolist())
    without_interval = IntervalEstimate(number, None, None, len(values), n_clusters)
    if without_interval.is_few:
        return without_interval
    to_scale, from_scale = scale or (float, float)
    means_without = (totals.sum(axis=0) - totals) / (counts.sum() - counts)  # without each cluster
    numbers_without = np.array([to_scale(number_of_means(means)) for means in means_without.tolist()])
    pseudo_values = n_clusters * to_scale(number) - (n_clusters - 1) * numbers_without
    if np.allclose(pseudo_values, pseudo_values[0], rtol=1e-9, atol=1e-12):
        return without_interval
    _, lower, upper = t_interval(pseudo_values.tolist(), CONFIDENCE)
    # Cut on the scale: beyond the bounds its inverse may not be defined, or overflow.
    lower = lower if low is None else max(to_scale(low), lower)
    upper = upper if high is None else min(to_scale(high), upper)
    return replace(without_interval, low=min(number, from_scale(lower)), high=max(number, from_scale(upper)))


def unequal_lengths_error(values: Sequence[object], clusters: Sequence[Hashable]) -> ValueError:
    """Return the error for values and clusters of different numbers."""
    return ValueError(f"{len(values)} values and {len(clusters)} clusters: give one cluster for each value")


def t_interval(values: Sequence[float], confidence: float) -> tuple[float, float, float]:
    """Return the mean of independent values and the ends of Student's t interval around it."""
    numbers = np.asarray(values, dtype=np.float64)
    mean = float(numbers.mean())
    half_width = t_quantile((1 - confidence) / 2, len(numbers) - 1) * float(numbers.std(ddof=1)) / len(numbers) ** 0.5
    return mean, mean - half_width, mean + half_width


def regression_line(variable: Sequence[float], rates: Sequence[float]) -> tuple[float, float, float, float] | str:
    """Return slope, ends of its 95 % interval, and p value of a least-squares line, or why there is none.

    The variable is standardised: less its mean, by its sample standard deviation (n - 1). So slopes of different
    variables can be compared. Interval and p-value are those of Student's t with n - 2 degrees of freedom.

    Args:
        variable: The variable's values, one for each independent observation.
        rates: The values that it is to explain, in the same order.
    """
    if len(rates) < FEWEST_POINTS:
        return f"fewer than {FEWEST_POINTS}"
    x, y = np.asarray(variable, dtype=np.float64), np.asarray(rates, dtype=np.float64)
    if np.allclose(x, x[0], rtol=1e-12, atol=1e-12):
        return "the variable is the same for all"
    if np.allclose(y, y[0], rtol=1e-12, atol=1e-12):
        return "the score is the same for all"
    coefficients, covariance = cast(tuple[Array, Array], np.polyfit((x - x.mean()) / x.std(ddof=1), y, 1, cov=True))
    slope, error = float(coefficients[0]), float(covariance[0, 0]) ** 0.5
    half_width = t_quantile((1 - CONFIDENCE) / 2, len(y) - 2) * error
    p = 2 * t_tail(abs(slope) / error, len(y) - 2) if error > 0 else 0.0
    return slope, slope - half_width, slope + half_width, p


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """Components of variance of a headline metric, where items were attempted several times.

    Attributes:
        items: Number of items.
        attempts: Harmonic mean of the items' numbers of attempts.
        between: Variance between items, of what attempts at each give on average.
        within: Variance between attempts at an item.
        share: Share of the variance of the mean over items that is due to attempts, from 0 to 1.
    """

    items: int
    attempts: float
    between: float
    within: float
    share: float

    def width_ratio(self, *, items: float = 1, attempts: float = 1) -> float:
        """Return the interval's width with more items or attempts, divided by its present width.

        Args:
            items: How many times as many items, drawn as these were.
            attempts: How many times as many attempts at each item.
        """
        return sqrt((1 - self.share + self.share / attempts) / items)


def variance_components(values: Sequence[Sequence[float]]) -> VarianceComponents | None:
    """Return the components of variance of values in groups, by the one-way analysis of variance.

    The variance between attempts is the mean square within items; that between items is what is left of the mean square
    between them, over the average number of attempts, and 0 where that is below 0 (Searle, Casella and McCulloch,
    Variance Components, 1992, section 3.6). Restricted maximum likelihood gives the same where all items have as many
    attempts and neither is 0; this has no iteration that may not end with few items.

    Args:
        values: Of each item the values of its attempts.

    Returns:
        The components; None with fewer than two items, with no item that was attempted twice, or if all is the same.
    """
    sizes = [len(item) for item in values]
    n_attempts, n_items = sum(sizes), len(sizes)
    if n_items < 2 or n_attempts == n_items:
        return None
    means = [fmean(item) for item in values]
    grand_mean = fmean(value for item in values for value in item)
    within = fsum((value - mean) ** 2 for item, mean in zip(values, means, strict=True) for value in item)
    within /= n_attempts - n_items
    between = fsum(size * (mean - grand_mean) ** 2 for size, mean in zip(sizes, means, strict=True)) / (n_items - 1)
    average_size = (n_attempts - sum(size**2 for size in sizes) / n_attempts) / (n_items - 1)
    between = max(0.0, (between - within) / average_size)
    attempts = 1 / fmean(1 / size for size in sizes)  # the harmonic mean
    variance = between + within / attempts
    if variance <= 0:
        return None
    return VarianceComponents(n_items, attempts, between, within, within / attempts / variance)
