"""Attempts whose results are lost, and the bounds of every number over all results that they could have had."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from waybench.analysis.results import UNCONFIRMED, UNFINISHED, ItemKey, Row, at_items, key_of
from waybench.core import End, Metric, Range
from waybench.stats import LostAttempts, Mean

Items = Mapping[ItemKey, Sequence[Row]]


@dataclass(frozen=True)
class LostRows:
    """The attempts of a group whose results are lost, and its attempts by item with the extremes in their place.

    Attributes:
        lost: Number of lost attempts: ended by an infrastructure error, stopped before their end, or not confirmed by a
            new simulation.
        planned: Number of all attempts, these included.
        filled: The attempts by item, with the least and with the greatest results of the lost ones. Where the best
            attempt is an item's score, twice each: a perfect attempt is the last one, so that it matters whether a
            lost one was perfect. Attempts that a new simulation does not confirm may have been changed for the better:
            they have the worst result in all of them.
        unbounded: Names of the metrics without a least value, and of those without a greatest one.
    """

    lost: int
    planned: int
    filled: Sequence[Items]
    unbounded: tuple[frozenset[str], frozenset[str]]

    def attempts(self, mean_of: Callable[[Items], Mean | None], metrics: Iterable[Metric] = ()) -> LostAttempts:
        """Return the lost attempts with the bounds of a number.

        Args:
            mean_of: Attempts by item -> the number, which grows, or falls, with each of its metrics.
            metrics: Its metrics.
        """
        values = [mean.value for items in self.filled if (mean := mean_of(items)) is not None]
        names = {metric.name for metric in metrics}
        open_low, open_high = (not values or not names.isdisjoint(unbounded) for unbounded in self.unbounded)
        return LostAttempts(
            self.lost, self.planned, None if open_low else min(values), None if open_high else max(values)
        )

    def episodes(self, mean: Mean | None, bounds: Range) -> LostAttempts:
        """Return the lost attempts with the bounds of a mean over episodes, each with the same weight.

        Args:
            mean: The mean of the episodes with a result; None without any.
            bounds: The least and the greatest value possible of an episode; None if there is none.
        """
        value, n = (mean.value, mean.n) if mean else (0.0, 0)
        lowest, highest = (None if end is None else (n * value + self.lost * end) / (n + self.lost) for end in bounds)
        return LostAttempts(self.lost, self.planned, lowest, highest)


def lost_rows(rows: Sequence[Row], metrics: Sequence[Metric], *, best_of: bool) -> LostRows | None:
    """Return the lost attempts of a group; None if there are none.

    Args:
        rows: The rows of one group.
        metrics: Its environment's metrics, the headline metric first, with their bounds over these rows.
        best_of: Whether the best attempt at an item is its score (`Scoring.best_of`).
    """
    included = {(key_of(row), row.attempt) for row in rows if row.is_included}
    possible = [row for row in rows if row.is_included or _is_lost(row, included)]
    lost = [row for row in possible if not row.is_included]
    if not lost:
        return None
    sizes = {metric.name: _usual_size(metric, possible) for metric in metrics if metric.per is not None}
    unbounded = tuple(
        frozenset(metric.name for metric in metrics if any(_bound(row, metric, side) is None for row in lost))
        for side in (0, 1)
    )
    filled = [
        at_items(
            row if row.is_included else _filled(row, metrics, sizes, side, is_perfect=is_perfect) for row in possible
        )
        for side in (0, 1)
        for is_perfect in ((False, True) if best_of else (None,))
    ]
    return LostRows(len(lost), len(possible), filled, (unbounded[0], unbounded[1]))


def _is_lost(row: Row, included: set[tuple[ItemKey, int]]) -> bool:
    if row.exclusion_reason == UNFINISHED:  # it may have been played again
        return (key_of(row), row.attempt) not in included
    return row.exclusion_reason == UNCONFIRMED or (row.error and not row.exclusion_reason)


def _usual_size(metric: Metric, rows: Iterable[Row]) -> float:
    """Return what a share of a lost attempt is taken to be a share of: the mean of the others, or 1."""
    known = [size for row in rows if row.is_included and (size := row.sizes.get(metric.name))]
    return math.fsum(known) / len(known) if known else 1.0


def _bound(row: Row, metric: Metric, side: int) -> float | None:
    if row.exclusion_reason == UNCONFIRMED and metric.better:
        side = 1 if metric.better == "lower" else 0
    if metric.per is not None:
        return metric.bounds[side]
    return row.ranges.get(metric.name, (metric.low, metric.high))[side]


def _filled(
    row: Row, metrics: Sequence[Metric], sizes: Mapping[str, float], side: int, *, is_perfect: bool | None
) -> Row:
    """Return a lost row with the least (0) or the greatest (1) values that its episode can have.

    Args:
        row: The row.
        metrics: The metrics, the headline metric first.
        sizes: What a share is a share of.
        side: Which values.
        is_perfect: Whether its headline value is the best possible, which ends the attempts at an item; None where
            nothing does.
    """
    values = {metric.name: _bound(row, metric, side) for metric in metrics}
    values = {
        name: value if value is None or name not in sizes else value * sizes[name] for name, value in values.items()
    }
    head, solved = metrics[0], bool(side) and row.exclusion_reason != UNCONFIRMED
    best = 0 if head.better == "lower" else 1
    ceiling, floor = (_bound(replace(row, exclusion_reason=""), head, end) for end in (best, 1 - best))
    if is_perfect is not None and ceiling is not None and row.exclusion_reason != UNCONFIRMED:
        if is_perfect:
            values[head.name] = ceiling
        elif values[head.name] == ceiling:  # as good as it can be without being the last attempt
            values[head.name] = math.nextafter(ceiling, ceiling - 1 if floor is None else floor)
    return replace(
        row,
        error=False,
        exclusion_reason="",
        end=str(End.SOLVED if solved else End.FAILED),
        succeeded=solved,
        metrics=values,
        sizes={name: size for name, size in sizes.items() if values[name] is not None},
    )
