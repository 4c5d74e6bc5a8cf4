"""Published rows beside a run's results: matched, as a frame, and for a terminal."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from waybench.core import Metric, UsageError, plural
from waybench.envs import registry
from waybench.results.estimates import Estimate, as_metric
from waybench.results.formatting import NOTHING, align_columns, mean_text, one_line
from waybench.results.frames import Column, Frame, column_data
from waybench.results.papers import MEAN, Numbers, Paper, PaperTable, PublishedBlock, PublishedRow, PublishedValue
from waybench.results.results import RunKey, labels
from waybench.results.stats import IntervalEstimate

__all__ = ["beside"]


class Result(NamedTuple):
    """The results of one model of a run.

    Attributes:
        group: The model with its settings.
        label: Its name, with the settings that tell it apart.
        items: Number of items that the means are of, the largest.
        means: The means, in the order of the columns; None where one is not defined.
    """

    group: RunKey
    label: str
    items: int
    means: tuple[IntervalEstimate | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """Published rows of one setting, and the results of a run in the same setting.

    Attributes:
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
    """Yield the published means of some tables with the results that stand beside them."""
    names = labels(total.group for total in totals)
    for paper, table in tables:
        for block in table.published:
            if block.statistic != MEAN:
                continue
            fitting = [
                estimate
                for estimate in (totals if block.level is None else levels)
                if estimate.level == block.level and block.fits(estimate.group.env, estimate.group.settings)
            ]
            fitting.sort(key=lambda estimate: estimate.group.embedded)
            metrics = [metric_of(block.env, name) for name in block.metrics]
            metrics += [
                metric_of(block.env, name) for name in dict.fromkeys(metric.left_out for metric in metrics) if name
            ]
            results = [_result(estimate, names[estimate.group], metrics) for estimate in fitting]
            yield Beside(paper=paper, table=table, block=block, metrics=tuple(metrics), results=tuple(results))


def _result(estimate: Estimate, label: str, metrics: Sequence[Metric]) -> Result:
    means = tuple(number_of(estimate, metric.name) for metric in metrics)
    # A metric of easy questions, for example, is of fewer items than were played.
    left_out = {metric.left_out for metric in metrics}
    counts = [mean.n for mean, metric in zip(means, metrics, strict=True) if mean and metric.name not in left_out]
    items = max(counts, default=estimate.items)
    return Result(estimate.group, label, items, means)


def number_of(estimate: Estimate, name: str) -> IntervalEstimate | None:
    """Return the estimate of a metric or an aggregate, or of a series over all of its steps."""
    curve = estimate.curves.get(name)
    return estimate.number(name) or (curve.average if curve else None)


_FACTS: tuple[Column[PublishedValue], ...] = (
    Column("paper", str, "The paper, as `waybench reproduce` calls it."),
    Column("table", str, "Its table or figure, likewise."),
    Column("env", str, "The environment whose metric it is."),
    Column("level", int, "The level; null for all."),
    Column("setting", str, "The setting, in words."),
    Column("model", str, "The model, as the paper calls it."),
    Column(
        "versus",
        str,
        "The other model of a pair, where the number is of the questions that both answered.",
        lambda value: value.versus or None,
    ),
    Column("cluster", str, "The map, where the number is of one map.", lambda value: value.cluster or None),
    Column("metric", str, "The metric, series or aggregate, as in the frame of scores."),
    Column(
        "statistic",
        str,
        'What the number is: "mean"; or "margin_min" and "margin_max", how far the mean of several runs is from the '
        "least and the greatest of them.",
    ),
    Column("value", float, "The published number."),
)


def published_frame(papers: Iterable[Paper]) -> Frame:
    """Return the frame of the published numbers of some papers."""
    doc = "One row for each number that a paper publishes. None of them was run here, and none is in any other frame."
    return Frame("published", doc, column_data(_FACTS, [value for paper in papers for value in paper.values()]))


def published_text(tables: Iterable[Beside], numbers: Iterable[Numbers] = ()) -> str:
    """Return plain-text tables: the results of the run and, below a line, the published rows.

    Args:
        tables: The published rows with the results beside them; those without rows of all items are left out.
        numbers: Published numbers that are values of no metric.
    """
    parts = [_table(table) for table in tables if table.rows]
    for counts in numbers:
        lines = [[f"{counts.title}, published (not run here)", *counts.columns]]
        lines += [[name, *(NOTHING if value is None else f"{value:g}" for value in row)] for name, row in counts.rows]
        parts.append(align_columns(lines))
    return "\n\n".join(parts)


def _table(table: Beside) -> str:
    head = f"{registry.load(table.block.env).title}: {table.block.setting}"
    lines = [[head, *(metric.title for metric in table.metrics)]]
    kinds = [""]
    for result in table.results:
        name = f"{one_line(result.label, 60)} ({plural(result.items, 'item')})"
        means = zip(result.means, table.metrics, strict=True)
        lines.append([name, *(mean_text(mean.value if mean else None, metric) for mean, metric in means)])
        kinds.append("run")
    lines.append([f"{table.table.title}, published (not run here):", *("" for _ in table.metrics)])
    kinds.append("published")
    for row in table.rows:
        values = zip(row.values, table.metrics, strict=True)
        lines.append([f"  {label_of(row)}", *(mean_text(value, metric) for value, metric in values)])
        kinds.append("published")
    return align_columns(lines, kinds)
