"""Matches a run's results with published rows."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from waybench.analysis.estimates import Estimate, as_metric
from waybench.analysis.results import Group, labels
from waybench.core import Metric, UsageError
from waybench.envs import registry
from waybench.papers import MEAN, Paper, PaperTable, PublishedBlock, PublishedRow
from waybench.stats import Mean


class Result(NamedTuple):
    """The results of one model of a run.

    Attributes:
        group: The model with its settings.
        label: Its name, with the settings that tell it apart.
        items: Number of items that the means are of, the largest.
        means: The means, in the order of the columns; None where one is not defined.
    """

    group: Group
    label: str
    items: int
    means: tuple[Mean | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """Published rows of one setting, and the results of a run in the same setting.

    Attributes:
        paper: The paper.
        table: Its table.
        block: The rows.
        metrics: The metrics, which are the columns: those of the block, then how many answers these leave out.
        results: The results, models first; none where nothing of the setting was run.
    """

    paper: Paper
    table: PaperTable
    block: PublishedBlock
    metrics: tuple[Metric, ...]
    results: tuple[Result, ...]

    @property
    def rows(self) -> list[PublishedRow]:
        """The published rows of all items together; those of single maps are left out."""
        unknown = (None,) * (len(self.metrics) - len(self.block.metrics))
        return [row._replace(values=row.values + unknown) for row in self.block.rows if not row.cluster]


def metric_of(env: str, name: str) -> Metric:
    """Return a metric of an environment, or an aggregate or a series as one.

    Raises:
        UsageError: If it has none of this name.
    """
    scoring = registry.load(env).scoring
    for metric in (*scoring.metrics, *map(as_metric, (*scoring.aggregates, *scoring.series))):
        if metric.name == name:
            return metric
    raise UsageError(f"{env} has no metric {name!r}")


def label_of(row: PublishedRow) -> str:
    """Return the name of a published row."""
    return f"{row.model}, where {row.versus} answered too" if row.versus else row.model


def beside(
    levels: Sequence[Estimate], totals: Sequence[Estimate], tables: Iterable[tuple[Paper, PaperTable]]
) -> Iterator[Beside]:
    """Yield the published means of some tables with the results that stand beside them.

    Args:
        levels: The estimates by level.
        totals: Those over all levels.
        tables: The tables, each with its paper.
    """
    names = labels(total.group for total in totals)
    for paper, table in tables:
        for block in table.published:
            if block.statistic != MEAN:
                continue
            fitting = [
                each
                for each in (totals if block.level is None else levels)
                if each.level == block.level and block.fits(each.group.env, each.group.settings)
            ]
            fitting.sort(key=lambda each: each.group.embedded)
            metrics = [metric_of(block.env, name) for name in block.metrics]
            metrics += [metric_of(block.env, name) for name in dict.fromkeys(one.left_out for one in metrics) if name]
            results = [_result(each, names[each.group], metrics) for each in fitting]
            yield Beside(paper=paper, table=table, block=block, metrics=tuple(metrics), results=tuple(results))


def _result(estimate: Estimate, label: str, metrics: Sequence[Metric]) -> Result:
    means = tuple(number_of(estimate, metric.name) for metric in metrics)
    # A metric of easy questions, for example, is of fewer items than were played.
    left_out = {metric.left_out for metric in metrics}
    counts = [mean.n for mean, metric in zip(means, metrics, strict=True) if mean and metric.name not in left_out]
    items = max(counts, default=estimate.items)
    return Result(estimate.group, label, items, means)


def number_of(estimate: Estimate, name: str) -> Mean | None:
    """Return the estimate of a metric or an aggregate, or of a series over all of its steps."""
    curve = estimate.curves.get(name)
    return estimate.number(name) or (curve.average if curve else None)
