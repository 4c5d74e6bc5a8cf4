"""The effect of in-context examples: the same items with and without them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from waybench.core import Json, Series
from waybench.envs import registry
from waybench.results.comparisons._comparison import compare
from waybench.results.comparisons._groups import without_option
from waybench.results.comparisons._item_scores import values_of
from waybench.results.estimates import contributions
from waybench.results.results import EXAMPLES, Group, ItemKey, Row, at_items, count_items, grouped, item_values, over
from waybench.results.stats import Mean, clustered_mean

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
                    found.append(_effect(group, bare[group], level, *pair))
    return found


def _effect(group: Group, bare: Group, level: int, with_: Items, without: Items) -> ExamplesEffect:
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
