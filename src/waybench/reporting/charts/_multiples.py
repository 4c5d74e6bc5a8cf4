"""Small multiples: a panel for each line of a plot, where all of them in one plot would cover each other."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from waybench.reporting.charts._chart import Plot, config, score_domain, thinned, wrapped
from waybench.reporting.charts._points import Point, ends
from waybench.reporting.charts._svg import Spec, composed, nominal, point_layers, quantitative
from waybench.results.formatting import better_text

MOST_LINES = 6  # that one plot holds
_MOST_STROKES = 8  # ticks, beyond which intervals are bands
_TICK = 34  # pixels for the number at a tick


@dataclass(frozen=True, slots=True)
class Grid:
    """Measures of small multiples.

    Attributes:
        width: Of a panel's plot, in pixels.
        height: Likewise.
        columns: Panels beside each other.
        font: Size of the text.
        letters: Letters in a line of a heading.
        most_behind: Panels, up to which each shows the other lines, too.
    """

    width: int
    height: int
    columns: int
    font: int
    letters: int
    most_behind: int


WIDE_GRID = Grid(180, 100, 4, 12, 25, 16)
NARROW_GRID = Grid(128, 84, 2, 11, 19, 0)


def is_crowded(plot: Plot) -> bool:
    """Return whether a plot has more lines than can be followed in one drawing."""
    return len({point.line for point in plot.points}) > MOST_LINES


def multiples_spec(plot: Plot, grid: Grid) -> Spec:
    """Return a plot as a panel for each line, with the other lines in grey behind it, as a Vega-Lite specification.

    Args:
        plot: What to draw.
        grid: Measures.
    """
    lines = _in_order(plot.points)
    ticks = sorted({point.at for point in plot.points})
    low, high = score_domain(plot)
    pad = max(1.0, 0.04 * (ticks[-1] - ticks[0])) if len(ticks) > 1 else 1.0
    grey = any(not point.reference for point in plot.points)
    values = [
        {
            **{"series": point.line, "level": point.at, "score": point.mean.value, "text": point.text},
            **{"low": ends(point.mean)[0], "high": ends(point.mean)[1], "interval": ends(point.mean)[0] is not None},
            "open": point.is_open,
        }
        for point in plot.points
    ]
    shown = thinned(ticks, grid.width // _TICK)
    x = quantitative(
        "level",
        title=None,
        scale={"domain": [ticks[0] - pad, ticks[-1] + pad], "nice": False},
        axis={"values": shown, "format": "d", "grid": False},
    )
    y = quantitative("score", title=None, scale={"domain": [low, high], "nice": False}, axis={"tickCount": 3})
    band = len(ticks) > _MOST_STROKES
    panels: list[Spec] = []
    for number, own in enumerate(lines):
        plain = own.reference and grey
        colour = "var(--c-reference)" if plain else f"var(--c{own.colour})"
        ink = "var(--soft)" if plain else f"var(--t{own.colour})"
        layers = [
            *(_behind(own.line) if len(lines) <= grid.most_behind else []),
            *_line(own.line, colour, band=band, dashed=plain, has_open=any(point.is_open for point in plot.points)),
            *_heading(own.label, ink, grid),
        ]
        last_of_column = number + grid.columns >= len(lines)
        under = {"title": plot.across} if last_of_column else {}
        for layer in layers:
            layer["encoding"] = {"x": {**x, **under}, "y": y, **layer["encoding"]}
        panels.append({"width": grid.width, "height": grid.height, "layer": layers})
    arrow = {"lower": "↓", "higher": "↑"}.get(plot.metric.better, "")
    better = f"{arrow} {better_text(plot.metric)}".strip()
    title = {"text": better, "anchor": "start", "fontSize": grid.font, "fontWeight": "normal", "color": "var(--soft)"}
    return composed(
        **({"title": {**title, "offset": 14}} if better else {}),
        data={"values": values},
        concat=panels,
        columns=grid.columns,
        spacing={"row": 16, "column": 14},
        config=config(grid.font),
    )


def _in_order(points: Sequence[Point]) -> list[Point]:
    """Return a point of each line: the models' in the order of their ranks, then those of reference players."""
    first: dict[int, Point] = {}
    for point in points:
        first.setdefault(point.line, point)
    return sorted(first.values(), key=lambda point: (point.reference, point.line))


def _behind(line: int) -> list[Spec]:
    mark = {"type": "line", "strokeWidth": 1, "color": "var(--rule-strong)", "opacity": 0.55}
    others = [{"filter": f"datum.series != {line}"}]
    return [{"transform": others, "mark": mark, "encoding": {"detail": nominal("series")}}]


def _line(line: int, colour: str, *, band: bool, dashed: bool, has_open: bool) -> list[Spec]:
    own = {"filter": f"datum.series == {line}"}
    spread: Spec = {"type": "area", "opacity": 0.2} if band else {"type": "rule", "strokeWidth": 1.6, "opacity": 0.5}
    stroke = {"type": "line", "strokeWidth": 2, "color": colour, **({"strokeDash": [5, 4]} if dashed else {})}
    dot = {"size": 10 if band else 26, "color": colour}
    interval: dict[str, Any] = {"y": quantitative("low"), "y2": {"field": "high"}}
    return [
        {"transform": [own, {"filter": "datum.interval"}], "mark": {**spread, "color": colour}, "encoding": interval},
        {"transform": [own], "mark": stroke, "encoding": {}},
        *point_layers(dot, {"description": nominal("text")}, has_open=has_open, own=[own]),
    ]


def _heading(label: str, ink: str, grid: Grid) -> list[Spec]:
    """Return the name above a panel: whole, in as many lines as it needs."""
    lines = wrapped(label, grid.letters)
    step = grid.font * 1.2
    place = {"x": {"value": 0}, "y": {"value": 0}, "text": nominal("text")}
    return [
        {
            "data": {"values": [{"text": text}]},
            "mark": {
                **{"type": "text", "align": "left", "fontWeight": 600, "color": ink},
                "dy": -11 - step * (len(lines) - 1 - number),
            },
            "encoding": place,
        }
        for number, text in enumerate(lines)
    ]
