"""The measure of a group of episodes, where one number is needed."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from waybench.analysis.estimates._estimates import Estimate
from waybench.analysis.results import Row
from waybench.core import Aggregate, Environment, EpisodeRecord, Metric, Series
from waybench.envs import registry
from waybench.stats import LostAttempts, Mean


@dataclass(frozen=True, slots=True)
class Measure:
    """The headline metric, or the mean of the first series where a teacher played in place of the player.

    Attributes:
        metric: Its title, bounds, unit and direction.
        series: The series' name; "" if it is none.
        aggregate: The aggregate's name, where a set is judged by one; "" otherwise. No episode has a value then.
    """

    metric: Metric
    series: str = ""
    aggregate: str = ""

    def mean(self, estimate: Estimate) -> Mean | None:
        """Return its mean: of the best attempts for a metric, over the steps for a series."""
        if self.aggregate:
            return estimate.aggregates.get(self.aggregate)
        if not self.series:
            return estimate.best
        curve = estimate.curves.get(self.series)
        return curve.average if curve else None

    def lost(self, estimate: Estimate) -> LostAttempts | None:
        """Return the attempts that its mean lacks, also where that has no value; None if it lacks none."""
        mean = self.mean(estimate)
        return estimate.lost if mean is None else mean.lost

    def value(self, row: Row) -> float | None:
        """Return its value in one episode."""
        if self.aggregate:
            return None
        if not self.series:
            return row.metrics[self.metric.name]
        numbers = row.series.get(self.series)
        return fmean(numbers) if numbers else None


def measure(env: Environment[Any, Any, Any], guided: bool) -> Measure:
    """Return the measure of an environment's episodes.

    Args:
        env: The environment.
        guided: Whether a teacher's actions were carried out, so that how the episode went is the teacher's merit.
    """
    if guided and env.scoring.series:
        return Measure(as_metric(env.scoring.series[0]), env.scoring.series[0].name)
    return Measure(env.scoring.metrics[0])


def measures(env: Environment[Any, Any, Any], guided: bool) -> list[Measure]:
    """Return the measures of an environment's sets of episodes: `measure`, and without a teacher the aggregates."""
    of_sets = [] if guided else [Measure(as_metric(one), aggregate=one.name) for one in env.scoring.aggregates]
    return [measure(env, guided), *of_sets]


def as_metric(one: Series | Aggregate) -> Metric:
    """Return a series' mean over an episode, or an aggregate of one episode alone, as a metric."""

    def mean(record: EpisodeRecord) -> float | None:
        if isinstance(one, Series):
            numbers = one.of(record)
            return fmean(numbers) if numbers else None
        values = [value for metric in one.metrics if (value := metric.of(record)) is not None]
        return one.of(values) if len(values) == len(one.metrics) else None

    return Metric(
        name=one.name,
        of=mean,
        title=one.title,
        unit=one.unit if isinstance(one, Aggregate) else "",
        low=one.low,
        high=one.high,
        range=one.range if isinstance(one, Series) else None,
        unbounded=one.unbounded if isinstance(one, Series) else "",
        better=one.better,
        doc=one.doc,
        sample_size=one.sample_size if isinstance(one, Aggregate) else None,
    )


def merit(estimates: Sequence[Estimate]) -> tuple[float, float]:
    """Return a sort key of a group over all its levels; greater is better.

    Levels that were not run add nothing: a ladder ends where nothing was reached. Where lower is better, the distance
    from the worst possible value counts. Where there is no worst value, the number of levels comes first.
    """
    total, levels = 0.0, 0.0
    for estimate in estimates:
        measured = measure(registry.load(estimate.group.env), estimate.guided)
        metric, mean = measured.metric, measured.mean(estimate)
        if mean is None:
            continue
        if metric.better != "lower":
            total += mean.value
        elif metric.high is not None:
            total += metric.high - mean.value
        else:
            levels, total = levels + 1, total - mean.value
    return levels, total
