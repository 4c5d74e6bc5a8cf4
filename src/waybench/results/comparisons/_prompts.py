"""Effects of the prompt: its wording and its in-context examples."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, NamedTuple

from waybench.core import Json, Metric, Series
from waybench.envs import registry
from waybench.results.comparisons._comparison import MARGIN, Comparison, EffectKind, compare, with_tests
from waybench.results.comparisons._item_scores import ItemScores, matched, values_of, without_option
from waybench.results.estimates import aligned, contributions
from waybench.results.formatting import better_text, difference_text, mean_text, one_line, p_text
from waybench.results.frames import Column, Frame, column_json, column_schema, group_frame
from waybench.results.results import (
    EXAMPLES,
    LONGEST,
    Group,
    ItemKey,
    Row,
    at_items,
    count_items,
    declared,
    grouped,
    item_values,
    labels,
    measured,
    over,
)
from waybench.results.stats import Mean, clustered_mean

WORDING = "wording"  # the option that names an item's wording


_SCORE: tuple[Column[Any], ...] = (
    Column("group", Group, "Model, task and settings, the wording among them.", "score.group", only="json"),
    Column("wording", str, "The wording.", "score.name", key="name"),
    Column("errors", int, "Infrastructure errors in this wording; they are excluded.", "score.errors"),
    Column("mean", Mean, "Mean over these items, for a single attempt.", "score.mean"),
    Column(
        "difference",
        Mean,
        "Mean difference from the reference wording over the items; null for the reference itself.",
        "score.comparison.difference",
        null=True,
    ),
    Column(
        "p",
        float,
        "P value of the paired test of the differences; null likewise.",
        "score.comparison.test.p",
        null=True,
    ),
    Column(
        "p_adjusted",
        float,
        "The same, adjusted by Holm's procedure over all wordings.",
        "score.comparison.adjusted",
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
        Mean,
        "Mean over items of the worst value among an item's wordings, the same for all wordings of a player.",
        "effect.worst_of_items",
    ),
)


class WordingScore(NamedTuple):
    """The score in one wording, at the items that were given in all of them.

    Attributes:
        group: Model, task and settings, the wording among them.
        name: The wording.
        mean: Mean of the items' values, of what a single attempt gives.
        comparison: The comparison with the reference wording; None for the reference itself.
        errors: Infrastructure errors in this wording, which are in no other number.
    """

    group: Group
    name: str
    mean: Mean
    comparison: Comparison | None
    errors: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WordingEffect:
    """The scores of one model in several wordings of the same items.

    Attributes:
        metric: Name of the headline metric.
        wordings: The score in each of them, in the order in which the environment lists them.
        reference: The one that the others are compared with: the environment's default, or the first that was run.
        worst: The one with the worst mean.
        spread: By how much the best mean is better than the worst one. It has no interval, since the same data decided
            which ones these are: where wordings make no difference at all, it is above 0 by chance.
        worst_of_items: Mean over items of the worst value among an item's wordings: the score that holds whatever the
            wording is. Chance in the replies lowers it too: the worst of several attempts in the same wording is also
            below their mean.
        items: Items with an attempt in all wordings.
        left_out: Items with an attempt in some of them only, as where a ladder ended in one or for infrastructure
            errors; they are in no number.
    """

    kind: ClassVar[EffectKind] = EffectKind(
        name="wordings", doc="One player in several wordings of the same items; the headline metric.", columns=_EFFECT
    )
    metric: str
    wordings: tuple[WordingScore, ...]
    reference: str
    worst: str
    spread: float
    worst_of_items: Mean
    items: int
    left_out: int

    @property
    def group(self) -> Group:
        """The group in the reference wording."""
        return next(each.group for each in self.wordings if each.name == self.reference)

    def to_json(self) -> dict[str, Json]:
        """Return the effect as JSON values."""
        return column_json(_EFFECT, _Line(self, self.wordings[0]))


def wording_effects(all_rows: Iterable[Row]) -> list[WordingEffect]:
    """Return the effect of the wording for each model that was given the same items in several wordings.

    Groups are compared that differ in nothing but the wording, at the items that were given in all of these. Each
    wording is compared with one that was chosen before the results were known, for the gap between the best and the
    worst of them is greatest by selection. Episodes with a teacher are left out, and environments whose headline is a
    share of something (`Metric.per`), for which a single item has no weight of its own.
    """
    free = [row for row in all_rows if not row.guided]
    own = grouped((row for row in free if WORDING in dict(row.group.options)), lambda row: row.group)
    found: list[WordingEffect] = []
    for some in matched(own, WORDING):
        metric = over(registry.load(some[0].env).scoring.metrics[0], (row for group in some for row in own[group]))
        if len(some) > 1 and metric.per is None:
            effect = _wording_effect(metric, {str(dict(group.options)[WORDING]): group for group in some}, own)
            found += [effect] if effect else []
    return found


def _wording_effect(
    metric: Metric, groups: Mapping[str, Group], own: Mapping[Group, Sequence[Row]]
) -> WordingEffect | None:
    found = {name: measured(at_items(own[group]), metric, metric).values for name, group in groups.items()}
    names, reference = _ordered(next(iter(groups.values())).env, [name for name, values in found.items() if values])
    if len(names) < 2:
        return None
    each = [found[name] for name in names]
    both = sorted(key for key in each[0] if all(key in values for values in each))
    if not both:
        return None
    scores = {name: values_of(groups[name], metric, found[name]) for name in names}
    comparisons = (
        compare(scores[name], scores[reference], WORDING, metric=metric, keys=both)
        for name in names
        if name != reference
    )
    pairs = with_tests(comparisons)
    by_scores = {id(one.first): one for one in pairs}
    wordings = [
        WordingScore(
            group=groups[name],
            name=name,
            mean=one.first_mean if (one := by_scores.get(id(scores[name]))) else pairs[0].second_mean,
            comparison=one,
            errors=sum(row.error and not row.exclusion_reason for row in own[groups[name]]),
        )
        for name in names
    ]
    worst_of = max if metric.better == "lower" else min
    means = [one.mean.value for one in wordings]
    return WordingEffect(
        metric=metric.name,
        wordings=tuple(wordings),
        reference=reference,
        worst=worst_of(wordings, key=lambda one: one.mean.value).name,
        spread=max(means) - min(means),
        worst_of_items=_mean_at(both, [worst_of(values[key] for values in each) for key in both], metric),
        items=count_items(both),
        left_out=count_items(key for values in each for key in values) - count_items(both),
    )


def _ordered(env: str, names: Collection[str]) -> tuple[list[str], str]:
    """Return wordings in the order in which an environment lists them, and the one that others are compared with."""
    listed = next(option for option in declared(env) if option.name == WORDING)
    known = [name for name in listed.all_choices if name in names]
    ordered = [*known, *sorted(name for name in names if name not in known)]
    return ordered, str(listed.default) if listed.default in names else next(iter(ordered), "")


def compare_wordings(
    scores: Iterable[ItemScores], margin: float = MARGIN, chosen: Callable[[str], bool] = lambda task: True
) -> list[Comparison]:
    """Compare the results of models in several wordings of the same items; all comparisons are one family.

    Each wording is compared with the environment's default, or with the first that was run.

    Args:
        scores: Scores of any environments.
        margin: What counts as a tie, as a share of the metric's range.
        chosen: The name of a task -> whether it is compared.
    """
    worded = ((_in_wording(one), one) for one in scores if one.env and chosen(one.task))
    own = [(known, one) for known, one in worded if known is not None]
    found: list[Comparison | None] = []
    for some in grouped(own, lambda each: each[0][1]).values():
        by_name = {name: one for (name, _), one in some}
        names, reference = _ordered(some[0][1].env, by_name)
        for name in names:
            if name != reference:
                title = f"{by_name[name].name}, {name} against {reference}"
                found.append(compare(by_name[name], by_name[reference], WORDING, name=title, margin=margin))
    return with_tests(found)


def _in_wording(scores: ItemScores) -> tuple[str, tuple[Any, ...]] | None:
    """Return the name of the wording, and what scores in other wordings must have in common with these."""
    options = scores.key.options
    if scores.group is None or WORDING not in dict(options):
        return None
    others = tuple(each for each in options if each[0] != WORDING)
    return str(dict(scores.group.options)[WORDING]), scores.identity(options=others)


def _mean_at(keys: Sequence[ItemKey], values: Sequence[float], metric: Metric) -> Mean:
    mean = clustered_mean(values, [key.cluster for key in keys], *metric.interval_bounds)
    assert mean is not None
    return mean


def wording_table(all_rows: Iterable[Row]) -> str:
    """Return the effects of wordings as aligned tables of plain text, one for each environment; "" if there are none.

    Args:
        all_rows: The rows.
    """
    found = wording_effects(all_rows)
    return "\n\n".join(
        aligned(*_lines(env_id, some)) for env_id, some in grouped(found, lambda each: each.group.env).items()
    )


def _lines(env_id: str, some: Sequence[WordingEffect]) -> tuple[list[list[str]], list[str]]:
    env = registry.load(env_id)
    metric = env.scoring.metrics[0]
    what = ", ".join(part for part in (metric.title, better_text(metric)) if part)
    references = {each.reference for each in some}
    against = f"against {one_line(references.pop(), LONGEST)}" if len(references) == 1 else "against the reference"
    lines = [[f"{env.title}: the same items in several wordings", "items", what, against, "p (Holm)"]]
    names = labels(each.group for each in some) if len({each.group for each in some}) > 1 else {}
    marks = [""]
    for number, each in enumerate(some):
        name, items = names.get(each.group) or one_line(each.group.model, LONGEST), str(each.items)
        for one in each.wordings:
            change = ["", ""]
            if one.comparison:
                change = [difference_text(one.comparison.difference, metric), p_text(one.comparison.adjusted)]
            lines.append([f"{name}, {one_line(one.name, LONGEST)}", items, mean_text(one.mean.value, metric), *change])
        lines.append(
            [f"{name}, worst wording of each item", items, mean_text(each.worst_of_items.value, metric), "", ""]
        )
        marks += [str(number)] * (len(each.wordings) + 1)
    return lines, marks


class _Line(NamedTuple):
    effect: WordingEffect
    score: WordingScore


def wording_frame(effects: Sequence[WordingEffect]) -> Frame:
    """Return the frame of wordings: a row for each wording of each player. Undefined values are None."""
    lines = [_Line(effect, score) for effect in effects for score in effect.wordings]
    doc = "One row for each wording of the same items, by player; the headline metric."
    columns = (*_SCORE[:2], *_EFFECT[:5], *_SCORE[2:], *_EFFECT[5:])
    return group_frame("wordings", doc, columns, lines, lambda line: line.score.group)


Items = Mapping[ItemKey, Sequence[Row]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamplesEffect:
    """The effect of in-context examples at one level, against the same model and settings without any.

    Attributes:
        group: The group with examples.
        level: The level.
        items: Items with attempts that are included in both groups; no others are compared.
        metrics: For each metric, the mean over these items of the value with examples minus the value without (of what
            a single attempt gives), with an interval for pairs.
        curves: For each series, the mean of its curve over the steps with examples minus the one without.
    """

    group: Group
    level: int
    items: int
    metrics: Mapping[str, Mean]
    curves: Mapping[str, Mean]

    def to_json(self) -> dict[str, Json]:
        """Return the effect as JSON values."""
        return {**asdict(self), "group": self.group.to_json()}


def examples_effects(all_rows: Iterable[Row]) -> list[ExamplesEffect]:
    """Return the effects of examples, for every group and level with examples that was run without them too.

    Items are paired by level, id and instance.
    """
    by_group = {
        group: grouped(own, lambda row: row.level) for group, own in grouped(all_rows, lambda row: row.group).items()
    }
    bare = without_option(by_group, EXAMPLES)
    found: list[ExamplesEffect] = []
    for group, by_level in by_group.items():
        if group in bare:
            for level, own in sorted(by_level.items()):
                with_, without = at_items(own), at_items(by_group[bare[group]].get(level, []))
                both = [key for key in with_ if key in without]
                if both:
                    pair = {key: with_[key] for key in both}, {key: without[key] for key in both}
                    found.append(_examples_effect(group, bare[group], level, *pair))
    return found


def _examples_effect(group: Group, bare: Group, level: int, with_: Items, without: Items) -> ExamplesEffect:
    env = registry.load(group.env)
    played = [row for items in (with_, without) for item in items.values() for row in item]
    metrics: dict[str, Mean] = {}
    for metric in (over(one, played) for one in env.scoring.metrics):
        new, old = (
            values_of(
                of, metric, item_values(items, env.scoring.metrics[0], lambda row, name=metric.name: row.metrics[name])
            )
            for of, items in ((group, with_), (bare, without))
        )
        if comparison := compare(new, old, EXAMPLES):
            metrics[metric.name] = comparison.difference
    curves = {
        one.name: mean
        for one in env.scoring.series
        if (mean := _curve_change(over(one, played), with_, without)) is not None
    }
    return ExamplesEffect(group=group, level=level, items=count_items(with_), metrics=metrics, curves=curves)


def _curve_change(series: Series, with_: Items, without: Items) -> Mean | None:
    """Return the difference of two means of curves over their steps, each linearised (`contributions`)."""

    def has(item: Sequence[Row]) -> bool:
        return any(row.series.get(series.name) for row in item)

    keys = [key for key in with_ if has(with_[key]) and has(without[key])]
    (new, new_parts), (old, old_parts) = (_by_item(series.name, some, keys) for some in (with_, without))
    size = None if series.low is None or series.high is None else series.high - series.low
    return clustered_mean(
        [new - old + len(keys) * (new_parts[key] - old_parts[key]) for key in keys],
        [key.cluster for key in keys],
        None if size is None else -size,
        size,
    )


def _by_item(name: str, some: Items, keys: Sequence[ItemKey]) -> tuple[float, dict[ItemKey, float]]:
    """Return the mean of a curve over its steps, and what each item's episodes move it by."""
    episodes = [(key, row.series[name]) for key in keys for row in some[key] if row.series.get(name)]
    average, parts = contributions([numbers for _, numbers in episodes])
    by_item = dict.fromkeys(keys, 0.0)
    for (key, _), part in zip(episodes, parts, strict=True):
        by_item[key] += part
    return average, by_item
