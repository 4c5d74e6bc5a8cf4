"""Horizons: the tables and the chart of a task's page, and the table of a model's page."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from waybench.core import OPTION_AXES, Axis
from waybench.envs import registry
from waybench.reporting.charts import (
    MOST_POINTS,
    NARROW,
    WIDE,
    Chart,
    Player,
    chart_name,
    colour_numbers,
    drawn,
    success_spec,
)
from waybench.reporting.tables._table import (
    Cell,
    Note,
    Table,
    TableRow,
    by_player,
    columns_of,
    count_cell,
    group_cell,
    notes,
    parts,
    rows_of,
)
from waybench.reporting.tables._task_view import TaskView
from waybench.results.formatting import NOTHING
from waybench.results.horizons import (
    SHARES,
    Horizon,
    SuccessCurve,
    axis_named,
    horizon_context,
    horizon_parts,
    leading,
    reference_lines,
    success_text,
)
from waybench.results.results import Group, differing, grouped, short_labels

MOST_PANELS = 12
_INTERVAL = "90 % interval"
_SHARES = [f"{100 * share:.0f} %" for share in SHARES]
_LIMITS = "“Above” and “below”: outside the difficulties that were tried."


@dataclass(frozen=True, slots=True)
class HorizonTables:
    """The horizons of a task's models on one axis.

    Attributes:
        axis: The axis.
        chart: The chart of success by difficulty.
        tables: The horizons, and what they are under other assumptions.
    """

    axis: Axis
    chart: Chart
    tables: list[Table]


def horizon_cell(horizon: Horizon | None) -> Cell:
    """Return a horizon with its interval; "–" where there is none."""
    if horizon is None:
        return Cell(text=NOTHING, bold=True)
    text = horizon_parts(horizon)
    lines = (*notes([text.interval], "flag" if horizon.lost else "interval"), *notes([text.mark], "flag"))
    mark, order = ("*", None) if horizon.lost else ("", horizon.order)
    return Cell(text=text.value, bold=True, order=order, notes=lines, mark=mark)


def horizon_tables(view: TaskView, curves: Iterable[SuccessCurve], ranks: Sequence[Group]) -> list[HorizonTables]:
    """Return the horizons of the models of one task, for each axis that has any.

    Args:
        view: The task.
        curves: How their success falls.
        ranks: The groups in the order of the other tables.
    """
    by_axis = grouped(curves, lambda each: each.axis)
    axes = [axis for axis in (*view.env.difficulty.axes, *OPTION_AXES.values()) if axis.name in by_axis]
    return [
        _horizon_tables(f"task-horizon-{number}", view, axis, by_axis[axis.name], ranks)
        for number, axis in enumerate(axes, start=1)
    ]


def _horizon_tables(
    name: str, view: TaskView, axis: Axis, curves: Sequence[SuccessCurve], ranks: Sequence[Group]
) -> HorizonTables:
    # Models first, and those with the greatest horizon first; the same horizons are in the order of the other tables.
    listed = sorted(
        curves,
        key=lambda each: (
            each.group.embedded,
            any(horizon.lost for horizon in each.horizons),
            *(-horizon.order for horizon in each.horizons),
            ranks.index(each.group),
        ),
    )
    groups = [each.group for each in listed]
    heads = [group_cell(group, groups, view.pages) for group in groups]
    assumptions = list(listed[0].horizons[0].sensitivity)
    tables = [_horizons(name, view, axis, listed, heads)]
    if assumptions:
        tables.append(_others(f"{name}-others", view, assumptions, listed, heads))
    return HorizonTables(axis, _figure(view, axis, listed), tables)


def _horizons(name: str, view: TaskView, axis: Axis, curves: Sequence[SuccessCurve], heads: Sequence[Cell]) -> Table:
    presentation, halves = view.presentation, [each.horizons[0] for each in curves]
    apart = any(half.clusters < half.items for half in halves)
    assumed = bool(halves[0].sensitivity)
    headings = ["Model", *_SHARES, presentation.items.capitalize(), "Attempts"]
    headings += [(presentation.clusters or "clusters").capitalize()] if apart else []
    compared = any(each.ratio is not None for each in curves)
    headings += ["Times as far as the furthest"] if compared else []
    headings += ["50 % under other assumptions"] if assumed else []
    rows = [
        (
            each.group.embedded,
            TableRow(
                head,
                [
                    *map(horizon_cell, each.horizons),
                    count_cell(half.items),
                    count_cell(half.trials),
                    *([count_cell(half.clusters)] if apart else []),
                    *([_ratio_cell(each)] if compared else []),
                    *([Cell(text=_moved(half))] if assumed else []),
                ],
            ),
        )
        for each, half, head in zip(curves, halves, heads, strict=True)
    ]
    known = reference_lines([horizon for each in curves for horizon in each.horizons])
    for title, *texts in known:
        blank = [Cell() for _ in headings[len(SHARES) + 1 :]]
        rows.append((True, TableRow(Cell(text=title.capitalize()), [*(Cell(text=text) for text in texts), *blank])))
    measured = " The random player and the best constant reply were measured beforehand." if known else ""
    caption = (
        f"The difficulty at which a single attempt succeeds at {' and '.join(_SHARES)} of the {presentation.items}. "
        f"{success_text(view.env)}{measured} "
        f"Small, the {_INTERVAL}{f' over {presentation.clusters}' if presentation.clusters else ''}. {_LIMITS}"
    )
    if compared:
        caption += (
            " Times as far: the 50 % horizon divided by that of the model that reaches furthest; small, its 90 % "
            "interval, which is not adjusted for the number of models. “–”: that model itself; “?”: a horizon outside "
            "the difficulties that were tried."
        )
    if assumed:
        caption += " The last column is the range of the 50 % horizon under other assumptions about the curve."
    return Table(
        id=name,
        title=f"Horizons, by {axis.title.lower()}",
        caption=(Note(f"{caption} {axis.title}: {axis.doc[0].lower()}{axis.doc[1:]}"),),
        columns=columns_of(*headings),
        groups=by_player(rows),
        kind="horizon",
    )


def _ratio_cell(curve: SuccessCurve) -> Cell:
    """Return a horizon as a part of the leader's, with its interval; "–" for the leader, "?" where nothing is known."""
    ratio = curve.ratio
    if ratio is None:
        return Cell(text=NOTHING)
    ends = (
        f"{ratio.low:.2g} – {ratio.high:.2g}"
        if ratio.low is not None and ratio.high is not None
        else f"at least {ratio.low:.2g}"
        if ratio.low is not None
        else f"at most {ratio.high:.2g}"
        if ratio.high is not None
        else ""
    )
    text = "?" if ratio.value is None else f"{ratio.value:.2g}"
    return Cell(text=text, order=ratio.value, notes=(Note(ends, "interval"),) if ends else ())


def _moved(half: Horizon) -> str:
    """Return where a horizon is under other assumptions, from the least to the greatest."""
    others = [half.under(assumption) for assumption in half.sensitivity]
    ends = [horizon_parts(pick(others, key=lambda each: each.order)).value for pick in (min, max)] if others else []
    return " to ".join(dict.fromkeys(ends))


def _others(
    name: str, view: TaskView, assumptions: Sequence[str], curves: Sequence[SuccessCurve], heads: Sequence[Cell]
) -> Table:
    caption = (
        "The link is the shape of the curve, the prior the distribution assumed for its slope, a lapse the share of "
        f"{view.presentation.items} that fails however easy they are. The axis is logarithmic unless it says linear."
    )
    rows = [
        (
            each.group.embedded,
            TableRow(
                head,
                [
                    horizon_cell(half),
                    *(Cell(text=horizon_parts(half.under(one)).value) for one in half.sensitivity),
                ],
            ),
        )
        for each, head in zip(curves, heads, strict=True)
        for half in each.horizons[:1]
    ]
    headings = ["Model", "As above", *(f"{each[0].upper()}{each[1:]}" for each in assumptions)]
    return Table(
        id=name,
        title="The 50 % horizon without guesses, with one more assumption changed at a time",
        caption=(Note(caption),),
        columns=columns_of(*headings),
        groups=by_player(rows),
        kind="horizon",
        summary="Sensitivity of the horizons to assumptions",
        folded=True,
    )


def horizon_table_of_model(name: str, curves: Iterable[SuccessCurve], pages: Mapping[Group, str]) -> Table | None:
    """Return the horizons of one model at all tasks, on all axes; None if there are none.

    Args:
        name: The model.
        curves: How all models' success falls.
        pages: File names of the groups' pages.
    """
    rows: list[TableRow] = []
    for env_id, some in grouped(curves, lambda each: each.group.env).items():
        env = registry.load(env_id)
        groups = list(dict.fromkeys(each.group for each in some))
        for each in some:
            if each.group.model == name:
                half, link = each.horizons[0], f"results/{pages[each.group]}"
                head = Cell(text=env.title, link=link, notes=parts(differing(each.group, groups)))
                axis = Cell(
                    text=axis_named(env_id, each.axis).title,
                    notes=notes([horizon_context(half)], "success"),
                    kind="name",
                )
                counts = count_cell(half.items), count_cell(half.trials)
                rows.append(TableRow(head, [axis, *map(horizon_cell, each.horizons), *counts]))
    if not rows:
        return None
    caption = (
        f"The difficulty at which a single attempt succeeds at {' and '.join(_SHARES)} of a task’s items; small, the "
        f"{_INTERVAL}. {_LIMITS}"
    )
    return Table(
        id="horizons",
        title="Horizons",
        caption=(Note(caption),),
        columns=columns_of("Task", "*Difficulty", *_SHARES, "Items", "Attempts"),
        groups=rows_of(rows),
        kind="horizon",
    )


def leading_of(curves: Iterable[SuccessCurve]) -> dict[Group, Horizon]:
    """Return of each group the horizon that stands for it."""
    return leading(horizon for each in curves for horizon in each.horizons)


def _figure(view: TaskView, axis: Axis, curves: Sequence[SuccessCurve]) -> Chart:
    shown = curves[:MOST_PANELS]
    names = short_labels(each.group for each in shown)
    colours = colour_numbers([each.group.model for each in shown])
    players = [
        Player(names[each.group], each.group.embedded, colour, each)
        for each, colour in zip(shown, colours, strict=True)
    ]
    items = view.presentation.items
    across, counted = axis.title, (view.presentation.item, items)
    spec = success_spec(players, across, counted, WIDE)
    label = f"Success by {across.lower()} for each model; the horizons are in the table"
    binned = any(len(each.bins) > MOST_POINTS for each in shown)
    left = f" The first {MOST_PANELS} of {len(curves)} are shown." if len(curves) > len(shown) else ""
    caption = (
        f"Share of {items} at which a single attempt succeeds, by {across.lower()}: the fitted curve with "
        f"its pointwise {_INTERVAL} as a band, and the observed shares as dots, with areas proportional to their "
        f"number of {items}{', neighbouring difficulties combined' if binned else ''}. Diamonds are the "
        f"horizons of {' and '.join(_SHARES)}, with their {_INTERVAL}s as lines. Curves end at the easiest and "
        f"hardest {items} that were tried.{left}"
    )
    whose = [view.env.id, *shown[0].group.apart]
    return Chart(
        chart_name(view.env, whose, f"success by {axis.name}"),
        drawn(spec, label),
        drawn(success_spec(players, across, counted, NARROW), label),
        caption,
        spec,
    )
