"""What a group of episodes is judged by, where one number has to do."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from waybench.analysis._estimates import Estimate
from waybench.analysis._intervals import Mean
from waybench.analysis._rows import Row
from waybench.core import Environment, EpisodeRecord, Metric, Series
from waybench.envs import registry


@dataclass(frozen=True, slots=True)
class Measure:
    """The headline metric, or the mean of the first series where a teacher played and the player was only asked.

    Attributes:
        metric: Its title, bounds, unit and direction.
        series: The series' name; "" if it is a metric.
    """

    metric: Metric
    series: str = ""

    def mean(self, estimate: Estimate) -> Mean | None:
        """Return its mean: of the best attempts for a metric, over the steps for a series."""
        if not self.series:
            return estimate.best
        curve = estimate.curves.get(self.series)
        return curve.average if curve else None

    def value(self, row: Row) -> float | None:
        """Return its value in one episode."""
        if not self.series:
            return row.metrics[self.metric.name]
        numbers = row.series.get(self.series)
        return fmean(numbers) if numbers else None


def measure(env: Environment[Any, Any, Any], guided: bool) -> Measure:
    """Return what the episodes of an environment are judged by.

    Args:
        env: The environment.
        guided: Whether a teacher's actions were carried out, so that how the episode went is the teacher's merit.
    """
    if guided and env.series:
        return Measure(as_metric(env.series[0]), env.series[0].name)
    return Measure(env.metrics[0])


def as_metric(series: Series) -> Metric:
    """Return a series' mean over an episode as a metric."""

    def mean(record: EpisodeRecord) -> float | None:
        numbers = series.of(record)
        return fmean(numbers) if numbers else None

    return Metric(
        name=series.name,
        of=mean,
        title=series.title,
        low=series.low,
        high=series.high,
        better=series.better,
        doc=series.doc,
    )


def merit(estimates: Sequence[Estimate]) -> tuple[float, float]:
    """Return how good a group is over all its levels, to compare two of one environment: the greater the better.

    Levels that were not run add nothing, for what ends a ladder is that nothing was reached. So where lower is better,
    what counts is how far a value is from the worst one possible, and where none is the worst, the number of levels
    comes first.
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
