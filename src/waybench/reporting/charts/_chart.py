"""Charts: a line for each group, with intervals, and with labels at the lines' ends."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, NamedTuple

from markupsafe import Markup

from waybench.core import Metric
from waybench.reporting.charts._points import Point, drawn_interval
from waybench.reporting.charts._spec import (
    DASHED,
    Spec,
    axis_config,
    compose,
    direction_text,
    halo_mark,
    heading_layer,
    interval_ends,
    layer,
    line_colours,
    nominal,
    percent_axis,
    point_layers,
    quantitative,
    specification,
)
from waybench.reporting.charts._svg import draw_spec

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-left")
_ROOM = 24  # pixels between two ticks on the axis, below which intervals are bands and marks are small


@dataclass(frozen=True, slots=True)
class ChartShape:
    """Measures of a chart, in pixels.

    Attributes:
        width: Of the plot.
        height: Of the plot.
        font: Size of its text.
        letters: Letters in a line of a label.
    """

    width: int
    height: int
    font: int
    letters: int


WIDE = ChartShape(760, 340, 13, 36)
NARROW = ChartShape(250, 300, 12, 12)


@dataclass(frozen=True, slots=True)
class Plot:
    """The data of a chart: lines, points and axes.

    Attributes:
        metric: The metric of the points; its bounds are the ends of the axis.
        across: The title of the other axis.
        bands: Whether intervals are bands along the lines rather than strokes at the points.
    """

    points: Sequence[Point]
    metric: Metric
    across: str
    bands: bool = False


def draw_plot(plot: Plot, shape: ChartShape, label: str) -> Markup:
    """Draw a plot.

    Colours are variables of the page's style sheet (--c0 to --c6 after Okabe and Ito, --c-reference, --t0 ... for
    text), so that one drawing serves light and dark pages.
    """
    return draw_spec(chart_spec(plot, shape), label)


def chart_spec(plot: Plot, shape: ChartShape) -> Spec:
    """Return a plot as a Vega-Lite specification."""
    ticks = sorted({point.at for point in plot.points})
    points = _styled_points(plot, ticks)
    domain = score_domain(plot)
    labels = _place_labels(points, ticks, domain, shape)
    gap = _smallest_gap(ticks)
    roomy = gap * shape.width / (ticks[-1] - ticks[0] + gap) >= _ROOM if ticks else True
    across = {
        "title": plot.across,
        "scale": {"domain": [ticks[0] - gap / 2, ticks[-1] + gap / 2] if ticks else [0, 1], "nice": False},
        "axis": {"values": thin_ticks(ticks, shape.width // 34), "format": "d", "grid": False},
    }
    title = {"titleAngle": 0, "titleAlign": "left", "titleX": 0, "titleY": -14, "titleBaseline": "bottom"}
    up = {
        "title": direction_text(plot.metric) or None,
        "scale": {"domain": list(domain), "nice": False},
        "axis": percent_axis(plot.metric, tickCount=5, **title),
    }
    x, score = quantitative("x", **across), quantitative("score", **up)
    line, colour = nominal("series"), nominal("colour", scale=None, legend=None)
    ink, dash = colour, nominal("dash", scale={"domain": [0, 1], "range": [[1, 0], DASHED]}, legend=None)
    kind = nominal("series", scale={"range": list(SHAPES)}, legend=None)
    if len({point["series"] for point in points}) == 1:  # most charts: without scales they take a seventh less time
        first = points[0]
        colour, ink, kind = {"value": first["colour"]}, {"value": first["ink"]}, {"value": SHAPES[0]}
        dash = {"value": DASHED if first["dash"] else [1, 0]}
    stroke = {"type": "area", "opacity": 0.16} if plot.bands else {"type": "rule", "strokeWidth": 1.6, "opacity": 0.5}
    layers = [
        layer(stroke, None, "datum.interval", **interval_ends("y"), **({"detail": line} if plot.bands else {})),
        layer({"type": "line", "strokeWidth": 2.2, "strokeJoin": "round"}, y=score, detail=line, strokeDash=dash),
        *point_layers(
            {"size": 58 if roomy else 22},
            {"y": score, "shape": kind, "description": nominal("text")},
            has_open=any(point["open"] for point in points),
        ),
    ]
    for one in layers:
        one["encoding"] = {"x": x, "color": colour, **one["encoding"]}
    beside = {"x": quantitative("x"), "y": quantitative("score"), "text": nominal("label")}
    label = {"type": "text", "align": "left", "dx": 11}
    layers += [layer({**label, **halo_mark(4)}, labels, **beside), layer(label, labels, **beside, color=ink)]
    return specification(
        shape.width, shape.height, data={"values": points}, layer=layers, config=axis_config(shape.font, fontWeight=500)
    )


def wrap_label(label: str, letters: int) -> list[str]:
    """Return a label in lines of at most `letters` letters, broken after spaces, slashes, hyphens and commas."""
    lines = [""]
    for piece in re.findall(r"[^\s/,-]*[\s/,-]?", label):
        while len(lines[-1] + piece.rstrip()) > letters:
            if lines[-1] and len(piece.rstrip()) <= letters:
                lines.append("")
            else:
                room = letters - len(lines[-1])
                lines[-1], piece = lines[-1] + piece[:room], piece[room:]
                lines.append("")
        lines[-1] += piece
    return [line.strip() for line in lines if line.strip()]


def _styled_points(plot: Plot, ticks: Sequence[int]) -> list[dict[str, Any]]:
    """Return the points as data with colours; vertical strokes are shifted sideways to be distinguishable."""
    lines = sorted({point.line for point in plot.points})
    grey = any(not point.reference for point in plot.points)
    step = 0.0 if plot.bands else 0.36 * _smallest_gap(ticks) / max(len(lines), 5)
    out: list[dict[str, Any]] = []
    for point in plot.points:
        plain = point.reference and grey
        shift = (lines.index(point.line) - (len(lines) - 1) / 2) * step
        out.append(
            {
                **{"series": point.line, "label": point.label, "level": point.at, "text": point.text},
                **{
                    "score": point.mean.value,
                    "low": drawn_interval(point.mean)[0],
                    "high": drawn_interval(point.mean)[1],
                },
                "x": point.at + shift,
                **dict(zip(("colour", "ink"), line_colours(point.colour, plain), strict=True)),
                "dash": int(plain),
                "interval": drawn_interval(point.mean)[0] is not None and not plain,
                "open": point.is_open,
            }
        )
    return out


def _smallest_gap(levels: Sequence[int]) -> float:
    return float(min((b - a for a, b in pairwise(levels)), default=1))


def thin_ticks(levels: Sequence[int], most: int) -> list[int]:
    """Return at most `most` levels at equal steps, from the first one."""
    every = max(1, -(-len(levels) // max(1, most)))
    return list(levels[::every])


def score_domain(plot: Plot) -> tuple[float, float]:
    """Return the ends of the axis of scores: the metric's bounds or, without bounds, those of the intervals."""
    means = [point.mean for point in plot.points]
    return metric_domain(plot.metric, (value for mean in means for value in (mean.value, *drawn_interval(mean))))


def metric_domain(metric: Metric, values: Iterable[float | None]) -> tuple[float, float]:
    """Return the ends of an axis: the metric's bounds or, without bounds, the least and greatest value."""
    numbers = [value for value in values if value is not None] or [0.0]
    low, high = metric.bounds
    low, high = min(numbers) if low is None else low, max(numbers) if high is None else high
    return (low, high) if high > low else (low - 1, low + 1)


def _place_labels(
    points: Sequence[dict[str, Any]], levels: Sequence[int], domain: tuple[float, float], shape: ChartShape
) -> list[dict[str, Any]]:
    """Return a label after each line's last point, moved up or down to avoid other labels and, if possible, lines."""
    if not points:
        return []
    gap = _smallest_gap(levels)
    across = shape.width / (levels[-1] - levels[0] + gap)
    down = shape.height / (domain[1] - domain[0])
    tracks: dict[int, list[tuple[float, float]]] = {}
    for point in sorted(points, key=lambda point: point["level"]):
        at = (point["x"] - levels[0] + gap / 2) * across, (domain[1] - point["score"]) * down
        tracks.setdefault(point["series"], []).append(at)
    last = {point["series"]: point for point in sorted(points, key=lambda point: point["level"])}
    line = shape.font * 1.25
    # From the end of the axis that most lines are near: there is the least room to move the labels after the first.
    middle = (domain[0] + domain[1]) / 2
    rising = sum(point["score"] < middle for point in last.values()) * 2 > len(last)
    taken: list[Box] = []
    out: list[dict[str, Any]] = []
    for series, point in sorted(last.items(), key=lambda pair: pair[1]["score"] if rising else -pair[1]["score"]):
        lines = wrap_label(point["label"], shape.letters)
        # Beside the rightmost point of this level, so that it covers none.
        beside = max(other["x"] for other in points if other["level"] == point["level"])
        x, y = (beside - levels[0] + gap / 2) * across, tracks[series][-1][1]
        half, width = len(lines) * line / 2, max(map(len, lines), default=0) * shape.font * 0.56
        box = Box(x + 9, y - half, x + 13 + width, y + half)

        def move_cost(move: float, box: Box = box) -> float:
            return abs(move) + _position_cost(box.moved_down(move * line), taken, tracks, shape, rising)

        best = min((half / 2 for half in range(-2 * len(last) - 4, 2 * len(last) + 5)), key=move_cost)
        taken.append(box.moved_down(best * line))
        for number, text in enumerate(lines):
            down_by = (best + number - (len(lines) - 1) / 2) * line
            out.append({"x": beside, "score": point["score"] - down_by / down, "label": text, "colour": point["ink"]})
    return out


class Box(NamedTuple):
    """Where a label lies, in pixels from the plot's upper left corner."""

    left: float
    top: float
    right: float
    bottom: float

    def moved_down(self, by: float) -> "Box":
        """Return the box moved down."""
        return Box(self.left, self.top + by, self.right, self.bottom + by)

    def overlaps(self, other: "Box") -> bool:
        """Return whether two boxes overlap."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


def _position_cost(
    box: Box,
    placed_labels: Sequence[Box],
    line_points: Mapping[int, Sequence[tuple[float, float]]],
    shape: ChartShape,
    places_upwards: bool,
) -> float:
    """Return the cost of a label's position, in lines of text that the label should rather be moved by."""
    beyond = any(
        box.left < other.right
        and other.left < box.right
        and (box.top > other.top if places_upwards else box.top < other.top)
        for other in placed_labels
    )
    outside = box.top < -1.8 * shape.font or box.bottom > shape.height + 0.5 * shape.font
    crossing = (True for track in line_points.values() for a, b in pairwise(track) if _line_crosses_box(box, a, b))
    crossed = sum(islice(crossing, 2))
    # Labels come in the order of their scores and should stay in it.
    return 1000 * sum(box.overlaps(other) for other in placed_labels) + 20 * beyond + 50 * outside + 1.6 * crossed


def _line_crosses_box(box: Box, a: tuple[float, float], b: tuple[float, float]) -> bool:
    """Return whether the line from point a to point b, to its right, passes through a box."""
    start, right = max(a[0], box.left), min(b[0], box.right)
    if start > right:
        return False
    slope = (b[1] - a[1]) / (b[0] - a[0]) if b[0] > a[0] else 0.0
    ends = a[1] + slope * (start - a[0]), a[1] + slope * (right - a[0])
    return min(ends) < box.bottom and max(ends) > box.top


MOST_LINES = 6  # that one plot holds
_MOST_STROKES = 8  # ticks, beyond which intervals are bands
_TICK = 34  # pixels for the number at a tick


@dataclass(frozen=True, slots=True)
class Grid:
    """Measures of small multiples.

    Attributes:
        width: Of a panel's plot, in pixels.
        height: Of a panel's plot, in pixels.
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


def panels_spec(plot: Plot, grid: Grid) -> Spec:
    """Return a plot as a panel for each line, with the other lines in grey behind it, as a Vega-Lite specification."""
    lines = _first_points_by_rank(plot.points)
    ticks = sorted({point.at for point in plot.points})
    low, high = score_domain(plot)
    pad = max(1.0, 0.04 * (ticks[-1] - ticks[0])) if len(ticks) > 1 else 1.0
    grey = any(not point.reference for point in plot.points)
    values = [
        {
            **{"series": point.line, "level": point.at, "score": point.mean.value, "text": point.text},
            **{
                "low": drawn_interval(point.mean)[0],
                "high": drawn_interval(point.mean)[1],
                "interval": drawn_interval(point.mean)[0] is not None,
            },
            "open": point.is_open,
        }
        for point in plot.points
    ]
    tick_values = thin_ticks(ticks, grid.width // _TICK)
    x = quantitative(
        "level",
        title=None,
        scale={"domain": [ticks[0] - pad, ticks[-1] + pad], "nice": False},
        axis={"values": tick_values, "format": "d", "grid": False},
    )
    axis = percent_axis(plot.metric, tickCount=3)
    y = quantitative("score", title=None, scale={"domain": [low, high], "nice": False}, axis=axis)
    band, has_open = len(ticks) > _MOST_STROKES, any(point.is_open for point in plot.points)
    panels: list[Spec] = []
    for number, first_point in enumerate(lines):
        plain = first_point.reference and grey
        colour, ink = line_colours(first_point.colour, plain)
        layers = [
            *(_other_lines_layers(first_point.line) if len(lines) <= grid.most_behind else []),
            *_line_layers(first_point.line, colour, band=band, dashed=plain, has_open=has_open),
            *_heading_layers(first_point.label, ink, grid),
        ]
        under = {"title": plot.across} if number + grid.columns >= len(lines) else {}  # the last one of a column
        for one in layers:
            one["encoding"] = {"x": {**x, **under}, "y": y, **one["encoding"]}
        panels.append({"width": grid.width, "height": grid.height, "layer": layers})
    better = direction_text(plot.metric)
    title = {"text": better, "anchor": "start", "fontSize": grid.font, "fontWeight": "normal", "color": "var(--soft)"}
    return compose(
        **({"title": {**title, "offset": 14}} if better else {}),
        data={"values": values},
        concat=panels,
        columns=grid.columns,
        spacing={"row": 16, "column": 14},
        config=axis_config(grid.font, fontWeight=500),
    )


def _first_points_by_rank(points: Sequence[Point]) -> list[Point]:
    """Return the first point of each line, models in the order of their ranks before reference players."""
    first: dict[int, Point] = {}
    for point in points:
        first.setdefault(point.line, point)
    return sorted(first.values(), key=lambda point: (point.reference, point.line))


def _other_lines_layers(line: int) -> list[Spec]:
    mark = {"type": "line", "strokeWidth": 1, "color": "var(--rule-strong)", "opacity": 0.55}
    return [layer(mark, None, f"datum.series != {line}", detail=nominal("series"))]


def _line_layers(line: int, colour: str, *, band: bool, dashed: bool, has_open: bool) -> list[Spec]:
    where = f"datum.series == {line}"
    spread: Spec = {"type": "area", "opacity": 0.2} if band else {"type": "rule", "strokeWidth": 1.6, "opacity": 0.5}
    stroke = {"type": "line", "strokeWidth": 2, "color": colour, **({"strokeDash": DASHED} if dashed else {})}
    dot = {"size": 10 if band else 26, "color": colour}
    return [
        layer({**spread, "color": colour}, None, where, "datum.interval", **interval_ends("y")),
        layer(stroke, None, where),
        *point_layers(dot, {"description": nominal("text")}, where, has_open=has_open),
    ]


def _heading_layers(label: str, ink: str, grid: Grid) -> list[Spec]:
    """Return the name above a panel: whole, in as many lines as it needs."""
    lines = wrap_label(label, grid.letters)
    step = grid.font * 1.2
    return [
        heading_layer(text, fontWeight=600, color=ink, dy=-11 - step * (len(lines) - 1 - number))
        for number, text in enumerate(lines)
    ]
