"""Horizons: the tables and the chart of a task's page, and the table of a model's page."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from waybench.core import OPTION_AXES, Axis
from waybench.envs import registry
from waybench.reporting._format import TaskView
from waybench.reporting.charts import Chart, colour_numbers
from waybench.reporting.charts._charts import chart_name
from waybench.reporting.charts._success import MOST_POINTS, NARROW, WIDE, Player, success_spec
from waybench.reporting.tables._table import (
    Note,
    Table,
    TableCell,
    TableColumn,
    count_cell,
    model_column,
    setting_notes,
    value_notes,
)
from waybench.results.formatting import NOTHING, p_text
from waybench.results.horizons import SHARES, Horizon
from waybench.results.horizons._budgets import BudgetHorizon
from waybench.results.horizons._horizons import headline_horizons
from waybench.results.horizons._references import SuccessCurve, find_axis
from waybench.results.horizons._text import (
    difficulty_text,
    horizon_context,
    horizon_parts,
    plateau_text,
    reference_lines,
    success_text,
)
from waybench.results.results import RunKey, group_by, short_labels
from waybench.results.results._groups import distinguishing_settings

MOST_PANELS = 12  # of a chart, one for each player
_INTERVAL = "90 % interval"
_RowSubject = SuccessCurve | list[str]  # a model, or a title and texts for players that know nothing
_SHARES = [f"{100 * share:.0f} %" for share in SHARES]
_LIMITS = "“Above”: more succeed even at the hardest level that was tried; “below”: fewer even at the easiest."


class HorizonTables(NamedTuple):
    """The horizons of a task's models on one axis.

    Attributes:
        chart: The chart of success by difficulty.
        tables: The table of horizons and, if there are any, of horizons under other assumptions.
    """

    axis: Axis
    chart: Chart
    tables: list[Table]


def horizon_cell(horizon: Horizon | None) -> TableCell:
    """Return the cell of a horizon with its interval; "–" for None. A horizon that lacks attempts has no order."""
    if horizon is None:
        return TableCell(NOTHING, bold=True)
    text = horizon_parts(horizon)
    lines = (*value_notes([text.interval], "flag" if horizon.lost else "interval"), *value_notes([text.mark], "flag"))
    order = None if horizon.lost else horizon.order
    return TableCell(text.value, bold=True, order=order, notes=lines, mark="*" if horizon.lost else "")


def horizon_tables(
    view: TaskView, curves: Iterable[SuccessCurve], ranked_groups: Sequence[RunKey]
) -> list[HorizonTables]:
    """Return the tables of horizons of a task's models, one for each difficulty axis that has any."""

    def sort_key(curve: SuccessCurve) -> tuple[bool | float, ...]:
        """Sort models first, then complete horizons, then the greatest; equal ones are in the order of other tables."""
        is_incomplete = any(horizon.lost for horizon in curve.horizons)
        orders = (-horizon.order for horizon in curve.horizons)
        return (curve.group.embedded, is_incomplete, *orders, ranked_groups.index(curve.group))

    by_axis = group_by(curves, lambda curve: curve.axis)
    axes = [axis for axis in (*view.env.difficulty.axes, *OPTION_AXES.values()) if axis.name in by_axis]
    results: list[HorizonTables] = []
    for number, axis in enumerate(axes, start=1):
        ordered, id = sorted(by_axis[axis.name], key=sort_key), f"task-horizon-{number}"
        tables = [_horizon_table(id, view, axis, ordered)]
        if ordered[0].horizons[0].sensitivity:
            tables.append(_sensitivity_table(f"{id}-others", view, ordered))
        results.append(HorizonTables(axis, _success_chart(view, axis, ordered), tables))
    return results


def _model_column(view: TaskView, curves: Sequence[SuccessCurve]) -> TableColumn[SuccessCurve]:
    return model_column(lambda curve: curve.group, [curve.group for curve in curves], view.pages)


def _horizon_table(id: str, view: TaskView, axis: Axis, curves: Sequence[SuccessCurve]) -> Table:
    """Return the table of horizons on an axis: a row for each model, and for each kind of player that knows nothing."""
    presentation, horizons_50 = view.presentation, [curve.horizons[0] for curve in curves]
    has_ratios = any(curve.ratio is not None for curve in curves)
    has_assumptions = bool(horizons_50[0].sensitivity)
    all_horizons = [horizon for curve in curves for horizon in curve.horizons]
    references = reference_lines(all_horizons)
    measured = " The random player and the best constant reply were measured beforehand." if references else ""
    caption = (
        f"The difficulty at which a single attempt succeeds at {' and '.join(_SHARES)} of the {presentation.items}. "
        f"{success_text(view.env)}{measured} "
        f"Small, the {_INTERVAL}{f' over {presentation.clusters}' if presentation.clusters else ''}. {_LIMITS}"
    )
    if has_ratios:
        caption += (
            " Times as far: the 50 % horizon divided by that of the model that reaches furthest; small, its 90 % "
            "interval, which is not adjusted for the number of models, and the p value of the two horizons’ order, "
            "adjusted by Holm’s procedure over all pairs of models at all tasks of this report. Below 5 %, one "
            "model is shown to reach further. “–”: that model itself; “?”: a horizon outside the difficulties that "
            "were tried."
        )
    caption = " ".join(filter(None, [caption, plateau_text(all_horizons)]))
    if has_assumptions:
        caption += " The last column is the range of the 50 % horizon under other assumptions about the curve."

    column_of_models = _model_column(view, curves)

    def model_header(subject: _RowSubject) -> TableCell | str:
        return column_of_models.cell(subject) if isinstance(subject, SuccessCurve) else subject[0].capitalize()

    def blank_unless_measured(
        cell: Callable[[SuccessCurve], TableCell | str],
    ) -> Callable[[_RowSubject], TableCell | str]:
        return lambda subject: cell(subject) if isinstance(subject, SuccessCurve) else ""

    def share_cell(subject: _RowSubject, number: int) -> TableCell | str:
        return horizon_cell(subject.horizons[number]) if isinstance(subject, SuccessCurve) else subject[number + 1]

    columns: list[TableColumn[_RowSubject]] = [
        TableColumn("Model", model_header),
        *(
            TableColumn(share, lambda subject, number=number: share_cell(subject, number))
            for number, share in enumerate(_SHARES)
        ),
        TableColumn(
            presentation.items.capitalize(), blank_unless_measured(lambda curve: count_cell(curve.horizons[0].items))
        ),
        TableColumn("Attempts", blank_unless_measured(lambda curve: count_cell(curve.horizons[0].trials))),
        TableColumn(
            (presentation.clusters or "clusters").capitalize(),
            blank_unless_measured(lambda curve: count_cell(curve.horizons[0].clusters)),
            is_shown=any(horizon.clusters < horizon.items for horizon in horizons_50),
        ),
        TableColumn("Times as far as the furthest", blank_unless_measured(_ratio_cell), is_shown=has_ratios),
        TableColumn(
            "50 % under other assumptions",
            blank_unless_measured(lambda curve: _range_under_assumptions(curve.horizons[0])),
            is_shown=has_assumptions,
        ),
    ]
    return Table.from_columns(
        columns,
        [*curves, *references],
        is_reference=lambda subject: not isinstance(subject, SuccessCurve) or subject.group.embedded,
        id=id,
        title=f"Horizons, by {axis.title.lower()}",
        caption=(Note(f"{caption} {axis.title}: {axis.doc[0].lower()}{axis.doc[1:]}"),),
        kind="horizon",
    )


def _ratio_cell(curve: SuccessCurve) -> TableCell:
    """Return a horizon's ratio to the leader's, with its interval; "–" for the leader, "?" for an unknown ratio."""
    ratio = curve.ratio
    if ratio is None:
        return TableCell(NOTHING)
    if ratio.low is not None and ratio.high is not None:
        interval = f"{ratio.low:.2g} – {ratio.high:.2g}"
    elif ratio.low is not None:
        interval = f"at least {ratio.low:.2g}"
    else:
        interval = "" if ratio.high is None else f"at most {ratio.high:.2g}"
    text = "?" if ratio.value is None else f"{ratio.value:.2g}"
    p = "" if curve.p_adjusted is None else f"p {p_text(curve.p_adjusted)}"
    return TableCell(text, order=ratio.value, notes=(*value_notes([interval], "interval"), *value_notes([p])))


def _range_under_assumptions(horizon: Horizon) -> str:
    """Return the least and the greatest horizon under alternative assumptions, as text; "" without any."""
    alternatives = [horizon.alternative(assumption) for assumption in horizon.sensitivity]
    if not alternatives:
        return ""
    ends = (select(alternatives, key=lambda alternative: alternative.order) for select in (min, max))
    return " to ".join(dict.fromkeys(horizon_parts(end).value for end in ends))  # one text if both are the same


def _sensitivity_table(id: str, view: TaskView, curves: Sequence[SuccessCurve]) -> Table:
    """Return each model's 50 % horizon under each alternative assumption about the success curve."""
    caption = (
        "The link is the shape of the curve, the prior the distribution assumed for its slope, a lapse the share of "
        f"{view.presentation.items} that fails however easy they are. The axis is logarithmic unless it says linear."
    )

    def horizon_under(curve: SuccessCurve, assumption: str) -> str:
        return horizon_parts(curve.horizons[0].alternative(assumption)).value

    columns: list[TableColumn[SuccessCurve]] = [
        _model_column(view, curves),
        TableColumn("As above", lambda curve: horizon_cell(curve.horizons[0])),
        *(
            TableColumn(
                f"{assumption[0].upper()}{assumption[1:]}",
                lambda curve, assumption=assumption: horizon_under(curve, assumption),
            )
            for assumption in curves[0].horizons[0].sensitivity
        ),
    ]
    return Table.from_columns(
        columns,
        curves,
        is_reference=lambda curve: curve.group.embedded,
        id=id,
        title="The 50 % horizon without guesses, with one more assumption changed at a time",
        caption=(Note(caption),),
        kind="horizon",
        summary="Sensitivity of the horizons to assumptions",
        folded=True,
    )


def budget_table(view: TaskView, budgets: Sequence[BudgetHorizon]) -> Table | None:
    """Return the 50 % horizons at budgets of reply tokens, a row for each group; None if there are none."""
    if not budgets:
        return None
    by_group = group_by(budgets, lambda result: result.group)
    axis, items = view.env.difficulty.axes[0].title.lower(), view.presentation.items

    def budget_cell(results: Sequence[BudgetHorizon], budget: int | None) -> TableCell:
        result = next((result for result in results if result.budget == budget), None)
        if result is None:
            return TableCell(NOTHING)
        cell = horizon_cell(result.horizon)
        reached = "nothing reached" if result.reached is None else f"reached {difficulty_text(result.reached)}"
        lines = [reached, f"{100 * result.within:.0f} % within" if budget is not None else ""]
        return replace(cell, notes=(*cell.notes, *value_notes(lines)))

    token_budgets = sorted({result.budget for result in budgets if result.budget is not None})
    columns: list[TableColumn[Sequence[BudgetHorizon]]] = [
        model_column(lambda results: results[0].group, list(by_group), view.pages),
        *(
            TableColumn(f"{budget:,}", lambda results, budget=budget: budget_cell(results, budget))
            for budget in token_budgets
        ),
        TableColumn("No budget", lambda results: budget_cell(results, None)),
    ]
    caption = (
        f"The 50 % horizon by {axis} if an attempt whose replies take more tokens than a budget, with reasoning, is a "
        f"failure; small, the {_INTERVAL}, the greatest {axis} at which an attempt within the budget was a success, "
        f"and the share of attempts that keep to it. All {items} count at each budget. {success_text(view.env)} "
        f"{_LIMITS}"
    )
    return Table.from_columns(
        columns,
        list(by_group.values()),
        is_reference=lambda results: results[0].group.embedded,
        id="task-budgets",
        title="Horizon at a budget of reply tokens",
        caption=(Note(caption),),
        kind="horizon",
    )


def horizon_table_of_model(name: str, curves: Iterable[SuccessCurve], pages: Mapping[RunKey, str]) -> Table | None:
    """Return the horizons of one model at all tasks, on all difficulty axes; None if there are none."""
    by_env = group_by(curves, lambda curve: curve.group.env)
    groups_of_env = {env: list(dict.fromkeys(curve.group for curve in curves)) for env, curves in by_env.items()}
    rows = [curve for curves in by_env.values() for curve in curves if curve.group.model == name]
    if not rows:
        return None

    def task_cell(curve: SuccessCurve) -> TableCell:
        group = curve.group
        settings = setting_notes(distinguishing_settings(group, groups_of_env[group.env]))
        return TableCell(registry.load(group.env).title, link=f"results/{pages[group]}", notes=settings)

    first_rows = {curve.group.env: curve for curve in reversed(rows)}  # only these say what counts as a success

    def difficulty_cell(curve: SuccessCurve) -> TableCell:
        title, context = find_axis(curve.group.env, curve.axis).title, horizon_context(curve.horizons[0])
        if curve is not first_rows[curve.group.env]:
            context = context.removeprefix(success_text(curve.group.environment)).strip()
        return TableCell(title, notes=value_notes([context], "success"), kind="name")

    columns: list[TableColumn[SuccessCurve]] = [
        TableColumn("Task", task_cell),
        TableColumn("Difficulty", difficulty_cell, "name"),
        *(
            TableColumn(share, lambda curve, number=number: horizon_cell(curve.horizons[number]))
            for number, share in enumerate(_SHARES)
        ),
        TableColumn("Items", lambda curve: count_cell(curve.horizons[0].items)),
        TableColumn("Attempts", lambda curve: count_cell(curve.horizons[0].trials)),
    ]
    caption = (
        f"The difficulty at which a single attempt succeeds at {' and '.join(_SHARES)} of a task’s items; small, the "
        f"{_INTERVAL}. {_LIMITS} {plateau_text(horizon for curve in rows for horizon in curve.horizons)}".rstrip()
    )
    return Table.from_columns(columns, rows, id="horizons", title="Horizons", caption=(Note(caption),), kind="horizon")


def leading_horizons(curves: Iterable[SuccessCurve]) -> dict[RunKey, Horizon]:
    """Return each group's horizon on its main axis (`headline_horizons`)."""
    return headline_horizons(horizon for curve in curves for horizon in curve.horizons)


def _success_chart(view: TaskView, axis: Axis, curves: Sequence[SuccessCurve]) -> Chart:
    """Return the chart of success by difficulty on one axis."""
    drawn_curves = curves[:MOST_PANELS]
    names = short_labels(curve.group for curve in drawn_curves)
    colours = colour_numbers([curve.group.model for curve in drawn_curves])
    players = [
        Player(names[curve.group], curve.group.embedded, colour, curve)
        for curve, colour in zip(drawn_curves, colours, strict=True)
    ]
    items, axis_title = view.presentation.items, axis.title
    wide, narrow = (
        success_spec(players, axis_title, (view.presentation.item, items), panels) for panels in (WIDE, NARROW)
    )
    label = f"Success by {axis_title.lower()} for each model; the horizons are in the table"
    is_binned = any(len(curve.bins) > MOST_POINTS for curve in drawn_curves)
    omitted = f" The first {MOST_PANELS} of {len(curves)} are shown." if len(curves) > len(drawn_curves) else ""
    caption = (
        f"Share of {items} at which a single attempt succeeds, by {axis_title.lower()}: the fitted curve with "
        f"its pointwise {_INTERVAL} as a band, and the observed shares as dots, with areas proportional to their "
        f"number of {items}{', neighbouring difficulties combined' if is_binned else ''}. Diamonds are the "
        f"horizons of {' and '.join(_SHARES)}, with their {_INTERVAL}s as lines. Curves end at the easiest and "
        f"hardest {items} that were tried.{omitted}"
    )
    name = chart_name(view, [view.env.id, *drawn_curves[0].group.separate_by], f"success by {axis.name}")
    return Chart.from_specs(name, label, caption, wide, narrow)
