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
# Of a chart with one line, on wide and narrow pages: it needs little space, and there are many.
_SMALL = ChartShape(300, 190, 13, 12)
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
    charts: list[Chart] = []
    for number, chart_set in enumerate(divided.sets):
        note = "" if number else divided.note(presentation)  # the first caption says what is left out
        charts += _level_chart(view, chart_set, model, note)
    return charts


def step_charts(view: TaskView, estimates: Sequence[Estimate], model: str = "") -> list[Chart]:
    """Return the charts of a task by number of in-context examples, and by step (arguments as for `level_charts`)."""
    env = view.env
    charts: list[Chart] = []
    for chart_set in chart_sets(estimates, env.items.public_key).sets:
        by_level = group_by(_without_teacher(chart_set.estimates), lambda estimate: estimate.level or 0)
        for level in sorted(by_level):
            charts += _example_chart(view, level, by_level[level], chart_set, model)
        by_level_and_examples = group_by(
            _estimates_with_curves(chart_set), lambda estimate: (estimate.level or 0, estimate.group.examples)
        )
        for level, examples in sorted(by_level_and_examples):
            estimates_drawn = by_level_and_examples[level, examples]
            name_parts = _name_parts(view, estimates_drawn, model, chart_set.name)
            charts += curve_charts(view, level, examples, estimates_drawn, name_parts, chart_set=chart_set)
    return charts


def omission_notes(
    view: TaskView,
    estimates: Sequence[Estimate],
    by_level: Sequence[Chart],
) -> list[str]:
    """Return sentences on the scores of a task that no chart shows or explains; [] if all are drawn.

    `by_level` is the result of `level_charts` for the same estimates, whose captions name the sets that are left out.
    """
    env, presentation = view.env, view.presentation
    divided = chart_sets(estimates, env.items.public_key)
    note = divided.note(presentation)
    texts = [note] if note and not by_level else []
    n_curves, drawn_estimates = 0, list[Estimate]()
    for chart_set in divided.sets:
        n_curves += sum(bool(estimate.curves) for estimate in chart_set.estimates)
        drawn_estimates += [estimate for estimate in _estimates_with_curves(chart_set) if estimate.curves]
    if len(drawn_estimates) < n_curves:
        guided = any(estimate.guided for estimate in drawn_estimates)
        which = "in play without a teacher" if guided else "with more in-context examples"
        texts.append(f"Not shown here: curves by step {which}. They are on the results pages of each model.")
    return texts


def _estimates_with_curves(chart_set: ChartSet) -> list[Estimate]:
    """Return the estimates whose curves by step are drawn: those with a teacher, or else with the fewest examples.

    If there is a teacher, curves without one are on the pages of results alone: there each episode has other steps.
    """
    return [estimate for estimate in chart_set.estimates if estimate.guided] or _fewest_examples(
        _without_teacher(chart_set.estimates)
    )


def _without_teacher(estimates: Iterable[Estimate]) -> list[Estimate]:
    return [estimate for estimate in estimates if not estimate.guided]


def _fewest_examples(estimates: Iterable[Estimate]) -> list[Estimate]:
    """Return the estimates with the fewest examples among those that differ in the number of examples alone."""
    by_other_settings = group_by(estimates, lambda estimate: (estimate.group.without_option(EXAMPLES), estimate.level))
    fewest: list[Estimate] = []
    for alike in by_other_settings.values():
        fewest_examples = min(estimate.group.examples for estimate in alike)
        fewest += [estimate for estimate in alike if estimate.group.examples == fewest_examples]
    return fewest


def _level_chart(view: TaskView, chart_set: ChartSet, model: str, note: str) -> list[Chart]:
    """Return the chart of the score by level as a list; [] without points. `note` ends the caption."""
    env, presentation = view.env, view.presentation
    without_teacher = _without_teacher(chart_set.estimates)
    estimates = _fewest_examples(without_teacher)
    headline = headline_spec(env, guided=False)
    plot = Plot(
        points_by_level(estimates, headline),
        with_observed_bounds(headline.metric, estimates),
        presentation.level.capitalize(),
    )
    label = f"{headline.metric.title} by {presentation.level} for each model; the same numbers are in the task's tables"
    remarks = ""
    if len(estimates) < len(without_teacher):
        remarks += " Each player is shown with the fewest in-context examples that it was given."
    if len(without_teacher) < len(chart_set.estimates):
        remarks += " Episodes with a teacher are not shown; they have separate tables."
    article, level = with_article(presentation.level).partition(" ")[::2]
    caption = (
        f"{metric_heading(headline.metric)}, by {presentation.level}: the mean over {presentation.items}"
        f"{' of the best attempt' if env.scoring.best_of else ''}, with its {_INTERVAL}."
        f"{chart_set.caption(presentation)}{remarks} "
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

    All estimates are at one level, with the same number of in-context examples, and all with a teacher or all without.
    `name_parts` distinguish charts of one kind (`chart_name`); pages with several sets of items give the `chart_set`.
    """
    env, presentation = view.env, view.presentation
    guided = ", with a teacher" if any(estimate.guided for estimate in estimates) else ""
    with_examples = f", with {plural(examples, 'in-context example')}" if examples else ""
    set_text = chart_set.caption(presentation) if chart_set and chart_set.name else ""
    charts: list[Chart] = []
    for series in env.scoring.series:
        metric = with_observed_bounds(as_metric(series), estimates)
        window = step_window(estimates, metric)
        plot = Plot(points_by_step(estimates, metric, window), metric, "Step", bands=True)
        means = "" if window == 1 else f", means over {window} steps"
        content = f"{series.title} by step{means}, {presentation.level} {level}{guided}{with_examples}"
        early_ends = "" if guided else " Episodes that end early are missing from the later steps."
        meaning = (
            f"the mean over the episodes that have the step, with its {_INTERVAL} as a band."
            if window == 1
            else "with so few episodes single steps say little, so each point is the mean over several."
        )
        caption = f"{content}: {meaning}{early_ends}{set_text}"
        if plot.points:
            name = chart_name(view, name_parts, f"{series.name} by step {level}{guided}{with_examples}")
            charts.append(_responsive_chart(name, plot, content, caption, _FLAT, _FLAT_NARROW))
    return charts


def _name_parts(view: TaskView, estimates: Sequence[Estimate], model: str, set_name: str = "") -> list[str]:
    """Return the parts of a chart's name that distinguish it from others of its kind."""
    separate_by = estimates[0].group.separate_by if estimates and not model else ()
    return [model or view.env.id, *separate_by, *([set_name] if set_name else [])]


def chart_name(view: TaskView, name_parts: Sequence[str], content: str) -> str:
    """Return the name of a chart's files, which is the same in every report.

    `name_parts` are texts that distinguish charts of one kind, the readable part first, and `content` is a short text
    on what the chart shows.
    """
    env_id = view.env.id
    task = "" if name_parts[0] == env_id else f" {env_id}"
    return slug(f"{name_parts[0]}{task} {content}", json.dumps([*name_parts, env_id, content]))


def _responsive_chart(
    name: str, plot: Plot, label: str, caption: str, wide: ChartShape = WIDE, narrow: ChartShape = NARROW
) -> Chart:
    """Return the chart of a plot, with a narrow version or a panel for each line where it needs them."""
    if any(point.is_open for point in plot.points):
        caption += OPEN
    if len({point.line for point in plot.points}) == 1:
        return Chart.from_specs(name, label, caption, chart_spec(plot, _SMALL))
    if is_crowded(plot):
        specs = (panels_spec(plot, grid) for grid in (WIDE_GRID, NARROW_GRID))
        return Chart.from_specs(name, label, f"{caption}{_PANELS}", *specs)
    return Chart.from_specs(name, label, caption, chart_spec(plot, wide), chart_spec(plot, narrow))
