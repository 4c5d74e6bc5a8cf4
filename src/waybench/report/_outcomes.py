"""The chart of what replies came to."""

from collections.abc import Sequence
from typing import Any

from waybench.analysis import Estimate, one_line
from waybench.core import Outcome
from waybench.envs import registry
from waybench.report._figures import Figure
from waybench.report._files import slug
from waybench.report._svg import Spec, drawn, nominal, quantitative, specification

_COLOURS = {
    Outcome.OK: "var(--c2)",
    Outcome.UNPRODUCTIVE: "var(--c5)",
    Outcome.ILLEGAL: "var(--c1)",
    Outcome.UNPARSED: "var(--c4)",
    Outcome.TRUNCATED: "var(--c3)",
    Outcome.REFUSED: "var(--c6)",
}
_BAR = 22
_LETTERS = 34


def outcomes(totals: Sequence[Estimate], label: str, caption: str) -> Figure | None:
    """Draw for each of a model's estimates a bar of what its replies came to; None where nothing was said.

    Args:
        totals: The estimates.
        label: What the chart shows, for those who cannot see it.
        caption: What is said below it.
    """
    data = [each for total in totals if total.replies for each in _pieces(total)]
    if not data:
        return None
    model, spec = totals[0].group.model, outcomes_spec(data)
    return Figure(slug(f"{model} outcomes", f"{model} outcomes"), drawn(spec, label), None, caption, spec)


def _pieces(total: Estimate) -> list[dict[str, Any]]:
    title = one_line(registry.load(total.group.env).title, _LETTERS)
    return [
        {
            "task": f"{title} ({total.group.task})" if len(title) + len(total.group.task) < _LETTERS else title,
            "outcome": str(outcome),
            "order": number,
            "share": total.outcomes.get(str(outcome), 0.0),
            "colour": colour,
            "text": f"{title}: {100 * total.outcomes[str(outcome)]:.1f} % of {total.replies:,} replies {outcome}",
        }
        for number, (outcome, colour) in enumerate(_COLOURS.items())
        if total.outcomes.get(str(outcome))
    ]


def outcomes_spec(data: Sequence[dict[str, Any]]) -> Spec:
    """Return the chart as a Vega-Lite specification.

    Args:
        data: Pieces of bars: "task", "outcome", "order", "share", "colour", "text".
    """
    met = [outcome for outcome in map(str, _COLOURS) if any(piece["outcome"] == outcome for piece in data)]
    colours = [_COLOURS[Outcome(outcome)] for outcome in met]
    rows = len(dict.fromkeys(piece["task"] for piece in data))
    text = {"labelColor": "var(--soft)", "titleColor": "var(--soft)", "labelFontSize": 12, "titleFontSize": 12}
    config = {
        "view": {"stroke": None},
        "axis": {**text, "titleFontWeight": "normal", "tickColor": "var(--rule-strong)"},
        "legend": {**text, "orient": "top", "symbolType": "square"},
    }
    shares = {"format": "%", "grid": False, "tickCount": 5}
    tasks = {"labelLimit": 260, "ticks": False, "domain": False}
    encoding = {
        "x": quantitative("share", stack="zero", title="share of replies", axis=shares),
        "y": nominal("task", sort=None, title=None, axis=tasks),
        "color": nominal("outcome", title=None, scale={"domain": met, "range": colours}, sort=met),
        "order": quantitative("order"),
        "description": nominal("text"),
    }
    bar = {"type": "bar", "stroke": "var(--page)", "strokeWidth": 1}
    made = {"data": {"values": list(data)}, "mark": bar, "encoding": encoding}
    return specification(460, _BAR * rows, **made, config=config)
