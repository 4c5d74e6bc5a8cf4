"""The chart of an environment and its twin: two bars for each player (AQA-Bench, Figure 4)."""

from collections.abc import Sequence
from typing import Any

from waybench.core import Environment, Metric, Presentation
from waybench.envs import registry
from waybench.reporting._format import heading, interval_text
from waybench.reporting.charts._charts import Chart, chart_name
from waybench.reporting.charts._svg import Spec, drawn, nominal, quantitative, specification
from waybench.results.comparisons import TwinEffect
from waybench.results.formatting import better_text, mean_text, one_line
from waybench.results.results import grouped, short_labels
from waybench.results.stats import CONFIDENCE, Mean

_FONT = 12
_BAR = 13  # pixels
_LETTERS = 36
_COLOUR, _PAPER, _INK = "var(--c0)", "var(--page)", "var(--soft)"


def twin_charts(
    env: Environment[Any, Any, Any], presentation: Presentation, found: Sequence[TwinEffect]
) -> list[Chart]:
    """Return a chart for each level at which an environment and its twin were given to the same players.

    Args:
        env: The environment.
        presentation: Its presentation.
        found: The comparisons with its twin.
    """
    charts: list[Chart] = []
    for level, some in grouped(found, lambda each: each.level).items():
        own = sorted(some, key=lambda each: (each.group.embedded, _merit(each)))
        metric, twin = own[0].comparison.metric, registry.load(own[0].reference.env).title
        data = _bars(own, metric, (twin, env.title))
        label = f"{metric.title} at {presentation.level} {level} in “{twin}” and in “{env.title}”, for each model"
        caption = (
            f"{heading(metric)}, {presentation.level} {level}, at the same {presentation.items}: filled “{twin}”, "
            f"outlined “{env.title}”, with the {100 * CONFIDENCE:.0f} % intervals of the means. A table has the "
            "differences with their intervals for pairs."
        )
        spec = twin_spec(data, metric, (twin, env.title))
        narrow = drawn(twin_spec(data, metric, (twin, env.title), narrow=True), label)
        name = chart_name(env, [env.id, *own[0].group.apart], f"{metric.name} and twin {level}")
        charts.append(Chart(name, drawn(spec, label), narrow, caption, spec))
    return charts


def _merit(each: TwinEffect) -> float:
    one = each.comparison
    return one.second_mean.value if one.metric.better == "lower" else -one.second_mean.value


def _bars(found: Sequence[TwinEffect], metric: Metric, titles: tuple[str, str]) -> list[dict[str, Any]]:
    names = short_labels(each.group for each in found)

    def bar(name: str, which: int, mean: Mean) -> dict[str, Any]:
        ends = interval_text(mean, metric)
        text = f"{name}, {titles[which]}: {mean_text(mean.value, metric)}"
        values = {"score": mean.value, "low": mean.low, "high": mean.high}
        return {
            **{"player": name, "task": titles[which], "order": which, **values},
            **{"interval": mean.low is not None, "text": f"{text} ({ends})" if ends else text},
        }

    return [
        bar(one_line(names[each.group], _LETTERS), which, mean)
        for each in found
        for which, mean in enumerate((each.comparison.second_mean, each.comparison.first_mean))
    ]


def twin_spec(data: Sequence[dict[str, Any]], metric: Metric, titles: tuple[str, str], *, narrow: bool = False) -> Spec:
    """Return the chart as a Vega-Lite specification.

    Args:
        data: The bars: "player", "task", "order", "score", "low", "high", "interval", "text".
        metric: What the bars are means of.
        titles: The titles of the twin, whose bars are filled, and of the environment.
        narrow: Whether a player's name is above its bars, and not beside them.
    """
    names = list(dict.fromkeys(each["player"] for each in data))
    text = {"labelColor": "var(--soft)", "titleColor": "var(--soft)", "labelFontSize": _FONT, "titleFontSize": _FONT}
    config = {
        "view": {"stroke": None},
        "axis": {**text, "titleFontWeight": "normal", "gridColor": "var(--rule)", "tickColor": "var(--rule-strong)"},
        "legend": {**text, "orient": "top", "symbolType": "square", "labelLimit": 280, "columns": 1},
    }
    arrow = {"lower": "↓", "higher": "↑"}.get(metric.better, "")
    title = f"{metric.title}, {arrow} {better_text(metric)}".strip(", ")
    low, high = metric.bounds
    scale: Spec = {"nice": False} if low is None or high is None else {"domain": [min(0, low), high], "nice": False}
    beside = {"labelLimit": 280, "ticks": False, "domain": False}
    y = nominal("player", sort=None, title=None, axis=None if narrow else beside, scale={"paddingInner": 0.3})
    x = quantitative("score", title=title, scale=scale, axis={"tickCount": 5})
    fill = nominal(
        "task",
        title=None,
        sort=list(titles),
        scale={"domain": list(titles), "range": [_COLOUR, _PAPER]},
        legend={"symbolStrokeColor": _COLOUR, "symbolStrokeWidth": 1.4},
    )
    side = nominal("order", sort=None, scale={"paddingInner": 0.1})
    layers: list[Spec] = [
        {
            "mark": {"type": "bar", "stroke": _COLOUR, "strokeWidth": 1.4},
            "encoding": {"x": x, "fill": fill, "description": nominal("text")},
        },
        {
            "transform": [{"filter": "datum.interval"}],
            "mark": {"type": "rule", "strokeWidth": 1.6, "color": _INK},
            "encoding": {"x": quantitative("low"), "x2": {"field": "high"}},
        },
    ]
    for layer in layers:
        layer["encoding"] = {"y": y, "yOffset": side, **layer["encoding"]}
    if narrow:
        layers.append(
            {
                "data": {"values": [{"player": name} for name in names]},
                "mark": {"type": "text", "align": "left", "dy": -_BAR - 8, "fontSize": _FONT, "color": "var(--soft)"},
                "encoding": {"x": {"value": 0}, "y": y, "text": nominal("player")},
            }
        )
    size = (300, 56 * len(names) + 16) if narrow else (520, 40 * len(names))
    return specification(*size, data={"values": list(data)}, layer=layers, config=config)
