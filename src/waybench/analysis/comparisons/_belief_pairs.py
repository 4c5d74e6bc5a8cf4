"""Comparisons of what two sides know of the state, by belief probes on the same items."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from statistics import fmean

from waybench.analysis.comparisons._groups import comparison_key
from waybench.analysis.comparisons._text import p_text
from waybench.analysis.results import Group, ItemKey, Row, at_items, grouped
from waybench.core import Belief, Json
from waybench.envs import registry
from waybench.stats import ALPHA, Mean, holm, paired_difference, paired_test


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefComparison:
    """What two sides know of one thing, at the items at which both were asked.

    Attributes:
        first: Model, task and settings of the one.
        second: Those of the other.
        belief: What was asked.
        first_known: Mean over items of the share of right answers, from 0 to 1.
        second_known: The same of the second.
        difference: The mean of the items' differences, with its 95 % interval.
        p: The p value of the paired test that belongs to the interval.
        adjusted: The same, adjusted by Holm's procedure over all comparisons of this kind.
    """

    first: Group
    second: Group
    belief: Belief[object]
    first_known: float
    second_known: float
    difference: Mean
    p: float
    adjusted: float

    @property
    def verdict(self) -> str:
        """Which side knows more, "first" or "second"; "not shown" without a significant difference."""
        if self.adjusted >= ALPHA:
            return "not shown"
        return "first" if self.difference.value > 0 else "second"

    @property
    def text(self) -> str:
        """The comparison in a line."""
        low, high = self.difference.low, self.difference.high
        ends = "" if low is None or high is None else f" (95 %: {_points(low)} to {_points(high)})"
        found = {"first": "A knows more", "second": "B knows more", "not shown": "no difference shown"}[self.verdict]
        return (
            f"{self.first.task}, {self.belief.title.lower()}: A {100 * self.first_known:.1f} %, B "
            f"{100 * self.second_known:.1f} % of answers right at {self.difference.n} items; A − B "
            f"{_points(self.difference.value)}{ends}; p {p_text(self.adjusted)}: {found}"
        )

    def to_json(self) -> dict[str, Json]:
        """Return the comparison as JSON values."""
        return {
            "first": self.first.to_json(),
            "second": self.second.to_json(),
            "belief": self.belief.name,
            "first_known": self.first_known,
            "second_known": self.second_known,
            "difference": asdict(self.difference),
            "p": self.p,
            "adjusted": self.adjusted,
            "verdict": self.verdict,
        }


def _points(share: float) -> str:
    return f"{100 * share:+.1f}".replace("-", "−")


def compare_beliefs(first: Iterable[Row], second: Iterable[Row]) -> list[BeliefComparison]:
    """Compare what two sides know, at the items at which both were asked.

    The turns in which they were asked are their own, since their episodes are. So an item counts by the share of right
    answers in all of its attempts.

    Args:
        first: The rows of the one side.
        second: Those of the other.
    """
    mine, theirs = _asked(first), _asked(second)
    by_key = grouped(theirs, comparison_key)
    found = [
        comparison
        for group in mine
        for other in by_key.get(comparison_key(group), ())
        for belief in registry.load(group.env).beliefs
        if (comparison := _comparison(group, mine[group], other, theirs[other], belief)) is not None
    ]
    adjusted = holm([each.p for each in found]) if found else []
    return [replace(each, adjusted=float(p)) for each, p in zip(found, adjusted, strict=True)]


def _asked(some: Iterable[Row]) -> dict[Group, list[Row]]:
    """Return the rows of each group that has probes, but for searches, which share items by chance."""
    asked = (row for row in some if row.probes and row.is_included and not row.guided and not row.adaptive)
    return grouped(asked, lambda row: row.group)


def _comparison(
    group: Group, rows: Iterable[Row], other: Group, other_rows: Iterable[Row], belief: Belief[object]
) -> BeliefComparison | None:
    mine, theirs = _known(rows, belief.name), _known(other_rows, belief.name)
    keys = [key for key in mine if key in theirs]
    if not keys:
        return None
    values = [mine[key] for key in keys], [theirs[key] for key in keys]
    clusters = [key.cluster for key in keys]
    difference, p = paired_difference(*values, clusters, 0.0, 1.0), paired_test(*values, clusters, 0.0, 1.0).p
    assert difference is not None, "there are items"
    return BeliefComparison(
        first=group,
        second=other,
        belief=belief,
        first_known=fmean(values[0]),
        second_known=fmean(values[1]),
        difference=difference,
        p=p,
        adjusted=p,
    )


def _known(rows: Iterable[Row], name: str) -> Mapping[ItemKey, float]:
    """Return the share of right answers at each item that has any."""
    answers = {
        key: [probe.correct for row in some for probe in row.probes if probe.name == name]
        for key, some in at_items(rows).items()
    }
    return {key: fmean(map(float, some)) for key, some in answers.items() if some}
