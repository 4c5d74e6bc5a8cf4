"""Charts of the first page: profiles of models over the values of an option, and the forest plot of two models."""

from collections.abc import Mapping, Sequence
from typing import Any

from waybench.reporting._files import slug
from waybench.reporting._format import TaskView
from waybench.reporting.charts._chart import SHAPES
from waybench.reporting.charts._charts import chart_name
from waybench.reporting.charts._spec import (
    Spec,
    interval_ends,
    layer,
    legend_config,
    nominal,
    quantitative,
    specification,
    with_encoding,
)
from waybench.reporting.charts._svg import Chart, colour_numbers
from waybench.results.comparisons._comparison import Comparison
from waybench.results.comparisons._contrasts import Profile
from waybench.results.comparisons._outcomes import Outcome
from waybench.results.formatting import difference_text, one_line
from waybench.results.horizons import Horizon
from waybench.results.horizons._text import horizon_text
from waybench.results.results import short_labels
from waybench.results.stats._fit import BEYOND
from waybench.results.stats._verdicts import Verdict

_FONT = 12
_HEIGHT = 280  # of the plot of profiles, in pixels
_MOST_PROFILES = 8  # that are drawn


def profile_chart(view: TaskView, profiles: Sequence[Profile]) -> Chart | None:
    """Return the chart of up to `_MOST_PROFILES` profiles, models before reference players; None without profiles."""
    drawn_profiles = sorted(profiles, key=lambda profile: profile.group.embedded)[:_MOST_PROFILES]
    if not drawn_profiles:
        return None
    axis = view.env.difficulty.axes[0].title.lower()
    title = f"50 % horizon by {axis}"
    caption = (
        f"{title}, in each condition: the difficulty at which half of the {view.presentation.items} succeed, with its "
        "90 % interval; the steps between conditions are what their demands cost. A triangle: above the hardest or "
        f"below the easiest {view.presentation.items} that were played."
    )
    if len(profiles) > _MOST_PROFILES:
        caption += f" Drawn are {_MOST_PROFILES} of {len(profiles)} players; the table has all."
    specs = (_profiles_spec(drawn_profiles, title, width) for width in (720, 300))
    return Chart.from_specs(chart_name(view, [view.env.id], "profiles"), caption, caption, *specs)


def _profiles_spec(profiles: Sequence[Profile], title: str, width: int) -> Spec:
    """Return the chart of profiles as a Vega-Lite specification; `title` is that of the y axis."""
    names = list(short_labels([profile.group for profile in profiles]).values())
    colours = colour_numbers([profile.group.model for profile in profiles])
    values = list(dict.fromkeys(value for profile in profiles for value in profile.horizons))
    option = profiles[0].effects[0].contrast.option
    x = nominal("value", title=option.capitalize(), sort=values, axis={"labelAngle": 0 if width > 500 else -50})
    x_offset = nominal("series", sort=names)
    colour = nominal(
        "series",
        title=None,
        sort=names,
        scale={"domain": names, "range": [f"var(--c{number})" for number in colours]},
    )
    shape = nominal("shape", scale=None)
    y = quantitative("at", title=title, scale={"type": "log", "nice": False, "padding": 12}, axis={"tickCount": 6})
    data = [
        _horizon_mark(name, value, horizon)
        for name, profile in zip(names, profiles, strict=True)
        for value, horizon in profile.horizons.items()
    ]
    layers = [
        layer({"type": "line", "strokeWidth": 1.6, "opacity": 0.45, "interpolate": "step"}, y=y, color=colour),
        layer({"type": "rule", "strokeWidth": 1.8, "opacity": 0.6}, **interval_ends("y"), color=colour),
        layer(
            {"type": "point", "filled": True, "opacity": 1, "size": 64},
            y=y,
            color=colour,
            shape=shape,
            description=nominal("text"),
        ),
    ]
    layers = with_encoding(layers, x=x, xOffset=x_offset)
    config = legend_config(_FONT, labelLimit=width - 40, columns=max(1, width // 180))
    return specification(width, _HEIGHT, data={"values": data}, layer=layers, config=config)


def _horizon_mark(name: str, value: str, horizon: Horizon) -> Mapping[str, Any]:
    """Return the data of a horizon; one outside the tested difficulties is drawn at their end, as a triangle."""
    is_above = horizon.side == BEYOND
    position = horizon.value or (horizon.hardest if is_above else horizon.easiest)
    triangle = "triangle-up" if is_above else "triangle-down"
    return {
        "series": name,
        "value": value,
        "at": position,
        "low": horizon.low or (position if is_above else horizon.easiest),
        "high": (horizon.high or horizon.hardest) if horizon.value else position,
        "shape": SHAPES[0] if horizon.value else triangle,
        "text": f"{one_line(name, 60)}, {value}: {horizon_text(horizon)}",
    }


_ROW_HEIGHT = 24  # pixels
_COLOURS = {Verdict.FIRST: "var(--c0)", Verdict.SECOND: "var(--c1)"}


def forest_chart(outcome: Outcome) -> Chart | None:
    """Return the forest plot of two models; None if no task distinguishes them or has a range."""
    rows = [row for comparison in outcome.with_enough_items if (row := _difference_mark(comparison))]
    if not rows:
        return None
    first, second = outcome.first, outcome.second
    caption = (
        f"{first} against {second}: the difference at each task that can tell, in per cent of the range of its score, "
        f"with its paired 95 % interval. Right of the line {first} is better, left of it {second}; coloured where a "
        "difference is shown after adjustment for all tasks."
    )
    specs = (_forest_spec(rows, (first, second), width, letters) for width, letters in ((460, 44), (150, 18)))
    return Chart.from_specs(slug(f"{first} {second} forest", f"forest {first} {second}"), caption, caption, *specs)


def _difference_mark(comparison: Comparison) -> dict[str, Any] | None:
    """Return the data of a difference in per cent of its metric's range, positive if the first is better.

    It is None if the metric has no range.
    """
    metric_range, difference = comparison.paired_difference.range, comparison.difference
    if not metric_range:
        return None
    factor = -100 if comparison.metric.better == "lower" else 100
    ends = [factor * end / metric_range for end in (difference.low, difference.high) if end is not None]
    return {
        "task": one_line(comparison.name, 60),
        "value": factor * difference.value / metric_range,
        "low": min(ends, default=None),
        "high": max(ends, default=None),
        "interval": bool(ends),
        "colour": _COLOURS.get(comparison.verdict, "var(--c-reference)"),
        "text": f"{one_line(comparison.name, 60)}: {difference_text(difference, comparison.metric)}",
    }


def _forest_spec(rows: Sequence[dict[str, Any]], names: tuple[str, str], width: int, letters: int) -> Spec:
    """Return the forest plot as a Vega-Lite specification, with task names of about `letters` letters."""
    first, second = (one_line(name.rpartition("/")[2] or name, letters // 2) for name in names)
    order = list(dict.fromkeys(row["task"] for row in rows))
    title = f"← {second} better · {first} better →"
    y = nominal("task", title=None, sort=order, axis={"labelLimit": 7 * letters, "grid": False, "ticks": False})
    x = {"title": title, "scale": {"nice": True}, "axis": {"tickCount": 5, "labelExpr": "datum.label + '%'"}}
    colour = nominal("colour", scale=None, legend=None)
    layers = [
        layer({"type": "rule", "color": "var(--rule-strong)"}, [{"zero": 0}], x=quantitative("zero", **x)),
        layer(
            {"type": "rule", "strokeWidth": 2.2, "opacity": 0.7},
            None,
            "datum.interval",
            **interval_ends("x", **x),
            y=y,
            color=colour,
        ),
        layer(
            {"type": "point", "filled": True, "opacity": 1, "size": 64},
            x=quantitative("value", **x),
            y=y,
            color=colour,
            description=nominal("text"),
        ),
    ]
    return specification(
        width, _ROW_HEIGHT * len(order), data={"values": list(rows)}, layer=layers, config=legend_config(_FONT)
    )
