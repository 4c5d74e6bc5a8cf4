"""Charts: a line for each group, with intervals, and with labels at the lines' ends."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, NamedTuple

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
    with_encoding,
)

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-left")
_ROOMY_GAP = 24  # pixels between two ticks, below which points are small


@dataclass(frozen=True, slots=True)
class ChartShape:
    """Measures of a chart: width and height of its plot and its font size in pixels, and letters in a label's line."""

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
        metric: The metric of the points; its bounds are the ends of the y axis.
        across: The title of the x axis.
        bands: Whether intervals are bands along the lines rather than strokes at the points.
    """

    points: Sequence[Point]
    metric: Metric
    across: str
    bands: bool = False


def chart_spec(plot: Plot, shape: ChartShape) -> Spec:
    """Return a plot as a Vega-Lite specification.

    Colours are variables of the page's style sheet (--c0 to --c6 after Okabe and Ito, --c-reference, --t0 ... for
    text), so that one drawing serves light and dark pages.
    """
    ticks = sorted({point.at for point in plot.points})
    points = _styled_points(plot, ticks)
    domain = score_domain(plot)
    labels = _place_labels(points, ticks, domain, shape)
    gap = _smallest_gap(ticks)
    is_roomy = gap * shape.width / (ticks[-1] - ticks[0] + gap) >= _ROOMY_GAP if ticks else True
    x_axis = {
        "title": plot.across,
        "scale": {"domain": [ticks[0] - gap / 2, ticks[-1] + gap / 2] if ticks else [0, 1], "nice": False},
        "axis": {"values": thin_ticks(ticks, shape.width // _TICK_WIDTH), "format": "d", "grid": False},
    }
    title = {"titleAngle": 0, "titleAlign": "left", "titleX": 0, "titleY": -14, "titleBaseline": "bottom"}
    y_axis = {
        "title": direction_text(plot.metric) or None,
        "scale": {"domain": list(domain), "nice": False},
        "axis": percent_axis(plot.metric, tickCount=5, **title),
    }
    x, y = quantitative("x", **x_axis), quantitative("score", **y_axis)
    series_encoding, colour = nominal("series"), nominal("colour", scale=None, legend=None)
    ink, dash_encoding = colour, nominal("dash", scale={"domain": [0, 1], "range": [[1, 0], DASHED]}, legend=None)
    shape_encoding = nominal("series", scale={"range": list(SHAPES)}, legend=None)
    if (
        len({point["series"] for point in points}) == 1
    ):  # most charts: without scales, drawing takes a seventh less time
        first = points[0]
        colour, ink, shape_encoding = {"value": first["colour"]}, {"value": first["ink"]}, {"value": SHAPES[0]}
        dash_encoding = {"value": DASHED if first["dash"] else [1, 0]}
    interval_mark = (
        {"type": "area", "opacity": 0.16} if plot.bands else {"type": "rule", "strokeWidth": 1.6, "opacity": 0.5}
    )
    layers = [
        layer(
            interval_mark,
            None,
            "datum.interval",
            **interval_ends("y"),
            **({"detail": series_encoding} if plot.bands else {}),
        ),
        layer(
            {"type": "line", "strokeWidth": 2.2, "strokeJoin": "round"},
            y=y,
            detail=series_encoding,
            strokeDash=dash_encoding,
        ),
        *point_layers(
            {"size": 58 if is_roomy else 22},
            {"y": y, "shape": shape_encoding, "description": nominal("text")},
            has_open=any(point["open"] for point in points),
        ),
    ]
    layers = with_encoding(layers, x=x, color=colour)
    label_encoding = {"x": quantitative("x"), "y": quantitative("score"), "text": nominal("label")}
    label_mark = {"type": "text", "align": "left", "dx": 11}
    layers += [
        layer({**label_mark, **halo_mark(4)}, labels, **label_encoding),
        layer(label_mark, labels, **label_encoding, color=ink),
    ]
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
            else:  # a piece that is longer than a line is broken anywhere
                room = letters - len(lines[-1])
                lines[-1], piece = lines[-1] + piece[:room], piece[room:]
                lines.append("")
        lines[-1] += piece
    return [line.strip() for line in lines if line.strip()]


def _styled_points(plot: Plot, ticks: Sequence[int]) -> list[dict[str, Any]]:
    """Return the points as data with colours; unless intervals are bands, lines are shifted sideways from each other.

    Reference players are grey and dashed beside models, and have no intervals then.
    """
    lines = sorted({point.line for point in plot.points})
    has_models = any(not point.reference for point in plot.points)
    step = 0.0 if plot.bands else _SHIFT_SPAN * _smallest_gap(ticks) / max(len(lines), 5)
    data: list[dict[str, Any]] = []
    for point in plot.points:
        is_plain = point.reference and has_models
        low, high = drawn_interval(point.mean)
        colour, ink = line_colours(point.colour, is_plain)
        data.append(
            {
                **{"series": point.line, "label": point.label, "level": point.at, "text": point.text},
                **{"score": point.mean.value, "low": low, "high": high},
                "x": point.at + (lines.index(point.line) - (len(lines) - 1) / 2) * step,
                **{"colour": colour, "ink": ink, "dash": int(is_plain)},
                "interval": low is not None and not is_plain,
                "open": point.is_open,
            }
        )
    return data


_SHIFT_SPAN = 0.36  # of the gap between two ticks: the points at a tick are shifted over so much of the gap


def _smallest_gap(levels: Sequence[int]) -> float:
    """Return the smallest difference of neighbours in rising levels; 1 for fewer than two levels."""
    return float(min((second - first for first, second in pairwise(levels)), default=1))


def thin_ticks(levels: Sequence[int], most: int) -> list[int]:
    """Return at most `most` levels at equal steps, from the first one."""
    every = max(1, -(-len(levels) // max(1, most)))  # rounded up
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
    return (low, high) if high > low else (low - 1, low + 1)  # an axis needs some length


def _place_labels(
    points: Sequence[dict[str, Any]], levels: Sequence[int], domain: tuple[float, float], shape: ChartShape
) -> list[dict[str, Any]]:
    """Return the data of a label after each line's last point, with a row for each line of its text.

    Labels are moved up or down so that they cover no other label and, if possible, no line.
    """
    if not points:
        return []
    gap = _smallest_gap(levels)
    pixels_per_level = shape.width / (levels[-1] - levels[0] + gap)
    pixels_per_score = shape.height / (domain[1] - domain[0])
    points_by_level = sorted(points, key=lambda point: point["level"])
    tracks: dict[int, list[tuple[float, float]]] = {}  # of each series, in pixels
    for point in points_by_level:
        x, y = (point["x"] - levels[0] + gap / 2) * pixels_per_level, (domain[1] - point["score"]) * pixels_per_score
        tracks.setdefault(point["series"], []).append((x, y))
    last_points = {point["series"]: point for point in points_by_level}
    line_height = shape.font * 1.25
    # From the end of the axis that most lines are near: there is the least room to move the labels after the first.
    middle = (domain[0] + domain[1]) / 2
    is_rising = sum(point["score"] < middle for point in last_points.values()) * 2 > len(last_points)
    sign = 1 if is_rising else -1
    placed_labels: list[Box] = []
    data: list[dict[str, Any]] = []
    for series, point in sorted(last_points.items(), key=lambda pair: sign * pair[1]["score"]):
        lines = wrap_label(point["label"], shape.letters)
        # Beside the rightmost point of this level, so that the label covers no point.
        level_x = max(other["x"] for other in points if other["level"] == point["level"])
        x, y = (level_x - levels[0] + gap / 2) * pixels_per_level, tracks[series][-1][1]
        half_height = len(lines) * line_height / 2
        width = max(map(len, lines), default=0) * shape.font * _LETTER_WIDTH
        box = Box(x + 9, y - half_height, x + 13 + width, y + half_height)  # 11 pixels from the point, and a margin

        def move_cost(n_lines: float, box: Box = box) -> float:
            moved_box = box.moved_down(n_lines * line_height)
            return abs(n_lines) + _position_cost(moved_box, placed_labels, tracks, shape, is_rising)

        # By half lines, as far as room for all labels could need.
        most = 2 * len(last_points) + 4
        best_move = min((half_lines / 2 for half_lines in range(-most, most + 1)), key=move_cost)
        placed_labels.append(box.moved_down(best_move * line_height))
        for number, text in enumerate(lines):
            y_offset = (best_move + number - (len(lines) - 1) / 2) * line_height
            score = point["score"] - y_offset / pixels_per_score
            data.append({"x": level_x, "score": score, "label": text, "colour": point["ink"]})
    return data


_LETTER_WIDTH = 0.56  # mean width of a letter, in font sizes


class Box(NamedTuple):
    """The area of a label, in pixels from the plot's upper left corner."""

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
    """Return the cost of a label's position, in lines of text that the label should rather be moved by.

    `placed_labels` come in the order of their scores, rising if `places_upwards`, and the label should stay in it.
    """
    is_out_of_order = any(
        box.left < other.right
        and other.left < box.right
        and (box.top > other.top if places_upwards else box.top < other.top)
        for other in placed_labels
    )
    # There is some room for text above and below the plot.
    is_outside = box.top < -1.8 * shape.font or box.bottom > shape.height + 0.5 * shape.font
    crossings = (True for track in line_points.values() for a, b in pairwise(track) if _line_crosses_box(box, a, b))
    n_crossings = sum(islice(crossings, 2))  # more than two are no worse
    n_overlaps = sum(box.overlaps(other) for other in placed_labels)
    return 1000 * n_overlaps + 20 * is_out_of_order + 50 * is_outside + 1.6 * n_crossings


def _line_crosses_box(box: Box, a: tuple[float, float], b: tuple[float, float]) -> bool:
    """Return whether the line from point a to point b, to its right, passes through a box."""
    (a_x, a_y), (b_x, b_y) = a, b
    left, right = max(a_x, box.left), min(b_x, box.right)
    if left > right:
        return False
    slope = (b_y - a_y) / (b_x - a_x) if b_x > a_x else 0.0
    end_ys = a_y + slope * (left - a_x), a_y + slope * (right - a_x)
    return min(end_ys) < box.bottom and max(end_ys) > box.top


MOST_LINES = 6  # of a plot; more have a panel each
_MOST_TICKS_WITH_STROKES = 8  # with more ticks, intervals are bands
_TICK_WIDTH = 34  # pixels for the number at a tick


@dataclass(frozen=True, slots=True)
class Grid:
    """Measures of small multiples: a panel's plot and the text in pixels, columns, and letters in a heading's line.

    With at most `most_behind` panels, each shows the other lines behind its own.
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
    first_points = _first_points_by_rank(plot.points)
    ticks = sorted({point.at for point in plot.points})
    low, high = score_domain(plot)
    margin = max(1.0, 0.04 * (ticks[-1] - ticks[0])) if len(ticks) > 1 else 1.0  # in levels
    has_models = any(not point.reference for point in plot.points)
    values: list[dict[str, Any]] = []
    for point in plot.points:
        interval_low, interval_high = drawn_interval(point.mean)
        values.append(
            {
                **{"series": point.line, "level": point.at, "score": point.mean.value, "text": point.text},
                **{"low": interval_low, "high": interval_high, "interval": interval_low is not None},
                "open": point.is_open,
            }
        )
    tick_values = thin_ticks(ticks, grid.width // _TICK_WIDTH)
    x = quantitative(
        "level",
        title=None,
        scale={"domain": [ticks[0] - margin, ticks[-1] + margin], "nice": False},
        axis={"values": tick_values, "format": "d", "grid": False},
    )
    axis = percent_axis(plot.metric, tickCount=3)
    y = quantitative("score", title=None, scale={"domain": [low, high], "nice": False}, axis=axis)
    has_bands = len(ticks) > _MOST_TICKS_WITH_STROKES
    has_open = any(point.is_open for point in plot.points)
    panels: list[Spec] = []
    for number, first_point in enumerate(first_points):
        is_plain = first_point.reference and has_models
        colour, ink = line_colours(first_point.colour, is_plain)
        layers = [
            *(_other_lines_layers(first_point.line) if len(first_points) <= grid.most_behind else []),
            *_line_layers(first_point.line, colour, band=has_bands, dashed=is_plain, has_open=has_open),
            *_heading_layers(first_point.label, ink, grid),
        ]
        is_last_of_column = number + grid.columns >= len(first_points)
        x_title = {"title": plot.across} if is_last_of_column else {}
        layers = with_encoding(layers, x={**x, **x_title}, y=y)
        panels.append({"width": grid.width, "height": grid.height, "layer": layers})
    direction = direction_text(plot.metric)
    title = {
        "text": direction,
        "anchor": "start",
        "fontSize": grid.font,
        "fontWeight": "normal",
        "color": "var(--soft)",
    }
    return compose(
        **({"title": {**title, "offset": 14}} if direction else {}),
        data={"values": values},
        concat=panels,
        columns=grid.columns,
        spacing={"row": 16, "column": 14},
        config=axis_config(grid.font, fontWeight=500),
    )


def _first_points_by_rank(points: Sequence[Point]) -> list[Point]:
    """Return the first point of each line, models before reference players; lines are numbered by rank."""
    first: dict[int, Point] = {}
    for point in points:
        first.setdefault(point.line, point)
    return sorted(first.values(), key=lambda point: (point.reference, point.line))


def _other_lines_layers(line: int) -> list[Spec]:
    """Return the layer of all lines but the one with this number, in grey."""
    mark = {"type": "line", "strokeWidth": 1, "color": "var(--rule-strong)", "opacity": 0.55}
    return [layer(mark, None, f"datum.series != {line}", detail=nominal("series"))]


def _line_layers(line: int, colour: str, *, band: bool, dashed: bool, has_open: bool) -> list[Spec]:
    """Return the layers of the line with this number: its intervals, the line itself, and its points."""
    is_of_line = f"datum.series == {line}"
    interval: Spec = {"type": "area", "opacity": 0.2} if band else {"type": "rule", "strokeWidth": 1.6, "opacity": 0.5}
    stroke = {"type": "line", "strokeWidth": 2, "color": colour, **({"strokeDash": DASHED} if dashed else {})}
    point = {"size": 10 if band else 26, "color": colour}
    return [
        layer({**interval, "color": colour}, None, is_of_line, "datum.interval", **interval_ends("y")),
        layer(stroke, None, is_of_line),
        *point_layers(point, {"description": nominal("text")}, is_of_line, has_open=has_open),
    ]


def _heading_layers(label: str, ink: str, grid: Grid) -> list[Spec]:
    """Return the name above a panel: whole, in as many lines as it needs."""
    lines = wrap_label(label, grid.letters)
    line_height = grid.font * 1.2
    return [
        heading_layer(text, fontWeight=600, color=ink, dy=-11 - line_height * (len(lines) - 1 - number))
        for number, text in enumerate(lines)
    ]
