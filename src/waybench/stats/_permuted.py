"""Permutation tests of pairs, clustered as the items were drawn, and p values of several tests."""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from waybench.core import Stream

# Up to so many clusters that differ all sign changes are gone through, beyond it so many at random.
EXACT_CLUSTERS = 16
RESAMPLES = 19_999
LEAST = 2 / (RESAMPLES + 1)  # the least p value that so many can give
_AT_A_TIME = 2_000  # which bounds the memory that they take


def cluster_sums(differences: Sequence[float], clusters: Sequence[Hashable]) -> NDArray[np.float64]:
    """Return the sums of differences in each cluster, without those that are 0."""
    sums: dict[Hashable, float] = {}
    for difference, cluster in zip(differences, clusters, strict=True):
        sums[cluster] = sums.get(cluster, 0.0) + difference
    # What is left of 0.1 + 0.2 - 0.3 is no difference.
    least = 1e-12 * max(map(abs, differences), default=0.0)
    return np.array([total for total in sums.values() if abs(total) > least], dtype=np.float64)


def sign_flipped(differences: Sequence[float], clusters: Sequence[Hashable]) -> float:
    """Return the two-sided p value of a sign-flip permutation test of paired differences.

    Where the two sides of a pair could as well be exchanged, the sign of each difference is a toss of a coin (Fisher,
    The Design of Experiments, 1935, section 21). What was drawn together is exchanged together: it is the signs of
    clusters' sums that are flipped (`scipy.stats.permutation_test`). Sampled flips are the same ones each time.

    Args:
        differences: The differences.
        clusters: The cluster of each.

    Returns:
        The p value; 1 where the sums of all clusters, or of all but one, are 0.
    """
    flipped = cluster_sums(differences, clusters)
    if len(flipped) < 2:
        return 1.0
    result = stats.permutation_test(
        (flipped,),
        _total,
        permutation_type="samples",
        vectorized=True,
        n_resamples=2**EXACT_CLUSTERS if len(flipped) <= EXACT_CLUSTERS else RESAMPLES,
        batch=_AT_A_TIME,
        rng=np.random.default_rng(Stream("analysis", "sign-flip").word()),
    )
    return min(1.0, float(result.pvalue))


def _total(sample: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    return sample.sum(axis=axis)
