"""Values by cluster, curves, repeats, explanatory variables, and bounds where attempts are lost."""

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum, sqrt
from statistics import fmean, stdev
from typing import NamedTuple

from waybench.core import End, EpisodeRecord, Metric, Range
from waybench.results.results import (
    UNCONFIRMED,
    UNFINISHED,
    Cluster,
    GroupResult,
    ItemKey,
    Row,
    RunKey,
    group_by,
    group_by_item,
    item_key,
    metric_values,
)
from waybench.results.results._rows import ItemValues
from waybench.results.stats import IntervalEstimate, LostAttempts, clustered_mean

Items = Mapping[ItemKey, Sequence[Row]]
Variables = Mapping[str, float | None]


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

    def lost_attempts_of_item_mean(
        self, mean_of: Callable[[Items], IntervalEstimate | None], metrics: Iterable[Metric] = ()
    ) -> LostAttempts:
        """Return the lost attempts with the least and greatest mean over items, as computed by `mean_of`."""
        values = [mean.value for items in self.filled if (mean := mean_of(items)) is not None]
        names = {metric.name for metric in metrics}
        has_least, has_greatest = (bool(values) and names.isdisjoint(unbounded) for unbounded in self.unbounded)
        return LostAttempts(
            self.lost, self.planned, min(values) if has_least else None, max(values) if has_greatest else None
        )

    def lost_attempts_of_episode_mean(self, mean: IntervalEstimate | None, bounds: Range) -> LostAttempts:
        """Return the lost attempts with the bounds of a mean over episodes, each with the same weight.

        Args:
            mean: The mean of the episodes with a result; None without any.
            bounds: The least and the greatest value possible of an episode; None if there is none.
        """
        value, n = (mean.value, mean.n) if mean else (0.0, 0)
        lowest, highest = (
            None if bound is None else (n * value + self.lost * bound) / (n + self.lost) for bound in bounds
        )
        return LostAttempts(self.lost, self.planned, lowest, highest)


def lost_rows(rows: Sequence[Row], metrics: Sequence[Metric], *, best_of: bool) -> LostRows | None:
    """Return the lost attempts of a group; None if there are none.

    Args:
        rows: The rows of one group.
        metrics: Its environment's metrics, the headline metric first, with their bounds over these rows.
        best_of: Whether the best attempt at an item is its score (`Scoring.best_of`).
    """
    included = {(item_key(row), row.attempt) for row in rows if row.is_included}
    possible = [row for row in rows if row.is_included or _is_lost(row, included)]
    lost = [row for row in possible if not row.is_included]
    if not lost:
        return None
    sizes = {metric.name: _mean_size(metric, possible) for metric in metrics if metric.per is not None}
    unbounded = tuple(
        frozenset(
            metric.name for metric in metrics if any(_bound_of_lost_value(row, metric, side) is None for row in lost)
        )
        for side in (0, 1)
    )
    filled = [
        group_by_item(
            row if row.is_included else _filled_lost_row(row, metrics, sizes, side, is_perfect=is_perfect)
            for row in possible
        )
        for side in (0, 1)
        for is_perfect in ((False, True) if best_of else (None,))
    ]
    return LostRows(len(lost), len(possible), filled, (unbounded[0], unbounded[1]))


def _is_lost(row: Row, included_attempts: set[tuple[ItemKey, int]]) -> bool:
    """Return whether a row's result is lost; an unfinished attempt is not if it was played again."""
    if row.exclusion_reason == UNFINISHED:  # it may have been played again
        return (item_key(row), row.attempt) not in included_attempts
    return row.exclusion_reason == UNCONFIRMED or (row.error and not row.exclusion_reason)


def _mean_size(metric: Metric, rows: Iterable[Row]) -> float:
    """Return the mean denominator of a share metric over the included rows; 1 without any."""
    sizes = [size for row in rows if row.is_included and (size := row.sizes.get(metric.name))]
    return math.fsum(sizes) / len(sizes) if sizes else 1.0


def _bound_of_lost_value(row: Row, metric: Metric, side: int) -> float | None:
    """Return the least (side 0) or greatest (1) value of a metric in a lost row; if unconfirmed, the worst in both."""
    if row.exclusion_reason == UNCONFIRMED and metric.better:
        side = 1 if metric.better == "lower" else 0
    if metric.per is not None:
        return metric.bounds[side]
    return row.ranges.get(metric.name, (metric.low, metric.high))[side]


def _filled_lost_row(
    row: Row, metrics: Sequence[Metric], sizes: Mapping[str, float], side: int, *, is_perfect: bool | None
) -> Row:
    """Return a lost row with the least (side 0) or greatest (1) values that its episode can have.

    Where the best attempt is an item's score, `is_perfect` says whether the headline value is the best possible one.
    """
    values = {metric.name: _bound_of_lost_value(row, metric, side) for metric in metrics}
    values = {
        name: value if value is None or name not in sizes else value * sizes[name] for name, value in values.items()
    }
    headline, is_solved = metrics[0], bool(side) and row.exclusion_reason != UNCONFIRMED
    best_side = 0 if headline.better == "lower" else 1
    ceiling, floor = (
        _bound_of_lost_value(replace(row, exclusion_reason=""), headline, bound_side)
        for bound_side in (best_side, 1 - best_side)
    )
    if is_perfect is not None and ceiling is not None and row.exclusion_reason != UNCONFIRMED:
        if is_perfect:
            values[headline.name] = ceiling
        elif values[headline.name] == ceiling:  # as good as it can be without being the last attempt
            values[headline.name] = math.nextafter(ceiling, ceiling - 1 if floor is None else floor)
    return replace(
        row,
        error=False,
        exclusion_reason="",
        end=str(End.SOLVED if is_solved else End.FAILED),
        succeeded=is_solved,
        metrics=values,
        sizes={name: size for name, size in sizes.items() if values[name] is not None},
    )


class ClusterValue(NamedTuple):
    """The value of a metric in one cluster.

    Attributes:
        value: The mean of its items' values; for a ratio, the sum of numerators over the sum of denominators.
        items: Number of items that have a value.
    """

    value: float
    items: int


def cluster_values(values: ItemValues) -> dict[Cluster, ClusterValue]:
    """Return the value of a metric in each cluster."""
    sums: dict[Cluster, tuple[float, float, int]] = {}
    sizes = values.sizes or [1.0] * len(values.values)
    for cluster, value, size in zip(values.clusters, values.values.values(), sizes, strict=True):
        total, total_size, items = sums.get(cluster, (0.0, 0.0, 0))
        sums[cluster] = total + value, total_size + size, items + 1
    return {cluster: ClusterValue(total / total_size, items) for cluster, (total, total_size, items) in sums.items()}


def metric_cluster_values(rows: Iterable[Row], metric_names: Collection[str]) -> dict[str, dict[Cluster, ClusterValue]]:
    """Return the values of metrics in each cluster of one group, by the metric's name."""
    items = group_by_item(rows)
    if not items:
        return {}
    metrics = next(iter(items.values()))[0].group.environment.scoring.metrics
    return {
        metric.name: cluster_values(metric_values(items, metrics[0], metric))
        for metric in metrics
        if metric.name in metric_names
    }


def cluster_mean(by_cluster: Mapping[Cluster, ClusterValue], bounds: Range) -> IntervalEstimate | None:
    """Return the mean over clusters, all with the same weight, whatever their number of items.

    Clusters are independent, so the interval is that of a plain mean over them; `n` is their number. None without any.
    """
    return clustered_mean([cluster.value for cluster in by_cluster.values()], list(by_cluster), *bounds)


@dataclass(frozen=True, slots=True)
class Curve:
    """A series of an environment, step by step.

    Attributes:
        steps: The mean at each step, from the first, over the episodes that have it. With a teacher it is PSACC_k of
            AQA-Bench (arXiv:2402.09404, equation 6): each episode has as many steps as the optimal policy takes.
        average: The mean of these means over the steps, each with the same weight (PSACC_avg, equation 7). Its
            interval is that of its linearisation, see `curve_contributions`; n is the number of episodes.
    """

    steps: tuple[IntervalEstimate, ...]
    average: IntervalEstimate

    def with_lost_attempts(self, lost_attempts_of: Callable[[IntervalEstimate], LostAttempts]) -> "Curve":
        """Return the curve with the lost attempts of each of its means."""
        steps = tuple(replace(step, lost=lost_attempts_of(step)) for step in self.steps)
        return Curve(steps, replace(self.average, lost=lost_attempts_of(self.average)))


def mean_curve(
    series: Sequence[Sequence[float]],
    clusters: Sequence[Hashable],
    low: float | None = None,
    high: float | None = None,
) -> Curve | None:
    """Return the means of episodes' series step by step and over all steps, with 95 % intervals (`clustered_mean`).

    Args:
        series: Of each episode, a number for each of its steps; episodes without a step are left out.
        clusters: The cluster of each episode.
        low: The least number possible, None if unbounded.
        high: The greatest number possible, None if unbounded.

    Returns:
        The curve; None if no episode has a step.
    """
    pairs = [(numbers, cluster) for numbers, cluster in zip(series, clusters, strict=True) if numbers]
    steps: list[IntervalEstimate] = []
    for step in range(max((len(numbers) for numbers, _ in pairs), default=0)):
        reached = [(numbers[step], cluster) for numbers, cluster in pairs if step < len(numbers)]
        step_mean = clustered_mean([number for number, _ in reached], [cluster for _, cluster in reached], low, high)
        if step_mean is not None:
            steps.append(step_mean)
    average, contributions = curve_contributions([numbers for numbers, _ in pairs])
    # Pseudo-values: numbers whose plain mean is the average, and whose spread is that of the episodes' contributions.
    pseudo_values = [average + len(contributions) * contribution for contribution in contributions]
    mean = clustered_mean(pseudo_values, [cluster for _, cluster in pairs], low, high)
    return None if mean is None else Curve(tuple(steps), mean)


def curve_contributions(series: Sequence[Sequence[float]]) -> tuple[float, list[float]]:
    """Return the mean of a curve over its steps, and each episode's contribution to this mean.

    With P_k the mean at step k of K, and n_k the number of episodes that have step k, an episode with numbers x_k moves
    the curve's mean by the sum over its steps of (x_k - P_k) / (n_k * K): the linearised ratio of every step (as in
    `clustered_mean`), summed. The contributions sum to 0. Where all n episodes are of one length, the curve's mean
    plus n times a contribution is the episode's own mean.

    Args:
        series: Of each episode, a number for each of its steps.
    """
    n_steps = max(map(len, series), default=0)
    if not n_steps:
        return 0.0, [0.0] * len(series)
    numbers_by_step = [[numbers[step] for numbers in series if step < len(numbers)] for step in range(n_steps)]
    means = [fmean(numbers) for numbers in numbers_by_step]
    n_episodes = [len(numbers) for numbers in numbers_by_step]
    contributions = [
        fsum((number - mean) / n for number, mean, n in zip(numbers, means, n_episodes, strict=False)) / n_steps
        for numbers in series
    ]
    return fmean(means), contributions


class ClusterVariables:
    """The variables of clusters, from episodes that come one at a time.

    They are computed once for each part of a cluster that was shown. If a group was shown different parts of a cluster,
    its variables are the means over its episodes; a variable that is unknown for one of them is unknown.
    """

    def __init__(self) -> None:
        # By environment, cluster, and a text that tells which part of the cluster was shown.
        self._variables: dict[tuple[str, Cluster, str], Variables] = {}
        self._keys: list[tuple[str, Cluster, str] | None] = []  # of each episode; None where no variables are needed

    def add(self, row: Row, record: EpisodeRecord) -> None:
        """Add the next episode."""
        declared = row.group.environment.difficulty.explanatory_variables
        key = None
        if declared is not None and declared.by_metric and row.is_included:
            key = row.group.env, row.cluster, repr(declared.depends_on(record))
            if key not in self._variables:
                self._variables[key] = declared.of(record)
        self._keys.append(key)

    def by_group(self, all_rows: Sequence[Row]) -> dict[RunKey, dict[Cluster, Variables]]:
        """Return, for each group, the variables of every cluster with an included episode.

        Args:
            all_rows: The rows of the episodes, in their order; some may have been excluded since.
        """
        episode_variables = [
            (row, self._variables[key])
            for row, key in zip(all_rows, self._keys, strict=True)
            if key is not None and row.is_included
        ]
        return {
            group: {
                cluster: _mean_variables([values for _, values in variables])
                for cluster, variables in group_by(pairs, lambda pair: pair[0].cluster).items()
            }
            for group, pairs in group_by(episode_variables, lambda pair: pair[0].group).items()
        }


def _mean_variables(variables_of_episodes: Sequence[Variables]) -> Variables:
    """Return the mean of each variable over episodes; None if one episode has none."""
    means: dict[str, float | None] = {}
    for name in variables_of_episodes[0]:
        values = [variables[name] for variables in variables_of_episodes]
        known = [value for value in values if value is not None]
        means[name] = fmean(known) if len(known) == len(values) else None
    return means


@dataclass(frozen=True, slots=True)
class Repeat:
    """One number over several repeats.

    Attributes:
        mean: The mean of the repeats' means.
        error: Its standard error: the repeats' standard deviation divided by the root of their number.
        repeats: Number of repeats.
    """

    mean: float
    error: float
    repeats: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats(GroupResult):
    """The results of one group's repeats, by metric. A repeat is the same attempt at every item.

    The error of a repeat says how much chance in the model's replies moves a score. It says nothing of how other items
    would have come out; the clustered interval of an estimate does.
    """

    metrics: Mapping[str, Repeat]


def repeats_of_groups(all_rows: Iterable[Row]) -> list[Repeats]:
    """Return the metrics over repeats of every group with at least two attempts that were made at all of its items.

    An attempt that is missing at some item (an infrastructure error ended it, or an earlier attempt was perfect) is no
    repeat of the whole, and is left out.
    """
    all_repeats: list[Repeats] = []
    for group, rows in group_by(all_rows, lambda row: row.group).items():
        attempts = list(complete_attempts(rows).values())
        if len(attempts) > 1:
            metrics = group.environment.scoring.metrics
            repeats = {metric.name: repeat for metric in metrics if (repeat := _metric_over_repeats(attempts, metric))}
            all_repeats.append(Repeats(group=group, metrics=repeats))
    return all_repeats


def complete_attempts(rows: Iterable[Row]) -> dict[int, list[Row]]:
    """Return the rows of each attempt that was made at every item of a group, by the attempt's number."""
    all_rows = list(rows)
    items = {(row.level, row.item, row.instance) for row in all_rows if not row.exclusion_reason}
    by_attempt = group_by((row for row in all_rows if row.is_included), lambda row: row.attempt)
    return {number: attempt for number, attempt in sorted(by_attempt.items()) if len(attempt) == len(items)}


def _metric_over_repeats(attempts: Sequence[Sequence[Row]], metric: Metric) -> Repeat | None:
    """Return a metric's mean over repeats with its standard error; None with fewer than two repeats with a value."""
    means: list[float] = []
    for rows in attempts:
        values = [value for row in rows if (value := row.metrics[metric.name]) is not None]
        if metric.per is None:
            means += [fmean(values)] if values else []
        elif values and (size := fsum(row.sizes[metric.name] for row in rows)):
            means.append(fsum(values) / size)
    return Repeat(fmean(means), stdev(means) / sqrt(len(means)), len(means)) if len(means) > 1 else None
