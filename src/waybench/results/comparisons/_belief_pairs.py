"""Comparisons of what two sides know of the state, by belief probes on the same items."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from waybench.core import Belief, EpisodeRecord, Json, Metric
from waybench.envs import registry
from waybench.results.comparisons._comparison import Comparison, compare, tested
from waybench.results.comparisons._groups import MODEL, comparison_key
from waybench.results.comparisons._item_scores import ItemScores, values_of
from waybench.results.comparisons._text import p_text
from waybench.results.results import Group, Row, at_items, grouped
from waybench.results.stats import ALPHA


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefComparison:
    """What two sides know of one thing, at the items at which both were asked.

    Attributes:
        belief: What was asked.
        comparison: The comparison; an item counts by the share of right answers, from 0 to 1. Its p value is adjusted
            by Holm's procedure over all comparisons of this kind.
    """

    belief: Belief[object]
    comparison: Comparison

    @property
    def verdict(self) -> str:
        """Which side knows more, "first" or "second"; "not shown" without a significant difference."""
        if self.comparison.adjusted >= ALPHA:
            return "not shown"
        return "first" if self.comparison.difference.value > 0 else "second"

    @property
    def text(self) -> str:
        """The comparison in a line."""
        one = self.comparison
        low, high = one.difference.low, one.difference.high
        ends = "" if low is None or high is None else f" (95 %: {_points(low)} to {_points(high)})"
        found = {"first": "A knows more", "second": "B knows more", "not shown": "no difference shown"}[self.verdict]
        return (
            f"{one.first.task}, {self.belief.title.lower()}: A {100 * one.first_mean.value:.1f} %, B "
            f"{100 * one.second_mean.value:.1f} % of answers right at {one.items} items; A − B "
            f"{_points(one.difference.value)}{ends}; p {p_text(one.adjusted)}: {found}"
        )

    def to_json(self) -> dict[str, Json]:
        """Return the comparison as JSON values."""
        first, second = self.comparison.groups
        return {
            "first": first.to_json(),
            "second": second.to_json(),
            "belief": self.belief.name,
            **self.comparison.to_json("first_known", "second_known"),
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
    found: list[BeliefComparison] = []
    for group in mine:
        for other in by_key.get(comparison_key(group), ()):
            for belief in registry.load(group.env).probes:
                known = _known(group, mine[group], belief), _known(other, theirs[other], belief)
                if comparison := compare(*known, MODEL, family="beliefs"):
                    found.append(BeliefComparison(belief=belief, comparison=comparison))
    return tested(found)


def _asked(some: Iterable[Row]) -> dict[Group, list[Row]]:
    """Return the rows of each group that has probes, but for searches, which share items by chance."""
    asked = (row for row in some if row.probes and row.is_included and not row.guided and not row.adaptive)
    return grouped(asked, lambda row: row.group)


def _known(group: Group, rows: Iterable[Row], belief: Belief[object]) -> ItemScores:
    """Return the share of right answers at each item that has any."""

    def share(record: EpisodeRecord) -> float | None:
        answers = [float(probe.correct) for probe in record.probes if probe.name == belief.name]
        return fmean(answers) if answers else None

    metric = Metric(name=belief.name, of=share, title=belief.title, low=0, high=1, doc=belief.doc)
    answers = {
        key: [float(probe.correct) for row in some for probe in row.probes if probe.name == belief.name]
        for key, some in at_items(rows).items()
    }
    return values_of(group, metric, {key: fmean(some) for key, some in answers.items() if some})
