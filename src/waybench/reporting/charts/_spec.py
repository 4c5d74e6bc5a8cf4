"""Building blocks of Vega-Lite specifications, in the colours of the page's style sheet."""

from collections.abc import Mapping, Sequence
from typing import Any

from waybench.core import Metric
from waybench.results.formatting import better_text

Spec = dict[str, Any]
DASHED = [5, 4]


def specification(width: int, height: int, **parts: Any) -> Spec:
    """Return a specification of a plot with a width and height in pixels, on a transparent background."""
    return compose(width=width, height=height, **parts)


def compose(**parts: Any) -> Spec:
    """Return a specification of these parts on a transparent background."""
    return {"$schema": "https://vega.github.io/schema/vega-lite/v6.json", "background": "transparent", **parts}


def quantitative(field: str, **properties: Any) -> Spec:
    """Return the encoding of a number in the data."""
    return {"field": field, "type": "quantitative", **properties}


def nominal(field: str, **properties: Any) -> Spec:
    """Return the encoding of a name in the data."""
    return {"field": field, "type": "nominal", **properties}


def layer(mark: Spec, values: Sequence[Mapping[str, Any]] | None = None, *conditions: str, **encoding: Spec) -> Spec:
    """Return a layer with a mark for each value that meets all conditions; None stands for the chart's own values."""
    data: Spec = {} if values is None else {"data": {"values": list(values)}}
    transform: Spec = {"transform": [{"filter": condition} for condition in conditions]} if conditions else {}
    return {**data, **transform, "mark": mark, "encoding": encoding}


def with_encoding(layers: Sequence[Spec], **encoding: Spec) -> list[Spec]:
    """Return layers with encodings that all of them have, except where a layer has its own."""
    return [{**spec, "encoding": {**encoding, **spec["encoding"]}} for spec in layers]


def interval_ends(channel: str, **properties: Any) -> Spec:
    """Return the encoding of intervals from "low" to "high" in the data, along the channel "x" or "y"."""
    return {channel: quantitative("low", **properties), f"{channel}2": {"field": "high"}}


def point_layers(mark: Spec, encoding: Spec, *conditions: str, has_open: bool) -> list[Spec]:
    """Return the layers of points; points with "open" in their data lack attempts, and are drawn as outlines.

    `mark` has the size and colour of points, `encoding` the fields of the data for position and description. All points
    meet the conditions; `has_open` says whether some point is open.
    """
    filled = {"type": "point", "filled": True, "opacity": 1, **mark}
    if not has_open:
        return [layer(filled, None, *conditions, **encoding)]
    outline = {**filled, "filled": False, "fill": "var(--page)", "strokeWidth": 1.8}
    return [
        layer(point_mark, None, *conditions, condition, **encoding)
        for condition, point_mark in (("!datum.open", filled), ("datum.open", outline))
    ]


def halo_mark(width: int) -> Spec:
    """Return the properties of a margin around labels that keeps them legible over lines."""
    return {"stroke": "var(--page)", "strokeWidth": width, "strokeJoin": "round"}


def heading_layer(text: str, **mark: Any) -> Spec:
    """Return a layer with a text above the upper left corner of a plot."""
    corner: Spec = {"value": 0}
    return layer({"type": "text", "align": "left", **mark}, [{"text": text}], x=corner, y=corner, text=nominal("text"))


def line_colours(number: int, is_plain: bool) -> tuple[str, str]:
    """Return the colours of a line and of its name; plain ones are grey, for reference players beside models."""
    return ("var(--c-reference)", "var(--soft)") if is_plain else (f"var(--c{number})", f"var(--t{number})")


def direction_text(metric: Metric) -> str:
    """Return which values of a metric are better, as text for an axis: "↑ higher is better"; "" for neither."""
    arrow = {"lower": "↓", "higher": "↑"}.get(metric.better, "")
    return f"{arrow} {better_text(metric)}".strip()


def percent_axis(metric: Metric, **axis: Any) -> Spec:
    """Return the axis of a metric's values; labels of shares and percentages end with "%"."""
    if metric.bounds == (0, 1):
        return {**axis, "format": "%"}
    return {**axis, **({"labelExpr": "datum.label + '%'"} if metric.unit == "%" else {})}


def soft_text(size: int) -> Spec:
    """Return the colours and font size, in pixels, of the labels and titles of axes or legends."""
    return {"labelColor": "var(--soft)", "titleColor": "var(--soft)", "labelFontSize": size, "titleFontSize": size}


def axis_config(size: int, *, padding: int = 8, **text: Any) -> Spec:
    """Return the Vega-Lite configuration of a chart's axes and texts, `size` and `padding` in pixels."""
    axis = {
        **{**soft_text(size), "titleFontWeight": "normal", "titlePadding": padding},
        **{"gridColor": "var(--rule)", "domainColor": "var(--rule-strong)", "tickColor": "var(--rule-strong)"},
    }
    axis_y = {"domain": False, "ticks": False, "labelPadding": padding}
    text_marks = {"fontSize": size, "baseline": "middle", **text}
    return {"view": {"stroke": None}, "axis": axis, "axisY": axis_y, "text": text_marks}


def legend_config(size: int, *, has_grid: bool = True, **legend: Any) -> Spec:
    """Return the Vega-Lite configuration of a chart with a legend above it, in fonts of `size` pixels.

    Grid lines, if there are any, have the colour of the page's rules; `legend` has further properties of the legend.
    """
    grid = {"gridColor": "var(--rule)"} if has_grid else {}
    return {
        "view": {"stroke": None},
        "axis": {**soft_text(size), "titleFontWeight": "normal", **grid, "tickColor": "var(--rule-strong)"},
        "legend": {**soft_text(size), "orient": "top", **legend},
    }
