"""The chart of profiles: how far each model reaches with each value of an option, such as Atlas's conditions."""

from collections.abc import Mapping, Sequence
from typing import Any

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
)
from waybench.reporting.charts._svg import Chart, colour_numbers
from waybench.results.comparisons._contrasts import Profile
from waybench.results.formatting import one_line
from waybench.results.horizons import Horizon
from waybench.results.horizons._text import horizon_text
from waybench.results.results import short_labels
from waybench.results.stats._fit import BEYOND

_FONT = 12
_HIGH = 280  # of the plot, in pixels
_MOST = 8  # profiles that are drawn
_OUTSIDE = {True: "triangle-up", False: "triangle-down"}  # marks of horizons above and below what was tried


def profile_chart(view: TaskView, profiles: Sequence[Profile]) -> Chart | None:
    """Return the chart of a task's first `_MOST` profiles, models before reference players; None without profiles."""
    drawn = sorted(profiles, key=lambda profile: profile.group.embedded)[:_MOST]
    if not drawn:
        return None
    axis = view.env.difficulty.axes[0].title.lower()
    title = f"50 % horizon by {axis}"
    caption = (
        f"{title}, in each condition: the difficulty at which half of the {view.presentation.items} succeed, with its "
        "90 % interval; the steps between conditions are what their demands cost. A triangle: above the hardest or "
        f"below the easiest {view.presentation.items} that were played."
    )
    if len(profiles) > _MOST:
        caption += f" Drawn are {_MOST} of {len(profiles)} players; the table has all."
    specs = (_profiles_spec(drawn, title, width) for width in (720, 300))
    return Chart.from_specs(chart_name(view, [view.env.id], "profiles"), caption, caption, *specs)


def _profiles_spec(profiles: Sequence[Profile], title: str, width: int) -> Spec:
    names = list(short_labels([profile.group for profile in profiles]).values())
    colours = colour_numbers([profile.group.model for profile in profiles])
    values = list(dict.fromkeys(value for profile in profiles for value in profile.horizons))
    option = profiles[0].effects[0].contrast.option
    x = nominal("value", title=option.capitalize(), sort=values, axis={"labelAngle": 0 if width > 500 else -50})
    beside = nominal("series", sort=names)
    colour = nominal(
        "series",
        title=None,
        sort=names,
        scale={"domain": names, "range": [f"var(--c{number})" for number in colours]},
    )
    shape = nominal("shape", scale=None)
    y = quantitative("at", title=title, scale={"type": "log", "nice": False, "padding": 12}, axis={"tickCount": 6})
    data = [
        point
        for name, profile in zip(names, profiles, strict=True)
        for value, horizon in profile.horizons.items()
        if (point := _horizon_mark(name, value, horizon))
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
    for one in layers:
        one["encoding"] = {"x": x, "xOffset": beside, **one["encoding"]}
    config = legend_config(_FONT, labelLimit=width - 40, columns=max(1, width // 180))
    return specification(width, _HIGH, data={"values": data}, layer=layers, config=config)


def _horizon_mark(name: str, value: str, horizon: Horizon) -> Mapping[str, Any]:
    """Return a horizon as a mark, at the end of the tested difficulties if it lies outside."""
    is_beyond = horizon.side == BEYOND
    at = horizon.value or (horizon.hardest if is_beyond else horizon.easiest)
    return {
        "series": name,
        "value": value,
        "at": at,
        "low": horizon.low or (at if is_beyond else horizon.easiest),
        "high": horizon.high or horizon.hardest if horizon.value else at,
        "shape": SHAPES[0] if horizon.value else _OUTSIDE[is_beyond],
        "text": f"{one_line(name, 60)}, {value}: {horizon_text(horizon)}",
    }
