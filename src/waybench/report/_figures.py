"""Which charts an environment has on the first page."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from waybench.analysis import CONFIDENCE, EXAMPLES, Estimate, as_metric, grouped, measure, over
from waybench.core import Environment
from waybench.report._chart import NARROW, WIDE, Plot, Shape, chart, chart_spec
from waybench.report._families import Family
from waybench.report._files import slug
from waybench.report._format import heading, plural
from waybench.report._points import by_examples, by_level, by_step, one_set
from waybench.report._svg import drawn

_FLAT = Shape(WIDE.width, 240, WIDE.font, WIDE.letters)
_FLAT_NARROW = Shape(NARROW.width, 240, NARROW.font, NARROW.letters)
_SMALL = Shape(380, 190, 13, 12)
_INTERVAL = f"{100 * CONFIDENCE:.0f} % interval"


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart.

    Attributes:
        name: Its name as a file, the same in every report.
        wide: For wide pages.
        narrow: For narrow ones; None if the same will do.
        caption: What it shows.
        spec: What `wide` is drawn from, as a Vega-Lite specification with its data.
    """

    name: str
    wide: Markup
    narrow: Markup | None
    caption: str
    spec: Mapping[str, Any]


def level_figures(
    env: Environment[Any, Any, Any], words: Family, estimates: Sequence[Estimate], model: str = ""
) -> list[Figure]:
    """Return the chart of an environment's score by level; none if there is one level, and a table has all of it.

    Args:
        env: The environment.
        words: What is known of its family.
        estimates: Its estimates by level; of several sets of items one is drawn for each model and settings.
        model: The model that all of them are of; "" if they are all that there are.
    """
    plain = _with_fewest_examples(_free(one_set(estimates, env.public_key)))
    several = not words.metrics or len({estimate.level for estimate in plain}) > 1
    return _level_figure(env, words, plain, model) if several else []


def step_figures(
    env: Environment[Any, Any, Any], words: Family, estimates: Sequence[Estimate], model: str = ""
) -> list[Figure]:
    """Return the other charts of an environment: by number of in-context examples, and step by step.

    Args:
        env: The environment.
        words: What is known of its family.
        estimates: Its estimates by level, as for `level_figures`.
        model: The model that all of them are of; "" if they are all that there are.
    """
    some = one_set(estimates, env.public_key)
    free = _free(some)
    found: list[Figure] = []
    for level, own in sorted(grouped(free, lambda each: each.level or 0).items()):
        found += _example_figure(env, words, level, own, model)
    # Without a teacher an episode's steps are its own: its curve is on the model's page, unless there are no others.
    asked = [estimate for estimate in some if estimate.guided] or _with_fewest_examples(free)
    for (level, examples), own in sorted(
        grouped(asked, lambda each: (each.level or 0, each.group.examples)).items(), key=lambda one: one[0]
    ):
        found += curve_figures(env, words, level, examples, own, _whose(env, own, model))
    return found


def _free(estimates: Iterable[Estimate]) -> list[Estimate]:
    return [estimate for estimate in estimates if not estimate.guided]


def _with_fewest_examples(estimates: Iterable[Estimate]) -> list[Estimate]:
    same = grouped(estimates, lambda each: each.group.without(EXAMPLES))
    return [
        each
        for some in same.values()
        for each in some
        if each.group.examples == min(other.group.examples for other in some)
    ]


def _level_figure(
    env: Environment[Any, Any, Any], words: Family, estimates: Sequence[Estimate], model: str
) -> list[Figure]:
    measured = measure(env, guided=False)
    plot = Plot(by_level(estimates, measured), over(measured.metric, estimates), words.level.capitalize())
    label = f"{measured.metric.title} by {words.level} for each model; the tables of the task have the same numbers"
    caption = (
        f"{heading(measured.metric)}, by {words.level}: the mean over {words.items}"
        f"{' of the best attempt' if env.best_of else ''}, with its {_INTERVAL}. A {words.level} without a point was "
        "not run, or with another set."
    )
    name = chart_name(env, _whose(env, estimates, model), f"{measured.metric.name} by {words.level}")
    return [_figure(name, plot, label, caption)] if plot.points else []


def _example_figure(
    env: Environment[Any, Any, Any], words: Family, level: int, estimates: Sequence[Estimate], model: str
) -> list[Figure]:
    measured = measure(env, guided=False)
    plot = Plot(by_examples(estimates, measured), over(measured.metric, estimates), "Number of in-context examples")
    label = f"{measured.metric.title} by number of in-context examples for each model, {words.level} {level}"
    caption = (
        f"{heading(measured.metric)} by number of in-context examples, {words.level} {level}: the mean over "
        f"{words.items}, with its {_INTERVAL}."
    )
    name = chart_name(env, _whose(env, estimates, model), f"{measured.metric.name} by examples {level}")
    return [_figure(name, plot, label, caption, _FLAT, _FLAT_NARROW)] if plot.points else []


def curve_figures(
    env: Environment[Any, Any, Any],
    words: Family,
    level: int,
    examples: int,
    estimates: Sequence[Estimate],
    whose: Sequence[str],
    *,
    small: bool = False,
) -> list[Figure]:
    """Return a chart for each series of an environment, step by step.

    Args:
        env: The environment.
        words: What is known of its family.
        level: The level of all estimates.
        examples: Their number of in-context examples.
        estimates: Estimates with a teacher, or without one.
        whose: What their files' names tell them from others of the same kind by, the readable part first.
        small: Whether it is one among many, and of one size.
    """
    guided = ", with a teacher" if any(estimate.guided for estimate in estimates) else ""
    shown = f", with {plural(examples, 'in-context example')}" if examples else ""
    found: list[Figure] = []
    for series in env.series:
        metric = over(as_metric(series), estimates)
        plot = Plot(by_step(estimates, metric), metric, "Step", bands=True)
        what = f"{series.title} by step, {words.level} {level}{guided}{shown}"
        free = "" if guided else " In free play episodes that end early are missing from the later steps."
        caption = f"{what}: the mean over the episodes that have the step, with its {_INTERVAL} as a band.{free}"
        if plot.points:
            sizes = (_SMALL, None) if small else (_FLAT, _FLAT_NARROW)
            name = chart_name(env, whose, f"{series.name} by step {level}{guided}{shown}")
            found.append(_figure(name, plot, what, caption, *sizes))
    return found


def _whose(env: Environment[Any, Any, Any], estimates: Sequence[Estimate], model: str) -> list[str]:
    """Return what tells charts of one kind apart: the model of one, or what keeps an environment's tables apart."""
    if model:
        return [model]
    return [env.id, *(estimates[0].group.apart if estimates else ())]


def chart_name(env: Environment[Any, Any, Any], whose: Sequence[str], what: str) -> str:
    """Return the name of a chart's files, the same in every report.

    Args:
        env: The environment.
        whose: What tells charts of one kind apart, the readable part first.
        what: What it shows.
    """
    task = "" if whose[0] == env.id else f" {env.id}"
    return slug(f"{whose[0]}{task} {what}", json.dumps([*whose, env.id, what]))


def _figure(
    name: str, plot: Plot, label: str, caption: str, wide: Shape = WIDE, narrow: Shape | None = NARROW
) -> Figure:
    spec = chart_spec(plot, wide)
    return Figure(name, drawn(spec, label), chart(plot, narrow, label) if narrow else None, caption, spec)
