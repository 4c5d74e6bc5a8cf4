"""Charts of bars: the outcomes of a model's replies; an environment and its twin (AQA-Bench, Figure 4)."""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from waybench.core import Metric, Outcome, plural
from waybench.envs import registry
from waybench.reporting._files import slug
from waybench.reporting._format import TaskView, interval_text, metric_heading
from waybench.reporting.charts._charts import chart_name
from waybench.reporting.charts._spec import (
    Spec,
    direction_text,
    interval_ends,
    layer,
    legend_config,
    nominal,
    percent_axis,
    quantitative,
    specification,
    with_encoding,
)
from waybench.reporting.charts._svg import Chart
from waybench.results import Estimate
from waybench.results.comparisons._isomorphs import TwinEffect
from waybench.results.formatting import mean_text, one_line
from waybench.results.results import RunKey, group_by, short_labels
from waybench.results.results._groups import distinguishing_settings
from waybench.results.stats import CONFIDENCE, IntervalEstimate

_COLOURS = {
    Outcome.OK: "var(--c2)",
    Outcome.UNPRODUCTIVE: "var(--c5)",
    Outcome.ILLEGAL: "var(--c1)",
    Outcome.UNPARSED: "var(--c4)",
    Outcome.TRUNCATED: "var(--c3)",
    Outcome.OVERFLOW: "var(--c0)",
    Outcome.REFUSED: "var(--c6)",
}
_FONT = 12
_WIDEST_NAME = 340  # pixels
_LONGEST_TITLE = 34  # characters
_LONGEST_NAME = 50  # characters of a title with settings
_LABEL = "Outcomes of replies by task; the page of each task has the numbers"
_CAPTION = (
    "Outcomes of replies over all attempts that count, without replies that need not name an action, such as thoughts. "
    "The page of each task has the numbers."
)


def outcomes_chart(totals: Sequence[Estimate]) -> Chart | None:
    """Return a chart with a bar of reply outcomes for each estimate of a model; None without replies."""
    names = _bar_names([total.group for total in totals])
    data = [piece for total in totals if total.action_replies for piece in _bar_pieces(total, names)]
    if not data:
        return None
    name = f"{totals[0].group.model} outcomes"
    return Chart.from_specs(slug(name, name), _LABEL, _CAPTION, outcomes_spec(data), outcomes_spec(data, narrow=True))


def _bar_names(groups: Sequence[RunKey]) -> dict[RunKey, str]:
    """Return a unique name for the bar of each group: its task, and what distinguishes it from others of the task."""
    by_name: dict[str, RunKey] = {}
    for env, env_groups in group_by(groups, lambda group: group.env).items():
        title = registry.load(env).title
        for group in env_groups:
            settings = distinguishing_settings(group, env_groups)
            name = one_line(", ".join([one_line(title, _LONGEST_TITLE), *settings]), _LONGEST_NAME)
            candidates = (f"{name} [{number}]" if number > 1 else name for number in count(1))
            by_name[next(candidate for candidate in candidates if candidate not in by_name)] = group
    return {group: name for name, group in by_name.items()}


def _bar_pieces(total: Estimate, names: Mapping[RunKey, str]) -> list[dict[str, Any]]:
    """Return the pieces of an estimate's bar, one for each outcome that occurred."""
    name, replies = names[total.group], plural(total.action_replies, "reply", "replies")
    return [
        {
            "task": name,
            "outcome": str(outcome),
            "order": number,
            "share": total.outcomes[str(outcome)],
            "colour": colour,
            "text": f"{name}: {100 * total.outcomes[str(outcome)]:.1f} % of {replies} {outcome}",
        }
        for number, (outcome, colour) in enumerate(_COLOURS.items())
        if total.outcomes.get(str(outcome))
    ]


def outcomes_spec(data: Sequence[dict[str, Any]], *, narrow: bool = False) -> Spec:
    """Return the chart of outcomes as a Vega-Lite specification.

    `data` has pieces of bars: "task", "outcome", "order", "share", "colour", "text". With `narrow`, names are above
    their bars instead of beside them.
    """
    observed = [outcome for outcome in map(str, _COLOURS) if any(piece["outcome"] == outcome for piece in data)]
    colours = [_COLOURS[Outcome(outcome)] for outcome in observed]
    names = list(dict.fromkeys(piece["task"] for piece in data))
    config = legend_config(_FONT, has_grid=False, symbolType="square", columnPadding=24)
    shares = {"format": "%", "grid": False, "tickCount": 5}
    # The width of the names is estimated (0.58 font sizes a letter), since the font of the page is not known.
    names_width = min(_WIDEST_NAME, round(0.58 * _FONT * max(map(len, names))))
    name_axis = {"labelLimit": _WIDEST_NAME, "ticks": False, "domain": False, "minExtent": names_width}
    y = nominal("task", sort=None, title=None, axis=None if narrow else name_axis)
    encoding = {
        "x": quantitative("share", stack="zero", title="Share of replies", axis=shares),
        "y": y,
        "color": nominal("outcome", title=None, scale={"domain": observed, "range": colours}, sort=observed),
        "order": quantitative("order"),
        "description": nominal("text"),
    }
    bar = {"type": "bar", "stroke": "var(--page)", "strokeWidth": 1}
    if not narrow:
        return specification(460, 22 * len(names), **layer(bar, data, **encoding), config=config)
    name_layer = _names_above_layer("task", names, y, -8)
    bar_layer = layer({**bar, "height": 14, "yOffset": 8}, data, **encoding)
    return specification(300, 40 * len(names), layer=[bar_layer, name_layer], config=config)


def _names_above_layer(field: str, names: Sequence[str], y: Spec, dy: int) -> Spec:
    """Return the layer of names `dy` pixels below the middle of bars, for pages too narrow for names beside bars."""
    mark = {"type": "text", "align": "left", "dy": dy, "fontSize": _FONT, "color": "var(--soft)"}
    return layer(mark, [{field: name} for name in names], x={"value": 0}, y=y, text=nominal(field))


_BAR_HEIGHT = 13  # pixels
_LONGEST_PLAYER = 36  # characters
_COLOUR, _PAPER, _INK = "var(--c0)", "var(--page)", "var(--soft)"


def twin_charts(view: TaskView, effects: Sequence[TwinEffect]) -> list[Chart]:
    """Return a chart for each level at which players were given an environment and its twin, the best player first."""
    env, presentation = view.env, view.presentation
    charts: list[Chart] = []
    for level, level_effects in group_by(effects, lambda effect: effect.level).items():
        ordered = sorted(level_effects, key=lambda effect: (effect.group.embedded, _twin_sort_value(effect)))
        metric, twin = ordered[0].comparison.metric, registry.load(ordered[0].reference.env).title
        data = _twin_bars(ordered, metric, (twin, env.title))
        label = f"{metric.title} at {presentation.level} {level} in “{twin}” and in “{env.title}”, for each model"
        caption = (
            f"{metric_heading(metric)}, {presentation.level} {level}, at the same {presentation.items}: filled "
            f"“{twin}”, outlined “{env.title}”, with the {100 * CONFIDENCE:.0f} % intervals of the means. A table has "
            "the differences with their intervals for pairs."
        )
        wide, narrow = (twin_spec(data, metric, (twin, env.title), narrow=is_narrow) for is_narrow in (False, True))
        name = chart_name(view, [env.id, *ordered[0].group.separate_by], f"{metric.name} and twin {level}")
        charts.append(Chart.from_specs(name, label, caption, wide, narrow))
    return charts


def _twin_sort_value(effect: TwinEffect) -> float:
    """Return the mean in the twin, or its negative value, so that the best one is the lowest."""
    mean = effect.comparison.second_mean.value
    return mean if effect.comparison.metric.better == "lower" else -mean


def _twin_bars(effects: Sequence[TwinEffect], metric: Metric, titles: tuple[str, str]) -> list[dict[str, Any]]:
    """Return two bars for each effect: the mean in the twin, and in the environment."""
    names = short_labels(effect.group for effect in effects)

    def bar_values(name: str, task_index: int, mean: IntervalEstimate) -> dict[str, Any]:
        interval = interval_text(mean, metric)
        text = f"{name}, {titles[task_index]}: {mean_text(mean.value, metric)}"
        values = {"score": mean.value, "low": mean.low, "high": mean.high}
        return {
            **{"player": name, "task": titles[task_index], "order": task_index, **values},
            **{"interval": mean.low is not None, "text": f"{text} ({interval})" if interval else text},
        }

    return [
        bar_values(one_line(names[effect.group], _LONGEST_PLAYER), task_index, mean)
        for effect in effects
        for task_index, mean in enumerate((effect.comparison.second_mean, effect.comparison.first_mean))
    ]


def twin_spec(data: Sequence[dict[str, Any]], metric: Metric, titles: tuple[str, str], *, narrow: bool = False) -> Spec:
    """Return the chart of an environment and its twin as a Vega-Lite specification.

    `data` has the bars: "player", "task", "order", "score", "low", "high", "interval", "text". `titles` are those of
    the twin, whose bars are filled, and of the environment. With `narrow`, names are above the bars, not beside them.
    """
    names = list(dict.fromkeys(bar["player"] for bar in data))
    config = legend_config(_FONT, symbolType="square", labelLimit=280, columns=1)
    title = f"{metric.title}, {direction_text(metric)}".strip(", ")  # no direction, no comma
    low, high = metric.bounds
    scale: Spec = {"nice": False} if low is None or high is None else {"domain": [min(0, low), high], "nice": False}
    name_axis = {"labelLimit": 280, "ticks": False, "domain": False}
    y = nominal("player", sort=None, title=None, axis=None if narrow else name_axis, scale={"paddingInner": 0.3})
    x = quantitative("score", title=title, scale=scale, axis=percent_axis(metric, tickCount=5))
    fill = nominal(
        "task",
        title=None,
        sort=list(titles),
        scale={"domain": list(titles), "range": [_COLOUR, _PAPER]},
        legend={"symbolStrokeColor": _COLOUR, "symbolStrokeWidth": 1.4},
    )
    side = nominal("order", sort=None, scale={"paddingInner": 0.1})
    rule = {"type": "rule", "strokeWidth": 1.6, "color": _INK}
    layers = [
        layer({"type": "bar", "stroke": _COLOUR, "strokeWidth": 1.4}, x=x, fill=fill, description=nominal("text")),
        layer(rule, None, "datum.interval", **interval_ends("x")),
    ]
    layers = with_encoding(layers, y=y, yOffset=side)
    if narrow:
        layers.append(_names_above_layer("player", names, y, -_BAR_HEIGHT - 8))
    size = (300, 56 * len(names) + 16) if narrow else (520, 40 * len(names))
    return specification(*size, data={"values": list(data)}, layer=layers, config=config)
