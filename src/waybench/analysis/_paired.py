"""Two sets of values at the same items, compared item by item: the mean difference, and whether there is one."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from waybench.analysis._items import ItemKey
from waybench.core import Metric
from waybench.stats import CONFIDENCE, EXACT_CLUSTERS, Mean, cluster_sums, clustered_mean, mcnemar, sign_flipped


class PairedTest(NamedTuple):
    """A test of whether two players differ.

    Attributes:
        p: The two-sided p value.
        method: "mcnemar" or "sign-flip".
        exact: Whether all cases were gone through, and not a sample of them.
    """

    p: float
    method: str
    exact: bool


def mean_difference(
    new: Mapping[ItemKey, float], old: Mapping[ItemKey, float], metric: Metric, confidence: float = CONFIDENCE
) -> Mean | None:
    """Return the mean over the items that are in both of the new value minus the old one, with an interval for pairs.

    Args:
        new: Values of a metric by item.
        old: Others.
        metric: The metric.
        confidence: The interval's confidence.

    Returns:
        The mean; None if no item is in both.
    """
    both = [key for key in new if key in old]
    return difference(
        [new[key] for key in both],
        [old[key] for key in both],
        [key.cluster for key in both],
        # A set's figure may be a share of something, an item's value is not: its bounds are the metric's own.
        metric.low,
        metric.high,
        confidence,
    )


def difference(
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
        clusters: Of each pair, what it was drawn with.
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


def differ(new: Sequence[float], old: Sequence[float], clusters: Sequence[Hashable]) -> PairedTest:
    """Test whether two sets of values at the same items differ, two-sided.

    Where each cluster is a single pair and no more than two values occur, such as solved and not, it is McNemar's test
    in its exact form, of the pairs that differ (McNemar, Psychometrika 12, 1947). Otherwise it is a permutation test of
    the clusters' signs (`sign_flipped`), of all changes of sign where few clusters differ.

    Args:
        new: Values.
        old: The others, in the same order.
        clusters: Of each pair, what it was drawn with.
    """
    apart = _apart(new, old)
    single = len(set(clusters)) == len(clusters)
    if single and len({*new, *old}) <= 2:
        won, lost = int((apart > 0).sum()), int((apart < 0).sum())
        return PairedTest(mcnemar(won, lost), "mcnemar", True)
    exact = len(cluster_sums(apart.tolist(), clusters)) <= EXACT_CLUSTERS
    return PairedTest(sign_flipped(apart.tolist(), clusters), "sign-flip", exact)
