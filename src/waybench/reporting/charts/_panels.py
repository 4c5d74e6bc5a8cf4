"""Charts of metrics that split one measure, such as success at easy and at hard questions: a panel for each metric.

Bars compare all players (MANGO, Figures 2, 5, 6, 8 and 9); points compare two of them by cluster (Figures 3 and 7).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from waybench.core import Metric, Presentation, plural
from waybench.reporting._format import TaskView, interval_text, percent_interval_text, percent_text, presentation_of
from waybench.reporting.charts._chart import Box, metric_domain
from waybench.reporting.charts._charts import OPEN, chart_name
from waybench.reporting.charts._points import drawn_interval
from waybench.reporting.charts._spec import (
    DASHED,
    Spec,
    axis_config,
    compose,
    halo_mark,
    heading_layer,
    interval_ends,
    layer,
    nominal,
    percent_axis,
    quantitative,
)
from waybench.reporting.charts._svg import Chart, colour_numbers
from waybench.results import Estimate, Row
from waybench.results.comparisons._item_scores import match_groups
from waybench.results.estimates._bounds import ClusterValue, metric_cluster_values
from waybench.results.formatting import better_text, mean_text, one_line
from waybench.results.results import Cluster, RunKey, group_by, short_labels
from waybench.results.stats import CONFIDENCE, IntervalEstimate

ClusterValues = Mapping[RunKey, Mapping[str, Mapping[Cluster, ClusterValue]]]
"""Group -> metric -> cluster -> the metric's value there."""

MOST_RIVALS = 3  # the best model is drawn against so many others
_BAR_HEIGHT = 24  # of a bar and its margin, in pixels
_LONGEST_NAME = 30  # characters
_MOST_NAMED = 6  # points of a panel that have the name of their cluster beside them
_FONT = 12
_OUTLINE = {"filled": False, "fill": "var(--page)", "strokeWidth": 1.8}  # of a bar that lacks attempts
_HEADING = {"dy": -14, "fontWeight": 600, "color": "var(--ink)"}
_CONFIG = {key: part for key, part in axis_config(_FONT).items() if key != "axisY"}


class _Layout(NamedTuple):
    """Measures of a chart: the widths of a panel of bars and of a square panel of points in pixels, and columns."""

    bars: int
    square: int
    columns: int


_WIDE, _NARROW = _Layout(230, 300, 3), _Layout(250, 270, 1)


def panel_values(rows: Iterable[Row]) -> dict[RunKey, Mapping[str, Mapping[Cluster, ClusterValue]]]:
    """Return the values in each cluster of the metrics that presentations declare as `panels`, by group."""
    values: dict[RunKey, Mapping[str, Mapping[Cluster, ClusterValue]]] = {}
    for group, group_rows in group_by(rows, lambda row: row.group).items():
        presentation = presentation_of(group.env)
        names = {name for panel in presentation.panels.values() for name in panel}
        if names and presentation.cluster:
            values[group] = metric_cluster_values(group_rows, names)
    return values


def panel_charts(
    view: TaskView,
    ordered: Sequence[RunKey],
    total_of: Mapping[RunKey, Estimate],
    values: ClusterValues,
) -> list[Chart]:
    """Return the charts that a presentation declares as `panels`, of metrics that the environment has.

    `ordered` has the groups, the best first, and `values` those of `panel_values`.
    """
    env, presentation = view.env, view.presentation
    by_name = {metric.name: metric for metric in env.scoring.metrics}
    charts: list[Chart] = []
    for title, names in presentation.panels.items():
        metrics = [by_name[name] for name in names if name in by_name]
        if not metrics:
            continue
        sets = group_by(ordered, lambda group: group.key)
        for key, key_groups in sets.items():
            bars = _bar_chart(view, title, metrics, key_groups, total_of, key if len(sets) > 1 else "")
            charts += [bars] if bars else []
        if presentation.cluster:
            charts += _point_charts(view, title, metrics, ordered, values)
    return charts


def _bar_chart(
    view: TaskView,
    title: str,
    metrics: Sequence[Metric],
    groups: Sequence[RunKey],
    total_of: Mapping[RunKey, Estimate],
    key: str,
) -> Chart | None:
    """Return the bars of the groups' means, a panel for each metric; None without any mean."""
    env, presentation = view.env, view.presentation
    names = _distinct_names(short_labels(groups))
    # Each cluster has the same weight, as in the paper; where items are independent, each item has the same.
    by_cluster = any(total_of[group].macro for group in groups)
    means = {
        (group, metric.name): mean
        for group in groups
        for metric in metrics
        if (mean := (total_of[group].macro if by_cluster else total_of[group].metrics).get(metric.name)) is not None
    }
    if not means:
        return None
    drawn_groups = [group for group in groups if any((group, metric.name) in means for metric in metrics)]
    has_models = any(not group.embedded for group in drawn_groups)
    colours = colour_numbers([group.model for group in drawn_groups])
    bars = {
        metric.name: [
            _bar_values(names[group], colour, has_models and group.embedded, metric, means.get((group, metric.name)))
            for group, colour in zip(drawn_groups, colours, strict=True)
        ]
        for metric in metrics
    }
    units = presentation.clusters if by_cluster else presentation.items
    titles = ", ".join(metric.title.lower() for metric in metrics)
    set_text = f" of set {one_line(key, 40)}" if key else ""
    label = f"{title} of each player: {titles}"
    caption = (
        f"{title} of each player{set_text}: the mean over {units}, with its {100 * CONFIDENCE:.0f} % interval over "
        f"{units}. Each player's {presentation.items} are those that it was given. No bar: the score is not defined."
    )
    if any(mean.lost for mean in means.values()):
        caption += OPEN
    name = chart_name(view, [env.id, *groups[0].separate_by, *([key] if key else [])], f"{title} bars")
    wide, narrow = (bar_spec(bars, metrics, layout) for layout in (_WIDE, _NARROW))
    return Chart.from_specs(name, label, caption, wide, narrow)


def _bar_values(name: str, colour: int, is_grey: bool, metric: Metric, mean: IntervalEstimate | None) -> dict[str, Any]:
    """Return the Vega-Lite data of a player's bar: value, interval, texts and colour; nulls without a mean."""
    low, high = drawn_interval(mean) if mean else (None, None)
    interval = interval_text(mean, metric) if mean else ""
    text = mean_text(mean.value if mean else None, metric)
    if mean and metric.bounds == (0, 1):  # the axis is in per cent, too
        interval, text = percent_interval_text(mean), f"{percent_text(mean.value)}%"
    return {
        **{"player": name, "value": mean.value if mean else None, "low": low, "high": high, "label": text},
        "at": max(0.0, mean.value, high if high is not None else 0.0) if mean else None,
        "text": f"{name}, {metric.title.lower()}: {text}{f' ({interval})' if interval else ''}",
        "open": bool(mean and mean.lost),
        "colour": "var(--c-reference)" if is_grey else f"var(--c{colour})",
    }


def bar_spec(
    bars: Mapping[str, Sequence[Mapping[str, Any]]], metrics: Sequence[Metric], layout: _Layout = _WIDE
) -> Spec:
    """Return a panel of bars for each metric as a Vega-Lite specification.

    `bars` has by the metric's name the data of its bars: "player", "value", "low", "high", "at" (the position of the
    label), "label", "text", "open" and "colour"; the same players in the same order for each metric.
    """
    names = [bar["player"] for bar in bars[metrics[0].name]]
    names_width = round(0.6 * _FONT * max(len(name) for name in names))  # a letter is 0.6 font sizes wide
    panels: list[Spec] = []
    for number, metric in enumerate(metrics):
        values = bars[metric.name]
        name_axis = {"labelLimit": names_width, "minExtent": names_width, "ticks": False, "domain": False}
        is_first_column = number % layout.columns == 0
        y = nominal("player", sort=names, title=None, axis=name_axis if is_first_column else None)
        # Bars begin at 0, also where a score has no lower bound.
        domain = metric_domain(metric, [0.0, *(bar[key] for bar in values for key in ("value", "low", "high"))])
        value_axis = {
            "title": None,
            "scale": {"domain": domain, "nice": False},
            "axis": percent_axis(metric, tickCount=3),
        }
        colour = nominal("colour", scale=None, legend=None)
        x = quantitative("value", **value_axis)
        with_value = [bar for bar in values if bar["value"] is not None]
        with_interval = [bar for bar in with_value if bar["low"] is not None]
        title = metric.title + (f" ({better_text(metric)})" if metric.better == "lower" else "")
        layers = [
            *(
                layer(
                    {"type": "bar", "height": 0.62 * _BAR_HEIGHT, "opacity": 0.85, **style},
                    [bar for bar in values if bar["open"] is is_open],
                    **{"x": x, "y": y, "color": colour, "description": nominal("text")},
                )
                for is_open, style in ((False, {}), (True, _OUTLINE))
                if not is_open or any(bar["open"] for bar in values)
            ),
            layer(
                {"type": "rule", "strokeWidth": 1.6, "color": "var(--ink)"},
                with_interval,
                y=y,
                **interval_ends("x", **value_axis),
            ),
            layer(
                {"type": "text", "align": "left", "dx": 5, "color": "var(--soft)"},
                with_value,
                **{"x": quantitative("at", **value_axis), "y": y, "text": nominal("label")},
            ),
            heading_layer(title, **_HEADING),
        ]
        panels.append({"width": layout.bars, "height": _BAR_HEIGHT * len(names), "layer": layers})
    return compose(concat=panels, columns=layout.columns, spacing={"row": 40, "column": 46}, config=_CONFIG)


def _point_charts(
    view: TaskView,
    title: str,
    metrics: Sequence[Metric],
    ordered: Sequence[RunKey],
    values: ClusterValues,
) -> list[Chart]:
    """Return charts of the best player against others, with a point for each cluster in which both have a score.

    Models are compared with models; a single model is compared with reference players.
    """
    env, presentation = view.env, view.presentation
    charts: list[Chart] = []
    for matched_groups in match_groups(ordered):
        models = [group for group in matched_groups if not group.embedded]
        best, *others = models if len(models) > 1 else matched_groups
        names = _distinct_names(short_labels([best, *others]))
        for other in others[:MOST_RIVALS]:
            panels = {
                metric.name: _cluster_points(values, best, other, metric, names, presentation) for metric in metrics
            }
            if not any(len(points) > 1 for points in panels.values()):
                continue
            content = f"{title} by {presentation.cluster}: {names[best]} against {names[other]}"
            direction = "worse" if metrics[0].better == "lower" else "better"
            caption = (
                f"{content}. Each point is one of the {presentation.clusters} in which both have a score, larger for "
                f"more {presentation.items}; above the diagonal {names[best]} is {direction}."
            )
            axes = f"{names[other]} →", f"↑ {names[best]}"
            wide, narrow = (point_spec(panels, metrics, axes, layout) for layout in (_WIDE, _NARROW))
            name_parts = [env.id, *best.separate_by, best.model, other.model, str(best.settings), str(other.settings)]
            name = chart_name(view, name_parts, f"{title} by {presentation.cluster}")
            charts.append(Chart.from_specs(name, content, caption, wide, narrow))
    return charts


def _cluster_points(
    values: ClusterValues,
    best: RunKey,
    other: RunKey,
    metric: Metric,
    names: Mapping[RunKey, str],
    presentation: Presentation,
) -> list[dict[str, Any]]:
    """Return a point for each cluster in which both groups have a value, as data of the chart."""
    best_values, other_values = (values.get(group, {}).get(metric.name, {}) for group in (best, other))
    points: list[dict[str, Any]] = []
    for cluster in sorted(best_values.keys() & other_values.keys()):
        first, second = best_values[cluster], other_values[cluster]
        items = min(first.items, second.items)
        name = one_line(cluster.name, _LONGEST_NAME)
        text = (
            f"{name}, {plural(items, presentation.item, presentation.items)}: {names[best]} "
            f"{mean_text(first.value, metric)}, {names[other]} {mean_text(second.value, metric)}"
        )
        points.append({"cluster": name, "x": second.value, "y": first.value, "items": items, "text": text})
    return points


def point_spec(
    points: Mapping[str, Sequence[Mapping[str, Any]]],
    metrics: Sequence[Metric],
    axes: tuple[str, str],
    layout: _Layout = _WIDE,
) -> Spec:
    """Return a panel of points for each metric, with its diagonal, as a Vega-Lite specification.

    `points` has by the metric's name the data of its points: "cluster", "x", "y", "items" and "text". `axes` are the
    titles of the x axis and the y axis.
    """
    x_title, y_title = axes
    most_items = max((point["items"] for metric_points in points.values() for point in metric_points), default=1)
    panels: list[Spec] = []
    for metric in metrics:
        metric_points = points[metric.name]
        low, high = metric_domain(metric, [point[key] for point in metric_points for key in ("x", "y")])
        # Points at the least and at the greatest value are not cut in half.
        margin = 0.03 * (high - low)
        scale = {"domain": [low - margin, high + margin], "nice": False}
        ticks = percent_axis(metric, tickCount=5, grid=True)
        x = quantitative("x", title=x_title, scale=scale, axis=ticks)
        y = quantitative("y", title=y_title, scale=scale, axis=ticks)
        size = quantitative("items", scale={"domain": [0, most_items], "range": [14, 110]}, legend=None)
        diagonal_ends = [{"x": low, "y": low}, {"x": high, "y": high}]
        labels = _point_labels(metric_points, (low - margin, high + margin), layout.square)
        diagonal = {"type": "line", "strokeWidth": 1.2, "strokeDash": DASHED, "color": "var(--soft)"}
        dot = {"type": "point", "filled": True, "color": "var(--c0)", "opacity": 0.6}
        text_mark = {"type": "text", "align": "left", "fontSize": _FONT - 1}
        layers = [
            layer(diagonal, diagonal_ends, x=x, y=y),
            layer(dot, metric_points, x=x, y=y, size=size, description=nominal("text")),
            *(
                layer({**text_mark, **style}, labels, x=x, y=y, text=nominal("label"))
                for style in (halo_mark(3), {"color": "var(--soft)"})
            ),
            heading_layer(metric.title, **_HEADING),
        ]
        panels.append({"width": layout.square, "height": layout.square, "layer": layers})
    return compose(concat=panels, columns=layout.columns, spacing={"row": 46, "column": 50}, config=_CONFIG)


def _point_labels(
    points: Sequence[Mapping[str, Any]], domain: tuple[float, float], side_pixels: int
) -> list[dict[str, Any]]:
    """Return data of the names of the points farthest from the diagonal, where there is room to their right or left."""
    low, high = domain
    positions = [
        ((point["x"] - low) / (high - low) * side_pixels, (high - point["y"]) / (high - low) * side_pixels)
        for point in points
    ]
    point_boxes = [Box(x - 4, y - 4, x + 4, y + 4) for x, y in positions]
    label_boxes: list[Box] = []
    labels: list[dict[str, Any]] = []
    for number in sorted(range(len(points)), key=lambda number: -abs(points[number]["y"] - points[number]["x"])):
        x, y = positions[number]
        other_boxes = [*point_boxes[:number], *point_boxes[number + 1 :], *label_boxes]
        width = 0.58 * (_FONT - 1) * len(points[number]["cluster"])  # a letter is 0.58 font sizes wide
        for left in (x + 7, x - 7 - width):
            box = Box(left, y - 7, left + width, y + 7)
            if box.left >= 0 and box.right <= side_pixels and not any(box.overlaps(other) for other in other_boxes):
                label_boxes.append(box)
                label_x = low + left / side_pixels * (high - low)
                labels.append({"x": label_x, "y": points[number]["y"], "label": points[number]["cluster"]})
                break
        if len(labels) == _MOST_NAMED:
            break
    return labels


def _distinct_names(names: Mapping[RunKey, str]) -> dict[RunKey, str]:
    """Return names short enough to stand beside a chart, no two of them the same."""
    distinct: dict[RunKey, str] = {}
    for number, (group, name) in enumerate(names.items(), 1):
        short = one_line(name, _LONGEST_NAME)
        distinct[group] = short if short not in distinct.values() else f"{one_line(name, _LONGEST_NAME - 5)} [{number}]"
    return distinct
