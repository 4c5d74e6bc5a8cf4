"""Effects of the prompt: its wording and its in-context examples."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from waybench.core import WORDING, Json, Metric, Series
from waybench.envs import registry
from waybench.results.comparisons._comparison import (
    NOT_ADJUSTED,
    Comparison,
    EffectKind,
    adjust_comparisons,
    compare,
)
from waybench.results.comparisons._item_scores import match_groups, scores_from_values, without_option
from waybench.results.comparisons._presentations import ordered_presentations
from waybench.results.estimates._bounds import curve_contributions
from waybench.results.formatting import align_columns, difference_text, mean_text, metric_with_direction, one_line
from waybench.results.frames import Column, Frame, column_json, column_schema, group_frame
from waybench.results.results import (
    EXAMPLES,
    LONGEST,
    GroupResult,
    ItemKey,
    Row,
    RunKey,
    count_items,
    group_by,
    group_by_item,
    item_values,
    labels,
    metric_values,
    with_observed_bounds,
)
from waybench.results.stats import IntervalEstimate, clustered_mean

_SCORE: tuple[Column[Any], ...] = (
    Column("group", RunKey, "Model, task and settings, the wording among them.", "score.group", only="json"),
    Column("wording", str, "The wording.", "score.name", key="name"),
    Column("errors", int, "Infrastructure errors in this wording; they are excluded.", "score.errors"),
    Column("mean", IntervalEstimate, "Mean over these items, for a single attempt.", "score.mean"),
    Column(
        "difference",
        IntervalEstimate,
        "Mean difference from the reference wording over the items; null for the reference itself.",
        "score.comparison.difference",
        null=True,
    ),
    Column(
        "p",
        float,
        "P value of the paired test of the differences; null for the reference itself.",
        "score.comparison.test.p",
        null=True,
    ),
    Column(
        "p_adjusted",
        float,
        f"The same, adjusted by Holm's procedure over all wordings; {NOT_ADJUSTED}.",
        "score.comparison.adjusted_p",
        key="adjusted",
        null=True,
    ),
)
_EFFECT: tuple[Column[Any], ...] = (
    Column("metric", str, "Name of the headline metric.", "effect.metric", only="json"),
    Column(
        "wordings",
        list,
        "Each wording, in the order in which the environment lists them.",
        lambda line: [column_json(_SCORE, _Line(line.effect, score)) for score in line.effect.wordings],
        only="json",
        schema={"minItems": 2, "items": column_schema("One wording.", _SCORE)},
    ),
    Column("reference", str, "The wording that it is compared with.", "effect.reference"),
    Column("items", int, "Items with an attempt that counts in all wordings.", "effect.items"),
    Column("left_out", int, "Items with an attempt in some wordings only; they are excluded.", "effect.left_out"),
    Column(
        "worst", bool, "Whether it has the worst mean.", lambda line: line.score.name == line.effect.worst, only="frame"
    ),
    Column("worst", str, "The wording with the worst mean.", "effect.worst", only="json"),
    Column(
        "spread",
        float,
        "Difference between the best and the worst mean; it is above 0 by chance alone too.",
        "effect.spread",
    ),
    Column(
        "worst_of_items",
        IntervalEstimate,
        "Mean over items of the worst value among an item's wordings, the same for all wordings of a player.",
        "effect.worst_of_items",
    ),
)

Items = Mapping[ItemKey, Sequence[Row]]


class WordingScore(NamedTuple):
    """The score in one wording, at the items that were given in all of them; its columns describe its fields.

    The comparison is that with the reference wording; None for the reference itself.
    """

    group: RunKey
    name: str
    mean: IntervalEstimate
    comparison: Comparison | None
    errors: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WordingEffect:
    """The scores of one model in several wordings of the same items; its columns describe its fields.

    The reference wording is the environment's default, or the first that was run. The spread has no interval, since the
    same data decided which wordings are the best and the worst one: where wordings make no difference at all, it is
    above 0 by chance. The worst of an item's wordings is the score that holds whatever the wording is. Chance in the
    replies lowers it too: the worst of several attempts in the same wording is also below their mean. Items with an
    attempt in some wordings only, as where a ladder ended in one, are excluded.
    """

    kind: ClassVar[EffectKind] = EffectKind(
        name="wordings", doc="One player in several wordings of the same items; the headline metric.", columns=_EFFECT
    )
    metric: str
    wordings: tuple[WordingScore, ...]
    reference: str
    worst: str
    spread: float
    worst_of_items: IntervalEstimate
    items: int
    left_out: int

    @property
    def group(self) -> RunKey:
        """The group in the reference wording."""
        return next(score.group for score in self.wordings if score.name == self.reference)

    def to_json(self) -> dict[str, Json]:
        """Return the effect as JSON values."""
        return column_json(_EFFECT, _Line(self, self.wordings[0]))


def wording_effects(all_rows: Iterable[Row]) -> list[WordingEffect]:
    """Return the effect of the wording for each model that was given the same items in several wordings.

    Groups are compared that differ in nothing but the wording, at the items that were given in all of these. Each
    wording is compared with one that was chosen before the results were known, for the gap between the best and the
    worst of them is greatest by selection. Episodes with a teacher are left out, and environments whose headline is a
    ratio (`Metric.per`), for which a single item has no weight of its own.
    """
    with_wording = (row for row in all_rows if not row.guided and WORDING in dict(row.group.options))
    by_group = group_by(with_wording, lambda row: row.group)
    effects: list[WordingEffect] = []
    for groups in match_groups(by_group, WORDING):
        rows = [row for group in groups for row in by_group[group]]
        metric = with_observed_bounds(groups[0].environment.scoring.metrics[0], rows)
        if len(groups) > 1 and metric.per is None:
            by_name = {str(dict(group.options)[WORDING]): group for group in groups}
            if effect := _wording_effect(metric, by_name, by_group):
                effects.append(effect)
    return effects


def _wording_effect(
    metric: Metric, groups: Mapping[str, RunKey], by_group: Mapping[RunKey, Sequence[Row]]
) -> WordingEffect | None:
    """Return the effect of a model's wordings, from its group in each of them; None without common items."""
    values_by_name = {
        name: metric_values(group_by_item(by_group[group]), metric, metric).values for name, group in groups.items()
    }
    env = next(iter(groups.values())).env
    names, reference = ordered_presentations(env, WORDING, [name for name, values in values_by_name.items() if values])
    if len(names) < 2:
        return None
    values_of_wordings = [values_by_name[name] for name in names]
    common_keys = sorted(key for key in values_of_wordings[0] if all(key in values for values in values_of_wordings))
    if not common_keys:
        return None
    scores = {name: scores_from_values(groups[name], metric, values_by_name[name]) for name in names}
    others = [name for name in names if name != reference]
    comparisons = adjust_comparisons(
        compare(scores[name], scores[reference], WORDING, metric=metric, keys=common_keys) for name in others
    )
    comparison_by_name = dict(zip(others, comparisons, strict=True))
    wordings = [
        WordingScore(
            group=groups[name],
            name=name,
            mean=comparison.first_mean if (comparison := comparison_by_name.get(name)) else comparisons[0].second_mean,
            comparison=comparison,
            errors=sum(row.error and not row.exclusion_reason for row in by_group[groups[name]]),
        )
        for name in names
    ]
    worst_of = max if metric.better == "lower" else min
    means = [score.mean.value for score in wordings]
    worst_values = [worst_of(values[key] for values in values_of_wordings) for key in common_keys]
    worst_mean = clustered_mean(worst_values, [key.cluster for key in common_keys], *metric.interval_bounds)
    assert worst_mean is not None
    return WordingEffect(
        metric=metric.name,
        wordings=tuple(wordings),
        reference=reference,
        worst=worst_of(wordings, key=lambda score: score.mean.value).name,
        spread=max(means) - min(means),
        worst_of_items=worst_mean,
        items=count_items(common_keys),
        left_out=count_items(key for values in values_of_wordings for key in values) - count_items(common_keys),
    )


def wording_effects_text(all_rows: Iterable[Row]) -> str:
    """Return the effects of wordings as aligned tables of plain text, one for each environment; "" without any."""
    by_env = group_by(wording_effects(all_rows), lambda effect: effect.group.env)
    return "\n\n".join(align_columns(*_wording_lines(env_id, effects)) for env_id, effects in by_env.items())


def _wording_lines(env_id: str, effects: Sequence[WordingEffect]) -> tuple[list[list[str]], list[str]]:
    """Return the cells of the table of wordings, and the kind of each line for `align_columns`."""
    env = registry.load(env_id)
    metric = env.scoring.metrics[0]
    score_heading = metric_with_direction(metric)
    references = {effect.reference for effect in effects}
    against = f"against {one_line(references.pop(), LONGEST)}" if len(references) == 1 else "against the reference"
    lines = [[f"{env.title}: the same items in several wordings", "items", score_heading, against, "p (Holm)"]]
    groups, kinds = {effect.group for effect in effects}, [""]
    names = labels(effect.group for effect in effects) if len(groups) > 1 else {}
    for number, effect in enumerate(effects):
        name, items = names.get(effect.group) or one_line(effect.group.model, LONGEST), str(effect.items)
        for score in effect.wordings:
            change, mean = ["", ""], mean_text(score.mean.value, metric)
            if score.comparison:
                change = [difference_text(score.comparison.difference, metric), score.comparison.p_text]
            lines.append([f"{name}, {one_line(score.name, LONGEST)}", items, mean, *change])
        worst = mean_text(effect.worst_of_items.value, metric)
        lines.append([f"{name}, worst wording of each item", items, worst, "", ""])
        kinds += [str(number)] * (len(effect.wordings) + 1)  # a rule after each effect
    return lines, kinds


class _Line(NamedTuple):
    """A row of the frame of wordings."""

    effect: WordingEffect
    score: WordingScore


def wording_frame(effects: Sequence[WordingEffect]) -> Frame:
    """Return the frame of wordings: a row for each wording of each player."""
    lines = [_Line(effect, score) for effect in effects for score in effect.wordings]
    doc = "One row for each wording of the same items, by player; the headline metric."
    columns = (*_SCORE[:2], *_EFFECT[:5], *_SCORE[2:], *_EFFECT[5:])
    return group_frame("wordings", doc, columns, lines, lambda line: line.score.group)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamplesEffect(GroupResult):
    """The effect of in-context examples at one level, against the same model and settings without any.

    Attributes:
        group: The group with examples.
        items: Items with attempts that are included in both groups; no others are compared.
        metrics: For each metric, the mean over these items of a single attempt's value with examples minus the value
            without, with an interval for pairs.
        curves: For each series, the mean of its curve over the steps with examples minus the one without.
    """

    level: int
    items: int
    metrics: Mapping[str, IntervalEstimate]
    curves: Mapping[str, IntervalEstimate]


def examples_effects(all_rows: Iterable[Row]) -> list[ExamplesEffect]:
    """Return the effects of examples, for every group and level with examples that was run without them too.

    Items are paired by level, id and instance.
    """
    by_group = {
        group: group_by(rows, lambda row: row.level)
        for group, rows in group_by(all_rows, lambda row: row.group).items()
    }
    bare_groups = without_option(by_group, EXAMPLES)
    effects: list[ExamplesEffect] = []
    for group in by_group:
        if group not in bare_groups:
            continue
        bare_group = bare_groups[group]
        for level, rows in sorted(by_group[group].items()):
            items, bare_items = group_by_item(rows), group_by_item(by_group[bare_group].get(level, []))
            common_keys = [key for key in items if key in bare_items]
            if common_keys:
                pair = {key: items[key] for key in common_keys}, {key: bare_items[key] for key in common_keys}
                effects.append(_examples_effect(group, bare_group, level, *pair))
    return effects


def _examples_effect(group: RunKey, bare_group: RunKey, level: int, items: Items, bare_items: Items) -> ExamplesEffect:
    """Return the effect of examples at one level, from the same items with examples and without (bare)."""
    env = group.environment
    rows = [row for side in (items, bare_items) for attempts in side.values() for row in attempts]
    metrics: dict[str, IntervalEstimate] = {}
    for declared in env.scoring.metrics:
        metric = with_observed_bounds(declared, rows)
        scores, bare_scores = (
            scores_from_values(
                side_group,
                metric,
                item_values(side, env.scoring.metrics[0], lambda row, name=metric.name: row.metrics[name]),
            )
            for side_group, side in ((group, items), (bare_group, bare_items))
        )
        if comparison := compare(scores, bare_scores, EXAMPLES):
            metrics[metric.name] = comparison.difference
    curves = {
        series.name: mean
        for series in env.scoring.series
        if (mean := _curve_change(with_observed_bounds(series, rows), items, bare_items)) is not None
    }
    return ExamplesEffect(group=group, level=level, items=count_items(items), metrics=metrics, curves=curves)


def _curve_change(series: Series, items: Items, bare_items: Items) -> IntervalEstimate | None:
    """Return the mean of a curve with examples less that without; None without common items."""

    def has_curve(attempts: Sequence[Row]) -> bool:
        """Return whether an attempt at an item has the series."""
        return any(row.series.get(series.name) for row in attempts)

    keys = [key for key in items if has_curve(items[key]) and has_curve(bare_items[key])]
    mean, contributions = _curve_contributions(series.name, items, keys)
    bare_mean, bare_contributions = _curve_contributions(series.name, bare_items, keys)
    most = None if series.low is None or series.high is None else series.high - series.low
    return clustered_mean(
        [mean - bare_mean + len(keys) * (contributions[key] - bare_contributions[key]) for key in keys],
        [key.cluster for key in keys],
        None if most is None else -most,
        most,
    )


def _curve_contributions(name: str, items: Items, keys: Sequence[ItemKey]) -> tuple[float, dict[ItemKey, float]]:
    """Return the mean of a curve over its steps, and each item's contribution to it (linearised)."""
    episodes = [(key, row.series[name]) for key in keys for row in items[key] if row.series.get(name)]
    mean, contributions = curve_contributions([numbers for _, numbers in episodes])
    by_item = dict.fromkeys(keys, 0.0)
    for (key, _), contribution in zip(episodes, contributions, strict=True):
        by_item[key] += contribution
    return mean, by_item
