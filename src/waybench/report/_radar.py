"""Charts of the nine capabilities: an axis for each, a line around for each agent."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, sin
from typing import Any

import altair as alt
from markupsafe import Markup

from waybench.report._chart import COLOURS
from waybench.report._svg import drawn

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


def radar(axes: Sequence[str], webs: Sequence[Web], label: str, *, size: int = 300, font: int = 12) -> Markup:
    """Draw values on axes that leave one centre; the rings are quarters, the outermost one is 1.

    What is beyond 1.2 or below 0 is drawn there.

    Args:
        axes: Their names, the first one upwards, the others clockwise.
        webs: The lines.
        label: What the chart shows, for those who cannot see it.
        size: Width and height of the rings, in pixels.
        font: Size of the text.
    """
    return drawn(radar_spec(axes, webs, size, font), label)


def radar_spec(axes: Sequence[str], webs: Sequence[Web], size: int, font: int) -> dict[str, Any]:
    """Return a chart of axes that leave one centre as a Vega-Lite specification."""
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
    scale = alt.Scale(domain=[-2.1, 2.1], nice=False)
    x, y = (
        alt.X("x:Q", axis=None, scale=scale),
        alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[-1.45, 1.45], nice=False)),
    )
    colour = alt.Color("colour:N", scale=None, legend=None)
    order = alt.Order("order:Q")
    layers: list[Any] = [
        alt.Chart(alt.Data(values=rings))
        .mark_line(strokeWidth=1, color="var(--rule)")
        .encode(x=x, y=y, detail="ring:N", order=order),
        alt.Chart(alt.Data(values=[each for each in rings if each["ring"] == 1]))
        .mark_line(strokeWidth=1, color="var(--rule-strong)")
        .encode(x=x, y=y, detail="ring:N", order=order),
        alt.Chart(alt.Data(values=spokes))
        .mark_line(strokeWidth=1, color="var(--rule)")
        .encode(x=x, y=y, detail="spoke:N", order=order),
        alt.Chart(alt.Data(values=lines))
        .mark_line(strokeWidth=2.2, strokeJoin="round")
        .encode(x=x, y=y, detail="piece:N", order=order, color=colour),
        alt.Chart(alt.Data(values=points))
        .mark_point(filled=True, size=34, opacity=1)
        .encode(x=x, y=y, color=colour, description="text:N"),
    ]
    for align in ("left", "center", "right"):
        some = [name for name in names if name["align"] == align]
        layers.append(
            alt.Chart(alt.Data(values=some))
            .mark_text(align=align, baseline="middle", fontSize=font, color="var(--soft)")
            .encode(x=x, y=y, text="text:N")
        )
    width = round(size * 4.2 / 2.9)
    made: Any = alt.layer(*layers).properties(width=width, height=size, background="transparent")
    return {**made.to_dict(), "config": {"view": {"stroke": None}}}


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
