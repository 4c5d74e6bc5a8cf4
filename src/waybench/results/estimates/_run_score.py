"""The one number of a run, as other tools show it: a score from 0 to 100 over all that one model played."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from waybench.core import Metric, Range
from waybench.results.estimates._estimates import Estimate, overall
from waybench.results.estimates._mean_scores import CEILING, Score, mean_score, percent_score
from waybench.results.estimates._measures import headline_spec
from waybench.results.results import Cluster, ItemKey, Row, RunKey, exclude, group_by, group_by_item, item_key
from waybench.results.results._rows import headline_values
from waybench.results.stats import LostAttempts
from waybench.results.stats._cells import Cell

_Bounds = Mapping[tuple[RunKey, ItemKey], Range]


class RunScore(NamedTuple):
    """The score of a run.

    Attributes:
        score: From 0, the floor or the worst value possible, to 100; None where no attempt has a value.
        n: Attempts with a result.
        planned: All attempts, those included whose results are lost.
    """

    score: Score | None
    n: int
    planned: int


def run_score(rows: Sequence[Row], bounds: Sequence[Range]) -> RunScore:
    """Return the score of one model's run: the mean over its environments, and over the settings of each.

    The score of one setting is one of three. With floor and ceiling: the normalised score. With two bounds of the
    headline metric: the mean of items, rescaled from these bounds to 0 to 100, with its interval. Otherwise: the raw
    mean, which is left out if another setting has a score of 0 to 100. Where results decided what was played, as in a
    search or in a comparison that ends once it is decided, there is no interval.

    Args:
        rows: The rows of the run, in order, with the references that are known (`ReferenceLookup`).
        bounds: Of each row, the least and the greatest value of its headline metric (`Scoring.headline_bounds`).
    """
    marked_rows = exclude(rows)
    bounds_by_item = {(row.group, item_key(row)): ends for row, ends in zip(marked_rows, bounds, strict=True)}
    by_group = group_by(marked_rows, lambda row: row.group)
    estimates = overall(marked_rows)
    results = [
        (estimate.group, *_setting_score(estimate, by_group[estimate.group], bounds_by_item)) for estimate in estimates
    ]
    has_rescaled = any(score is not None and is_rescaled for _, score, is_rescaled in results)
    # A raw mean is on another scale than scores from 0 to 100.
    scores = [(group, score) for group, score, is_rescaled in results if score and (is_rescaled or not has_rescaled)]
    by_environment = group_by(scores, lambda pair: (pair[0].env, pair[0].separate_by)).values()
    means = [mean for pairs in by_environment if (mean := _mean_of_scores([score for _, score in pairs]))]
    return RunScore(
        _mean_of_scores(means),
        sum(estimate.attempts for estimate in estimates),
        sum(estimate.n_planned for estimate in estimates),
    )


def _mean_of_scores(scores: Sequence[Score]) -> Score | None:
    """Return the mean of scores; None without scores.

    Without an interval if one of several scores lacks the cells (values by cluster) from which the mean's comes.
    """
    if len(scores) < 2:
        return scores[0] if scores else None
    if all(score.cells for score in scores):
        return mean_score(scores)
    return Score(value=math.fsum(score.value for score in scores) / len(scores), low=None, high=None)


def _setting_score(estimate: Estimate, rows: Sequence[Row], bounds: _Bounds) -> tuple[Score | None, bool]:
    """Return the score of one environment with one setting, None without a value, and whether its scale is 0 to 100."""
    is_adaptive = any(row.adaptive for row in rows)
    if estimate.rescaled is not None and not is_adaptive:
        return percent_score(estimate.rescaled, estimate.counts), True
    environment = estimate.group.environment
    headline = headline_spec(environment, estimate.guided)
    items = group_by_item(rows)
    if headline.series:
        pairs = [(row.cluster, headline.value(row)) for attempts in items.values() for row in attempts]
        series_bounds = estimate.ranges[headline.series]
        values = [_Value(cluster, value, 1.0, series_bounds) for cluster, value in pairs if value is not None]
    else:
        of_items = headline_values(items, environment.scoring.metrics[0])
        sizes = of_items.sizes or [1.0] * len(of_items.values)
        values = [
            _Value(key.cluster, value, size, bounds[estimate.group, key])
            for (key, value), size in zip(of_items.values.items(), sizes, strict=True)
        ]
    if not values:
        return None, False
    is_rescaled = all(low is not None and high is not None and low < high for _, _, _, (low, high) in values)
    cell = _cell_of_values(headline.metric, values, is_rescaled)
    mean = cell.mean()
    lost = estimate.lost
    if lost is not None and is_rescaled:
        lost = _rescale_lost_attempts(lost, headline.metric, {value.bounds for value in values})
    if is_adaptive or any(row.is_streamed for row in rows):  # the number of items depends on results: no interval
        return Score(value=mean.value, low=None, high=None, lost=lost), is_rescaled
    cells = ((cell, 1.0),)
    return Score(
        value=mean.value, low=mean.low, high=mean.high, lost=lost, cells=cells, counts=estimate.counts
    ), is_rescaled


class _Value(NamedTuple):
    """The value of an item, its size where it is a share, and its bounds."""

    cluster: Cluster
    value: float
    size: float
    bounds: Range


def _cell_of_values(metric: Metric, values: Sequence[_Value], is_rescaled: bool) -> Cell:
    """Return the cell of item values, as per cent of their bounds if `is_rescaled`."""
    clusters, sizes = [value.cluster for value in values], [value.size for value in values]
    if not is_rescaled:
        return Cell.from_values([value.value for value in values], clusters, *metric.interval_bounds, sizes)
    shares = [item.size * metric.normalized_value(item.value / item.size, item.bounds) for item in values]
    return Cell.from_values(shares, clusters, 0.0, None if metric.far_bounds else 1.0, sizes).scaled(CEILING)


def _rescale_lost_attempts(lost: LostAttempts, metric: Metric, bounds: set[Range]) -> LostAttempts:
    """Return lost attempts with their bounds in per cent; without bounds where items have different ones."""
    low, high = next(iter(bounds))
    if len(bounds) > 1 or low is None or high is None:
        return replace(lost, lowest=None, highest=None)
    worst, best = (high, low) if metric.better == "lower" else (low, high)
    return lost.scaled(CEILING / (best - worst), worst)
