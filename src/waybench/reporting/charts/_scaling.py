"""Charts of scores and horizons against models' sizes and dates (AQA-Bench, section 4.4), and of what tokens reach."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, NamedTuple

from waybench.reporting._format import TaskView, metric_heading
from waybench.reporting._reading import ModelFacts
from waybench.reporting.charts._chart import SHAPES, Box
from waybench.reporting.charts._charts import OPEN, chart_name
from waybench.reporting.charts._points import chart_sets, drawn_interval
from waybench.reporting.charts._spec import (
    Spec,
    direction_text,
    halo_mark,
    interval_ends,
    layer,
    legend_config,
    nominal,
    percent_axis,
    point_layers,
    quantitative,
    specification,
)
from waybench.reporting.charts._svg import COLOURS, Chart
from waybench.results import Estimate
from waybench.results.estimates import headline_spec
from waybench.results.formatting import lost_text, mean_text, one_line
from waybench.results.horizons._references import SuccessCurve
from waybench.results.results import RunKey, group_by, short_labels, with_observed_bounds
from waybench.results.results._groups import distinguishing_settings
from waybench.results.stats import CONFIDENCE

_FONT = 12
_HIGH = 300  # of the plot, in pixels
_PADDING = 24  # left and right of the points
_LETTERS = 28
_MOST_LEVELS = 3  # with more, the score of all levels is drawn if it has one, and the horizon
_SHARE = 0.5  # of the horizon that is drawn


class _Mark(NamedTuple):
    """One model's score or horizon."""

    group: RunKey
    value: float
    low: float | None
    high: float | None
    text: str
    is_open: bool


class _Quantity(NamedTuple):
    """A fact about models that scores are drawn against."""

    name: str
    title: str
    get: Callable[[ModelFacts], float | str | None]
    axis: Mapping[str, Any]


def _model_size(model: ModelFacts) -> float | None:
    return model.size


def _release_date(model: ModelFacts) -> str | None:
    return model.released and model.released.isoformat()


_SIZE = _Quantity(
    "size",
    "Parameters",
    _model_size,
    {
        "type": "quantitative",
        "scale": {"type": "log", "nice": False, "padding": _PADDING},
        "axis": {"grid": False, "tickCount": 6, "labelExpr": "replace(format(datum.value, '~s'), 'G', 'B')"},
    },
)
_DATE = _Quantity(
    "date",
    "Release",
    _release_date,
    {
        "type": "temporal",
        "scale": {"type": "utc", "nice": False, "padding": _PADDING},
        "axis": {"grid": False, "tickCount": 6, "format": "%Y-%m"},
    },
)


def scaling_charts(
    view: TaskView,
    estimates: Sequence[Estimate],
    totals: Sequence[Estimate],
    curves: Sequence[SuccessCurve],
    models: Mapping[str, ModelFacts],
) -> list[Chart]:
    """Return the charts of scores and horizons by the models' sizes and dates; each needs two different ones."""
    env, presentation = view.env, view.presentation
    if not models:
        return []
    charts: list[Chart] = []
    for chart_set in chart_sets([estimate for estimate in estimates if not estimate.guided], env.items.public_key).sets:
        groups = {estimate.group for estimate in chart_set.estimates}
        by_level = group_by(chart_set.estimates, lambda estimate: estimate.level)
        few = len(by_level) <= _MOST_LEVELS
        set_totals = [total for total in totals if total.group in groups]
        levels = by_level.items() if few else [(None, set_totals)]
        for level, level_estimates in sorted(levels, key=lambda pair: pair[0] or 0):
            at = f"{presentation.level} {level}" if level is not None else f"all {presentation.levels}"
            charts += _score_charts(view, level_estimates, at, models, chart_set.name)
    return charts + _horizon_charts(view, curves, models)


def _score_charts(
    view: TaskView,
    estimates: Sequence[Estimate],
    at: str,
    models: Mapping[str, ModelFacts],
    set_name: str,
) -> list[Chart]:
    env, presentation = view.env, view.presentation
    headline = headline_spec(env, guided=False)
    metric = with_observed_bounds(headline.metric, estimates)
    marks: list[_Mark] = []
    for estimate in estimates:
        mean = headline.mean(estimate)
        if mean is not None:
            lost = lost_text(mean.lost, headline.metric)
            text = mean_text(mean.value, headline.metric) + (f" ({lost})" if lost else "")
            marks.append(_Mark(estimate.group, mean.value, *drawn_interval(mean), text, mean.lost is not None))
    title = f"{metric_heading(headline.metric)}, {at}"
    what = f"{title}: the mean over {presentation.items}, with its {100 * CONFIDENCE:.0f} % interval"
    low, high = metric.bounds
    scale = {"nice": True, "zero": False} if low is None or high is None else {"domain": [low, high], "nice": False}
    title = f"{metric.title}, {direction_text(metric)}".strip(", ")
    y_axis = {"title": title, "scale": scale, "axis": percent_axis(metric, tickCount=5)}
    name_parts = [env.id, *(estimates[0].group.separate_by if estimates else ()), *([set_name] if set_name else [])]
    return _charts_by_size_and_date(view, marks, models, f"{metric.name} {at}", what, y_axis, name_parts)


def _horizon_charts(
    view: TaskView,
    curves: Iterable[SuccessCurve],
    models: Mapping[str, ModelFacts],
) -> list[Chart]:
    env, presentation = view.env, view.presentation
    axis = env.difficulty.axes[0] if env.difficulty.axes else None
    if axis is None:
        return []
    reached = [
        horizon for curve in curves if curve.axis == axis.name for horizon in curve.horizons if horizon.share == _SHARE
    ]
    marks = [
        _Mark(horizon.group, horizon.value, horizon.low, horizon.high, f"{horizon.value:.3g}", horizon.lost is not None)
        for horizon in reached
        if horizon.value is not None
    ]
    what = (
        f"The 50 % horizon by {axis.title.lower()}, the difficulty at which a single attempt succeeds at half of the "
        f"{presentation.items}, with its 90 % interval; players whose horizon is outside the difficulties tested "
        "are not drawn"
    )
    y_axis = {"title": f"50 % horizon, {axis.title.lower()}", "scale": {"nice": True, "zero": False}}
    apart = marks[0].group.separate_by if marks else ()
    return _charts_by_size_and_date(view, marks, models, "horizon", what, y_axis, [env.id, *apart])


def _charts_by_size_and_date(
    view: TaskView,
    marks: Sequence[_Mark],
    models: Mapping[str, ModelFacts],
    name: str,
    what: str,
    y_axis: Mapping[str, Any],
    name_parts: Sequence[str],
) -> list[Chart]:
    """Return the charts of one score, by model size and by date of release; `y_axis` is what Vega-Lite takes."""
    charts: list[Chart] = []
    for quantity in (_SIZE, _DATE):
        data = _chart_data(marks, models, quantity)
        if len({row["at"] for row in data}) < 2:
            continue
        against = "number of parameters, on a logarithmic axis" if quantity is _SIZE else "date of release"
        caption = f"{what}. Against the models' {against}; a line joins the models of one series."
        caption += OPEN * any(row["open"] for row in data)
        wide, narrow = (
            scaling_spec(
                _with_label_positions(data, quantity, y_axis, width), quantity.title, quantity.axis, y_axis, width
            )
            for width in (640, 280)
        )
        charts.append(
            Chart.from_specs(chart_name(view, name_parts, f"{name} by {quantity.name}"), caption, caption, wide, narrow)
        )
    return charts


def reached_charts(view: TaskView, reached: Mapping[RunKey, Sequence[tuple[int, float]]]) -> list[Chart]:
    """Return the chart of the difficulty reached with the tokens of an attempt as a list; [] if nothing is known.

    `reached` has the rising pairs of tokens and difficulty of each group (`reached_by_tokens`).
    """
    if not reached:
        return []
    axis, names = view.env.difficulty.axes[0], short_labels(reached)
    data = [
        {
            **{"series": one_line(names[group], 60), "label": "", "at": tokens, "score": at, "position": -1},
            **{"low": None, "high": None, "interval": False, "open": False, "number": number},
            "text": f"{one_line(names[group], 60)}: {axis.title.lower()} {at:g} with {tokens:,} tokens",
        }
        for number, (group, points) in enumerate(reached.items())
        for tokens, at in points
    ]
    caption = (
        f"{axis.title} reached by tokens spent: the greatest {axis.title.lower()} at which an attempt was a success "
        "with at most so many tokens in its replies, with reasoning, on a logarithmic axis. A line ends at the most "
        "tokens that a model spent on an attempt."
    )
    up = {"title": f"{axis.title} reached", "scale": {"nice": True, "zero": False}}
    wide, narrow = (
        scaling_spec(data, "Tokens of an attempt", _SIZE.axis, up, width, interpolate="step-after")
        for width in (640, 280)
    )
    first = next(iter(reached))
    name = chart_name(view, [view.env.id, *first.separate_by], f"{axis.name} reached by tokens")
    return [Chart.from_specs(name, caption, caption, wide, narrow)]


def _chart_data(marks: Sequence[_Mark], models: Mapping[str, ModelFacts], quantity: _Quantity) -> list[dict[str, Any]]:
    with_facts = [(mark, models[mark.group.model]) for mark in marks if mark.group.model in models]
    placed = [(mark, model, at) for mark, model in with_facts if (at := quantity.get(model)) is not None]
    bare = [replace(mark.group, model="", embedded=False) for mark, _, _ in placed]
    lines: dict[str, int] = {}
    data: list[dict[str, Any]] = []
    for (mark, model, at), group in zip(placed, bare, strict=True):
        name = model.name or mark.group.model.rpartition("/")[2]
        line = one_line(", ".join([model.series or name, *distinguishing_settings(group, bare)]), 60)
        data.append(
            {
                **{"series": line, "label": one_line(name, _LETTERS), "at": at, "score": mark.value},
                **{"low": mark.low, "high": mark.high, "interval": mark.low is not None and mark.high is not None},
                "text": f"{one_line(name, 60)} ({line}): {mark.text}",
                "open": mark.is_open,
                "number": lines.setdefault(line, len(lines)),
            }
        )
    return sorted(data, key=lambda row: (row["number"], row["at"]))


class _Position(NamedTuple):
    """Where a label is, from its point, in pixels.

    Attributes:
        dx: To the right.
        dy: Down.
        align: Which of its ends is there.
    """

    dx: int
    dy: int
    align: str


# In the order in which they are tried.
_POSITIONS = (
    _Position(0, -13, "center"),
    _Position(0, 15, "center"),
    _Position(9, 1, "left"),
    _Position(-9, 1, "right"),
    _Position(6, -13, "left"),
    _Position(-6, -13, "right"),
    _Position(6, 15, "left"),
    _Position(-6, 15, "right"),
    _Position(0, -28, "center"),
    _Position(0, 30, "center"),
)
_LETTER = 0.56  # mean width of a letter, in font sizes
_POINT = 5  # half the width of a point


def _with_label_positions(
    data: Sequence[dict[str, Any]], quantity: _Quantity, y_axis: Mapping[str, Any], width: int
) -> list[dict[str, Any]]:
    """Return the data with the position of each label ("position", an index of `_POSITIONS`).

    A label has the first position at which it covers no point and no other label and is not cut off; where there is
    none, it is left out (-1): the point's description and the tables name the model.

    Args:
        data: The models.
        quantity: What the chart is drawn against.
        y_axis: Title and scale of the score.
        width: Of the plot, in pixels.
    """
    ats = [row["at"] for row in data]
    across = [math.log(at) if quantity is _SIZE else float(date.fromisoformat(at).toordinal()) for at in ats]
    values = [end for row in data for end in (row["low"], row["score"], row["high"]) if end is not None]
    low, high = y_axis["scale"].get("domain") or (min(values), max(values))
    points = [
        (
            _PADDING + (width - 2 * _PADDING) * (x - min(across)) / ((max(across) - min(across)) or 1),
            _HIGH * (1 - (row["score"] - low) / ((high - low) or 1)),
        )
        for row, x in zip(data, across, strict=True)
    ]
    taken = [Box(x - _POINT, y - _POINT, x + _POINT, y + _POINT) for x, y in points]
    labelled: list[dict[str, Any]] = []
    for row, (x, y), point_box in zip(data, points, tuple(taken), strict=True):
        free = -1
        for number, position in enumerate(_POSITIONS):
            wide, middle = _LETTER * _FONT * len(row["label"]), y + position.dy
            start = x + position.dx - {"left": 0.0, "center": wide / 2, "right": wide}[position.align]
            box = Box(start, middle - 0.6 * _FONT, start + wide, middle + 0.6 * _FONT)
            is_inside = box.left >= 0 and box.right <= width + _PADDING
            if is_inside and not any(box.overlaps(other) for other in taken if other != point_box):
                taken.append(box)
                free = number
                break
        labelled.append({**row, "position": free})
    return labelled


def scaling_spec(
    data: Sequence[dict[str, Any]],
    title: str,
    x_axis: Mapping[str, Any],
    y_axis: Mapping[str, Any],
    width: int,
    *,
    interpolate: str = "",
) -> Spec:
    """Return the scatter plot of models as a Vega-Lite specification.

    Args:
        data: The models: "series", "label", "at", "score", "low", "high", "interval", "text", "number", "position".
        title: What the axis across is.
        x_axis: Type, scale and axis of "at".
        y_axis: Title and scale of "score", and its axis where that has other labels.
        width: Of the plot, in pixels.
        interpolate: How lines go from point to point; "" for straight ones.
    """
    lines = list(dict.fromkeys(row["series"] for row in data))
    config = legend_config(_FONT, labelLimit=width - 40, columns=max(1, width // 180))
    x: Spec = {"field": "at", "title": title, **x_axis}
    colours = [f"var(--c{number % COLOURS})" for number in range(len(lines))]
    shapes = [SHAPES[number % len(SHAPES)] for number in range(len(lines))]
    colour = nominal("series", title=None, sort=lines, scale={"domain": lines, "range": colours})
    shape = nominal("series", title=None, sort=lines, scale={"domain": lines, "range": shapes})
    y = quantitative("score", title=y_axis["title"], scale=y_axis["scale"], axis=y_axis.get("axis", {"tickCount": 5}))
    rule = {"type": "rule", "strokeWidth": 1.6, "opacity": 0.5}
    layers = [
        layer(rule, None, "datum.interval", **interval_ends("y"), color=colour),
        layer(
            {"type": "line", "strokeWidth": 2, **({"interpolate": interpolate} if interpolate else {})},
            y=y,
            color=colour,
        ),
        *point_layers(
            {"size": 60},
            {"y": y, "color": colour, "shape": shape, "description": nominal("text")},
            has_open=any(row["open"] for row in data),
        ),
    ]
    for look in (halo_mark(4), {"color": "var(--soft)"}):  # all halos are below all labels
        for number, position in enumerate(_POSITIONS):
            if any(row["position"] == number for row in data):
                mark = {"type": "text", "fontSize": _FONT, "baseline": "middle", **position._asdict(), **look}
                layers.append(layer(mark, None, f"datum.position === {number}", y=y, text=nominal("label")))
    for one in layers:
        one["encoding"] = {"x": x, **one["encoding"]}
    return specification(width, _HIGH, data={"values": list(data)}, layer=layers, config=config)
