"""Trends by model size: a test whether scores rise with the size of a series' models, at the items of all."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log2
from operator import mul
from statistics import fmean
from typing import Protocol

from waybench.results.comparisons._comparison import (
    GROUP,
    NOT_ADJUSTED,
    Effect,
    EffectKind,
    compare,
    metric_and_item_columns,
)
from waybench.results.comparisons._item_scores import MODEL, ItemScores, headline_scores
from waybench.results.formatting import adjusted_p_text, align_columns, change_text, mean_text, one_line
from waybench.results.frames import Column
from waybench.results.logs import is_embedded
from waybench.results.results import LONGEST, Row, group_by
from waybench.results.stats import IntervalEstimate, clustered_mean
from waybench.results.stats._intervals import ALPHA
from waybench.results.stats._verdicts import TrendTest, adjust_p_values, trend_test

FEWEST_SIZES = 3  # of two models, the paired comparison says all
LARGER_BETTER, LARGER_WORSE, NOT_SHOWN, TOO_FEW = "larger is better", "larger is worse", "no trend shown", "too few"


class SizedModel(Protocol):
    """A model with its number of parameters and its series."""

    @property
    def name(self) -> str:
        """The name to show; "" for that of its runs."""
        ...

    @property
    def size(self) -> float | None:
        """Number of parameters; None if not known."""
        ...

    @property
    def series(self) -> str:
        """The name of its series; "" for none."""
        ...


@dataclass(frozen=True, slots=True)
class SeriesMember:
    """One model of a series.

    Attributes:
        size: Number of parameters.
        mean: Its mean at the items that all models of the series were given.
    """

    name: str
    size: float
    mean: IntervalEstimate


def _means_text(effect: "TrendEffect") -> str:
    """Return the means of a series' models, from the smallest to the largest, as text."""
    metric = effect.comparison.metric
    return "\n".join(f"{member.name}: {mean_text(member.mean.value, metric)}" for member in effect.members)


def _slope_text(effect: "TrendEffect") -> str:
    """Return the slope of a trend with its interval as text."""
    slope, metric = effect.slope, effect.comparison.metric
    if slope.low is None or slope.high is None:
        return change_text(slope.value, metric)
    return f"{change_text(slope.value, metric)}\n{change_text(slope.low, metric)} to {change_text(slope.high, metric)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendEffect(Effect):
    """The trend of a series of models at one task; the comparison is that of its largest model with its smallest.

    Attributes:
        members: The models of the series, the smallest first.
        slope: Change of the score with each doubling of the size: the mean over items of the slope on log2(size).
        adjusted: The p value of the trend by Holm's procedure over all series and tasks; None where no result could
            have shown a trend.
    """

    kind = EffectKind(
        name="trends",
        doc="One row for each series of models and task: whether scores rise with size, at the items of all models.",
        columns=(
            GROUP,
            Column("series", str, "The series.", heading="Series"),
            Column("models", int, "Number of its models.", lambda effect: len(effect.members)),
            Column(
                "means",
                str,
                "The mean of each model at these items, the smallest model first.",
                lambda effect: ", ".join(f"{member.mean.value:.6g}" for member in effect.members),
                heading="Means by size",
                text=_means_text,
            ),
            *metric_and_item_columns("Items that all models of the series were given."),
            Column(
                "slope",
                IntervalEstimate,
                "Change of the score with each doubling of the number of parameters: the mean over items.",
                heading="A doubling adds",
                text=_slope_text,
            ),
            Column(
                "steps_down",
                int,
                "Steps from a model to the next larger one at which the mean gets worse.",
                heading="Steps down",
                text=lambda effect: f"{effect.steps_down} of {len(effect.members) - 1}",
            ),
            Column("statistic", float, "Page's L, standardised: above 0 where scores rise.", "trend.statistic"),
            Column("p", float, "Two-sided p value of Page's test for ordered alternatives.", "trend.test.p"),
            Column(
                "p_adjusted",
                float,
                f"The same, adjusted over all series and tasks; {NOT_ADJUSTED}.",
                "adjusted",
                null=True,
                heading="p",
                text=lambda effect: adjusted_p_text(effect.trend.test.p, effect.adjusted),
            ),
            Column(
                "verdict",
                str,
                "The conclusion.",
                schema={"enum": [LARGER_BETTER, LARGER_WORSE, NOT_SHOWN, TOO_FEW]},
                heading="Verdict",
            ),
        ),
        id="task-trends",
        title="Whether larger models of a series are better",
        caption="{metric} at the {items} that all models of a series were given, the smallest model first. p is from "
        "Page’s test for ordered alternatives, clustered, adjusted by Holm’s procedure over all series and tasks. The "
        "slope is on the logarithm of the number of parameters, with its {interval}. No trend shown is no evidence of "
        "none, and a trend does not exclude single steps down.",
        table=("series", "means", "items", "slope", "steps_down", "p_adjusted", "verdict"),
    )
    series: str
    members: Sequence[SeriesMember]
    slope: IntervalEstimate
    trend: TrendTest
    adjusted: float | None = 1.0

    @property
    def steps_down(self) -> int:
        """Number of steps to the next larger model at which the mean gets worse."""
        sign = -1.0 if self.comparison.metric.better == "lower" else 1.0
        means = [sign * member.mean.value for member in self.members]
        return sum(larger < smaller for smaller, larger in pairwise(means))

    @property
    def verdict(self) -> str:
        """The conclusion at the 5 % level."""
        if self.adjusted is None:
            return TOO_FEW
        if self.adjusted >= ALPHA:
            return NOT_SHOWN
        scores_rise, is_lower_better = self.trend.statistic > 0, self.comparison.metric.better == "lower"
        return LARGER_BETTER if scores_rise != is_lower_better else LARGER_WORSE


def trend_effects(all_rows: Iterable[Row], models: Mapping[str, SizedModel]) -> list[TrendEffect]:
    """Return the trend of each series at each task that at least three of its models, of different sizes, were given.

    All tests are one family; those of embedded players are another. Episodes that a teacher has played, and those of
    searches, are left out, and so are models without a series or a size in `models`, which has them by name.
    """
    sized_models = {name for name, model in models.items() if model.series and model.size}
    rows = [row for row in all_rows if row.group.model in sized_models and not row.guided and not row.adaptive]
    by_series = group_by(
        headline_scores(rows), lambda side: (models[side.model].series, side.test, side.settings_key, side.task)
    )
    effects = [
        effect
        for (series, *_), sides in by_series.items()
        if (effect := _trend_of_series(series, sides, models)) is not None
    ]
    for indices in group_by(range(len(effects)), lambda index: is_embedded(effects[index].group.model)).values():
        adjusted = adjust_p_values([effects[index].trend.test for index in indices])
        for index, (p, _) in zip(indices, adjusted, strict=True):
            effects[index] = replace(effects[index], adjusted=p)
    return effects


def _trend_of_series(series: str, sides: Sequence[ItemScores], models: Mapping[str, SizedModel]) -> TrendEffect | None:
    """Return the trend of one series at one item set; None for fewer than three sizes, or without a common item."""
    ordered = sorted(sides, key=lambda side: models[side.model].size or 0.0)
    sizes = [models[side.model].size or 1.0 for side in ordered]
    keys = sorted(key for key in ordered[0].values if all(key in side.values for side in ordered))
    if len(set(sizes)) < FEWEST_SIZES or not keys:
        return None
    comparison = compare(ordered[-1], ordered[0], MODEL, keys=keys)
    assert comparison is not None
    metric, clusters = comparison.metric, [key.cluster for key in keys]
    values_of_models = [side.values_at(keys) for side in ordered]
    by_cluster = group_by(range(len(keys)), clusters.__getitem__)
    blocks = [
        [fmean(values[index] for index in indices) for values in values_of_models] for indices in by_cluster.values()
    ]
    # An item's least-squares slope on log2 of the size is a weighted sum of its values.
    doublings = [log2(size) for size in sizes]
    centre = fmean(doublings)
    weights = [(log_size - centre) / sum((other - centre) ** 2 for other in doublings) for log_size in doublings]
    slopes = [sum(map(mul, weights, item_values)) for item_values in zip(*values_of_models, strict=True)]
    slope = clustered_mean(slopes, clusters)
    means = [clustered_mean(values, clusters, *metric.interval_bounds) for values in values_of_models]
    assert slope is not None
    members = [
        SeriesMember(models[side.model].name or side.model, size, mean)
        for side, size, mean in zip(ordered, sizes, means, strict=True)
        if mean is not None
    ]
    return TrendEffect(
        comparison=comparison, series=series, members=members, slope=slope, trend=trend_test(blocks, sizes)
    )


def trends_text(effects: Sequence[TrendEffect]) -> str:
    """Return the trends as an aligned table of plain text with its notes; "" without any."""
    if not effects:
        return ""
    columns = [column for column in TrendEffect.kind.columns if column.heading]
    lines = [["", *(column.heading.format(Items="items") for column in columns)]]
    for effect in effects:
        cells = [column.text(effect) if column.text else str(column.value(effect)) for column in columns]
        lines.append([one_line(effect.group.task, LONGEST), *(cell.replace("\n", ", ") for cell in cells)])
    return "\n".join(
        [
            f"{TrendEffect.kind.title}: means from the smallest to the largest model",
            align_columns(lines),
            "A doubling adds: the slope on log2 of the number of parameters, with its 95 % interval.",
            "p: Page's test for ordered alternatives, two-sided, by Holm's procedure over all rows.",
        ]
    )
