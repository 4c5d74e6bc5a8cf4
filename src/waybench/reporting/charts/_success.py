"""Charts of success by difficulty: a panel for each player, with its fitted curve, observed rates and horizons."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum, log2
from typing import Any, NamedTuple

from waybench.core import plural
from waybench.reporting.charts._chart import wrap_label
from waybench.reporting.charts._spec import (
    Spec,
    axis_config,
    compose,
    heading_layer,
    interval_ends,
    layer,
    line_colours,
    nominal,
    quantitative,
)
from waybench.results.horizons import SHARES
from waybench.results.horizons._references import DifficultyBin, SuccessCurve
from waybench.results.horizons._text import difficulty_text, horizon_text

MOST_POINTS = 12  # of a panel; of more difficulties neighbours are put together
_MOST_BEHIND = 8  # panels in which the other players' curves are shown, too: more could not be distinguished
_ROUND = (1, 2, 5), (1, 2, 3, 5, 7), tuple(range(1, 10))
_PAD = 0.04  # of the axis, at each end
_DIGITS = 9  # of fitted rates in the data: the last ones depend on the number of threads of numpy


@dataclass(frozen=True, slots=True)
class Panels:
    """Measures of the chart.

    Attributes:
        width: Of a panel's plot, in pixels.
        height: Of a panel's plot, in pixels.
        columns: Panels beside each other.
        font: Size of its text.
        letters: Letters in a line of a name.
    """

    width: int
    height: int
    columns: int
    font: int
    letters: int


WIDE = Panels(208, 150, 3, 12, 30)
NARROW = Panels(270, 140, 1, 12, 36)


@dataclass(frozen=True, slots=True)
class Player:
    """A player with a panel.

    Attributes:
        label: The name.
        reference: Whether it is one of waybench's own players.
        colour: Number of its colour.
    """

    label: str
    reference: bool
    colour: int
    curve: SuccessCurve


class Binned(NamedTuple):
    """Observed results at one difficulty, or at some neighbouring ones.

    Attributes:
        at: The difficulty, or the mean of the items'.
        solved: Share of the items at which a single attempt succeeds.
        items: Number of items.
        least: The least of the difficulties.
    """

    at: float
    solved: float
    items: int
    least: float
    greatest: float


def bin_difficulties(bins: Sequence[DifficultyBin]) -> list[Binned]:
    """Combine neighbouring difficulties, where there are too many, into bins of about as many items."""
    groups: list[list[DifficultyBin]] = []
    total, before = sum(difficulty_bin.items for difficulty_bin in bins), 0
    for difficulty_bin in bins:
        last = before - groups[-1][-1].items if groups else 0
        if len(bins) <= MOST_POINTS or not groups or before * MOST_POINTS // total != last * MOST_POINTS // total:
            groups.append([])
        groups[-1].append(difficulty_bin)
        before += difficulty_bin.items
    return [_combine_bins(group) for group in groups]


def _combine_bins(bins: Sequence[DifficultyBin]) -> Binned:
    items = sum(difficulty_bin.items for difficulty_bin in bins)
    at, solved = (
        fsum(value * difficulty_bin.items for value, difficulty_bin in zip(values, bins, strict=True)) / items
        for values in (
            [difficulty_bin.at for difficulty_bin in bins],
            [difficulty_bin.solved for difficulty_bin in bins],
        )
    )
    return Binned(at, solved, items, bins[0].at, bins[-1].at)


def success_spec(players: Sequence[Player], across: str, items: tuple[str, str], panels: Panels) -> Spec:
    """Return the chart of success by difficulty as a Vega-Lite specification.

    Args:
        players: Who has a panel, in their order.
        across: What stands on the axis of difficulty.
        items: What an item is called, one and several.
        panels: Measures.
    """
    difficulties = sorted({difficulty_bin.at for player in players for difficulty_bin in player.curve.bins})
    pad = _PAD * log2(difficulties[-1] / difficulties[0])
    domain = difficulties[0] * 2**-pad, difficulties[-1] * 2**pad
    axes = {
        "x": quantitative(
            "at",
            title=None,
            scale={"type": "log", "base": 2, "domain": list(domain), "nice": False},
            axis={"values": _difficulty_ticks(difficulties, domain, panels.width), "format": "~g", "grid": False},
        ),
        "y": quantitative(
            "rate", title=None, scale={"domain": [0, 1]}, axis={"values": [0, *SHARES, 1], "format": ".0%"}
        ),
    }
    grey = any(not player.reference for player in players)
    most = max(point.items for player in players for point in bin_difficulties(player.curve.bins))
    specs: list[Spec] = []
    for number, player in enumerate(players):
        plain = player.reference and grey
        colour, ink = line_colours(player.colour, plain)
        layers = [
            *(_other_curves_layers(number) if 1 < len(players) <= _MOST_BEHIND else []),
            *_curve_layers(number, colour),
            *_bin_layers(player, colour, across, items, most),
            *_horizon_layers(player, ink, across),
            *_panel_heading_layers(player, ink, panels),
        ]
        under = {"title": across} if number + panels.columns >= len(players) else {}  # the last one of a column
        for one in layers:
            one["encoding"] = {**axes, "x": {**axes["x"], **under}, **one["encoding"]}
        specs.append({"width": panels.width, "height": panels.height, "layer": layers})
    curves = [
        {**{name: round(value, _DIGITS) for name, value in point._asdict().items()}, "series": number}
        for number, player in enumerate(players)
        for point in player.curve.line
    ]
    config = axis_config(panels.font, padding=6)
    config["axis"]["labelFontSize"] = panels.font - 1
    return compose(
        datasets={"curves": curves},
        concat=specs,
        columns=panels.columns,
        spacing={"row": 28, "column": 26},
        config=config,
    )


def _difficulty_ticks(difficulties: Sequence[float], domain: tuple[float, float], width: int) -> list[float]:
    """Return the difficulties to label on the axis: the tested ones if they are few, or else round numbers."""
    candidates = difficulties if len(difficulties) <= MOST_POINTS else _round_numbers(domain) or difficulties
    ticks: list[float] = []
    for candidate in candidates:
        room = 12 + 7 * len(difficulty_text(candidate))
        if not ticks or log2(candidate / ticks[-1]) / log2(domain[1] / domain[0]) * width >= room:
            ticks.append(candidate)
    return ticks


def _round_numbers(domain: tuple[float, float]) -> list[float]:
    for bases in _ROUND:
        numbers = [float(base * 10**power) for power in range(8) for base in bases]
        if len(within := [number for number in numbers if domain[0] <= number <= domain[1]]) > 2:
            return within
    return []


def _other_curves_layers(number: int) -> list[Spec]:
    mark = {"type": "line", "strokeWidth": 1, "color": "var(--rule-strong)", "opacity": 0.6}
    return [_layer_of_curves(mark, f"datum.series != {number}", detail=nominal("series"))]


def _curve_layers(number: int, colour: str) -> list[Spec]:
    where = f"datum.series == {number}"
    return [
        _layer_of_curves({"type": "area", "opacity": 0.18, "color": colour}, where, **interval_ends("y")),
        _layer_of_curves({"type": "line", "strokeWidth": 2, "color": colour}, where),
    ]


def _layer_of_curves(mark: Spec, where: str, **encoding: Spec) -> Spec:
    """Return a layer of the players' curves, whose data all panels share."""
    return {"data": {"name": "curves"}, **layer(mark, None, where, **encoding)}


def _bin_layers(player: Player, colour: str, axis_title: str, items: tuple[str, str], most_items: int) -> list[Spec]:
    """Return a layer with a point for each bin of difficulties, sized by its number of items."""
    values: list[dict[str, Any]] = []
    for point in bin_difficulties(player.curve.bins):
        ends = dict.fromkeys((difficulty_text(point.least), difficulty_text(point.greatest)))
        text = f"{player.label}, {axis_title.lower()} {' to '.join(ends)}: {100 * point.solved:.0f} % of "
        values.append(
            {"at": point.at, "rate": point.solved, "items": point.items, "text": text + plural(point.items, *items)}
        )
    size = quantitative("items", scale={"domain": [0, most_items], "range": [12, 90]}, legend=None)
    mark = {"type": "point", "filled": True, "color": colour, "opacity": 0.6}
    return [layer(mark, values, size=size, description=nominal("text"))]


def _horizon_layers(player: Player, ink: str, across: str) -> list[Spec]:
    values = [
        {
            **{"at": horizon.value, "rate": horizon.share},
            "low": horizon.easiest if horizon.low is None else horizon.low,
            "high": horizon.hardest if horizon.high is None else horizon.high,
            "text": f"{player.label}: {100 * horizon.share:.0f} % horizon, {across.lower()} {horizon_text(horizon)}",
        }
        for horizon in player.curve.horizons
        if horizon.value is not None
    ]
    if not values:
        return []
    mark = {"type": "point", "filled": True, "shape": "diamond", "size": 70, "color": ink, "opacity": 1}
    edge = {"stroke": "var(--page)", "strokeWidth": 1.5}
    return [
        layer({"type": "rule", "strokeWidth": 2, "color": ink}, values, **interval_ends("x")),
        layer({**mark, **edge}, values, description=nominal("text")),
    ]


def _panel_heading_layers(player: Player, ink: str, panels: Panels) -> list[Spec]:
    half = player.curve.horizons[0]
    lines = wrap_label(player.label, panels.letters)
    # Without its mark, for which a panel is too narrow; the table has it.
    horizon = f"{100 * half.share:.0f} %: {horizon_text(replace(half, mark=''))}"
    return [
        *(
            heading_layer(text, dy=-31 - 15 * (len(lines) - 1 - number), fontWeight=600, color=ink)
            for number, text in enumerate(lines)
        ),
        heading_layer(horizon, dy=-16, color="var(--soft)"),
    ]
