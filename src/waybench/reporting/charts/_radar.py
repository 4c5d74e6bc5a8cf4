"""Radar charts of agents' capabilities, one by one and overlaid (SmartPlay, Figures 2 and 3)."""

import json
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, cos, pi, sin
from typing import Any

from waybench.envs.smartplay import HUMANS, RECORDED
from waybench.envs.smartplay._capabilities import BENCHMARK, CAPABILITIES, DEGREE_SCALES, capability_degrees
from waybench.reporting._files import slug
from waybench.reporting.charts._spec import DASHED, Spec, layer, nominal, quantitative, specification
from waybench.reporting.charts._svg import Chart, colour_numbers
from waybench.results.estimates._agents import Agent
from waybench.results.formatting import one_line

# Coordinates of a chart have their origin in its centre, and the outermost ring at a distance of 1.
_NAME_RADIUS = 1.12  # of the axes' names
_LINE_HEIGHT = 0.15  # of a line of text
_HALF_WIDTH, _HALF_HEIGHT = 2.1, 1.45  # of the chart without its heading and legend
_MOST_RINGS = 5
_RING_STEPS = (0.25, 0.5, 1, 2, 5)  # between rings, and these times powers of ten
_LONGEST = 68  # characters of a line above the chart


@dataclass(frozen=True, slots=True)
class Web:
    """One line around a radar chart.

    Attributes:
        values: Its value on each axis, in the order of the axes; None breaks the line.
        line: Number of its colour.
        reference: Whether it is the baseline of the other lines: grey, without points.
    """

    label: str
    values: Sequence[float | None]
    line: int = 0
    dashed: bool = False
    shape: str = "circle"
    reference: bool = False

    @property
    def colour(self) -> str:
        """Its colour, a variable of the page's style sheet."""
        return "var(--c-reference)" if self.reference else f"var(--c{self.line})"


def radar_spec(
    axes: Sequence[str],
    webs: Sequence[Web],
    size: int = 300,
    font: int = 12,
    *,
    title: str = "",
    subtitle: Sequence[str] = (),
    most: float | None = None,
    legend: bool = False,
    values: bool = True,
) -> Spec:
    """Return values on axes that start at one centre as a Vega-Lite specification.

    The rings have numbers, and the outermost one is at or beyond the greatest value, so that nothing is cut off, unless
    `most` is given. The ring of 1 is drawn stronger. Below the name of an axis are its values, since a value below 0 is
    drawn in the centre; with a legend there are too many values for that.

    Args:
        axes: Their names, the first one upwards, the others clockwise.
        webs: The lines.
        size: Width and height of the rings with the axes' names, in pixels.
        font: Size of the text, in pixels.
        title: The title above the chart; "" for none.
        subtitle: Smaller lines below the title.
        most: The value that the rings reach, for several charts on one scale; greater values are on the outermost ring.
            None for the greatest value.
        legend: Whether the labels of the lines are below the chart, and no values are at the axes.
        values: Whether the values are at the axes.
    """
    n_axes = len(axes)
    levels = ring_values(
        [value for web in webs for value in web.values if value is not None] if most is None else [most]
    )
    rim = levels[-1]
    rings = [
        {"ring": ring, "order": number, **_axis_point(number % n_axes, n_axes, ring / rim)}
        for ring in dict.fromkeys((*levels, 1.0))
        for number in range(n_axes + 1)  # back to the first axis, which closes the ring
    ]
    spokes = [
        {"spoke": number, "order": end, **_axis_point(number, n_axes, float(end))}
        for number in range(n_axes)
        for end in (0, 1)
    ]
    # Numbers are in the middle between the first two axes, where the rings are nearer to the centre. The ring of 1
    # has no number if it is not one of the levels, since there may be no room.
    middle = cos(pi / n_axes)
    ring_labels = [{"text": f"{ring:g}", **_axis_point(0.5, n_axes, ring / rim * middle)} for ring in levels]
    axis_labels: list[dict[str, Any]] = []
    for number, axis in enumerate(axes):
        texts = {"name": axis}
        if values and not legend:
            texts["value"] = " / ".join(_value_text(web.values[number]) for web in webs)
        for kind, text in texts.items():
            label_position = _label_position(number, n_axes, kind == "value")
            axis_labels.append({"text": text, "axis": kind, **label_position, "align": _text_alignment(number, n_axes)})
    lines, points = _segments_and_points(webs, n_axes, rim)
    heading_lines = _heading_lines(title, subtitle)
    top, pixels_per_unit = _HALF_HEIGHT + _LINE_HEIGHT * len(heading_lines), size / 2 / _HALF_HEIGHT
    bottom = _HALF_HEIGHT + _LINE_HEIGHT * len(webs) if legend else _HALF_HEIGHT
    position = {
        "x": quantitative("x", axis=None, scale={"domain": [-_HALF_WIDTH, _HALF_WIDTH], "nice": False}),
        "y": quantitative("y", axis=None, scale={"domain": [-bottom, top], "nice": False}),
    }
    colour = {"color": nominal("colour", scale=None, legend=None)}

    def layer_at_positions(values: Sequence[Mapping[str, Any]], mark: Spec, **encoding: Spec) -> Spec:
        return layer(mark, values, **position, **encoding)

    def grid_lines(values: Sequence[Mapping[str, Any]], colour: str, line_field: str) -> Spec:
        mark = {"type": "line", "strokeWidth": 1, "color": f"var({colour})"}
        return layer_at_positions(values, mark, detail=nominal(line_field), order=quantitative("order"))

    text_mark = {"type": "text", "baseline": "middle", "fontSize": font, "color": "var(--soft)"}
    ring_number_mark = {**text_mark, "align": "center", "fontSize": font - 2}
    dot = {"type": "point", "filled": True, "size": 34, "opacity": 1}
    round_line = {"type": "line", "strokeWidth": 2.2, "strokeJoin": "round"}
    layers = [
        grid_lines(rings, "--rule", "ring"),
        grid_lines([ring for ring in rings if ring["ring"] == 1], "--rule-strong", "ring"),
        grid_lines(spokes, "--rule", "spoke"),
        *(
            layer_at_positions(
                segments, {**round_line, **style}, detail=nominal("piece"), order=quantitative("order"), **colour
            )
            for dashed, style in _LINE_STYLES
            if (segments := [row for row in lines if row["dashed"] is dashed])
        ),
        layer_at_positions(
            points, dot, description=nominal("text"), shape=nominal("shape", scale=None, legend=None), **colour
        ),
        # Numbers of rings are above the lines, with a margin of the page's colour.
        layer_at_positions(
            ring_labels, {**ring_number_mark, "stroke": "var(--page)", "strokeWidth": 3}, text=nominal("text")
        ),
        layer_at_positions(ring_labels, ring_number_mark, text=nominal("text")),
    ]
    for align in ("left", "center", "right"):
        for kind, style in (("name", {}), ("value", {"fontWeight": "bold", "color": "var(--ink)"})):
            texts = [label for label in axis_labels if label["align"] == align and label["axis"] == kind]
            layers.append(layer_at_positions(texts, {**text_mark, "align": align, **style}, text=nominal("text")))
    # The heading is of text marks: pages do not show the title of a drawing.
    for row, (text, is_title) in enumerate(heading_lines):
        style = {"fontSize": font - 1}
        if is_title:
            style = {"fontWeight": "bold", "fontSize": font + 2, "color": "var(--ink)"}
        heading = {"text": text, "x": 0, "y": round(top - _LINE_HEIGHT * (row + 0.5), 4)}
        layers.append(layer_at_positions([heading], {**text_mark, "align": "center", **style}, text=nominal("text")))
    if legend:
        legend_text = {**text_mark, "align": "left", "color": "var(--ink)"}
        layers += _legend_layers(webs, layer_at_positions, legend_text, {**dot, "size": 42})
    width, height = round(2 * _HALF_WIDTH * pixels_per_unit), round((top + bottom) * pixels_per_unit)
    return specification(width, height, layer=layers, config={"view": {"stroke": None}})


# Whether lines are dashed -> what differs in their marks.
_LINE_STYLES: tuple[tuple[bool, Spec], ...] = (False, {}), (True, {"strokeDash": DASHED, "strokeWidth": 1.6})


def _legend_layers(
    webs: Sequence[Web], layer_at_positions: Callable[..., Spec], text_mark: Spec, dot: Spec
) -> list[Spec]:
    """Return the layers of a legend below the chart: a row for each label, with its line and point."""
    strokes: list[dict[str, Any]] = []
    points: list[dict[str, Any]] = []
    texts: list[dict[str, Any]] = []
    left = -_HALF_WIDTH
    for row, web in enumerate(webs):
        row_style = {
            "y": round(-_HALF_HEIGHT - _LINE_HEIGHT * (row + 0.5), 4),
            "colour": web.colour,
            "shape": web.shape,
        }
        strokes += [{**row_style, "x": x, "row": row, "dashed": web.dashed} for x in (0.05 + left, 0.35 + left)]
        if not web.reference:
            points.append({**row_style, "x": 0.2 + left, "mark": True})
        label = one_line(web.label, _LONGEST - 10)
        texts.append({**row_style, "x": 0.45 + left, "text": label, "mark": False})
    colour = {"color": nominal("colour", scale=None, legend=None)}
    shape = nominal("shape", scale=None, legend=None)
    lines = [
        layer_at_positions(row_strokes, {"type": "line", "strokeWidth": 2.2, **style}, detail=nominal("row"), **colour)
        for dashed, style in _LINE_STYLES
        if (row_strokes := [stroke for stroke in strokes if stroke["dashed"] is dashed])
    ]
    return [
        *lines,
        layer_at_positions(points, dot, shape=shape, **colour),
        layer_at_positions(texts, text_mark, text=nominal("text")),
    ]


def ring_values(values: Iterable[float]) -> list[float]:
    """Return the values of the rings: up to five at equal distances, the last one at or beyond all values."""
    most = max([1.0, *values])
    power = 1.0
    while True:
        for step in _RING_STEPS:
            n_rings = ceil(most / (step * power) - 1e-9)  # a rounding error makes no further ring
            if n_rings <= _MOST_RINGS:
                return [step * power * (number + 1) for number in range(n_rings)]
        power *= 10


def _heading_lines(title: str, subtitle: Sequence[str]) -> list[tuple[str, bool]]:
    """Return the lines above a chart, each with whether it belongs to the title."""
    title_lines = [(line, True) for line in textwrap.wrap(title, _LONGEST - 8)]  # its letters are larger
    return title_lines + [(line, False) for text in subtitle for line in textwrap.wrap(text, _LONGEST)]


def _value_text(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".replace("-", "−")


def _label_position(number: int, axis_count: int, below: bool) -> dict[str, float]:
    """Return the coordinates of an axis's name or, with `below`, of the values below it."""
    position = _axis_point(number, axis_count, _NAME_RADIUS)
    y = position["y"]
    # At the top the name is a line higher, so that its value is still outside of the rings.
    lift = _LINE_HEIGHT if y > 0.8 else 0.0 if y < -0.8 else _LINE_HEIGHT / 2
    return {**position, "y": y + lift - (_LINE_HEIGHT if below else 0)}


def _axis_point(number: float, axis_count: int, radius: float) -> dict[str, float]:
    """Return the coordinates of a point on an axis; the outermost ring has the radius 1, and y grows upwards."""
    angle = 2 * pi * number / axis_count
    return {"x": round(radius * sin(angle), 4), "y": round(radius * cos(angle), 4)}


def _text_alignment(number: int, axis_count: int) -> str:
    """Return how an axis's name is aligned, so that it extends away from the rings."""
    x = _axis_point(number, axis_count, 1)["x"]
    return "center" if abs(x) < 0.1 else "left" if x > 0 else "right"


def _radius(value: float, rim_value: float) -> float:
    """Return a value's distance from the centre: 0 at 0 or below, 1 at `rim_value` or above."""
    return min(max(value, 0.0) / rim_value, 1.0)


def _segments_and_points(
    webs: Sequence[Web], axis_count: int, rim_value: float
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the data of the segments between neighbouring axes where both have a value, and of a point per value."""
    segment_ends: list[dict[str, Any]] = []
    points: list[dict[str, Any]] = []
    for number, web in enumerate(webs):
        for axis, value in enumerate(web.values):
            if value is None:
                continue
            start = _axis_point(axis, axis_count, _radius(value, rim_value))
            if not web.reference:
                text = f"{web.label}: {value:.2f}"
                points.append({**start, "colour": web.colour, "shape": web.shape, "text": text})
            next_axis = (axis + 1) % axis_count
            next_value = web.values[next_axis]
            if next_value is not None:
                end = _axis_point(next_axis, axis_count, _radius(next_value, rim_value))
                segment_ends += [
                    {"piece": f"{number}-{axis}", "order": order, **point, "colour": web.colour, "dashed": web.dashed}
                    for order, point in enumerate((start, end))
                ]
    return segment_ends, points


MOST_TOGETHER = 6  # agents in one chart; of more each has a chart of its own
_FEWEST_GAMES = 3  # with fewer axes there is no line around the centre
_GREATEST_RIM = 1.5  # times the human score; greater values are on the rim, and named
_MOST_NAMED = 2  # axes of an agent whose greater values are named
_HIGHEST_DEGREE = max(map(len, DEGREE_SCALES.values()))
_PEOPLE = "Human baseline"
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")


@dataclass(frozen=True, slots=True)
class RadarOverlay:
    """Charts of several agents on the same axes.

    Attributes:
        title: What the charts show.
        text: How the charts are read.
        charts: One chart with all agents, or one for each if there are many.
    """

    title: str
    text: str
    charts: list[Chart]


@dataclass(frozen=True, slots=True)
class _Axes:
    """The axes of a kind of chart, and an agent's values on them."""

    title: str
    text: str
    names: tuple[str, ...]
    values: Callable[[Agent], list[float | None]]


_GAMES = _Axes(
    "Normalised scores by game",
    "(score − min) / (human − min) in each recorded setting.",
    tuple(HUMANS[game].name for game in RECORDED),
    lambda agent: [agent.scores[game].value if game in agent.scores else None for game in RECORDED],
)
_CAPABILITIES = _Axes(
    "Capabilities by degree (the paper’s formula)",
    "Means of the games’ normalised scores, weighted by how much each game asks of a capability.",
    CAPABILITIES,
    lambda agent: [capability.value for capability in agent.capabilities["paper"]],
)


def overlay_charts(agents: Sequence[Agent], labels: Sequence[str]) -> list[RadarOverlay]:
    """Return the charts that overlay several agents; none for a single agent."""
    if len(agents) < 2:
        return []
    missing = [[HUMANS[game].name for game in RECORDED if game not in agent.scores] for agent in agents]
    colours = colour_numbers([agent.model for agent in agents])
    results: list[RadarOverlay] = []
    for axes in (_GAMES, _CAPABILITIES):
        values_of_agents = [axes.values(agent) for agent in agents]
        most_games = max(sum(value is not None for value in values) for values in values_of_agents)
        if axes is _GAMES and most_games < _FEWEST_GAMES:
            continue
        webs = [
            Web(label, values, colour, shape=_SHAPES[number % MOST_TOGETHER])
            for number, (label, values, colour) in enumerate(zip(labels, values_of_agents, colours, strict=True))
        ]
        all_numbers = range(len(webs))
        charts = [
            _overlay_chart(
                axes,
                [webs[number] for number in numbers],
                webs,
                _missing_note([(labels[number], missing[number]) for number in numbers]),
            )
            for numbers in ([all_numbers] if len(webs) <= MOST_TOGETHER else [[number] for number in all_numbers])
        ]
        results.append(RadarOverlay(axes.title, axes.text, charts))
    return results


def _missing_note(missing: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Return a note on games that were not played; `missing` has each agent's label and games; "" without any."""
    common: list[str] = []
    if len(missing) > 1:
        _, first_names = missing[0]
        common = [name for name in first_names if all(name in names for _, names in missing)]
    texts = [f"all without {', '.join(common)}"] if common else []
    for label, names in missing:
        other_names = [name for name in names if name not in common]
        if other_names:
            texts.append(f"{one_line(label, 40)}{' also' if common else ''} without {', '.join(other_names)}")
    return "; ".join(texts)


def _rim_note(axes: Sequence[str], web: Web) -> str:
    """Return a note on the values of an agent that are cut off at the rim; "" if there are none."""
    cut_off = {name: value for name, value in zip(axes, web.values, strict=True) if value and value > _GREATEST_RIM}
    if not cut_off:
        return ""
    text = f"{len(cut_off)} axes, up to {max(cut_off.values()):.2f}"
    if len(cut_off) <= _MOST_NAMED:
        text = ", ".join(f"{name} {value:.2f}" for name, value in cut_off.items())
    return f"{one_line(web.label, 40)} {text}"


def _overlay_chart(axes: _Axes, webs: Sequence[Web], all_webs: Sequence[Web], missing: str) -> Chart:
    """Return a chart of some agents on the scale of all agents; `missing` notes the games that were not played."""
    people = Web(_PEOPLE, [1.0] * len(axes.names), dashed=True, reference=True)
    most = max((value for web in all_webs for value in web.values if value is not None), default=1.0)
    rim_notes = "; ".join(filter(None, (_rim_note(axes.names, web) for web in webs)))
    subtitle = ["0: the minimum score; 1: the human score (Table 4)"]
    if rim_notes:
        subtitle.append(f"on the rim, and beyond: {rim_notes}")
    if missing:
        subtitle.append(missing)
    rim = min(most, _GREATEST_RIM)
    spec = radar_spec(axes.names, [people, *webs], title=axes.title, subtitle=subtitle, most=rim, legend=True)
    text = "; ".join(f"{web.label}: {_values_text(axes.names, web.values, 'not run')}" for web in webs)
    label = f"{axes.title}, with people at 1. {text}"
    identity = json.dumps([axes.title, [web.label for web in webs]])
    caption = f"{axes.title}: {', '.join(web.label for web in webs)}" + (f"; {missing}" if missing else "")
    return Chart.from_specs(slug(f"agents {axes.title}", identity), label, caption, spec)


def _values_text(names: Sequence[str], values: Sequence[float | None], missing: str) -> str:
    """Return values with the names of their axes; `missing` stands for None."""
    texts = (missing if value is None else f"{value:.2f}" for value in values)
    return ", ".join(f"{name} {text}" for name, text in zip(names, texts, strict=True))


def degree_charts() -> list[Chart]:
    """Return for each game a chart of the capabilities that it requires (Figure 2)."""
    charts: list[Chart] = []
    for game in RECORDED:
        name, required = HUMANS[game].name, capability_degrees(game)
        web = Web(name, [float(required[capability]) for capability in CAPABILITIES])
        spec = radar_spec(CAPABILITIES, [web], 200, title=name, most=_HIGHEST_DEGREE, values=False)
        values = ", ".join(f"{capability} {required[capability]}" for capability in CAPABILITIES)
        text = f"Degrees of the challenges in {name}: {values}"
        charts.append(Chart.from_specs(slug(f"degrees {name}", game), text, text, spec))
    return charts


def agent_chart(colour: int, agent: Agent, differing_settings: Sequence[str], missing: Sequence[str]) -> Chart:
    """Return the chart of one agent's capabilities, with a second line of capped ones where these differ.

    `differing_settings` are the settings that distinguish it from other agents, in words; `missing` has the names of
    the recorded settings that it has not played.
    """
    name = one_line(agent.model, 80) or "(no name)"
    published, capped = (
        [capability.value for capability in agent.capabilities[formula]] for formula in ("paper", "paper_capped")
    )
    webs, notes = [Web(name, published, colour)], [", ".join(one_line(part, 60) for part in differing_settings)]
    if missing:
        notes.append(f"without {', '.join(missing)}")
    notes.append(f"{BENCHMARK}’s capabilities, weighted by degree (the paper’s formula)")
    notes.append("0: the minimum score; 1: the human score")
    if capped != published:
        webs.append(Web(f"{name}, capped", capped, colour, dashed=True))
        notes.append("dashed and second numbers: capped, games’ scores first clipped to 0–1")
    values = _values_text(CAPABILITIES, published, "none")
    label = f"Capabilities of {name}: {values}" + (f"; without {', '.join(missing)}" if missing else "")
    spec = radar_spec(CAPABILITIES, webs, title=name, subtitle=[note for note in notes if note])
    identity = json.dumps([agent.model, agent.settings, "capabilities"], default=str)
    return Chart.from_specs(slug(f"capabilities {agent.model}", identity), label, label, spec)
