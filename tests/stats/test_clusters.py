"""Means over clusters of unequal size: the error by matrices, and how often intervals hold the truth."""

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.unequal_clusters import KINDS, mean_coverage, paired_coverage
from waybench.results.stats import clustered_mean
from waybench.results.stats._intervals import robust_mean, satterthwaite_freedom

Matrix = NDArray[np.float64]


def by_matrices(values: Matrix, clusters: Matrix) -> tuple[float, float]:
    """Return the CR2 variance of a mean and its degrees of freedom (Bell and McCaffrey, 2002), from the definition."""
    count = len(values)
    ones = np.ones((count, 1))
    residual = np.eye(count) - ones @ ones.T / count
    parts: list[Matrix] = []
    variance = 0.0
    for cluster in np.unique(clusters):
        own = np.flatnonzero(clusters == cluster)
        eigenvalues, vectors = np.linalg.eigh(residual[np.ix_(own, own)])
        adjusted = vectors @ np.diag(np.maximum(eigenvalues, 0) ** -0.5) @ vectors.T
        variance += float((ones[own].T @ adjusted @ (residual @ values)[own])[0]) ** 2 / count**2
        parts.append((residual[:, own] @ adjusted @ ones[own])[:, 0] / count)
    products = np.array(parts) @ np.array(parts).T
    return variance, float(np.trace(products) ** 2 / (products**2).sum())


@pytest.mark.parametrize("sizes", [[5, 5, 5, 5], [1, 2, 3], [12, 1, 1, 2, 3, 5], [30, 6, 6, 6, 6, 6]])
def test_the_error_is_that_of_the_matrices(sizes: list[int]) -> None:
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    values = np.random.default_rng(sizes).normal(size=len(clusters)) + clusters
    variance, freedom = by_matrices(values, clusters.astype(np.float64))
    found = robust_mean(np.bincount(clusters, weights=values), np.array(sizes, dtype=np.float64))
    assert found is not None
    assert found.error**2 == pytest.approx(variance)
    assert found.freedom == pytest.approx(freedom)
    assert satterthwaite_freedom(np.array(sizes, dtype=np.float64)) == pytest.approx(freedom)


def test_one_cluster_with_everything_gives_no_interval() -> None:
    found = clustered_mean([3.0, 0.0, 0.0], "abc", sizes=[4.0, 0.0, 0.0])
    assert found is not None
    assert (found.value, found.low, found.high) == (0.75, None, None)


# Seven clusters are what a set of ten text maps can lose, and 53 are MANGO's maps.
@pytest.mark.parametrize("clusters", [5, 10, 20, 53])
def test_intervals_hold_the_mean_where_one_map_has_half_of_the_items(clusters: int) -> None:
    for kind in KINDS:
        assert mean_coverage(kind, clusters, 300) >= 0.92 - 2 * (0.92 * 0.08 / 300) ** 0.5, kind


@pytest.mark.parametrize("clusters", [5, 10, 20, 53])
def test_intervals_hold_the_difference_where_one_map_has_half_of_the_items(clusters: int) -> None:
    for kind in KINDS:
        assert paired_coverage(kind, clusters, 200) >= 0.92 - 2 * (0.92 * 0.08 / 200) ** 0.5, kind
