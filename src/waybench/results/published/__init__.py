"""Published rows beside a run's results: matched, as a frame, and for a terminal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import NamedTuple

from waybench.core import Metric, UsageError, plural
from waybench.envs import registry
from waybench.results.estimates import Estimate, as_metric
from waybench.results.estimates._difficulty import Spread
from waybench.results.formatting import NOTHING, align_columns, decimals, mean_text, one_line
from waybench.results.frames import Column, Frame, column_data
from waybench.results.papers import (
    MEAN,
    STATISTICS,
    Numbers,
    Paper,
    PaperTable,
    PublishedBlock,
    PublishedRow,
    PublishedValue,
)
from waybench.results.results import RunKey, labels
from waybench.results.stats import IntervalEstimate

__all__ = ["match_published"]


class Result(NamedTuple):
    """The results of one model of a run.

    Attributes:
        group: The model with its settings.
        label: Its name, with the settings that tell it apart.
        sample: What the numbers are of, in words: items, sets or attempts.
        means: The means, in the order of the columns; None where one is not defined. Numbers over sets or attempts have
            no interval.
        statistic: What the numbers are, where means and margins stand in one table; "" elsewhere.
    """

    group: RunKey
    label: str
    sample: str
    means: tuple[IntervalEstimate | float | None, ...]
    statistic: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedMatch:
    """Published rows of one setting, and the results of a run in the same setting.

    Attributes:
        metrics: The metrics, which are the columns: those of the block, then how many answers these leave out.
        rows: The published rows of all items together, each mean followed by its margins; those of single maps are left
            out.
        results: The results, models first; none where nothing of the setting was run.
    """

    paper: Paper
    table: PaperTable
    block: PublishedBlock
    metrics: tuple[Metric, ...]
    rows: tuple[PublishedRow, ...]
    results: tuple[Result, ...]


def find_metric(env: str, name: str) -> Metric:
    """Return an environment's metric of a name, or its aggregate or series of this name as a metric.

    Raises:
        UsageError: If it has none of this name.
    """
    scoring = registry.load(env).scoring
    for metric in (*scoring.metrics, *map(as_metric, scoring.aggregates)):
        if metric.name == name:
            return metric
    for series in scoring.series:
        if series.name == name:  # papers print a series' mean with a teacher alone
            return replace(as_metric(series), title=series.guided_title or series.title)
    raise UsageError(f"{env} has no metric {name!r}")


def row_label(row: PublishedRow) -> str:
    """Return the label of a published row: its model, with the other model and the statistic where it has them."""
    name = f"{row.model}, where {row.versus} answered too" if row.versus else row.model
    return with_statistic(name, row.statistic)


def with_statistic(name: str, statistic: str) -> str:
    """Return a row's name followed by the title of its statistic, such as "Avg"; unchanged without one."""
    return f"{name}, {STATISTICS[statistic]}" if statistic else name


def published_number_text(value: Decimal | str | None) -> str:
    """Return a published number with the digits that the paper prints."""
    if isinstance(value, str):
        return value
    return NOTHING if value is None else f"{value:,f}".replace("-", "−")


def match_published(
    level_estimates: Sequence[Estimate],
    totals: Sequence[Estimate],
    tables: Iterable[tuple[Paper, PaperTable]],
    spreads: Mapping[str, Sequence[Spread]],
) -> Iterator[PublishedMatch]:
    """Yield the published means of some tables, each block with the results of the same setting.

    Args:
        level_estimates: The estimates by level.
        totals: The estimates over all levels.
        tables: The tables.
        spreads: SETS -> the spreads over several sets of items; ATTEMPTS -> those over several attempts.
    """
    names = labels(total.group for total in totals)
    spread_names = labels(spread.group for of_kind in spreads.values() for spread in of_kind)
    for paper, table in tables:
        for block in table.published:
            if block.statistic != MEAN:
                continue
            metrics = [find_metric(block.env, name) for name in block.metrics]
            metrics += [
                find_metric(block.env, name) for name in dict.fromkeys(metric.left_out for metric in metrics) if name
            ]
            rows = list(_published_rows(table, block, len(metrics)))
            results = [
                result
                for spread in spreads.get(block.over, ())
                if spread.level == block.level and block.matches(spread.group.env, spread.group.settings)
                for result in _spread_results(spread, spread_names[spread.group], block, metrics)
            ]
            if not results:
                fitting = [
                    estimate
                    for estimate in (totals if block.level is None else level_estimates)
                    if estimate.level == block.level and block.matches(estimate.group.env, estimate.group.settings)
                ]
                results = [_result_of_estimate(estimate, names[estimate.group], metrics) for estimate in fitting]
            results.sort(key=lambda result: result.group.embedded)
            yield PublishedMatch(
                paper=paper, table=table, block=block, metrics=tuple(metrics), rows=tuple(rows), results=tuple(results)
            )


def _published_rows(table: PaperTable, block: PublishedBlock, n_columns: int) -> Iterator[PublishedRow]:
    """Yield the rows of a block of means, each followed by the rows of its margins."""
    unknown = (None,) * (n_columns - len(block.metrics))
    setting = block.env, block.level, block.setting, block.metrics
    margin_blocks = [
        other
        for other in table.published
        if other.statistic != MEAN and (other.env, other.level, other.setting, other.metrics) == setting
    ]
    for row in block.rows:
        if row.cluster:
            continue
        margins = [
            margin._replace(statistic=margin_block.statistic)
            for margin_block in margin_blocks
            for margin in margin_block.rows
            if margin.model == row.model
        ]
        for published_row in [row._replace(statistic=MEAN if margins else ""), *margins]:
            yield published_row._replace(values=published_row.values + unknown)


def _spread_results(spread: Spread, label: str, block: PublishedBlock, metrics: Sequence[Metric]) -> Iterator[Result]:
    """Yield the average and the margins over sets or attempts, as one result each."""
    numbers = [spread.metrics.get(metric.name) or spread.curves.get(metric.name) for metric in metrics]
    for statistic, attribute in ((MEAN, "average"), ("margin_min", "margin_min"), ("margin_max", "margin_max")):
        values = tuple(getattr(number, attribute) if number else None for number in numbers)
        yield Result(spread.group, label, f"{len(spread.keys)} {block.over}", values, statistic)


def _result_of_estimate(estimate: Estimate, label: str, metrics: Sequence[Metric]) -> Result:
    """Return an estimate's values of some metrics, labelled with its number of items."""
    means = tuple(metric_estimate(estimate, metric.name) for metric in metrics)
    # A metric of easy questions, for example, is of fewer items than were played.
    left_out = {metric.left_out for metric in metrics}
    counts = [mean.n for mean, metric in zip(means, metrics, strict=True) if mean and metric.name not in left_out]
    return Result(estimate.group, label, plural(max(counts, default=estimate.items), "item"), means)


def result_text(mean: IntervalEstimate | float | None, metric: Metric) -> str:
    """Return a result as text; averages and margins over sets or attempts have three decimals or more."""
    if mean is None or isinstance(mean, IntervalEstimate):
        return mean_text(mean.value if mean else None, metric)
    return f"{mean:,.{max(3, decimals(metric))}f}".replace("-", "−")


def metric_estimate(estimate: Estimate, name: str) -> IntervalEstimate | None:
    """Return the estimate of a metric or an aggregate, or a series' mean over its steps; None without any."""
    curve = estimate.curves.get(name)
    return estimate.metric_or_aggregate(name) or (curve.average if curve else None)


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
        'What the number is: "mean"; "margin_min" and "margin_max", how far the mean of several runs is from the least '
        'and the greatest of them; or "error", the published ±.',
    ),
    Column("value", float, "The published number."),
)


def published_frame(papers: Iterable[Paper]) -> Frame:
    """Return the frame of the published numbers of some papers."""
    doc = "One row for each number that a paper publishes. None of them was run here, and none is in any other frame."
    return Frame("published", doc, column_data(_FACTS, [value for paper in papers for value in paper.values()]))


def published_text(tables: Iterable[PublishedMatch], numbers: Iterable[Numbers] = ()) -> str:
    """Return plain-text tables: the results of the run and, below a line, the published rows.

    Args:
        tables: The published rows with the results beside them; those without rows of all items are left out.
        numbers: Published numbers that are values of no metric.
    """
    parts = [_match_text(table) for table in tables if table.rows]
    for counts in numbers:
        lines = [[f"{counts.title}, published (not run here)", *counts.columns]]
        lines += [[name, *map(published_number_text, row)] for name, row in counts.rows]
        parts.append(align_columns(lines))
    return "\n\n".join(parts)


def _match_text(match: PublishedMatch) -> str:
    """Return an aligned table of results and, below them, the published rows."""
    head = f"{registry.load(match.block.env).title}: {match.block.setting}"
    lines = [[head, *(metric.title for metric in match.metrics)]]
    kinds = [""]
    for result in match.results:
        name = with_statistic(f"{one_line(result.label, 60)} ({result.sample})", result.statistic)
        lines.append([name, *map(result_text, result.means, match.metrics)])
        kinds.append("run")
    lines.append([f"{match.table.title}, published (not run here):", *("" for _ in match.metrics)])
    kinds.append("published")
    for row in match.rows:
        lines.append([f"  {row_label(row)}", *map(published_number_text, row.values)])
        kinds.append("published")
    return align_columns(lines, kinds)
