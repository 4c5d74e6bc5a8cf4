"""Tables of variation: between sets, repeats, attempts and clusters, and what may explain it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from waybench.core import Metric
from waybench.core._errors import with_article
from waybench.reporting._format import TaskView
from waybench.reporting.tables._table import (
    FOLDED,
    Note,
    Table,
    TableCell,
    TableColumn,
    count_cell,
    mean_cell,
    metric_column,
    model_column,
    value_notes,
)
from waybench.results import Estimate
from waybench.results.estimates import headline_spec
from waybench.results.estimates._bounds import Repeats
from waybench.results.estimates._difficulty import ItemDifficulty, Regression, SetSpread, Spread, spreads_over_sets
from waybench.results.estimates._reliability import PASS_ALL, PASS_ANY, PASS_DOC, PassRates
from waybench.results.formatting import NOTHING, change_text, mean_text, one_line
from waybench.results.results import RunKey, group_by
from waybench.results.stats import CONFIDENCE, IntervalEstimate, VarianceComponents
from waybench.results.stats._intervals import FEWEST_POINTS


def attempt_table(view: TaskView, totals: Sequence[Estimate]) -> Table | None:
    """Return the variance components of models with several attempts at each item; None if there are none."""
    items, metric = view.presentation.items, headline_spec(view.env, guided=False).metric

    def width_text(mean: IntervalEstimate, factor: float = 1) -> str:
        """Return the width of a mean's interval, multiplied by a factor; a dash without an interval."""
        return mean_text(None if mean.low is None or mean.high is None else (mean.high - mean.low) * factor, metric)

    columns: list[TableColumn[tuple[Estimate, VarianceComponents, IntervalEstimate]]] = [
        model_column(lambda row: row[0].group, [total.group for total in totals], {}),
        TableColumn("Attempts\nat each", lambda row: f"{row[1].attempts:.3g}"),
        TableColumn("Due to\nattempts, %", lambda row: f"{100 * row[1].share:.0f}"),
        TableColumn("Width\nnow", lambda row: width_text(row[2])),
        TableColumn("with twice\nthe attempts", lambda row: width_text(row[2], row[1].width_ratio(attempts=2))),
        TableColumn(f"with twice\nthe {items}", lambda row: width_text(row[2], row[1].width_ratio(items=2))),
    ]
    caption = (
        f"The share of the variance of a mean over {items} that is due to chance in the attempts; the "
        f"rest is due to the choice of {items}. Then the width of its {100 * CONFIDENCE:.0f} % "
        f"interval, now and with more data."
    )
    rows = [
        (total, total.variance, total.single)
        for total in totals
        if total.variance is not None and total.single is not None and not total.group.embedded
    ]
    return _table_or_none("attempts", "Sources of uncertainty", caption, columns, rows)


def reliability_table(view: TaskView, totals: Sequence[Estimate]) -> Table | None:
    """Return pass@k and pass^k of models with several attempts at each item; None if there are none."""
    columns: list[TableColumn[tuple[Estimate, PassRates]]] = [
        model_column(lambda row: row[0].group, [total.group for total in totals], {}),
        TableColumn("k", lambda row: str(row[1].k)),
        metric_column(PASS_ANY, lambda row: mean_cell(row[1].any_of, PASS_ANY)),
        metric_column(PASS_ALL, lambda row: mean_cell(row[1].all_of, PASS_ALL)),
        TableColumn(view.presentation.items.capitalize(), lambda row: count_cell(row[1].any_of.n)),
    ]
    caption = f"{PASS_DOC}. Both are shares of all choices of k attempts at an item, with their intervals over items."
    rows = [(total, rates) for total in totals for rates in total.reliability]
    return _table_or_none("reliability", "Several attempts at an item", caption, columns, rows)


def spread_table(view: TaskView, estimates: Sequence[Estimate]) -> Table | None:
    """Return the table of the spread between several item sets; None if there are none."""
    caption = "The average of the sets' means; small, the distances to the smallest and to the greatest of them."
    title = f"Spread over several sets of {view.presentation.items}"
    has_teacher = {estimate.group.without_key(): estimate.guided for estimate in estimates}
    return _spread_table("spread", title, "Sets", caption, view, spreads_over_sets(estimates), has_teacher)


def attempt_spread_table(view: TaskView, spreads: Sequence[Spread], estimates: Sequence[Estimate]) -> Table | None:
    """Return the table of the spread between several attempts at the same items; None if there are none."""
    items = view.presentation.items
    caption = (
        f"The average of the attempts' means, each over all {items}; small, the distances to the smallest and to the "
        "greatest of them."
    )
    title = f"Spread over several attempts at the same {items}"
    has_teacher = {estimate.group: estimate.guided for estimate in estimates}
    return _spread_table("attempt-spread", title, "Attempts", caption, view, spreads, has_teacher)


def _spread_table(
    id: str,
    title: str,
    heading: str,
    caption: str,
    view: TaskView,
    spreads: Sequence[Spread],
    has_teacher: Mapping[RunKey, bool],
) -> Table | None:
    """Return a table of spreads: of series for groups with a teacher, and of metrics for the others."""
    some_guided = any(has_teacher[spread.group] for spread in spreads)
    all_guided = bool(spreads) and all(has_teacher[spread.group] for spread in spreads)

    def spread_column(metric: Metric, spread_of: Callable[[Spread], SetSpread | None]) -> TableColumn[Spread]:
        return metric_column(metric, lambda spread: _spread_cell(spread_of(spread), metric))

    def spread_without_teacher(spread: Spread, metric: Metric) -> SetSpread | None:
        return None if has_teacher[spread.group] else spread.metrics.get(metric.name)

    columns: list[TableColumn[Spread]] = [
        model_column(lambda spread: spread.group, [spread.group for spread in spreads], {}),
        TableColumn(view.presentation.level.capitalize(), lambda spread: str(spread.level)),
        TableColumn(
            heading, lambda spread: TableCell(str(len(spread.keys)), title=one_line(", ".join(spread.keys), 300))
        ),
        *(
            spread_column(metric, lambda spread, metric=metric: spread_without_teacher(spread, metric))
            for metric in _table_metrics(view)
            if not all_guided
        ),
        *(
            spread_column(
                teacher.metric,
                lambda spread, teacher=teacher: (
                    spread.curves.get(teacher.series) if has_teacher[spread.group] else None
                ),
            )
            for teacher in ([headline_spec(view.env, guided=True)] if some_guided else [])
        ),
    ]
    by_group = group_by(spreads, lambda spread: spread.group).values()
    return _table_or_none(id, title, caption, columns, [spread for spreads in by_group for spread in spreads])


def _table_metrics(view: TaskView) -> list[Metric]:
    """Return the metrics of an environment's tables; the headline by default."""
    metrics = view.env.scoring.metrics
    names = view.presentation.metrics or (metrics[0].name,)
    return [metric for metric in metrics if metric.name in names]


def _spread_cell(spread: SetSpread | None, metric: Metric) -> TableCell:
    """Return the average with the distances to the smallest and the greatest mean; a dash for None."""
    if spread is None:
        return TableCell(NOTHING)
    # One "±0.00" where all are the same.
    margins = dict.fromkeys(change_text(margin, metric) for margin in (-spread.margin_min, spread.margin_max))
    return TableCell(mean_text(spread.average, metric), bold=True, notes=(Note(" / ".join(margins), "interval"),))


def repeat_table(view: TaskView, repeats: Sequence[Repeats]) -> Table | None:
    """Return the table of repeats of the whole set, the best model first; None if there are none."""
    metrics, headline = _table_metrics(view), view.env.scoring.metrics[0]
    sign = -1 if headline.better == "higher" else 1

    def sort_value(repeat: Repeats) -> float:
        result = repeat.metrics.get(headline.name)
        return sign * result.mean if result else 0.0

    def runs_text(repeat: Repeats) -> str:
        results = (repeat.metrics.get(metric.name) for metric in metrics)
        return str(max((result.repeats for result in results if result), default=0))

    def mean_of_runs_cell(repeat: Repeats, metric: Metric) -> TableCell:
        result = repeat.metrics.get(metric.name)
        if not result:
            return TableCell(NOTHING)
        error = value_notes([f"± {mean_text(result.error, metric)}"], "interval")
        return TableCell(mean_text(result.mean, metric), bold=True, notes=error)

    columns: list[TableColumn[Repeats]] = [
        model_column(lambda repeat: repeat.group, [repeat.group for repeat in repeats], {}),
        TableColumn("Repeats", runs_text),
        *(metric_column(metric, lambda repeat, metric=metric: mean_of_runs_cell(repeat, metric)) for metric in metrics),
    ]
    caption = (
        "The mean of the repeats' means; small, its standard error over the repeats. It measures chance in the "
        f"replies, not the choice of {view.presentation.items}."
    )
    title = f"Repeated runs on the same {view.presentation.items}"
    return _table_or_none("repeats", title, caption, columns, sorted(repeats, key=sort_value))


def _table_or_none(
    id: str, title: str, caption: str, columns: Sequence[TableColumn[Any]], subjects: Sequence[Any]
) -> Table | None:
    """Return a table with a row for each subject; None without subjects."""
    if not subjects:
        return None
    return Table.from_columns(columns, subjects, id=f"task-{id}", title=title, caption=(Note(caption),), kind="spread")


def slope_tables(view: TaskView, ordered: Sequence[RunKey], regressions: Iterable[Regression]) -> list[Table]:
    """Return the tables of regression slopes, one for each metric, as MANGO prints them (Table 10).

    `ordered` has the groups, the best first; [] for an environment without explanatory variables.
    """
    source = view.env.difficulty.explanatory_variables
    if source is None:
        return []
    cluster, clusters = view.presentation.cluster, view.presentation.clusters
    titles = {metric.name: metric.title for metric in view.env.scoring.metrics}
    caption = (
        f"β, the change with one standard deviation of the variable in a linear regression over {clusters}, and "
        f"its p-value; bold where its {100 * CONFIDENCE:.0f} % interval excludes 0, which happens by chance to "
        f"one number in twenty. {source.note} A dash: the variable or the "
        f"score is the same for all {clusters}, or fewer than {FEWEST_POINTS} have both."
    )
    tables: list[Table] = []
    for name, regressions_of_metric in group_by(regressions, lambda regression: regression.metric).items():
        by_group = {regression.group: regression for regression in regressions_of_metric}
        rows = [by_group[group] for group in ordered if group in by_group]
        if not rows:
            continue
        variables = [source.titles[variable] for variable in source.by_metric[name]]
        columns: list[TableColumn[Regression]] = [
            model_column(lambda regression: regression.group, ordered, view.pages),
            TableColumn(clusters.capitalize(), lambda regression: count_cell(regression.clusters)),
            *(
                TableColumn(title, lambda regression, number=number: _slope_cell(regression, number, view))
                for number, title in enumerate(variables)
            ),
        ]
        table = Table.from_columns(
            columns,
            rows,
            is_reference=lambda regression: regression.group.embedded,
            id=f"task-slopes-{len(tables) + 1}",
            title=f"{titles[name]} by {cluster}, on one variable at a time",
            caption=(Note(caption),),
            kind="scores slopes",
            summary=f"What makes {with_article(cluster)} hard: {titles[name]}",
            folded=len(rows) > FOLDED,
        )
        tables.append(table)
    return tables


def _slope_cell(regression: Regression, number: int, view: TaskView) -> TableCell:
    """Return the cell of a score's change per standard deviation of a variable, bold if it is significant.

    If all slopes of a row are missing for the same reason, a single cell with the reason spans the row.
    """

    def reason_text(why: str) -> str:
        return f"{why} {view.presentation.clusters}" if why else ""

    def format_change(value: float) -> str:
        return f"{value:+.3f}".replace("-", "−")

    reasons = {slope.why for slope in regression.slopes}
    if len(reasons) == 1 and (why := reason_text(reasons.pop())):
        return TableCell(f"{NOTHING} {why}", kind="score why", columns=len(regression.slopes))
    slope = regression.slopes[number]
    if slope.beta is None or slope.p is None or slope.low is None or slope.high is None:
        return TableCell(NOTHING, title=reason_text(slope.why), kind="score")
    interval = f"{format_change(slope.low)} to {format_change(slope.high)}"
    return TableCell(
        format_change(slope.beta),
        bold=slope.low > 0 or slope.high < 0,
        notes=(Note("p < 0.001" if slope.p < 0.001 else f"p {slope.p:.3f}"),),
        title=f"{interval}, {slope.clusters} {view.presentation.clusters}",
        kind="score",
    )


def difficulty_table(view: TaskView, difficulties: Iterable[ItemDifficulty]) -> Table | None:
    """Return the table of the explanatory variables of an environment's items; None without a difficulty index."""
    index = next((difficulty for difficulty in difficulties if difficulty.gain is not None), None)
    if index is None or index.gain is None:
        return None
    gain, axis, item = index.gain, view.env.difficulty.axes[0].title.lower(), view.presentation.item
    no_gain = "" if gain.low > 1 else ", so that no gain is shown"
    caption = (
        f"Success falls {gain.ratio:.2f} times as steeply with the difficulty of a single {item} as with "
        f"its {axis} alone ({100 * CONFIDENCE:.0f} % interval {gain.low:.2f} to {gain.high:.2f}{no_gain}): the log "
        f"odds of success fall by {gain.conditional:.2f} with each unit of the difficulty index, and by "
        f"{gain.marginal:.2f} with each doubling of the {axis}, in logistic regressions with an intercept for each "
        f"player. The index is log2 of the {axis}, plus the variables with the weights below; for each {item} it is "
        f"fitted on others (cross-fitting), so that variables without influence give a ratio of 1 or less. "
        f"{gain.attempts:,} results of {gain.players} players who solved some {view.presentation.items} and not all."
    )
    variables = {variable.name: variable for variable in view.env.difficulty.item_variables}

    def weight_cell(name: str) -> TableCell:
        value = index.weights[name]
        return TableCell(f"{value:+.2f}".replace("-", "−") if value else NOTHING, kind="score")

    columns: list[TableColumn[str]] = [
        TableColumn("Variable", lambda name: TableCell(variables[name].title, title=variables[name].doc)),
        TableColumn(
            f"A doubling is worth, in doublings of the {axis}",
            weight_cell,
            "score",
            help="Of the variable plus 1, beyond what is usual at the level.",
        ),
    ]
    return Table.from_columns(
        columns,
        index.weights,
        id="task-item-difficulty",
        title=f"What makes one {item} harder than another",
        caption=(Note(caption),),
        kind="scores slopes",
    )
