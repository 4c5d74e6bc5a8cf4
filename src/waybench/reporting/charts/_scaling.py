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
    with_encoding,
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
_WIDTHS = 640, 280  # of the plot on wide and on narrow pages, in pixels
_HEIGHT = 300  # of the plot, in pixels
_PADDING = 24  # pixels left and right of the points
_LONGEST_LABEL = 28  # characters
_MOST_LEVELS = 3  # of more levels, only the score over all levels and the horizon are drawn
_HORIZON_SHARE = 0.5  # success rate at the horizon that is drawn


class _Mark(NamedTuple):
    """One model's score or horizon with its interval, and as text; an open mark lacks the results of attempts."""

    group: RunKey
    value: float
    low: float | None
    high: float | None
    text: str
    is_open: bool


class _Quantity(NamedTuple):
    """A fact about models that scores are drawn against; `axis` is the encoding of the x axis for Vega-Lite."""

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
    """Return the charts of a task's scores and horizons against the models' sizes and release dates.

    `estimates` are by level, `totals` are over all levels, and `models` has facts by the models' names in the logs. A
    chart is left out if fewer than two different sizes, or dates, of models are known.
    """
    env, presentation = view.env, view.presentation
    if not models:
        return []
    charts: list[Chart] = []
    without_teacher = [estimate for estimate in estimates if not estimate.guided]
    for chart_set in chart_sets(without_teacher, env.items.public_key).sets:
        by_level = group_by(chart_set.estimates, lambda estimate: estimate.level)
        if len(by_level) <= _MOST_LEVELS:
            for level, level_estimates in sorted(by_level.items(), key=lambda pair: pair[0] or 0):
                levels = f"{presentation.level} {level}" if level is not None else f"all {presentation.levels}"
                charts += _score_charts(view, level_estimates, levels, models, chart_set.name)
        else:
            groups = {estimate.group for estimate in chart_set.estimates}
            set_totals = [total for total in totals if total.group in groups]
            charts += _score_charts(view, set_totals, f"all {presentation.levels}", models, chart_set.name)
    return charts + _horizon_charts(view, curves, models)


def _score_charts(
    view: TaskView,
    estimates: Sequence[Estimate],
    levels: str,
    models: Mapping[str, ModelFacts],
    set_name: str,
) -> list[Chart]:
    """Return the charts of the score against size and date; `levels` and `set_name` say what the estimates are of."""
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
    content = (
        f"{metric_heading(headline.metric)}, {levels}: the mean over {presentation.items}, "
        f"with its {100 * CONFIDENCE:.0f} % interval"
    )
    low, high = metric.bounds
    scale = {"nice": True, "zero": False} if low is None or high is None else {"domain": [low, high], "nice": False}
    title = f"{metric.title}, {direction_text(metric)}".strip(", ")  # no direction, no comma
    y_axis = {"title": title, "scale": scale, "axis": percent_axis(metric, tickCount=5)}
    name_parts = [env.id, *(estimates[0].group.separate_by if estimates else ()), *([set_name] if set_name else [])]
    return _charts_by_size_and_date(view, marks, models, f"{metric.name} {levels}", content, y_axis, name_parts)


def _horizon_charts(
    view: TaskView,
    curves: Iterable[SuccessCurve],
    models: Mapping[str, ModelFacts],
) -> list[Chart]:
    """Return the charts of the 50 % horizon on the first axis against size and date; [] without an axis."""
    env, presentation = view.env, view.presentation
    axis = env.difficulty.axes[0] if env.difficulty.axes else None
    if axis is None:
        return []
    marks: list[_Mark] = []
    for curve in curves:
        for horizon in curve.horizons:
            value = horizon.value
            if curve.axis == axis.name and horizon.share == _HORIZON_SHARE and value is not None:
                is_open = horizon.lost is not None
                marks.append(_Mark(horizon.group, value, horizon.low, horizon.high, f"{value:.3g}", is_open))
    content = (
        f"The 50 % horizon by {axis.title.lower()}, the difficulty at which a single attempt succeeds at half of the "
        f"{presentation.items}, with its 90 % interval; players whose horizon is outside the difficulties tested "
        "are not drawn"
    )
    y_axis = {"title": f"50 % horizon, {axis.title.lower()}", "scale": {"nice": True, "zero": False}}
    separate_by = marks[0].group.separate_by if marks else ()
    return _charts_by_size_and_date(view, marks, models, "horizon", content, y_axis, [env.id, *separate_by])


def _charts_by_size_and_date(
    view: TaskView,
    marks: Sequence[_Mark],
    models: Mapping[str, ModelFacts],
    name: str,
    content: str,
    y_axis: Mapping[str, Any],
    name_parts: Sequence[str],
) -> list[Chart]:
    """Return the charts of marks against size and date, each if models have two different ones.

    `name` and `content` say what is drawn, in the files' names and in the caption; `name_parts` distinguish charts of
    one kind (`chart_name`). `y_axis` has "title", "scale" and "axis" of the scores for Vega-Lite.
    """
    charts: list[Chart] = []
    for quantity in (_SIZE, _DATE):
        data = _chart_data(marks, models, quantity)
        if len({row["at"] for row in data}) < 2:
            continue  # points above each other show no trend
        against = "number of parameters, on a logarithmic axis" if quantity is _SIZE else "date of release"
        caption = f"{content}. Against the models' {against}; a line joins the models of one series."
        caption += OPEN * any(row["open"] for row in data)
        wide, narrow = (
            scaling_spec(
                _with_label_positions(data, quantity, y_axis, width), quantity.title, quantity.axis, y_axis, width
            )
            for width in _WIDTHS
        )
        charts.append(
            Chart.from_specs(chart_name(view, name_parts, f"{name} by {quantity.name}"), caption, caption, wide, narrow)
        )
    return charts


def reached_charts(view: TaskView, reached: Mapping[RunKey, Sequence[tuple[int, float]]]) -> list[Chart]:
    """Return the chart of the difficulty reached with the tokens of an attempt as a list; [] without groups.

    `reached` has the rising pairs of tokens and difficulty of each group (`reached_by_tokens`).
    """
    if not reached:
        return []
    axis, names = view.env.difficulty.axes[0], short_labels(reached)
    data = [
        {
            **{"series": one_line(names[group], 60), "label": "", "at": tokens, "score": difficulty, "position": -1},
            **{"low": None, "high": None, "interval": False, "open": False, "number": number},
            "text": f"{one_line(names[group], 60)}: {axis.title.lower()} {difficulty:g} with {tokens:,} tokens",
        }
        for number, (group, points) in enumerate(reached.items())
        for tokens, difficulty in points
    ]
    caption = (
        f"{axis.title} reached by tokens spent: the greatest {axis.title.lower()} at which an attempt was a success "
        "with at most so many tokens in its replies, with reasoning, on a logarithmic axis. A line ends at the most "
        "tokens that a model spent on an attempt."
    )
    y_axis = {"title": f"{axis.title} reached", "scale": {"nice": True, "zero": False}}
    wide, narrow = (
        scaling_spec(data, "Tokens of an attempt", _SIZE.axis, y_axis, width, interpolate="step-after")
        for width in _WIDTHS
    )
    first = next(iter(reached))
    name = chart_name(view, [view.env.id, *first.separate_by], f"{axis.name} reached by tokens")
    return [Chart.from_specs(name, caption, caption, wide, narrow)]


def _chart_data(marks: Sequence[_Mark], models: Mapping[str, ModelFacts], quantity: _Quantity) -> list[dict[str, Any]]:
    """Return the data of `scaling_spec` but the positions of labels, line by line; marks without the fact are left out.

    A line joins the models of a series that have the same settings.
    """
    marks_with_facts = [
        (mark, model, x)
        for mark in marks
        if (model := models.get(mark.group.model)) is not None and (x := quantity.get(model)) is not None
    ]
    settings_of_marks = [replace(mark.group, model="", embedded=False) for mark, _, _ in marks_with_facts]
    line_numbers: dict[str, int] = {}
    data: list[dict[str, Any]] = []
    for (mark, model, x), settings in zip(marks_with_facts, settings_of_marks, strict=True):
        name = model.name or mark.group.model.rpartition("/")[2]
        differences = distinguishing_settings(settings, settings_of_marks)
        line = one_line(", ".join([model.series or name, *differences]), 60)
        data.append(
            {
                **{"series": line, "label": one_line(name, _LONGEST_LABEL), "at": x, "score": mark.value},
                **{"low": mark.low, "high": mark.high, "interval": mark.low is not None and mark.high is not None},
                "text": f"{one_line(name, 60)} ({line}): {mark.text}",
                "open": mark.is_open,
                "number": line_numbers.setdefault(line, len(line_numbers)),
            }
        )
    return sorted(data, key=lambda row: (row["number"], row["at"]))


class _Position(NamedTuple):
    """The position of a label: its end `align` is `dx` pixels to the right of its point, and its middle `dy` below."""

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
_LETTER_WIDTH = 0.56  # mean width of a letter, in font sizes
_POINT_RADIUS = 5  # in pixels


def _with_label_positions(
    data: Sequence[dict[str, Any]], quantity: _Quantity, y_axis: Mapping[str, Any], width: int
) -> list[dict[str, Any]]:
    """Return the data with the position of each label ("position", an index of `_POSITIONS`).

    A label has the first position at which it covers no other point and no other label and is not cut off; without such
    a position, it is left out (-1): the point's description and the tables name the model.

    `width` is that of the plot, in pixels.
    """
    xs = [
        math.log(row["at"]) if quantity is _SIZE else float(date.fromisoformat(row["at"]).toordinal()) for row in data
    ]
    values = [end for row in data for end in (row["low"], row["score"], row["high"]) if end is not None]
    low, high = y_axis["scale"].get("domain") or (min(values), max(values))
    points = [
        (
            _PADDING + (width - 2 * _PADDING) * (x - min(xs)) / ((max(xs) - min(xs)) or 1),
            _HEIGHT * (1 - (row["score"] - low) / ((high - low) or 1)),
        )
        for row, x in zip(data, xs, strict=True)
    ]
    occupied = [Box(x - _POINT_RADIUS, y - _POINT_RADIUS, x + _POINT_RADIUS, y + _POINT_RADIUS) for x, y in points]
    labelled: list[dict[str, Any]] = []
    for row, (x, y), point_box in zip(data, points, tuple(occupied), strict=True):
        free_position = -1
        for number, position in enumerate(_POSITIONS):
            label_width, middle = _LETTER_WIDTH * _FONT * len(row["label"]), y + position.dy
            left = x + position.dx - {"left": 0.0, "center": label_width / 2, "right": label_width}[position.align]
            # A line of text is 1.2 font sizes high.
            box = Box(left, middle - 0.6 * _FONT, left + label_width, middle + 0.6 * _FONT)
            is_inside = box.left >= 0 and box.right <= width + _PADDING
            if is_inside and not any(box.overlaps(other) for other in occupied if other != point_box):
                occupied.append(box)
                free_position = number
                break
        labelled.append({**row, "position": free_position})
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

    `data` has the points: "series", "label", "at", "score", "low", "high", "interval", "text", "number" and "position".
    `title` is that of the x axis. `x_axis` has type, scale and axis of "at"; `y_axis` has title and scale of "score",
    and its axis unless that has the usual labels. `width` is in pixels, and `interpolate` is "" for straight lines.
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
    for appearance in (halo_mark(4), {"color": "var(--soft)"}):  # all halos are below all labels
        for number, position in enumerate(_POSITIONS):
            if any(row["position"] == number for row in data):
                mark = {"type": "text", "fontSize": _FONT, "baseline": "middle", **position._asdict(), **appearance}
                layers.append(layer(mark, None, f"datum.position === {number}", y=y, text=nominal("label")))
    return specification(width, _HEIGHT, data={"values": list(data)}, layer=with_encoding(layers, x=x), config=config)
