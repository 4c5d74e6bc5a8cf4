"""Charts of a task's scores: by level, by number of in-context examples, and step by step."""

import json
from collections.abc import Iterable, Sequence

from waybench.core import plural
from waybench.core._errors import with_article
from waybench.reporting._files import slug
from waybench.reporting._format import TaskView, metric_heading
from waybench.reporting.charts._chart import (
    NARROW,
    NARROW_GRID,
    WIDE,
    WIDE_GRID,
    ChartShape,
    Plot,
    chart_spec,
    is_crowded,
    panels_spec,
)
from waybench.reporting.charts._points import (
    ChartSet,
    chart_sets,
    points_by_examples,
    points_by_level,
    points_by_step,
    step_window,
)
from waybench.reporting.charts._svg import Chart
from waybench.results import Estimate
from waybench.results.estimates import as_metric, headline_spec
from waybench.results.results import EXAMPLES, group_by, with_observed_bounds
from waybench.results.stats import CONFIDENCE

_FLAT = ChartShape(WIDE.width, 240, WIDE.font, WIDE.letters)
_FLAT_NARROW = ChartShape(NARROW.width, 240, NARROW.font, NARROW.letters)
_ALONE = ChartShape(
    300, 190, 13, 12
)  # one size for wide and narrow pages: a line alone needs no room, and there are many
_PANELS = " Each player has a panel of its own, on the same axes."
OPEN = (
    " An open mark lacks the results of some attempts; its line spans what the score would be if all of them were "
    "failures, and if all were as good as possible."
)
_INTERVAL = f"{100 * CONFIDENCE:.0f} % interval"


def level_charts(view: TaskView, estimates: Sequence[Estimate], model: str = "") -> list[Chart]:
    """Return the charts of a task's score by level; [] for a single level whose scores the family's tables show.

    `model` is the model that all estimates are of; "" if the estimates are those of all models.
    """
    env, presentation = view.env, view.presentation
    if presentation.metrics and len({estimate.level for estimate in _without_teacher(estimates)}) < 2:
        return []
    divided = chart_sets(estimates, env.items.public_key)
    notes = [divided.note(presentation)] + [""] * len(divided.sets)
    return [
        figure
        for chart_set, note in zip(divided.sets, notes, strict=False)
        for figure in _level_chart(view, chart_set, model, note)
    ]


def step_charts(view: TaskView, estimates: Sequence[Estimate], model: str = "") -> list[Chart]:
    """Return the charts of a task by number of in-context examples, and by step (arguments as for `level_charts`)."""
    env = view.env
    charts: list[Chart] = []
    for chart_set in chart_sets(estimates, env.items.public_key).sets:
        for level, estimates_drawn in sorted(
            group_by(_without_teacher(chart_set.estimates), lambda estimate: estimate.level or 0).items()
        ):
            charts += _example_chart(view, level, estimates_drawn, chart_set, model)
        for (level, examples), estimates_drawn in sorted(
            group_by(
                _estimates_with_curves(chart_set), lambda estimate: (estimate.level or 0, estimate.group.examples)
            ).items(),
            key=lambda pair: pair[0],
        ):
            charts += curve_charts(
                view,
                level,
                examples,
                estimates_drawn,
                _name_parts(view, estimates_drawn, model, chart_set.name),
                chart_set=chart_set,
            )
    return charts


def omission_notes(
    view: TaskView,
    estimates: Sequence[Estimate],
    by_level: Sequence[Chart],
) -> list[str]:
    """Return sentences on the scores of a task that no chart shows or explains; [] if all are drawn.

    Args:
        view: The task.
        estimates: Its estimates by level, as for `level_charts` and `step_charts`.
        by_level: The result of `level_charts`, whose captions name the sets that are left out.
    """
    env, presentation = view.env, view.presentation
    divided = chart_sets(estimates, env.items.public_key)
    texts = [note] if (note := divided.note(presentation)) and not by_level else []
    curved = [estimate for chart_set in divided.sets for estimate in chart_set.estimates if estimate.curves]
    drawn_curves = [
        estimate for chart_set in divided.sets for estimate in _estimates_with_curves(chart_set) if estimate.curves
    ]
    if len(drawn_curves) < len(curved):
        guided = any(estimate.guided for estimate in drawn_curves)
        which = "in play without a teacher" if guided else "with more in-context examples"
        texts.append(f"Not shown here: curves by step {which}. They are on the results pages of each model.")
    return texts


def _estimates_with_curves(chart_set: ChartSet) -> list[Estimate]:
    """Return the estimates whose curves by step are drawn: those with a teacher, or else with the fewest examples.

    Without a teacher an episode's steps are its own: its curve is on the page of results, unless there are no others.
    """
    return [estimate for estimate in chart_set.estimates if estimate.guided] or _fewest_examples(
        _without_teacher(chart_set.estimates)
    )


def _without_teacher(estimates: Iterable[Estimate]) -> list[Estimate]:
    return [estimate for estimate in estimates if not estimate.guided]


def _fewest_examples(estimates: Iterable[Estimate]) -> list[Estimate]:
    """Return the estimates with the fewest examples among those that differ in the number of examples alone."""
    same = group_by(estimates, lambda estimate: (estimate.group.without_option(EXAMPLES), estimate.level))
    return [
        estimate
        for alike in same.values()
        for estimate in alike
        if estimate.group.examples == min(other.group.examples for other in alike)
    ]


def _level_chart(view: TaskView, chart_set: ChartSet, model: str, note: str) -> list[Chart]:
    """Return the chart of the score by level as a list; [] without points."""
    env, presentation = view.env, view.presentation
    free = _without_teacher(chart_set.estimates)
    estimates = _fewest_examples(free)
    headline = headline_spec(env, guided=False)
    plot = Plot(
        points_by_level(estimates, headline),
        with_observed_bounds(headline.metric, estimates),
        presentation.level.capitalize(),
    )
    label = f"{headline.metric.title} by {presentation.level} for each model; the same numbers are in the task's tables"
    more = " Each player is shown with the fewest in-context examples that it was given." * (len(estimates) < len(free))
    more += " Episodes with a teacher are not shown; they have separate tables." * (
        len(free) < len(chart_set.estimates)
    )
    article, level = with_article(presentation.level).partition(" ")[::2]
    caption = (
        f"{metric_heading(headline.metric)}, by {presentation.level}: the mean over {presentation.items}"
        f"{' of the best attempt' if env.scoring.best_of else ''}, with its {_INTERVAL}."
        f"{chart_set.caption(presentation)}{more} "
        f"{article.capitalize()} {level} without a point was not run, or has no result or no defined score."
        f"{note and f' {note}'}"
    )
    name = chart_name(
        view, _name_parts(view, estimates, model, chart_set.name), f"{headline.metric.name} by {presentation.level}"
    )
    return [_responsive_chart(name, plot, label, caption)] if plot.points else []


def _example_chart(
    view: TaskView,
    level: int,
    estimates: Sequence[Estimate],
    chart_set: ChartSet,
    model: str,
) -> list[Chart]:
    """Return the chart of the score by number of in-context examples as a list; [] without points."""
    env, presentation = view.env, view.presentation
    headline = headline_spec(env, guided=False)
    points = points_by_examples(estimates, headline)
    plot = Plot(points, with_observed_bounds(headline.metric, estimates), "Number of in-context examples")
    label = f"{headline.metric.title} by number of in-context examples for each model, {presentation.level} {level}"
    n_known = sum(headline.mean(estimate) is not None for estimate in estimates)
    single = " Players with only one number of examples are not shown." if len(points) < n_known else ""
    caption = (
        f"{metric_heading(headline.metric)} by number of in-context examples, {presentation.level} {level}: the mean "
        f"over {presentation.items}, with its {_INTERVAL}."
        f"{chart_set.caption(presentation) if chart_set.name else ''}{single}"
    )
    name = chart_name(
        view, _name_parts(view, estimates, model, chart_set.name), f"{headline.metric.name} by examples {level}"
    )
    return [_responsive_chart(name, plot, label, caption, _FLAT, _FLAT_NARROW)] if plot.points else []


def curve_charts(
    view: TaskView,
    level: int,
    examples: int,
    estimates: Sequence[Estimate],
    name_parts: Sequence[str],
    *,
    chart_set: ChartSet | None = None,
) -> list[Chart]:
    """Return a chart for each series of a task, step by step.

    Args:
        view: The task.
        level: The level of all estimates.
        examples: Their number of in-context examples.
        estimates: Estimates with a teacher, or without one.
        name_parts: Parts of the files' names that distinguish charts of one kind, the readable part first.
        chart_set: The set of items that they are of, where a page has several.
    """
    env, presentation = view.env, view.presentation
    guided = ", with a teacher" if any(estimate.guided for estimate in estimates) else ""
    with_examples = f", with {plural(examples, 'in-context example')}" if examples else ""
    other = chart_set.caption(presentation) if chart_set and chart_set.name else ""
    charts: list[Chart] = []
    for series in env.scoring.series:
        metric = with_observed_bounds(as_metric(series), estimates)
        window = step_window(estimates, metric)
        plot = Plot(points_by_step(estimates, metric, window), metric, "Step", bands=True)
        means = "" if window == 1 else f", means over {window} steps"
        what = f"{series.title} by step{means}, {presentation.level} {level}{guided}{with_examples}"
        free = "" if guided else " Episodes that end early are missing from the later steps."
        shown_as = (
            f"the mean over the episodes that have the step, with its {_INTERVAL} as a band."
            if window == 1
            else "with so few episodes single steps say little, so each point is the mean over several."
        )
        caption = f"{what}: {shown_as}{free}{other}"
        if plot.points:
            name = chart_name(view, name_parts, f"{series.name} by step {level}{guided}{with_examples}")
            charts.append(_responsive_chart(name, plot, what, caption, _FLAT, _FLAT_NARROW))
    return charts


def _name_parts(view: TaskView, estimates: Sequence[Estimate], model: str, set_name: str = "") -> list[str]:
    """Return the parts of a chart's name that distinguish it from others of its kind."""
    apart = estimates[0].group.separate_by if estimates and not model else ()
    return [model or view.env.id, *apart, *([set_name] if set_name else [])]


def chart_name(view: TaskView, name_parts: Sequence[str], content: str) -> str:
    """Return the name of a chart's files, which is the same in every report.

    Args:
        view: The task.
        name_parts: Texts that distinguish charts of one kind, the readable part first.
        content: A short text on what the chart shows.
    """
    id = view.env.id
    task = "" if name_parts[0] == id else f" {id}"
    return slug(f"{name_parts[0]}{task} {content}", json.dumps([*name_parts, id, content]))


def _responsive_chart(
    name: str, plot: Plot, label: str, caption: str, wide: ChartShape = WIDE, narrow: ChartShape = NARROW
) -> Chart:
    """Return the chart of a plot, with a narrow version or a panel for each line where it needs them."""
    caption += OPEN * any(point.is_open for point in plot.points)
    if len({point.line for point in plot.points}) == 1:
        return Chart.from_specs(name, label, caption, chart_spec(plot, _ALONE))
    if is_crowded(plot):
        specs = (panels_spec(plot, grid) for grid in (WIDE_GRID, NARROW_GRID))
        return Chart.from_specs(name, label, f"{caption}{_PANELS}", *specs)
    return Chart.from_specs(name, label, caption, chart_spec(plot, wide), chart_spec(plot, narrow))
