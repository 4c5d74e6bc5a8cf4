"""Permutation tests of pairs, clustered as the items were drawn."""

from collections.abc import Hashable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from scipy import stats

RESAMPLES = 9999  # beyond 13 clusters; with fewer, all sign changes are gone through


def sign_flipped(differences: Sequence[float], clusters: Sequence[Hashable]) -> float:
    """Return the two-sided p value of a sign-flip permutation test of paired differences.

    Where the two sides of a pair could as well be exchanged, the sign of each difference is a toss of a coin (Fisher,
    The Design of Experiments, 1935, section 21). What was drawn together is exchanged together: it is the signs of
    clusters' sums that are flipped (`scipy.stats.permutation_test`). Sampled flips are the same ones each time.

    Args:
        differences: The differences.
        clusters: Of each, what it was drawn with.

    Returns:
        The p value; 1 where the sums of all clusters, or of all but one, are 0.
    """
    sums: dict[Hashable, float] = {}
    for difference, cluster in zip(differences, clusters, strict=True):
        sums[cluster] = sums.get(cluster, 0.0) + difference
    flipped = np.array([total for total in sums.values() if total], dtype=np.float64)
    if len(flipped) < 2:
        return 1.0

    def statistic(sample: Any, axis: int) -> Any:
        return np.sum(sample, axis=axis)

    found: Any = stats.permutation_test(
        (flipped,),
        statistic,
        permutation_type="samples",
        vectorized=True,
        n_resamples=RESAMPLES,
        batch=1000,
        rng=np.random.default_rng(0),
    )
    return float(found.pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values adjusted for their number by Holm's procedure (Scandinavian Journal of Statistics 6, 1979)."""
    if not p_values:
        return []
    tests: Any = import_module("statsmodels.stats.multitest")  # seconds to import
    return [float(each) for each in tests.multipletests(list(p_values), method="holm")[1]]
