"""Differences of groups of results on the same items."""

from collections.abc import Mapping

from waybench.analysis._items import ItemKey
from waybench.core import Metric
from waybench.stats import Mean, paired_difference


def mean_difference(new: Mapping[ItemKey, float], old: Mapping[ItemKey, float], metric: Metric) -> Mean | None:
    """Return the mean over the items that are in both of the new value minus the old one, with a paired interval.

    Args:
        new: Values of a metric by item.
        old: Others.
        metric: The metric. An item's value lies between its own bounds, also where a set's is a share of something.

    Returns:
        The mean; None if no item is in both.
    """
    both = [key for key in new if key in old]
    pairs = [new[key] for key in both], [old[key] for key in both]
    return paired_difference(*pairs, [key.cluster for key in both], metric.low, metric.high)
