"""Building blocks of Vega-Lite specifications, in the colours of the page's style sheet."""

from collections.abc import Mapping, Sequence
from typing import Any

from waybench.core import Metric
from waybench.results.formatting import better_text

Spec = dict[str, Any]
DASHED = [5, 4]


def specification(width: int, height: int, **parts: Any) -> Spec:
    """Return a specification without a background, of a plot with a width and a height in pixels."""
    return compose(width=width, height=height, **parts)


def compose(**parts: Any) -> Spec:
    """Return a specification without a background, of parts that may have measures of their own."""
    return {"$schema": "https://vega.github.io/schema/vega-lite/v6.json", "background": "transparent", **parts}


def quantitative(field: str, **more: Any) -> Spec:
    """Return how a number in the data is shown."""
    return {"field": field, "type": "quantitative", **more}


def nominal(field: str, **more: Any) -> Spec:
    """Return how a name in the data is shown."""
    return {"field": field, "type": "nominal", **more}


def layer(mark: Spec, values: Sequence[Mapping[str, Any]] | None = None, *where: str, **encoding: Spec) -> Spec:
    """Return a layer: a mark for each of some values, by default the chart's own, that conditions hold for."""
    data: Spec = {} if values is None else {"data": {"values": list(values)}}
    transform: Spec = {"transform": [{"filter": condition} for condition in where]} if where else {}
    return {**data, **transform, "mark": mark, "encoding": encoding}


def interval_ends(along: str, **more: Any) -> Spec:
    """Return the encoding of intervals, from "low" to "high" in the data, along the axis "x" or "y"."""
    return {along: quantitative("low", **more), f"{along}2": {"field": "high"}}


def point_layers(mark: Spec, encoding: Spec, *where: str, has_open: bool) -> list[Spec]:
    """Return the layers of a chart's points: with "open" in their data they lack attempts, and are drawn as outlines.

    Args:
        mark: Size and colour of a point.
        encoding: What its place, colour and description are taken from.
        *where: Conditions on the data.
        has_open: Whether some point is open.
    """
    filled = {"type": "point", "filled": True, "opacity": 1, **mark}
    if not has_open:
        return [layer(filled, None, *where, **encoding)]
    outline = {**filled, "filled": False, "fill": "var(--page)", "strokeWidth": 1.8}
    return [
        layer(look, None, *where, condition, **encoding)
        for condition, look in (("!datum.open", filled), ("datum.open", outline))
    ]


def halo(width: int) -> Spec:
    """Return a margin of the page's colour around labels, so that lines below do not make them hard to read."""
    return {"stroke": "var(--page)", "strokeWidth": width, "strokeJoin": "round"}


def heading_layer(text: str, **mark: Any) -> Spec:
    """Return a text above the upper left corner of a plot."""
    corner: Spec = {"value": 0}
    return layer({"type": "text", "align": "left", **mark}, [{"text": text}], x=corner, y=corner, text=nominal("text"))


def line_colours(number: int, is_plain: bool) -> tuple[str, str]:
    """Return the colours of a line and of its name; those of a reference player beside models are plain."""
    return ("var(--c-reference)", "var(--soft)") if is_plain else (f"var(--c{number})", f"var(--t{number})")


def direction_text(metric: Metric) -> str:
    """Return which values of a metric are better, for an axis: "↑ higher is better"; "" for neither."""
    arrow = {"lower": "↓", "higher": "↑"}.get(metric.better, "")
    return f"{arrow} {better_text(metric)}".strip()


def percent_axis(metric: Metric, **axis: Any) -> Spec:
    """Return the axis of a metric's values: labels of shares and of per cents end with "%"."""
    if metric.bounds == (0, 1):
        return {**axis, "format": "%"}
    return {**axis, **({"labelExpr": "datum.label + '%'"} if metric.unit == "%" else {})}


def soft_text(size: int) -> Spec:
    """Return the colours and sizes of the labels and titles of axes or legends."""
    return {"labelColor": "var(--soft)", "titleColor": "var(--soft)", "labelFontSize": size, "titleFontSize": size}


def axis_config(size: int, *, padding: int = 8, **text: Any) -> Spec:
    """Return the colours and sizes of a chart's axes and texts."""
    axis = {
        **{**soft_text(size), "titleFontWeight": "normal", "titlePadding": padding},
        **{"gridColor": "var(--rule)", "domainColor": "var(--rule-strong)", "tickColor": "var(--rule-strong)"},
    }
    axis_y = {"domain": False, "ticks": False, "labelPadding": padding}
    words = {"fontSize": size, "baseline": "middle", **text}
    return {"view": {"stroke": None}, "axis": axis, "axisY": axis_y, "text": words}


def legend_config(size: int, *, has_grid: bool = True, **legend: Any) -> Spec:
    """Return the colours and sizes of the text of a chart with a legend above it."""
    grid = {"gridColor": "var(--rule)"} if has_grid else {}
    return {
        "view": {"stroke": None},
        "axis": {**soft_text(size), "titleFontWeight": "normal", **grid, "tickColor": "var(--rule-strong)"},
        "legend": {**soft_text(size), "orient": "top", **legend},
    }
