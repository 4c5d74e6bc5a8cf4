"""Comparisons of two groups of results on the same items that differ in one thing.

Whatever differs (the model, the wording, the in-context examples, a setting of the model), a comparison is the same:
groups are matched that have all else in common (`match_groups`), their scores are paired item by item
(`compare`) and tested, and the p values are adjusted within a family of tests (`adjust_comparisons`).
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol, TypeVar, cast

from waybench.core import FailureKind, Json, Metric
from waybench.core._metrics import FirstError
from waybench.results.comparisons._item_scores import ItemScores
from waybench.results.formatting import adjusted_p_text
from waybench.results.frames import Column, Frame, column_json, group_frame
from waybench.results.results import ItemKey, RunKey, count_items, group_by
from waybench.results.results._groups import name_with_agent
from waybench.results.stats import IntervalEstimate, clustered_mean
from waybench.results.stats._contributions import Difference, DifferenceTest
from waybench.results.stats._intervals import ALPHA
from waybench.results.stats._verdicts import (
    MARGIN,
    Verdict,
    adjust_p_values,
    conclude,
    is_interval_within,
    min_clusters_for_tie,
)

NOT_ADJUSTED = "null where no result could have shown a difference, which leaves the test out of the adjustment"
GROUP: Column[Any] = Column("group", RunKey, "Model, task and settings.", only="json")


_SWAPPED = {Verdict.FIRST: Verdict.SECOND, Verdict.SECOND: Verdict.FIRST}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two groups of results at the items where both have a score.

    Attributes:
        varies: What the groups differ in: `MODEL`, or the name of an option or a setting.
        second: The scores of the reference, where there is one.
        name: The test's title, with the details that distinguish it from other tests of this title.
        keys: The items at which both groups have a score.
        first_mean: The first group's mean score of a single attempt at these items.
        paired_difference: The first group's mean minus the second group's, with its test and its intervals.
        margin: The greatest difference in a tie; None where the metric is unbounded, or far from its bounds.
        family: Comparisons of one family have their p values adjusted together.
        adjusted_p: The p value adjusted within the family (`adjust_comparisons`); 1 before the adjustment. None where
            the test is not in the family, since it could have shown no difference whatever the results were.
        family_size: Number of comparisons whose p values are adjusted together.
        bounds: Where infrastructure errors lost items of either side: the conclusions if all lost items had the worst
            score for the first group and the best for the second, and the other way round; the same for lost attempts
            at an item. Empty where nothing is lost.
    """

    varies: str
    first: ItemScores
    second: ItemScores
    name: str
    metric: Metric
    keys: tuple[ItemKey, ...]
    first_mean: IntervalEstimate
    second_mean: IntervalEstimate
    paired_difference: Difference = field(repr=False, compare=False)
    margin: float | None
    family: Hashable = None
    adjusted_p: float | None = 1.0
    family_size: int = 1
    bounds: tuple[Verdict, ...] = ()

    @property
    def groups(self) -> tuple[RunKey, RunKey]:
        """Model, task and settings of the first side and of the second, where the task is ours."""
        assert self.first.group is not None and self.second.group is not None
        return self.first.group, self.second.group

    @property
    def names(self) -> tuple[str, str]:
        """The names of both models, each in a line, with the agents around them where these differ."""
        shows_agents = self.first.agent != self.second.agent
        first, second = (
            name_with_agent(side.model, side.agent if shows_agents else "") for side in (self.first, self.second)
        )
        return first, second

    @property
    def common(self) -> set[ItemKey]:
        """The items that both sides were given."""
        return self.first.item_keys & self.second.item_keys

    @property
    def items(self) -> int:
        """Number of items at which both sides have a score."""
        return count_items(self.keys)

    @property
    def difference(self) -> IntervalEstimate:
        """The first mean minus the second, with the 95 % interval for pairs."""
        return self.paired_difference.mean()

    @property
    def simultaneous(self) -> IntervalEstimate:
        """The difference with an interval that holds together with those of its family at 95 % (Bonferroni)."""
        return self.paired_difference.mean(1 - ALPHA / max(self.family_size, 1))

    @property
    def interval_90(self) -> IntervalEstimate:
        """The difference with its 90 % interval, which decides about ties."""
        return self.paired_difference.mean(1 - 2 * ALPHA)

    @property
    def test(self) -> DifferenceTest:
        """The test of the difference, by the same numbers as its interval."""
        return self.paired_difference.test

    @property
    def is_shown(self) -> bool:
        """Whether the adjusted p value is below 5 %."""
        return self.adjusted_p is not None and self.adjusted_p < ALPHA

    @property
    def p_text(self) -> str:
        """The adjusted p value as text; the unadjusted one if the test is in no family."""
        return adjusted_p_text(self.test.p, self.adjusted_p)

    @property
    def relative_difference(self) -> IntervalEstimate:
        """The difference as a share of the second mean (0.1 is 10 % more), with the interval of a ratio."""
        first, second = (side.values_at(self.keys) for side in (self.first, self.second))
        ratio = clustered_mean(first, [key.cluster for key in self.keys], 0.0, None, second)
        assert ratio is not None
        low, high = (None if end is None else end - 1 for end in (ratio.low, ratio.high))
        return replace(ratio, value=ratio.value - 1, low=low, high=high)

    @property
    def verdict(self) -> Verdict:
        """The conclusion; "depends" if it differs under a bound on lost items (not just "not shown" from "too few")."""
        verdict = self.verdict_of_scores
        conclusions = {verdict, *self.bounds}
        says_something = bool(conclusions - {Verdict.NOT_SHOWN, Verdict.TOO_FEW})
        return Verdict.DEPENDS if says_something and len(conclusions) > 1 else verdict

    @property
    def verdict_of_scores(self) -> Verdict:
        """The conclusion from the items at which both sides have a score, whatever lost items would change."""
        lower_is_better = self.metric.better == "lower"
        return conclude(self.paired_difference, self.adjusted_p, self.margin, lower_is_better=lower_is_better)

    @property
    def within_margin(self) -> bool:
        """Whether the 90 % interval is within the margin, whatever the number of clusters."""
        return is_interval_within(self.paired_difference, self.margin)

    @property
    def min_clusters_for_tie(self) -> int:
        """Least number of clusters for a tie; 0 where the metric is unbounded and has no ties."""
        return min_clusters_for_tie(self.margin, self.paired_difference.range)

    @property
    def n_inputs_differing(self) -> int:
        """Number of items whose input differs between the two sides."""
        return sum(self.first.inputs.get(key) != self.second.inputs.get(key) for key in self.keys)

    @property
    def swapped(self) -> "Comparison":
        """The same comparison with its sides exchanged."""
        return replace(
            self,
            first=self.second,
            second=self.first,
            first_mean=self.second_mean,
            second_mean=self.first_mean,
            paired_difference=self.paired_difference.swapped,
            bounds=tuple(_SWAPPED.get(bound, bound) for bound in reversed(self.bounds)),
        )

    def failures(self, side: ItemScores) -> tuple[Counter[FailureKind], int]:
        """Return how often a side fails in each way at these items, and its number of attempts."""
        kinds = Counter(kind for key in self.keys for kind in side.failures.get(key, ()))
        return kinds, sum(side.attempts.get(key, 0) for key in self.keys)

    def first_errors(self, side: ItemScores) -> list[FirstError]:
        """Return a side's first errors at these items."""
        return [error for key in self.keys for error in side.first_errors.get(key, ())]

    def verdicts_under_missing(self) -> tuple[Verdict, ...]:
        """Return the conclusions with lost items at their bounds: worst for the first group, then best for it.

        Empty if nothing is lost.

        Items of which some attempts are lost have the score that they would have with the worst or the best results of
        these attempts. Items with an attempt that does not replay have the worst possible score in both conclusions.

        Each p value is multiplied by the factor of the comparison's own adjustment or, if the comparison is in no
        family, by the number of tests that its family would have with it. Where the metric has no bounds, the least
        and the greatest score of either group stand for them.
        """
        sides, common = (self.first, self.second), self.common
        if not any(common & {*side.missing, *side.unconfirmed, *side.incomplete} for side in sides):
            return ()
        scores = [side.values[key] for side in sides for key in self.keys]
        low = min(scores) if self.metric.low is None else self.metric.low
        high = max(scores) if self.metric.high is None else self.metric.high
        worst, best = (high, low) if self.metric.better == "lower" else (low, high)
        if self.adjusted_p is None:
            factor = self.family_size + 1.0
        else:  # a p value of 0 stays 0 whatever the factor, so its own is not known
            factor = max(1.0, self.adjusted_p / self.test.p) if self.test.p > 0 else 1.0

        def with_lost_values(side: ItemScores, value: float) -> ItemScores:
            """Return a side's scores with a value for lost items."""
            bound_of_incomplete = {
                key: lowest if value == low else highest
                for key, (lowest, highest) in side.incomplete.items()
                if key in common
            }
            values = {
                **side.values,
                **{key: value if bound is None else bound for key, bound in bound_of_incomplete.items()},
                **dict.fromkeys(side.missing & common, value),
                **dict.fromkeys(side.unconfirmed & common, worst),
            }
            return replace(side, values=values)

        verdicts: list[Verdict] = []
        for first_value, second_value in ((worst, best), (best, worst)):
            comparison = compare(
                with_lost_values(self.first, first_value),
                with_lost_values(self.second, second_value),
                self.varies,
                metric=self.metric,
            )
            if comparison is not None:
                test = comparison.test
                adjusted_p = None if test.least_p * factor > ALPHA else min(1.0, test.p * factor)
                comparison = replace(comparison, margin=self.margin, adjusted_p=adjusted_p)
                verdicts.append(comparison.verdict_of_scores)
        return tuple(verdicts)


def compare(
    first: ItemScores,
    second: ItemScores,
    varies: str,
    *,
    name: str = "",
    metric: Metric | None = None,
    keys: Iterable[ItemKey] | None = None,
    margin: float = MARGIN,
    family: Hashable = None,
) -> Comparison | None:
    """Compare two groups' scores item by item; None if there is no item at which both have a score.

    Args:
        first: The scores of the first group.
        second: The scores of the other group, or of the reference.
        varies: What the groups differ in.
        name: The test's title.
        metric: The metric with its bounds; by default the first group's (`with_inferred_bounds`).
        keys: The items; by default all at which both have a score.
        margin: The greatest difference in a tie, as a share of the metric's range.
        family: Comparisons of one family have their p values adjusted together (`adjust_comparisons`).
    """
    metric = metric or with_inferred_bounds((first, second))
    common_keys = tuple(sorted(key for key in first.values if key in second.values) if keys is None else keys)
    if not common_keys:
        return None
    clusters = [key.cluster for key in common_keys]
    values = [side.values_at(common_keys) for side in (first, second)]
    first_mean, second_mean = (clustered_mean(scores, clusters, *metric.interval_bounds) for scores in values)
    assert first_mean is not None
    assert second_mean is not None
    # A set's value may be a ratio of sums; an item's score is not, so its bounds are those of the metric.
    bounds = (None, None) if metric.far_bounds else (metric.low, metric.high)
    paired_difference = Difference.from_values(values[0], values[1], clusters, *bounds)
    # Items with many steps weigh more in a series, so that the number of one can lie beyond the bounds of the mean.
    low, high = bounds
    span = high - low if first.steps and low is not None and high is not None else paired_difference.range
    return Comparison(
        varies=varies,
        first=first,
        second=second,
        name=name,
        metric=metric,
        keys=common_keys,
        first_mean=first_mean,
        second_mean=second_mean,
        paired_difference=paired_difference,
        margin=None if span is None else margin * span,
        family=family,
    )


def adjust_comparisons(comparisons: Iterable[Comparison | None]) -> list[Comparison]:
    """Return comparisons with p values adjusted within each family (`adjust_p_values`), in the given order.

    None, which stands for two sides without a common item, is left out.
    """
    adjusted = [comparison for comparison in comparisons if comparison is not None]
    for indices in group_by(range(len(adjusted)), lambda index: adjusted[index].family).values():
        p_and_size_by_test = adjust_p_values([adjusted[index].test for index in indices])
        for index, (p, size) in zip(indices, p_and_size_by_test, strict=True):
            comparison = replace(adjusted[index], adjusted_p=p, family_size=size)
            adjusted[index] = replace(comparison, bounds=comparison.verdicts_under_missing())
    return adjusted


class HasComparison(Protocol):
    """A dataclass that may have a comparison."""

    @property
    def comparison(self) -> Comparison | None:
        """The comparison that shows the effect; None where the two sides have nothing to compare."""
        ...


E = TypeVar("E", bound=HasComparison)


def adjust_effects(effects: Iterable[E]) -> list[E]:
    """Return effects whose comparisons are adjusted together (`adjust_comparisons`).

    Effects without a comparison stay as they are.
    """
    all_effects = list(effects)
    comparisons = iter(adjust_comparisons(effect.comparison for effect in all_effects))
    return [
        effect if effect.comparison is None else replace(cast(Any, effect), comparison=next(comparisons))
        for effect in all_effects
    ]


def with_inferred_bounds(scores: Sequence[ItemScores]) -> Metric:
    """Return the metric of one test's scores; unknown bounds are 0 and 1 if all scores are within these."""
    are_shares = all(side.inferred and all(0 <= value <= 1 for value in side.values.values()) for side in scores)
    return replace(scores[0].metric, low=0, high=1) if are_shares else scores[0].metric


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectKind:
    """How effects of one kind are reported.

    Title, caption, headings and the names in `table` have words in braces: {items}, {Items}, {Level} and {metric} of
    the environment, {interval}, and those of `words`.

    Attributes:
        name: The name of their frame.
        doc: Describes a row of the frame; also an effect in the JSON Schema.
        columns: Their columns in the frame, in JSON and in the report's table.
        id: The id of the table; "" where there is none.
        title: The first words of the table's caption.
        caption: What the caption says after the title.
        table: Names of the columns that the table shows.
        words: Returns more words in braces, from the effects of a table.
    """

    name: str
    doc: str
    columns: Sequence[Column[Any]]
    id: str = ""
    title: str = ""
    caption: str = ""
    table: Sequence[str] = ()
    words: Callable[[Sequence[Any]], Mapping[str, str]] = lambda effects: {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """The results of a group against those of a reference on the same items, where one thing differs.

    Attributes:
        comparison: Its second side is the reference.
    """

    kind: ClassVar[EffectKind]
    comparison: Comparison

    @property
    def group(self) -> RunKey:
        """The group (a model with its settings) whose effect this is."""
        return self.comparison.groups[0]

    @property
    def reference(self) -> RunKey:
        """The group with which it is compared."""
        return self.comparison.groups[1]

    @property
    def group_without_option(self) -> RunKey:
        """The group that names a row of tables, without options that have columns of their own."""
        return self.group

    def to_json(self) -> dict[str, Json]:
        """Return the effect as JSON values."""
        return column_json(self.kind.columns, self)


def metric_and_item_columns(items_doc: str, text: Callable[[Any], str] | None = None) -> tuple[Column[Any], ...]:
    """Return the columns of the metric and of the number of items, described by `items_doc` and shown by `text`."""
    return (
        Column("metric", str, "The metric.", "comparison.metric.name"),
        Column("items", int, items_doc, "comparison.items", schema={"minimum": 1}, heading="{Items}", text=text),
    )


def comparison_columns(
    first: tuple[str, str],
    second: tuple[str, str, str],
    difference: str,
    family: str,
    verdict: str = "",
    *,
    interval: str = "difference",
) -> tuple[Column[Any], ...]:
    """Return the columns that effects of all kinds have.

    Args:
        first: Description and heading of the group's mean.
        second: Name, description and heading of the reference's mean.
        difference: Description of the difference.
        family: The tests over which p values are adjusted.
        verdict: The meaning of the verdict "first"; "" if there is no verdict.
        interval: The attribute of the comparison that has the difference with its interval.
    """
    return (
        Column("mean", IntervalEstimate, first[0], "comparison.first_mean", heading=first[1]),
        Column(second[0], IntervalEstimate, second[1], "comparison.second_mean", heading=second[2]),
        Column("difference", IntervalEstimate, difference, f"comparison.{interval}", heading="Difference"),
        Column("p", float, "P value of the paired test of these differences.", "comparison.test.p"),
        Column(
            "p_adjusted",
            float,
            f"The same, adjusted over all {family}; {NOT_ADJUSTED}.",
            "comparison.adjusted_p",
            key="adjusted",
            null=True,
            heading="p",
            text=lambda effect: effect.comparison.p_text,
        ),
        *([Column("verdict", Verdict, f"The conclusion; first {verdict}.", "comparison.verdict")] if verdict else []),
    )


def effect_frame(kind: EffectKind, effects: Sequence[Any]) -> Frame:
    """Return the frame of effects: a row for each."""
    return group_frame(kind.name, kind.doc, kind.columns, effects, lambda effect: effect.group)
