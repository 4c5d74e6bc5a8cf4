"""The chart of what replies came to."""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from waybench.analysis import Estimate, Group, differing, grouped, one_line
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
_LONGEST = 50


def outcomes(totals: Sequence[Estimate], label: str, caption: str) -> Figure | None:
    """Draw for each of a model's estimates a bar of what its replies came to; None where nothing was said.

    Args:
        totals: The estimates.
        label: What the chart shows, for those who cannot see it.
        caption: What is said below it.
    """
    names = _names([total.group for total in totals])
    data = [each for total in totals if total.replies for each in _pieces(total, names)]
    if not data:
        return None
    model, spec = totals[0].group.model, outcomes_spec(data)
    return Figure(slug(f"{model} outcomes", f"{model} outcomes"), drawn(spec, label), None, caption, spec)


def _names(groups: Sequence[Group]) -> dict[Group, str]:
    """Return a name for each group's bar: its task's, and what tells it from others of that; no two have the same."""
    found: dict[str, Group] = {}
    for env, own in grouped(groups, lambda group: group.env).items():
        title = registry.load(env).title
        for group in own:
            name = one_line(", ".join([one_line(title, _LETTERS), *differing(group, own)]), _LONGEST)
            numbered = (f"{name} [{number}]" if number > 1 else name for number in count(1))
            found[next(each for each in numbered if each not in found)] = group
    return {group: name for name, group in found.items()}


def _pieces(total: Estimate, names: Mapping[Group, str]) -> list[dict[str, Any]]:
    name = names[total.group]
    return [
        {
            "task": name,
            "outcome": str(outcome),
            "order": number,
            "share": total.outcomes[str(outcome)],
            "colour": colour,
            "text": f"{name}: {100 * total.outcomes[str(outcome)]:.1f} % of {total.replies:,} replies {outcome}",
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
    tasks = {"labelLimit": 340, "ticks": False, "domain": False}
    encoding = {
        "x": quantitative("share", stack="zero", title="share of replies", axis=shares),
        "y": nominal("task", sort=None, title=None, axis=tasks),
        "color": nominal("outcome", title=None, scale={"domain": met, "range": colours}, sort=met),
        "order": quantitative("order"),
        "description": nominal("text"),
    }
    bar = {"type": "bar", "stroke": "var(--page)", "strokeWidth": 1}
    made = {"data": {"values": list(data)}, "mark": bar, "encoding": encoding}
    # The page's letters can be wider than those that the names were measured by.
    room = {"left": 30, "right": 5, "top": 5, "bottom": 5}
    return specification(460, _BAR * rows, **made, padding=room, config=config)
