"""The chart of outcomes of replies."""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from waybench.analysis import Estimate
from waybench.analysis.formatting import one_line
from waybench.analysis.results import Group, differing, grouped
from waybench.core import Outcome, plural
from waybench.envs import registry
from waybench.reporting._files import slug
from waybench.reporting.charts._charts import Chart
from waybench.reporting.charts._svg import Spec, drawn, nominal, quantitative, specification

_COLOURS = {
    Outcome.OK: "var(--c2)",
    Outcome.UNPRODUCTIVE: "var(--c5)",
    Outcome.ILLEGAL: "var(--c1)",
    Outcome.UNPARSED: "var(--c4)",
    Outcome.TRUNCATED: "var(--c3)",
    Outcome.OVERFLOW: "var(--c0)",
    Outcome.REFUSED: "var(--c6)",
}
_FONT = 12
_WIDEST = 340  # pixels of a name
_LETTERS = 34
_LONGEST = 50
_LABEL = "Outcomes of replies by task; the page of each task has the numbers"
_CAPTION = (
    "Outcomes of replies over all attempts that count, without replies that need not name an action, such as thoughts. "
    "The page of each task has the numbers."
)


def outcomes(totals: Sequence[Estimate]) -> Chart | None:
    """Draw a bar of outcomes for each of a model's estimates; None without replies.

    Args:
        totals: The estimates.
    """
    names = _names([total.group for total in totals])
    data = [each for total in totals if total.action_replies for each in _pieces(total, names)]
    if not data:
        return None
    model, spec = totals[0].group.model, outcomes_spec(data)
    narrow = drawn(outcomes_spec(data, narrow=True), _LABEL)
    return Chart(slug(f"{model} outcomes", f"{model} outcomes"), drawn(spec, _LABEL), narrow, _CAPTION, spec)


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
    name, replies = names[total.group], plural(total.action_replies, "reply", "replies")
    return [
        {
            "task": name,
            "outcome": str(outcome),
            "order": number,
            "share": total.outcomes[str(outcome)],
            "colour": colour,
            "text": f"{name}: {100 * total.outcomes[str(outcome)]:.1f} % of {replies} {outcome}",
        }
        for number, (outcome, colour) in enumerate(_COLOURS.items())
        if total.outcomes.get(str(outcome))
    ]


def outcomes_spec(data: Sequence[dict[str, Any]], *, narrow: bool = False) -> Spec:
    """Return the chart as a Vega-Lite specification.

    Args:
        data: Pieces of bars: "task", "outcome", "order", "share", "colour", "text".
        narrow: Whether a bar's name is above it, and not beside it.
    """
    met = [outcome for outcome in map(str, _COLOURS) if any(piece["outcome"] == outcome for piece in data)]
    colours = [_COLOURS[Outcome(outcome)] for outcome in met]
    names = list(dict.fromkeys(piece["task"] for piece in data))
    text = {"labelColor": "var(--soft)", "titleColor": "var(--soft)", "labelFontSize": _FONT, "titleFontSize": _FONT}
    config = {
        "view": {"stroke": None},
        "axis": {**text, "titleFontWeight": "normal", "tickColor": "var(--rule-strong)"},
        "legend": {**text, "orient": "top", "symbolType": "square", "columnPadding": 24},
    }
    shares = {"format": "%", "grid": False, "tickCount": 5}
    # Room for the names in whatever font the page has.
    room = min(_WIDEST, round(0.58 * _FONT * max(map(len, names))))
    beside = {"labelLimit": _WIDEST, "ticks": False, "domain": False, "minExtent": room}
    y = nominal("task", sort=None, title=None, axis=None if narrow else beside)
    encoding = {
        "x": quantitative("share", stack="zero", title="Share of replies", axis=shares),
        "y": y,
        "color": nominal("outcome", title=None, scale={"domain": met, "range": colours}, sort=met),
        "order": quantitative("order"),
        "description": nominal("text"),
    }
    bar = {"type": "bar", "stroke": "var(--page)", "strokeWidth": 1}
    if not narrow:
        bars = {"data": {"values": list(data)}, "mark": bar, "encoding": encoding}
        return specification(460, 22 * len(names), **bars, config=config)
    above = {
        "data": {"values": [{"task": name} for name in names]},
        "mark": {"type": "text", "align": "left", "dy": -8, "fontSize": _FONT, "color": "var(--soft)"},
        "encoding": {"x": {"value": 0}, "y": y, "text": nominal("task")},
    }
    below = {"data": {"values": list(data)}, "mark": {**bar, "height": 14, "yOffset": 8}, "encoding": encoding}
    return specification(300, 40 * len(names), layer=[below, above], config=config)
