"""Quantiles, standard errors over clusters, and exact tests."""

from collections.abc import Hashable, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special


@lru_cache(maxsize=4096)
def t_quantile(tail: float, freedom: float) -> float:
    """Return the value that Student's t exceeds with a probability.

    Args:
        tail: The probability.
        freedom: Degrees of freedom.
    """
    return -float(special.stdtrit(freedom, tail))


@lru_cache(maxsize=64)
def normal_quantile(tail: float) -> float:
    """Return the value that a standard normal variable exceeds with a probability."""
    return -float(special.ndtri(tail))


def t_tail(value: float, freedom: float) -> float:
    """Return the probability that Student's t exceeds a value.

    Args:
        value: The value.
        freedom: Degrees of freedom.
    """
    return float(special.stdtr(freedom, -value))


Numbers = NDArray[np.float64]


class RobustMean(NamedTuple):
    """A mean of clustered values with its standard error.

    Attributes:
        value: The ratio of the clusters' totals to their sizes.
        error: Its standard error.
        freedom: Degrees of freedom of Student's t for it.
    """

    value: float
    error: float
    freedom: float


def numbered(clusters: Sequence[Hashable]) -> tuple[NDArray[np.intp], int]:
    """Return the number of each value's cluster, from 0 in order of appearance, and how many there are."""
    numbers = {cluster: number for number, cluster in enumerate(dict.fromkeys(clusters))}
    return np.array([numbers[cluster] for cluster in clusters], dtype=np.intp), len(numbers)


def cluster_totals(where: NDArray[np.intp], values: Sequence[float] | Numbers | None) -> Numbers:
    """Return the sum of the values in each cluster; of ones without values."""
    weights = None if values is None else np.asarray(values, dtype=np.float64)
    return np.bincount(where, weights=weights).astype(np.float64)


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
    whole = float(sizes.sum())
    shares = sizes / whole
    if shares.max() > 1 - 1e-9:
        return None
    value = float(totals.sum()) / whole
    residuals = totals - value * sizes
    if np.allclose(residuals, 0, rtol=0, atol=1e-9 * max(abs(value), 1e-3) * whole / len(sizes)):
        return None
    error = float(np.sqrt((residuals**2 / (1 - shares)).sum())) / whole
    return RobustMean(value, error, satterthwaite_freedom(sizes))


def clustered_error(values: Sequence[float], clusters: Sequence[Hashable]) -> RobustMean | None:
    """Return the mean of clustered values with its standard error; see `robust_mean`.

    Args:
        values: The values.
        clusters: The cluster of each.
    """
    where, _ = numbered(clusters)
    return robust_mean(cluster_totals(where, values), cluster_totals(where, None)) if len(values) else None


def variance_at_most(count: int) -> float:
    """Return by what a variance of so many values is multiplied for the upper end of its one-sided 80 % interval.

    For estimates that must not be too small (Browne, Statistics in Medicine 14, 1995, 1933).
    """
    return (count - 1) / float(special.chdtri(count - 1, 0.8)) if count > 1 else 1.0


def satterthwaite_freedom(sizes: Numbers) -> float:
    """Return the degrees of freedom of the CR2 error of a mean over clusters of some sizes; see `robust_mean`."""
    shares = sizes / sizes.sum()
    leverage = shares**2 / (1 - shares)
    # Sum of the squared elements of a matrix with the shares, which sum to 1, on its diagonal.
    return 1 / float((shares**2).sum() + leverage.sum() ** 2 - (leverage**2).sum())


def mcnemar(won: int, lost: int) -> float:
    """Return the two-sided p value of McNemar's exact test.

    Args:
        won: Number of pairs in which only the first is one.
        lost: Number of pairs in which only the second is.
    """
    return min(1.0, 2 * float(special.bdtr(min(won, lost), won + lost, 0.5)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values adjusted for their number (Holm, Scandinavian Journal of Statistics 6, 1979, 65-70)."""
    # Not statsmodels' own function, which has the garbage collected at every call.
    adjusted, greatest = [0.0] * len(p_values), 0.0
    for rank, position in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        greatest = max(greatest, p_values[position] * (len(p_values) - rank))
        adjusted[position] = min(greatest, 1.0)
    return adjusted


def z_power(effect: float, n: float, alpha: float) -> float:
    """Return the power of a two-sided z test of the means of two samples (`NormalIndPower`).

    Args:
        effect: The difference of the means by the standard deviation, above 0.
        n: Number of values of each sample.
        alpha: The level of the test.
    """
    # It takes a second to import, and has no types.
    statistics: Any = import_module("statsmodels.stats.power")
    return float(statistics.NormalIndPower().power(effect, n, alpha))
