"""Tables of variation: between sets of items, between repeats on the same items, and between attempts at an item."""

from collections.abc import Mapping, Sequence

from waybench.core import Metric
from waybench.envs import registry
from waybench.reporting.tables._table import (
    Cell,
    Column,
    Note,
    Table,
    TableRow,
    columns_of,
    metric_column,
    model_cell,
    rows_of,
)
from waybench.reporting.tables._task_view import TaskView
from waybench.results import Estimate
from waybench.results.estimates import Repeats, SetSpread, Spread, measure, spread
from waybench.results.formatting import NOTHING, change_text, mean_text, one_line
from waybench.results.results import Group, differing, grouped
from waybench.results.stats import CONFIDENCE


def attempt_table(view: TaskView, totals: Sequence[Estimate]) -> Table | None:
    """Return the table of variance components of models whose items were attempted several times.

    Args:
        view: The task.
        totals: The estimates over all levels.
    """
    rows: list[TableRow] = []
    for total in totals:
        levels, mean = total.variance, total.single
        if levels is None or mean is None or total.group.embedded:
            continue
        metric = measure(registry.load(total.group.env), guided=False).metric
        wide = None if mean.low is None or mean.high is None else mean.high - mean.low
        widths = [
            mean_text(None if wide is None else wide * factor, metric)
            for factor in (1, levels.narrowed(attempts=2), levels.narrowed(items=2))
        ]
        texts = [f"{levels.attempts:.3g}", f"{100 * levels.share:.0f}", *widths]
        differs = differing(total.group, [each.group for each in totals])
        rows.append(TableRow(model_cell(total.group.model, differs), [Cell(text=text) for text in texts]))
    items = view.presentation.items
    headings = (
        "Model",
        "Attempts\nat each",
        "Due to\nattempts, %",
        "Width\nnow",
        "with twice\nthe attempts",
        f"with twice\nthe {items}",
    )
    caption = (
        f"The share of the variance of a mean over {items} that is due to chance in the attempts; the "
        f"rest is due to the choice of {items}. Then the width of its {100 * CONFIDENCE:.0f} % "
        f"interval, now and with more data."
    )
    return _table("attempts", "Sources of uncertainty", caption, columns_of(*headings), rows)


def spread_table(view: TaskView, estimates: Sequence[Estimate]) -> Table | None:
    """Return the table of several sets; steps of a teacher have a dash."""
    caption = "The average of the sets' means; small, the distances to the smallest and to the greatest of them."
    title = f"Spread over several sets of {view.presentation.items}"
    guided = {each.group.without_key(): each.guided for each in estimates}
    return _spread_table("spread", title, "Sets", caption, view, spread(estimates), guided)


def attempt_spread_table(view: TaskView, spreads: Sequence[Spread], estimates: Sequence[Estimate]) -> Table | None:
    """Return the table of several attempts at the same items; steps of a teacher have a dash."""
    items = view.presentation.items
    caption = (
        f"The average of the attempts' means, each over all {items}; small, the distances to the smallest and to the "
        "greatest of them."
    )
    title = f"Spread over several attempts at the same {items}"
    guided = {each.group: each.guided for each in estimates}
    return _spread_table("attempt-spread", title, "Attempts", caption, view, spreads, guided)


def _spread_table(
    name: str,
    title: str,
    heading: str,
    caption: str,
    view: TaskView,
    spreads: Sequence[Spread],
    guided: Mapping[Group, bool],
) -> Table | None:
    names = view.presentation.metrics or (view.env.scoring.metrics[0].name,)
    free = (
        [] if all(guided[each.group] for each in spreads) else [m for m in view.env.scoring.metrics if m.name in names]
    )
    guided_measures = [measure(view.env, guided=True)] if any(guided[each.group] for each in spreads) else []
    rows: list[TableRow] = []
    for group, some in grouped(spreads, lambda each: each.group).items():
        for each in some:
            margins = [(None if guided[group] else each.metrics.get(metric.name), metric) for metric in free]
            margins += [
                (each.curves.get(measured.series) if guided[group] else None, measured.metric)
                for measured in guided_measures
            ]
            differs = differing(group, [other.group for other in spreads])
            sets = Cell(text=str(len(each.keys)), title=one_line(", ".join(each.keys), 300))
            cells = [_margins(found, metric) for found, metric in margins]
            rows.append(TableRow(model_cell(group.model, differs), [Cell(text=str(each.level)), sets, *cells]))
    metrics = [*free, *(measured.metric for measured in guided_measures)]
    columns = [*columns_of("Model", view.presentation.level.capitalize(), heading), *map(metric_column, metrics)]
    return _table(name, title, caption, columns, rows)


def _margins(found: SetSpread | None, metric: Metric) -> Cell:
    if found is None:
        return Cell(text=NOTHING)
    # One "±0.00" where all are the same.
    ends = " / ".join(dict.fromkeys(change_text(end, metric) for end in (-found.margin_min, found.margin_max)))
    return Cell(text=mean_text(found.average, metric), bold=True, notes=(Note(ends, "interval"),))


def repeat_table(view: TaskView, repeated: Sequence[Repeats]) -> Table | None:
    """Return the table of repeats, the best model first."""
    metrics = [
        metric
        for metric in view.env.scoring.metrics
        if metric.name in (view.presentation.metrics or (view.env.scoring.metrics[0].name,))
    ]
    headline = view.env.scoring.metrics[0]
    sign = -1 if headline.better == "higher" else 1
    rows: list[tuple[float, TableRow]] = []
    for each in repeated:
        found = [(each.metrics.get(metric.name), metric) for metric in metrics]
        cells = [
            Cell(
                text=mean_text(one.mean, metric),
                bold=True,
                notes=(Note(f"± {mean_text(one.error, metric)}", "interval"),),
            )
            if one
            else Cell(text=NOTHING)
            for one, metric in found
        ]
        differs = differing(each.group, [other.group for other in repeated])
        count = max((one.repeats for one, _ in found if one), default=0)
        first = each.metrics.get(headline.name)
        row = TableRow(model_cell(each.group.model, differs), [Cell(text=str(count)), *cells])
        rows.append((sign * first.mean if first else 0.0, row))
    caption = (
        "The mean of the repeats' means; small, its standard error over the repeats. It measures chance in the "
        f"replies, not the choice of {view.presentation.items}."
    )
    columns = [*columns_of("Model", "Repeats"), *map(metric_column, metrics)]
    ordered = [row for _, row in sorted(rows, key=lambda pair: pair[0])]
    return _table("repeats", f"Repeated runs on the same {view.presentation.items}", caption, columns, ordered)


def _table(name: str, title: str, caption: str, columns: Sequence[Column], rows: Sequence[TableRow]) -> Table | None:
    if not rows:
        return None
    return Table(
        id=f"task-{name}", title=title, caption=(Note(caption),), columns=columns, groups=rows_of(rows), kind="spread"
    )
