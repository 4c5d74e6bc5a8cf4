"""Two sets of values at the same items, compared item by item."""

from collections.abc import Mapping

from waybench.analysis._intervals import Mean, clustered_mean
from waybench.analysis._items import ItemKey
from waybench.core import Metric


def mean_difference(new: Mapping[ItemKey, float], old: Mapping[ItemKey, float], metric: Metric) -> Mean | None:
    """Return the mean over the items that are in both of the new value minus the old one, with an interval for pairs.

    Args:
        new: Values of a metric by item.
        old: Others.
        metric: The metric.

    Returns:
        The mean; None if no item is in both.
    """
    both = [key for key in new if key in old]
    size = None if metric.low is None or metric.high is None else metric.high - metric.low
    differences = [new[key] - old[key] for key in both]
    return clustered_mean(differences, [key.cluster for key in both], None if size is None else -size, size)
