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

_OUTSIDE = 1.12  # where the axes' names stand
_LINE = 0.15  # from a line of text to the next
_MOST_RINGS = 5
_STEPS = (0.25, 0.5, 1, 2, 5)  # between rings, and these times powers of ten
_LONGEST = 68  # characters of a line above the chart
_SIDE, _END = 2.1, 1.45  # how far the chart reaches from its centre, to the sides and up and down


@dataclass(frozen=True, slots=True)
class Web:
    """One line around a radar chart.

    Attributes:
        label: Its name.
        values: A value for each axis, in their order; None where there is none, which breaks the line.
        line: Number of its colour.
        dashed: Whether it is drawn dashed.
        shape: The shape of its points.
        reference: Whether it is the baseline of the others: grey, without points.
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
    """Return values on axes that leave one centre as a Vega-Lite specification.

    The rings have numbers, and the outermost one is at or beyond the greatest value, so that nothing is cut off, unless
    `most` is given. The ring of 1 is drawn stronger. Below the name of an axis stand its values, for one below 0 is
    drawn in the centre; with a legend there are too many for that.

    Args:
        axes: Their names, the first one upwards, the others clockwise.
        webs: The lines.
        size: Width and height of the rings, in pixels.
        font: Size of the text.
        title: What stands above the chart; "" for nothing.
        subtitle: Smaller lines below that.
        most: What the rings reach to, for several charts on one scale; greater values are on the outermost ring. None
            for the greatest value.
        legend: Whether the labels of the lines stand below the chart, and no values at the axes.
        values: Whether the values stand at the axes.
    """
    count = len(axes)
    levels = ring_values(
        [value for web in webs for value in web.values if value is not None] if most is None else [most]
    )
    rim = levels[-1]
    rings = [
        {"ring": ring, "order": number, **_axis_point(number % count, count, ring / rim)}
        for ring in dict.fromkeys((*levels, 1.0))
        for number in range(count + 1)
    ]
    spokes = [
        {"spoke": number, "order": end, **_axis_point(number, count, float(end))}
        for number in range(count)
        for end in (0, 1)
    ]
    # Numbers stand in the middle between the first two axes, where the rings are nearer to the centre. The ring of 1
    # has none where it is not one of those, for there may be no room.
    middle = cos(pi / count)
    scale = [{"text": f"{ring:g}", **_axis_point(0.5, count, ring / rim * middle)} for ring in levels]
    names = [
        {
            "text": text,
            "axis": kind,
            **_label_position(number, count, kind == "value"),
            "align": _text_alignment(number, count),
        }
        for number, axis in enumerate(axes)
        for kind, text in (
            ("name", axis),
            *(() if legend or not values else [("value", " / ".join(_value_text(web.values[number]) for web in webs))]),
        )
    ]
    lines, points = _segments_and_points(webs, count, rim)
    above = _heading_lines(title, subtitle)
    top, unit = _END + _LINE * len(above), size / 2 / _END
    end = _END + _LINE * len(webs) if legend else _END
    position = {
        "x": quantitative("x", axis=None, scale={"domain": [-_SIDE, _SIDE], "nice": False}),
        "y": quantitative("y", axis=None, scale={"domain": [-end, top], "nice": False}),
    }
    colour = {"color": nominal("colour", scale=None, legend=None)}

    def layer_at_positions(values: Sequence[Mapping[str, Any]], mark: Spec, **encoding: Spec) -> Spec:
        return layer(mark, values, **position, **encoding)

    def web_line(values: Sequence[Mapping[str, Any]], shade: str, by: str) -> Spec:
        mark = {"type": "line", "strokeWidth": 1, "color": f"var({shade})"}
        return layer_at_positions(values, mark, detail=nominal(by), order=quantitative("order"))

    words = {"type": "text", "baseline": "middle", "fontSize": font, "color": "var(--soft)"}
    number = {**words, "align": "center", "fontSize": font - 2}
    dot = {"type": "point", "filled": True, "size": 34, "opacity": 1}
    round_line = {"type": "line", "strokeWidth": 2.2, "strokeJoin": "round"}
    layers = [
        web_line(rings, "--rule", "ring"),
        web_line([ring for ring in rings if ring["ring"] == 1], "--rule-strong", "ring"),
        web_line(spokes, "--rule", "spoke"),
        *(
            layer_at_positions(
                alike, {**round_line, **style}, detail=nominal("piece"), order=quantitative("order"), **colour
            )
            for dashed, style in ((False, {}), (True, {"strokeDash": DASHED, "strokeWidth": 1.6}))
            if (alike := [row for row in lines if row["dashed"] is dashed])
        ),
        layer_at_positions(
            points, dot, description=nominal("text"), shape=nominal("shape", scale=None, legend=None), **colour
        ),
        # Numbers of rings stand over the lines, on a margin of the page's colour.
        layer_at_positions(scale, {**number, "stroke": "var(--page)", "strokeWidth": 3}, text=nominal("text")),
        layer_at_positions(scale, number, text=nominal("text")),
    ]
    for align in ("left", "center", "right"):
        for kind, style in (("name", {}), ("value", {"fontWeight": "bold", "color": "var(--ink)"})):
            texts = [text for text in names if text["align"] == align and text["axis"] == kind]
            layers.append(layer_at_positions(texts, {**words, "align": align, **style}, text=nominal("text")))
    # The words above are marks as all others are: a drawing's own title of several lines is no part of what pages take.
    for row, (text, head) in enumerate(above):
        style = {"fontWeight": "bold", "fontSize": font + 2, "color": "var(--ink)"} if head else {"fontSize": font - 1}
        line_of = {"text": text, "x": 0, "y": round(top - _LINE * (row + 0.5), 4)}
        layers.append(layer_at_positions([line_of], {**words, "align": "center", **style}, text=nominal("text")))
    if legend:
        layers += _legend_layers(
            webs, layer_at_positions, {**words, "align": "left", "color": "var(--ink)"}, {**dot, "size": 42}
        )
    box = {"view": {"stroke": None}}
    return specification(round(2 * _SIDE * unit), round((top + end) * unit), layer=layers, config=box)


def _legend_layers(webs: Sequence[Web], placed: Callable[..., Spec], words: Spec, dot: Spec) -> list[Spec]:
    """Return the layers of a legend: a line for each label, below each other."""
    strokes: list[dict[str, Any]] = []
    labels: list[dict[str, Any]] = []
    for row, web in enumerate(webs):
        look = {"y": round(-_END - _LINE * (row + 0.5), 4), "colour": web.colour, "shape": web.shape}
        strokes += [{**look, "x": x, "row": row, "dashed": web.dashed} for x in (0.05 - _SIDE, 0.35 - _SIDE)]
        labels.append({**look, "x": 0.2 - _SIDE, "mark": not web.reference})
        labels.append({**look, "x": 0.45 - _SIDE, "text": one_line(web.label, _LONGEST - 10), "mark": False})
    colour = {"color": nominal("colour", scale=None, legend=None)}
    lines = [
        placed(alike, {"type": "line", "strokeWidth": 2.2, **style}, detail=nominal("row"), **colour)
        for dashed, style in ((False, {}), (True, {"strokeDash": DASHED, "strokeWidth": 1.6}))
        if (alike := [stroke for stroke in strokes if stroke["dashed"] is dashed])
    ]
    marks = placed(
        [text for text in labels if text["mark"]], dot, shape=nominal("shape", scale=None, legend=None), **colour
    )
    return [*lines, marks, placed([text for text in labels if "text" in text], words, text=nominal("text"))]


def ring_values(values: Iterable[float]) -> list[float]:
    """Return the values of the rings: up to five at equal distances, the last one at or beyond all values."""
    most = max(1.0, *values, 1.0)
    power = 1.0
    while True:
        for step in _STEPS:
            count = ceil(most / (step * power) - 1e-9)
            if count <= _MOST_RINGS:
                return [step * power * (number + 1) for number in range(count)]
        power *= 10


def _heading_lines(title: str, subtitle: Sequence[str]) -> list[tuple[str, bool]]:
    """Return the lines above a chart, each with whether it belongs to the title."""
    heads = [(line, True) for line in textwrap.wrap(title, _LONGEST - 8)]
    return heads + [(line, False) for text in subtitle for line in textwrap.wrap(text, _LONGEST)]


def _value_text(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".replace("-", "−")


def _label_position(number: int, axis_count: int, below: bool) -> dict[str, float]:
    """Return the coordinates of an axis's name or, with `below`, of the values below it."""
    position = _axis_point(number, axis_count, _OUTSIDE)
    # At the top the name stands higher, so that its value is still outside of the rings.
    lift = _LINE if position["y"] > 0.8 else 0.0 if position["y"] < -0.8 else _LINE / 2
    return {**position, "y": position["y"] + lift - (_LINE if below else 0)}


def _axis_point(number: float, axis_count: int, radius: float) -> dict[str, float]:
    """Return the coordinates of a point on an axis; the outermost ring has the radius 1, and y grows upwards."""
    angle = 2 * pi * number / axis_count
    return {"x": round(radius * sin(angle), 4), "y": round(radius * cos(angle), 4)}


def _text_alignment(number: int, axis_count: int) -> str:
    across = sin(2 * pi * number / axis_count)
    return "center" if abs(across) < 0.1 else "left" if across > 0 else "right"


def _radius(value: float, rim_value: float) -> float:
    """Return a value's distance from the centre: 0 at 0 or below, 1 at `rim_value` or above."""
    return min(max(value, 0.0) / rim_value, 1.0)


def _segments_and_points(
    webs: Sequence[Web], axis_count: int, rim_value: float
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the segments between neighbouring axes where both have a value, and a point per value."""
    lines: list[dict[str, Any]] = []
    points: list[dict[str, Any]] = []
    for number, web in enumerate(webs):
        colour = web.colour
        for at, value in enumerate(web.values):
            if value is None:
                continue
            position = _axis_point(at, axis_count, _radius(value, rim_value))
            if not web.reference:
                text = f"{web.label}: {value:.2f}"
                points.append({**position, "colour": colour, "shape": web.shape, "text": text})
            following = web.values[(at + 1) % axis_count]
            if following is not None:
                piece = f"{number}-{at}"
                end = _axis_point((at + 1) % axis_count, axis_count, _radius(following, rim_value))
                lines += [
                    {"piece": piece, "order": 0, **position, "colour": colour, "dashed": web.dashed},
                    {"piece": piece, "order": 1, **end, "colour": colour, "dashed": web.dashed},
                ]
    return lines, points


MOST_TOGETHER = 6  # agents in one chart; of more each has a chart of its own
_FEWEST_GAMES = 3  # with fewer there is no line around
_FARTHEST = 1.5  # times what people had; greater values are on the rim, and named
_MOST_NAMED = 2  # axes of an agent
_HIGHEST_DEGREE = max(map(len, DEGREE_SCALES.values()))
_PEOPLE = "Human baseline"
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")


@dataclass(frozen=True, slots=True)
class RadarOverlay:
    """Charts of several agents on the same axes.

    Attributes:
        title: What they show.
        text: How they are read.
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
        values = [axes.values(agent) for agent in agents]
        most = max(sum(value is not None for value in of_agent) for of_agent in values)
        if axes is _GAMES and most < _FEWEST_GAMES:
            continue
        webs = [
            Web(label, of_agent, colour, shape=_SHAPES[number % MOST_TOGETHER])
            for number, (label, of_agent, colour) in enumerate(zip(labels, values, colours, strict=True))
        ]
        together = [range(len(webs))] if len(webs) <= MOST_TOGETHER else [[number] for number in range(len(webs))]
        charts = [
            _overlay_chart(
                axes,
                [webs[number] for number in numbers],
                webs,
                _missing_note([(labels[n], missing[n]) for n in numbers]),
            )
            for numbers in together
        ]
        results.append(RadarOverlay(axes.title, axes.text, charts))
    return results


def _missing_note(missing: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Return a note on the games that all, or some, agents have not played; "" if there are none."""
    several = len(missing) > 1
    common = [name for name in missing[0][1] if several and all(name in names for _, names in missing)]
    texts = [f"all without {', '.join(common)}"] if common else []
    for label, names in missing:
        more = [name for name in names if name not in common]
        texts += [f"{one_line(label, 40)}{' also' * bool(common)} without {', '.join(more)}"] if more else []
    return "; ".join(texts)


def _rim_note(axes: Sequence[str], web: Web) -> str:
    """Return a note on the values of an agent that are cut off at the rim; "" if there are none."""
    far = {name: value for name, value in zip(axes, web.values, strict=True) if value and value > _FARTHEST}
    if len(far) <= _MOST_NAMED:
        text = ", ".join(f"{name} {value:.2f}" for name, value in far.items())
    else:
        text = f"{len(far)} axes, up to {max(far.values()):.2f}"
    return f"{one_line(web.label, 40)} {text}" if far else ""


def _overlay_chart(axes: _Axes, webs: Sequence[Web], all_webs: Sequence[Web], missing: str) -> Chart:
    """Return a chart of some agents on the scale of all agents."""
    people = Web(_PEOPLE, [1.0] * len(axes.names), dashed=True, reference=True)
    most = max((value for web in all_webs for value in web.values if value is not None), default=1.0)
    beyond = "; ".join(filter(None, (_rim_note(axes.names, web) for web in webs)))
    subtitle = [
        "0: the minimum score; 1: the human score (Table 4)",
        *([f"on the rim, and beyond: {beyond}"] if beyond else []),
        *([missing] if missing else []),
    ]
    most = min(most, _FARTHEST)
    spec = radar_spec(axes.names, [people, *webs], title=axes.title, subtitle=subtitle, most=most, legend=True)
    text = "; ".join(f"{web.label}: {_values_text(axes.names, web.values, 'not run')}" for web in webs)
    label = f"{axes.title}, with people at 1. {text}"
    identity = json.dumps([axes.title, [web.label for web in webs]])
    caption = f"{axes.title}: {', '.join(web.label for web in webs)}" + (f"; {missing}" if missing else "")
    return Chart.from_specs(slug(f"agents {axes.title}", identity), label, caption, spec)


def _values_text(names: Sequence[str], values: Sequence[float | None], missing: str) -> str:
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
    """Return the chart of one agent.

    `differing_settings` are the settings in which agents differ, in words; `missing` has the names of the recorded
    settings that it has not played.
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
