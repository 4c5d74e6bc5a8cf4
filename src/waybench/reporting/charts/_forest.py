"""The forest plot of two models: their difference at each task that can tell, as a share of the task's range."""

from collections.abc import Sequence
from typing import Any

from waybench.reporting._files import slug
from waybench.reporting.charts._spec import (
    Spec,
    interval_ends,
    layer,
    legend_config,
    nominal,
    quantitative,
    specification,
)
from waybench.reporting.charts._svg import Chart
from waybench.results.comparisons._comparison import Comparison
from waybench.results.comparisons._outcomes import Outcome
from waybench.results.formatting import difference_text, one_line
from waybench.results.stats._verdicts import Verdict

_FONT = 12
_ROW = 24  # pixels
_LETTERS = 44
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
    specs = (_forest_spec(rows, (first, second), width, letters) for width, letters in ((460, _LETTERS), (150, 18)))
    return Chart.from_specs(slug(f"{first} {second} forest", f"forest {first} {second}"), caption, caption, *specs)


def _difference_mark(comparison: Comparison) -> dict[str, Any] | None:
    size, difference = comparison.paired.range, comparison.difference
    if not size:
        return None
    sign = -100 if comparison.metric.better == "lower" else 100
    ends = [sign * end / size for end in (difference.low, difference.high) if end is not None]
    return {
        "task": one_line(comparison.name, 60),
        "value": sign * difference.value / size,
        "low": min(ends, default=None),
        "high": max(ends, default=None),
        "interval": bool(ends),
        "colour": _COLOURS.get(comparison.verdict, "var(--c-reference)"),
        "text": f"{one_line(comparison.name, 60)}: {difference_text(difference, comparison.metric)}",
    }


def _forest_spec(rows: Sequence[dict[str, Any]], names: tuple[str, str], width: int, letters: int) -> Spec:
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
        width, _ROW * len(order), data={"values": list(rows)}, layer=layers, config=legend_config(_FONT)
    )
