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
    with_encoding,
)
from waybench.results.horizons import SHARES
from waybench.results.horizons._references import DifficultyBin, SuccessCurve
from waybench.results.horizons._text import difficulty_text, horizon_text

MOST_POINTS = 12  # of a panel; of more difficulties, neighbouring ones are combined
_MOST_BEHIND = 8  # with at most so many panels, each shows the other curves, too: more could not be distinguished
_ROUND_DIGITS = (1, 2, 5), (1, 2, 3, 5, 7), tuple(range(1, 10))  # first digits of round numbers, the roundest first
_MARGIN = 0.04  # of the axis, at each end
_DECIMALS = 9  # of fitted rates in the data: further ones depend on the number of threads of numpy


@dataclass(frozen=True, slots=True)
class Panels:
    """Measures of the chart: a panel's plot and the text in pixels, panels in a row, and letters in a name's line."""

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
        reference: Whether it is an embedded player.
    """

    label: str
    reference: bool
    colour: int
    curve: SuccessCurve


class Binned(NamedTuple):
    """Observed results at one difficulty, or at neighbouring ones.

    Attributes:
        at: The difficulty, or the mean difficulty of the items.
        solved: Share of the items at which a single attempt succeeds.
    """

    at: float
    solved: float
    items: int
    least: float
    greatest: float


def bin_difficulties(bins: Sequence[DifficultyBin]) -> list[Binned]:
    """Return the results at up to `MOST_POINTS` difficulties; of more, neighbours are combined to bins of like size."""
    if len(bins) <= MOST_POINTS:
        return [_combine_bins([difficulty_bin]) for difficulty_bin in bins]
    # A difficulty belongs to the bin of the quantile that its first item is in.
    by_quantile: dict[int, list[DifficultyBin]] = {}
    n_items, n_before = sum(difficulty_bin.items for difficulty_bin in bins), 0
    for difficulty_bin in bins:
        by_quantile.setdefault(n_before * MOST_POINTS // n_items, []).append(difficulty_bin)
        n_before += difficulty_bin.items
    return [_combine_bins(neighbours) for neighbours in by_quantile.values()]


def _combine_bins(bins: Sequence[DifficultyBin]) -> Binned:
    """Return neighbouring bins as one, with the means over their items."""
    items = sum(difficulty_bin.items for difficulty_bin in bins)
    at = fsum(difficulty_bin.at * difficulty_bin.items for difficulty_bin in bins) / items
    solved = fsum(difficulty_bin.solved * difficulty_bin.items for difficulty_bin in bins) / items
    return Binned(at, solved, items, bins[0].at, bins[-1].at)


def success_spec(players: Sequence[Player], axis_title: str, items: tuple[str, str], panels: Panels) -> Spec:
    """Return the chart of success by difficulty as a Vega-Lite specification.

    Each player has a panel. `axis_title` is that of the axis of difficulty, and `items` are the words for one item and
    for several.
    """
    difficulties = sorted({difficulty_bin.at for player in players for difficulty_bin in player.curve.bins})
    margin = _MARGIN * log2(difficulties[-1] / difficulties[0])
    domain = difficulties[0] * 2**-margin, difficulties[-1] * 2**margin
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
    has_models = any(not player.reference for player in players)
    most_items = max(point.items for player in players for point in bin_difficulties(player.curve.bins))
    specs: list[Spec] = []
    for number, player in enumerate(players):
        colour, ink = line_colours(player.colour, player.reference and has_models)
        layers = [
            *(_other_curves_layers(number) if 1 < len(players) <= _MOST_BEHIND else []),
            *_curve_layers(number, colour),
            *_bin_layers(player, colour, axis_title, items, most_items),
            *_horizon_layers(player, ink, axis_title),
            *_panel_heading_layers(player, ink, panels),
        ]
        is_last_of_column = number + panels.columns >= len(players)
        x = {**axes["x"], **({"title": axis_title} if is_last_of_column else {})}
        layers = with_encoding(layers, **{**axes, "x": x})
        specs.append({"width": panels.width, "height": panels.height, "layer": layers})
    curves = [
        {**{name: round(value, _DECIMALS) for name, value in point._asdict().items()}, "series": number}
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
    """Return the difficulties to label on the axis: the tested ones if they are few, or else round numbers.

    A label that has no room right of the previous one is left out.
    """
    candidates = difficulties if len(difficulties) <= MOST_POINTS else _round_numbers(domain) or difficulties
    ticks: list[float] = []
    for candidate in candidates:
        label_width = 12 + 7 * len(difficulty_text(candidate))  # in pixels, with a margin
        if not ticks or log2(candidate / ticks[-1]) / log2(domain[1] / domain[0]) * width >= label_width:
            ticks.append(candidate)
    return ticks


def _round_numbers(domain: tuple[float, float]) -> list[float]:
    """Return at least three round numbers of a domain, the roundest that there are; [] if there are too few."""
    low, high = domain
    for digits in _ROUND_DIGITS:
        numbers = [float(digit * 10**power) for power in range(8) for digit in digits]
        numbers = [number for number in numbers if low <= number <= high]
        if len(numbers) >= 3:
            return numbers
    return []


def _other_curves_layers(number: int) -> list[Spec]:
    """Return the layer of all curves but the one with this number, in grey."""
    mark = {"type": "line", "strokeWidth": 1, "color": "var(--rule-strong)", "opacity": 0.6}
    return [_layer_of_curves(mark, f"datum.series != {number}", detail=nominal("series"))]


def _curve_layers(number: int, colour: str) -> list[Spec]:
    """Return the layers of the curve with this number: its interval as a band, and its line."""
    condition = f"datum.series == {number}"
    return [
        _layer_of_curves({"type": "area", "opacity": 0.18, "color": colour}, condition, **interval_ends("y")),
        _layer_of_curves({"type": "line", "strokeWidth": 2, "color": colour}, condition),
    ]


def _layer_of_curves(mark: Spec, condition: str, **encoding: Spec) -> Spec:
    """Return a layer of the players' curves that meet a condition; all panels share the data."""
    return {"data": {"name": "curves"}, **layer(mark, None, condition, **encoding)}


def _bin_layers(player: Player, colour: str, axis_title: str, items: tuple[str, str], most_items: int) -> list[Spec]:
    """Return a layer with a point for each bin of difficulties, sized by its number of items."""
    values: list[dict[str, Any]] = []
    for point in bin_difficulties(player.curve.bins):
        ends = dict.fromkeys((difficulty_text(point.least), difficulty_text(point.greatest)))  # one if they are equal
        text = (
            f"{player.label}, {axis_title.lower()} {' to '.join(ends)}: "
            f"{100 * point.solved:.0f} % of {plural(point.items, *items)}"
        )
        values.append({"at": point.at, "rate": point.solved, "items": point.items, "text": text})
    size = quantitative("items", scale={"domain": [0, most_items], "range": [12, 90]}, legend=None)
    mark = {"type": "point", "filled": True, "color": colour, "opacity": 0.6}
    return [layer(mark, values, size=size, description=nominal("text"))]


def _horizon_layers(player: Player, ink: str, axis_title: str) -> list[Spec]:
    """Return the layers of a player's horizons with their intervals, whose unknown ends are those of the axis."""
    values = [
        {
            **{"at": horizon.value, "rate": horizon.share},
            "low": horizon.easiest if horizon.low is None else horizon.low,
            "high": horizon.hardest if horizon.high is None else horizon.high,
            "text": (
                f"{player.label}: {100 * horizon.share:.0f} % horizon, {axis_title.lower()} {horizon_text(horizon)}"
            ),
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
    """Return the layers of the lines above a panel: the player's name, and its first horizon."""
    horizon = player.curve.horizons[0]
    lines = wrap_label(player.label, panels.letters)
    # Without its mark, for which a panel is too narrow; the table has it.
    text = f"{100 * horizon.share:.0f} %: {horizon_text(replace(horizon, mark=''))}"
    return [
        *(
            heading_layer(line, dy=-31 - 15 * (len(lines) - 1 - number), fontWeight=600, color=ink)
            for number, line in enumerate(lines)
        ),
        heading_layer(text, dy=-16, color="var(--soft)"),
    ]
