"""The value of a metric in each cluster: for example, in each map of a set of questions about maps."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from waybench.stats import Mean, clustered_mean

C = TypeVar("C", bound=Hashable)


class ClusterValue(NamedTuple):
    """The value of a metric in one cluster.

    Attributes:
        value: The mean of its items' values, or the sum of these over the sum of what they are shares of.
        items: Number of items that have a value.
    """

    value: float
    items: int


def cluster_values(
    clusters: Iterable[C], values: Iterable[float], sizes: Sequence[float] | None = None
) -> dict[C, ClusterValue]:
    """Return the values of each cluster.

    Args:
        clusters: Of each value, its cluster.
        values: The values.
        sizes: What each value is a share of, above 0; by default 1.
    """
    found: dict[C, tuple[float, float, int]] = {}
    given = list(values)
    for cluster, value, size in zip(clusters, given, sizes or [1.0] * len(given), strict=True):
        total, whole, items = found.get(cluster, (0.0, 0.0, 0))
        found[cluster] = total + value, whole + size, items + 1
    return {cluster: ClusterValue(total / whole, items) for cluster, (total, whole, items) in found.items()}


def macro(of_clusters: Mapping[C, ClusterValue], low: float | None, high: float | None) -> Mean | None:
    """Return the mean over clusters, all with the same weight, whatever their number of items.

    Clusters are independent, so the interval is that of a plain mean over them; `n` is their number. None without any.

    Args:
        of_clusters: The value of each.
        low: The least value possible, None if unbounded.
        high: The greatest value possible, None if unbounded.
    """
    return clustered_mean([figure.value for figure in of_clusters.values()], list(of_clusters), low, high)
