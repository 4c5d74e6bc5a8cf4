"""Charts of the nine capabilities: an axis for each, a line around for each agent."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, cos, pi, sin
from typing import Any

from waybench.reporting.charts._chart import COLOURS
from waybench.reporting.charts._svg import Spec, nominal, quantitative, specification

_OUTSIDE = 1.12  # where the axes' names stand
_LINE = 0.15  # from a line of text to the next
_MOST_RINGS = 5
_STEPS = (0.25, 0.5, 1, 2, 5)  # between rings, and these times powers of ten
_LONGEST = 68  # characters of a line above the chart
_SIDE, _END = 2.1, 1.45  # how far the chart reaches from its centre, to the sides and up and down


@dataclass(frozen=True, slots=True)
class Web:
    """One line around.

    Attributes:
        label: Whose it is.
        values: A value for each axis, in their order; None where there is none, which breaks the line.
        line: Number of its colour.
        dashed: Whether it is drawn dashed.
    """

    label: str
    values: Sequence[float | None]
    line: int = 0
    dashed: bool = False


def radar_spec(
    axes: Sequence[str],
    webs: Sequence[Web],
    size: int = 300,
    font: int = 12,
    *,
    title: str = "",
    subtitle: Sequence[str] = (),
) -> Spec:
    """Return values on axes that leave one centre as a Vega-Lite specification.

    The rings have numbers, and the outermost one is at or beyond the greatest value, so that nothing is cut off. The
    ring of 1 is drawn stronger. Below the name of an axis stand its values, for one below 0 is drawn in the centre.

    Args:
        axes: Their names, the first one upwards, the others clockwise.
        webs: The lines.
        size: Width and height of the rings, in pixels.
        font: Size of the text.
        title: What stands above the chart; "" for nothing.
        subtitle: Smaller lines below that.
    """
    count = len(axes)
    levels = ring_values(value for web in webs for value in web.values if value is not None)
    most = levels[-1]
    rings = [
        {"ring": ring, "order": number, **_place(number % count, count, ring / most)}
        for ring in dict.fromkeys((*levels, 1.0))
        for number in range(count + 1)
    ]
    spokes = [
        {"spoke": number, "order": end, **_place(number, count, float(end))}
        for number in range(count)
        for end in (0, 1)
    ]
    # Numbers stand in the middle between the first two axes, where the rings are nearer to the centre. The ring of 1
    # has none where it is not one of those, for there may be no room.
    middle = cos(pi / count)
    scale = [{"text": f"{ring:g}", **_place(0.5, count, ring / most * middle)} for ring in levels]
    names = [
        {"text": text, "axis": kind, **_label(number, count, kind == "value"), "align": _align(number, count)}
        for number, axis in enumerate(axes)
        for kind, text in (("name", axis), ("value", " / ".join(_value(web.values[number]) for web in webs)))
    ]
    lines, points = _lines(webs, count, most)
    above = _above(title, subtitle)
    top, unit = _END + _LINE * len(above), size / 2 / _END
    place = {
        "x": quantitative("x", axis=None, scale={"domain": [-_SIDE, _SIDE], "nice": False}),
        "y": quantitative("y", axis=None, scale={"domain": [-_END, top], "nice": False}),
    }
    colour = {"color": nominal("colour", scale=None, legend=None)}

    def layer(values: Sequence[Mapping[str, Any]], mark: Spec, **encoding: Spec) -> Spec:
        return {"data": {"values": values}, "mark": mark, "encoding": {**place, **encoding}}

    def line(values: Sequence[Mapping[str, Any]], shade: str, by: str) -> Spec:
        mark = {"type": "line", "strokeWidth": 1, "color": f"var({shade})"}
        return layer(values, mark, detail=nominal(by), order=quantitative("order"))

    words = {"type": "text", "baseline": "middle", "fontSize": font, "color": "var(--soft)"}
    number = {**words, "align": "center", "fontSize": font - 2}
    round_line = {"type": "line", "strokeWidth": 2.2, "strokeJoin": "round"}
    layers = [
        line(rings, "--rule", "ring"),
        line([each for each in rings if each["ring"] == 1], "--rule-strong", "ring"),
        line(spokes, "--rule", "spoke"),
        *(
            layer(some, {**round_line, **style}, detail=nominal("piece"), order=quantitative("order"), **colour)
            for dashed, style in ((False, {}), (True, {"strokeDash": [5, 4], "strokeWidth": 1.6}))
            if (some := [each for each in lines if each["dashed"] is dashed])
        ),
        layer(
            points, {"type": "point", "filled": True, "size": 34, "opacity": 1}, description=nominal("text"), **colour
        ),
        # Numbers of rings stand over the lines, on a margin of the page's colour.
        layer(scale, {**number, "stroke": "var(--page)", "strokeWidth": 3}, text=nominal("text")),
        layer(scale, number, text=nominal("text")),
    ]
    for align in ("left", "center", "right"):
        for kind, style in (("name", {}), ("value", {"fontWeight": "bold", "color": "var(--ink)"})):
            some = [each for each in names if each["align"] == align and each["axis"] == kind]
            layers.append(layer(some, {**words, "align": align, **style}, text=nominal("text")))
    # The words above are marks as all others are: a drawing's own title of several lines is no part of what pages take.
    for row, (text, head) in enumerate(above):
        style = {"fontWeight": "bold", "fontSize": font + 2, "color": "var(--ink)"} if head else {"fontSize": font - 1}
        line_of = {"text": text, "x": 0, "y": round(top - _LINE * (row + 0.5), 4)}
        layers.append(layer([line_of], {**words, "align": "center", **style}, text=nominal("text")))
    box = {"view": {"stroke": None}}
    return specification(round(2 * _SIDE * unit), round((top + _END) * unit), layer=layers, config=box)


def ring_values(values: Iterable[float]) -> list[float]:
    """Return at which values rings are drawn: up to five, equally far apart, the last one at or beyond all values."""
    most = max(1.0, *values, 1.0)
    power = 1.0
    while True:
        for step in _STEPS:
            count = ceil(most / (step * power) - 1e-9)
            if count <= _MOST_RINGS:
                return [step * power * (number + 1) for number in range(count)]
        power *= 10


def _above(title: str, subtitle: Sequence[str]) -> list[tuple[str, bool]]:
    """Return the lines above a chart, and whether each is of the title."""
    heads = [(line, True) for line in textwrap.wrap(title, _LONGEST - 8)]
    return heads + [(line, False) for text in subtitle for line in textwrap.wrap(text, _LONGEST)]


def _value(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".replace("-", "−")


def _label(number: int, count: int, below: bool) -> dict[str, float]:
    place = _place(number, count, _OUTSIDE)
    # At the top the name stands higher, so that its value is still outside of the rings.
    lift = _LINE if place["y"] > 0.8 else 0.0 if place["y"] < -0.8 else _LINE / 2
    return {**place, "y": place["y"] + lift - (_LINE if below else 0)}


def _place(number: float, count: int, radius: float) -> dict[str, float]:
    angle = 2 * pi * number / count
    return {"x": round(radius * sin(angle), 4), "y": round(radius * cos(angle), 4)}


def _align(number: int, count: int) -> str:
    across = sin(2 * pi * number / count)
    return "center" if abs(across) < 0.1 else "left" if across > 0 else "right"


def _lines(webs: Sequence[Web], count: int, most: float) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the pieces of lines between neighbouring axes that have a value both, and a point for each value."""
    lines: list[dict[str, Any]] = []
    points: list[dict[str, Any]] = []
    for number, web in enumerate(webs):
        colour = f"var(--c{web.line % COLOURS})"
        for at, value in enumerate(web.values):
            if value is None:
                continue
            place = _place(at, count, max(value, 0.0) / most)
            points.append({**place, "colour": colour, "text": f"{web.label}: {value:.2f}"})
            following = web.values[(at + 1) % count]
            if following is not None:
                piece = f"{number}-{at}"
                end = _place((at + 1) % count, count, max(following, 0.0) / most)
                lines += [
                    {"piece": piece, "order": 0, **place, "colour": colour, "dashed": web.dashed},
                    {"piece": piece, "order": 1, **end, "colour": colour, "dashed": web.dashed},
                ]
    return lines, points
