"""Paired values: the mean difference, and a test of whether there is one."""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from waybench.stats._intervals import CONFIDENCE, Mean, clustered_mean
from waybench.stats._permuted import EXACT_CLUSTERS, cluster_sums, sign_flipped
from waybench.stats._statsmodels import mcnemar

ALPHA = 0.05  # level of a test; a p value that is adjusted for several tests is compared with it, too


class PairedTest(NamedTuple):
    """A two-sided test of paired values.

    Attributes:
        p: The two-sided p value.
        method: "mcnemar" or "sign-flip".
        exact: Whether all cases were gone through, and not a sample of them.
    """

    p: float
    method: str
    exact: bool


def paired_difference(
    new: Sequence[float],
    old: Sequence[float],
    clusters: Sequence[Hashable],
    low: float | None = None,
    high: float | None = None,
    confidence: float = CONFIDENCE,
) -> Mean | None:
    """Return the mean of the new values minus the old ones, with an interval for pairs.

    Where all values are at their bounds and each cluster is a single pair, that is a difference of two shares of the
    same items. Its interval is that of Bonett and Price (J. Educational and Behavioral Statistics 37, 2012, 479-488):
    Wald's, after one pair of each kind that differs was added. It has a width also where nothing differs.

    Otherwise it is that of the clusters' mean differences (`clustered_mean`). Where these are all alike, between the
    bounds, they say nothing of how others would differ, but how many others there can be: a share of at most what
    Wilson's interval has for none of them. The interval is then as wide as if so many were at either end.

    Args:
        new: Values.
        old: The others, in the same order.
        clusters: The cluster that each pair was drawn with.
        low: The least value possible, None if unbounded.
        high: The greatest value possible, None if unbounded.
        confidence: The interval's confidence.

    Returns:
        The mean; None without values.
    """
    apart = _apart(new, old)
    size = None if low is None or high is None else high - low
    ends = None if size is None else (-size, size)
    mean = clustered_mean(apart.tolist(), clusters, *(ends or (None, None)), confidence=confidence)
    if mean is None or size is None or ends is None or mean.clusters < 2:
        return mean
    if mean.clusters == mean.n and {*new, *old} <= {low, high}:
        between = _adjusted_wald(apart / size, confidence)
        return replace(mean, low=max(-size, size * between[0]), high=min(size, size * between[1]))
    if mean.low is None:
        none_of_them = stats.binomtest(0, mean.clusters).proportion_ci(confidence, method="wilson").high
        left, right = (mean.value + float(none_of_them) * (end - mean.value) for end in ends)
        return replace(mean, low=left, high=right)
    return mean


def _apart(new: Sequence[float], old: Sequence[float]) -> NDArray[np.float64]:
    return np.asarray(new, dtype=np.float64) - np.asarray(old, dtype=np.float64)


def _adjusted_wald(apart: NDArray[np.float64], confidence: float) -> tuple[float, float]:
    """Return the interval of Bonett and Price (2012), of differences that are -1, 0 or 1."""
    added = np.concatenate([apart, [1.0, -1.0]])
    around = stats.norm.interval(confidence, added.mean(), added.std() / np.sqrt(len(added)))
    return float(around[0]), float(around[1])


def paired_test(new: Sequence[float], old: Sequence[float], clusters: Sequence[Hashable]) -> PairedTest:
    """Test whether two sets of values at the same items differ, two-sided.

    Where each cluster is a single pair and no more than two values occur, such as solved and not, it is McNemar's test
    in its exact form, of the pairs that differ (McNemar, Psychometrika 12, 1947). Otherwise it is a permutation test of
    the clusters' signs (`sign_flip_test`), which is exact where few clusters differ.

    Args:
        new: Values.
        old: The others, in the same order.
        clusters: The cluster that each pair was drawn with.
    """
    apart = _apart(new, old)
    single = len(set(clusters)) == len(clusters)
    if single and len({*new, *old}) <= 2:
        won, lost = int((apart > 0).sum()), int((apart < 0).sum())
        return PairedTest(mcnemar(won, lost), "mcnemar", True)
    return sign_flip_test(new, old, clusters)


def sign_flip_test(new: Sequence[float], old: Sequence[float], clusters: Sequence[Hashable]) -> PairedTest:
    """Return the permutation test of the clusters' signs, whatever the values are (`sign_flipped`).

    Args:
        new: Values.
        old: The others, in the same order.
        clusters: The cluster that each pair was drawn with.
    """
    apart = _apart(new, old).tolist()
    exact = len(cluster_sums(apart, clusters)) <= EXACT_CLUSTERS
    return PairedTest(sign_flipped(apart, clusters), "sign-flip", exact)
