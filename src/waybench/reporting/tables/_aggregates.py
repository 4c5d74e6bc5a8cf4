"""The tables of aggregates of a set of episodes, with the means that they are computed from."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from waybench.core import Aggregate, Metric
from waybench.reporting._format import heading, part, percent, percent_interval
from waybench.reporting.tables._table import (
    Cell,
    Column,
    Note,
    RowGroup,
    Table,
    TableRow,
    count_cell,
    mean_cell,
    name_of,
    notes,
    parts,
)
from waybench.reporting.tables._task_view import TaskView
from waybench.results import Estimate
from waybench.results.estimates import as_metric, ranked
from waybench.results.formatting import too_few_note
from waybench.results.results import differing, grouped
from waybench.results.stats import CONFIDENCE, Mean


def side_by_side(view: TaskView, estimates: Sequence[Estimate]) -> list[Table]:
    """Return the tables of an environment's aggregates with models side by side, one for each level.

    Args:
        view: The task.
        estimates: Its estimates by level, or if it is pooled those over all levels.
    """
    free = [estimate for estimate in estimates if not estimate.guided]
    by_level = grouped(free, lambda each: each.level)
    found: list[Table] = []
    for aggregate in view.env.scoring.aggregates:
        for level, some in by_level.items():
            own = {estimate.group: estimate for estimate in some}
            # The best first, as in the other tables; totals are of no level, and keep their order.
            groups = list(ranked(some)) or list(own)
            columns = [
                Column(
                    heading=name_of(group.model),
                    link=f"results/{view.pages[group]}",
                    notes=parts(differing(group, groups)),
                )
                for group in groups
            ]
            level_name = view.presentation.mode(view.env.id, level) if len(by_level) > 1 else ""
            table = _table(
                f"task-made-{len(found) + 1}", aggregate, view, level_name, columns, [own[g] for g in groups]
            )
            suffix = f" ({level_name})" if level_name else ""
            summary = f"{aggregate.title} and its parts, models side by side{suffix}"
            found.append(replace(table, summary=summary, folded=True))
    return found


def of_model(view: TaskView, estimates: Sequence[Estimate]) -> list[Table]:
    """Return the tables of an environment's aggregates for one model, levels side by side.

    Args:
        view: The task.
        estimates: The model's estimates by level, and over all levels if the environment is pooled.
    """
    free = [estimate for estimate in estimates if not estimate.guided]
    several = len(free) > 1
    titles = [view.presentation.mode(view.env.id, estimate.level) if several else "" for estimate in free]
    columns = [Column(heading=title or f"All {view.presentation.items}") for title in titles]
    return [
        _table(f"made-{number}", aggregate, view, "", columns, free)
        for number, aggregate in enumerate(view.env.scoring.aggregates, start=1)
        if free
    ]


def _table(
    name: str,
    aggregate: Aggregate,
    view: TaskView,
    level: str,
    columns: Sequence[Column],
    estimates: Sequence[Estimate],
) -> Table:
    """Return the table of one aggregate: the number in each column, and below it the means that it is made of.

    Args:
        name: The table's id.
        aggregate: The aggregate.
        view: The task.
        level: The level that all columns have, in words; "" if there is one level, or columns are levels.
        columns: Its columns.
        estimates: The estimate of each column.
    """
    metric, presentation = as_metric(aggregate), view.presentation
    caption = (
        f"{aggregate.doc} Below it, the means over {presentation.items} from which it is computed, shares in per "
        f"cent. Small: "
        f"{100 * CONFIDENCE:.0f} % intervals over {presentation.sampling_units}; {metric.title} has no interval for "
        f"a single {presentation.cluster or presentation.item}, or where all have the same value."
    )
    few = dict.fromkeys(too_few_note(estimate.number(aggregate.name), aggregate) for estimate in estimates)
    whole = TableRow(
        Cell(text=heading(metric), bold=True, better=metric.better),
        list(_cells(metric, (estimate.number(aggregate.name) for estimate in estimates), bold=True)),
    )
    items = TableRow(
        Cell(text=presentation.items.capitalize()), [count_cell(estimate.items, "score") for estimate in estimates]
    )
    means = [
        TableRow(Cell(text=heading(one)), list(_cells(one, (estimate.number(one.name) for estimate in estimates))))
        for one in aggregate.metrics
    ]
    return Table(
        id=name,
        title=heading(metric) + (f", {level}" if level else ""),
        caption=(Note(caption), *notes(few, "flag")),
        columns=[Column(heading=aggregate.part), *columns],
        groups=(RowGroup((whole, items)), RowGroup(means)),
        kind="scores made",
    )


def _cells(metric: Metric, numbers: Iterable[Mean | None], *, bold: bool = False) -> Iterator[Cell]:
    share = metric.bounds == (0, 1) and not metric.unit
    for number in numbers:
        if number is None or not share:
            yield mean_cell(number, metric, bold=bold)
        else:
            text, shade = percent(number.value), part(number.value, metric)
            lines = notes([percent_interval(number)], "interval")
            yield Cell(text=text, bold=bold, notes=lines, part=shade, kind="score")
