"""Charts of the nine capabilities: an axis for each, a line around for each agent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import cos, pi, sin
from typing import Any

from waybench.report._chart import COLOURS
from waybench.report._svg import Spec, nominal, quantitative, specification

_RINGS = (0.25, 0.5, 0.75, 1.0)
_MOST = 1.2  # what is beyond is drawn there
_OUTSIDE = 1.3  # where the axes' names stand


@dataclass(frozen=True, slots=True)
class Web:
    """One line around.

    Attributes:
        label: Whose it is.
        values: A value for each axis, in their order; None where there is none, which breaks the line.
        line: Number of its colour.
    """

    label: str
    values: Sequence[float | None]
    line: int = 0


def radar_spec(axes: Sequence[str], webs: Sequence[Web], size: int = 300, font: int = 12) -> Spec:
    """Return values on axes that leave one centre as a Vega-Lite specification.

    The rings are quarters, the outermost one is 1. What is beyond 1.2 or below 0 is drawn there.

    Args:
        axes: Their names, the first one upwards, the others clockwise.
        webs: The lines.
        size: Width and height of the rings, in pixels.
        font: Size of the text.
    """
    count = len(axes)
    rings = [
        {"ring": ring, "order": number, **_place(number % count, count, ring)}
        for ring in _RINGS
        for number in range(count + 1)
    ]
    spokes = [
        {"spoke": number, "order": end, **_place(number, count, float(end))}
        for number in range(count)
        for end in (0, 1)
    ]
    names = [
        {"text": axis, **_place(number, count, _OUTSIDE), "align": _align(number, count)}
        for number, axis in enumerate(axes)
    ]
    lines, points = _lines(webs, count)
    place = {
        "x": quantitative("x", axis=None, scale={"domain": [-2.1, 2.1], "nice": False}),
        "y": quantitative("y", axis=None, scale={"domain": [-1.45, 1.45], "nice": False}),
    }
    colour = {"color": nominal("colour", scale=None, legend=None)}

    def layer(values: Sequence[Mapping[str, Any]], mark: Spec, **encoding: Spec) -> Spec:
        return {"data": {"values": values}, "mark": mark, "encoding": {**place, **encoding}}

    def line(values: Sequence[Mapping[str, Any]], shade: str, by: str) -> Spec:
        mark = {"type": "line", "strokeWidth": 1, "color": f"var({shade})"}
        return layer(values, mark, detail=nominal(by), order=quantitative("order"))

    round_line = {"type": "line", "strokeWidth": 2.2, "strokeJoin": "round"}
    layers = [
        line(rings, "--rule", "ring"),
        line([each for each in rings if each["ring"] == 1], "--rule-strong", "ring"),
        line(spokes, "--rule", "spoke"),
        layer(lines, round_line, detail=nominal("piece"), order=quantitative("order"), **colour),
        layer(
            points, {"type": "point", "filled": True, "size": 34, "opacity": 1}, description=nominal("text"), **colour
        ),
    ]
    for align in ("left", "center", "right"):
        words = {"type": "text", "align": align, "baseline": "middle", "fontSize": font, "color": "var(--soft)"}
        layers.append(layer([each for each in names if each["align"] == align], words, text=nominal("text")))
    return specification(round(size * 4.2 / 2.9), size, layer=layers, config={"view": {"stroke": None}})


def _place(number: int, count: int, radius: float) -> dict[str, float]:
    angle = 2 * pi * number / count
    return {"x": round(radius * sin(angle), 4), "y": round(radius * cos(angle), 4)}


def _align(number: int, count: int) -> str:
    across = sin(2 * pi * number / count)
    return "center" if abs(across) < 0.1 else "left" if across > 0 else "right"


def _lines(webs: Sequence[Web], count: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the pieces of lines between neighbouring axes that have a value both, and a point for each value."""
    lines: list[dict[str, Any]] = []
    points: list[dict[str, Any]] = []
    for number, web in enumerate(webs):
        colour = f"var(--c{web.line % COLOURS})"
        for at, value in enumerate(web.values):
            if value is None:
                continue
            place = _place(at, count, min(max(value, 0.0), _MOST))
            points.append({**place, "colour": colour, "text": f"{web.label}: {value:.2f}"})
            following = web.values[(at + 1) % count]
            if following is not None:
                piece = f"{number}-{at}"
                end = _place((at + 1) % count, count, min(max(following, 0.0), _MOST))
                lines += [
                    {"piece": piece, "order": 0, **place, "colour": colour},
                    {"piece": piece, "order": 1, **end, "colour": colour},
                ]
    return lines, points
