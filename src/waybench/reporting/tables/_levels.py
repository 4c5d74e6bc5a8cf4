"""The tables of a model's results at a task: by level, and its infrastructure errors."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from waybench.core import Metric
from waybench.reporting._format import amount, heading, in_words
from waybench.reporting.tables._table import (
    Cell,
    Column,
    Note,
    Table,
    TableRow,
    columns_of,
    count_cell,
    error_cell,
    lost_caption,
    mean_cell,
    metric_column,
    notes,
    rows_of,
)
from waybench.reporting.tables._task_view import TaskView
from waybench.results import Estimate
from waybench.results.estimates import Measure, as_metric
from waybench.results.formatting import lost_text, mean_text, one_line
from waybench.results.stats import CONFIDENCE, Mean


class LoggedError(NamedTuple):
    """An attempt that an infrastructure error ended.

    Attributes:
        item: The item.
        anchor: Where that is in the page.
        attempt: Number of the attempt.
        text: What happened.
        log: The log's file name.
    """

    item: str
    anchor: str
    attempt: int
    text: str
    log: str


def level_table(view: TaskView, measured: Measure, estimates: Sequence[Estimate], total: Estimate, drawn: str) -> Table:
    """Return the table of a group's metrics by level, and over all levels where the environment is pooled.

    Args:
        view: The task.
        measured: By what the group is judged.
        estimates: Its estimates by level.
        total: Its estimate over all levels.
        drawn: What was drawn independently, over which intervals are.
    """
    metric, with_best = measured.metric, bool(measured.series) or view.env.scoring.best_of
    scoring = view.env.scoring
    made_of = [one for aggregate in scoring.aggregates for one in aggregate.metrics]  # which have a table of their own
    listed = [one for one in scoring.metrics if total.guided or one not in made_of]
    series = [as_metric(one) for one in scoring.series if one.name != measured.series]

    def cells(estimate: Estimate) -> list[Cell]:
        curves = {name: curve.average for name, curve in estimate.curves.items()}
        return [
            Cell(text=amount(estimate.items)),
            Cell(text=amount(estimate.attempts), notes=notes(_lost(estimate, metric), "flag")),
            *([_estimate(measured.mean(estimate), metric, bold=True)] if with_best else []),
            *(_estimate(estimate.metrics.get(one.name), one) for one in listed),
            *(_estimate(curves.get(one.name), one) for one in series),
            count_cell(estimate.input_tokens),
            count_cell(estimate.output_tokens),
            Cell(text=mean_text(estimate.seconds)),
            error_cell(estimate.errors),
        ]

    rows = [TableRow(Cell(text=str(one.level), link=f"#level-{one.level}"), cells(one)) for one in estimates]
    if view.env.items.pooled and len(estimates) > 1:
        rows.append(TableRow(Cell(text="all"), cells(total)))
    best = metric.title if measured.series else f"Best {in_words(metric)}"
    unit = f", {metric.unit}" if metric.unit else ""
    first = view.presentation.level.capitalize(), view.presentation.items.capitalize(), "Attempts"
    last = "Tokens in", "Tokens out", "Seconds", "Infrastructure\nerrors"
    return Table(
        id="by-level",
        title=f"By {view.presentation.level}",
        caption=[*(Note(text) for text in _caption(view, measured, drawn) if text), *lost_caption([total])],
        columns=[
            *columns_of(*first),
            *([Column(heading=f"{best}{unit}", better=metric.better)] if with_best else []),
            *map(metric_column, listed),
            *(Column(heading=heading(one)) for one in series),
            *columns_of(*last),
        ],
        groups=rows_of(rows),
        kind="by-level",
    )


def _caption(view: TaskView, measured: Measure, drawn: str) -> list[str]:
    text = ""
    if measured.series:
        text = (
            f"{measured.metric.title}: the mean of its curve over the steps. At every step the teacher's action was "
            "carried out in place of the reply, so success is the teacher's."
        )
    elif view.env.scoring.best_of:
        text = f"Best: the mean over {view.presentation.items} of the best attempt."
    single = "The other metrics are means of single attempts."
    return [
        text,
        single if text else f"Means over {view.presentation.items}.",
        f"Small: {100 * CONFIDENCE:.0f} % intervals over {drawn}.",
        view.presentation.undefined,
    ]


def _lost(estimate: Estimate, metric: Metric) -> list[str]:
    """Return how many attempts there are with those that are lost and, where no value says it, the score's bounds."""
    if estimate.lost is None:
        return []
    return [f"of {estimate.planned:,}" if estimate.attempts else lost_text(estimate.lost, metric)]


def _estimate(mean: Mean | None, metric: Metric, *, bold: bool = False) -> Cell:
    return replace(mean_cell(mean, metric, bold=bold), part=None, kind="")


def error_table(view: TaskView, errors: Iterable[LoggedError]) -> Table | None:
    """Return the list of infrastructure errors; None if there are none.

    Args:
        view: The task.
        errors: The errors.
    """
    rows = [
        TableRow(
            Cell(text=one_line(one.item, 40), link=f"#{one.anchor}"),
            [
                Cell(text=str(one.attempt)),
                Cell(text=one_line(one.text, 600), kind="words"),
                Cell(text=one_line(one.log, 80), kind="words"),
            ],
        )
        for one in errors
    ]
    headings = view.presentation.item.capitalize(), "Attempt", "What happened", "Log"
    return (
        Table(
            id="error-list",
            title="List of infrastructure errors",
            columns=columns_of(*headings),
            groups=rows_of(rows),
            kind="errors",
        )
        if rows
        else None
    )
