"""Bounds of a score over all possible results of the attempts that were lost."""

from collections.abc import Sequence
from dataclasses import replace
from math import fsum

from waybench.analysis.results import UNCONFIRMED, Row, at_items, headline_values
from waybench.core import Metric


def lost_bounds(rows: Sequence[Row], head: Metric) -> tuple[float, float] | None:
    """Return what a score would be if all lost attempts had been the worst possible, and if all had been the best.

    What infrastructure errors ended can have been anything. What does not replay may have been changed for the better:
    it counts as the worst possible in both bounds.

    Args:
        rows: The rows of one group.
        head: The headline metric, with its bounds over these rows.

    Returns:
        The bounds, the lower one first; None without any such attempt, and where the metric has no two bounds.
    """
    possible = [row for row in rows if row.exclusion_reason in ("", UNCONFIRMED)]
    lost = [row.error or row.exclusion_reason == UNCONFIRMED for row in possible]
    if head.low is None or head.high is None or not any(lost):
        return None
    worst = 1 if head.better == "lower" else 0
    ends: list[float] = []
    for side in (0, 1):
        filled = [
            _filled(row, head, worst if row.exclusion_reason == UNCONFIRMED else side) if is_lost else row
            for row, is_lost in zip(possible, lost, strict=True)
        ]
        found = headline_values(at_items(filled), head)
        if not found.values:
            return None
        ends.append(fsum(found.values.values()) / fsum(found.sizes or [1.0] * len(found.values)))
    return min(ends), max(ends)


def _filled(row: Row, head: Metric, side: int) -> Row:
    """Return a row with the least (0) or the greatest (1) value that its episode can have."""
    value = row.ranges.get(head.name, (head.low, head.high))[side]
    if value is None:
        return row
    return replace(row, error=False, exclusion_reason="", metrics={head.name: value}, sizes={head.name: 1.0})
