"""The same problems in another form: isomorphic items, and twins of environments."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from statistics import fmean

from waybench.core import FailureKind, Json, Metric, plural
from waybench.core._items import split_isomorphic_label
from waybench.envs import registry
from waybench.results.comparisons._comparison import (
    GROUP,
    Comparison,
    Effect,
    EffectKind,
    adjust_comparisons,
    adjust_effects,
    compare,
    comparison_columns,
    metric_and_item_columns,
)
from waybench.results.comparisons._item_scores import ItemScores, headline_scores
from waybench.results.formatting import interval_text, known_ends, mean_text, one_line
from waybench.results.frames import Column
from waybench.results.results import LONGEST, ItemKey, Row, RunKey, group_by
from waybench.results.stats import IntervalEstimate, clustered_mean
from waybench.results.stats._verdicts import MARGIN

TWIN = "twin"  # what varies: the environment, and with it all words


_TWINS = EffectKind(
    name="twins",
    doc="One row for each player and level of an environment whose items were also given by its twin.",
    columns=(
        GROUP,
        Column("twin", str, "Id of the environment that it is compared with.", "reference.env", only="frame"),
        Column("twin", RunKey, "The same in the environment’s twin.", "reference", only="json"),
        Column("level", int, "The level.", heading="{Level}", text=lambda effect: str(effect.level)),
        *metric_and_item_columns("Items that were given in both."),
        *comparison_columns(
            ("Mean over these items of what an attempt gives.", "{first}"),
            ("twin_mean", "The same in the twin.", "{twin}"),
            "Mean of the items' values less the twin's.",
            "players and levels of the environment",
            "is this environment",
        ),
    ),
    id="task-twins",
    title="The same {items}, plain and embodied",
    caption="{metric} of the same players with the same settings on the same {items}, with the {interval}. The "
    "difference is this task’s mean minus that of “{twin}”, with its paired interval. p is from a paired test, "
    "adjusted by Holm’s procedure over all rows; a difference is bold where p is below 0.05.",
    table=("level", "items", "twin_mean", "mean", "difference", "p_adjusted"),
    words=lambda effects: {
        name: group.environment.title for name, group in (("first", effects[0].group), ("twin", effects[0].reference))
    },
)

ISOMORPH = "isomorph"  # what varies: the appearance of the items


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinEffect(Effect):
    """The results of one model with its settings at one level of an environment, against its twin.

    Attributes:
        comparison: The comparison on the items of which both have the same instance, the twin being the second side.
    """

    kind = _TWINS
    level: int


def twin_pairs(scores: Iterable[ItemScores]) -> list[tuple[ItemScores, ItemScores]]:
    """Return the scores of each model at an environment and at its twin, in pairs.

    Both are of the same set of items with the same options and the same metric. Scores without a counterpart, and those
    of tasks that are not ours, are left out.
    """
    our_scores = [side for side in scores if side.env]
    by_identity = {side.identity(version=0): side for side in our_scores}  # a twin has versions of its own
    pairs: list[tuple[ItemScores, ItemScores]] = []
    for side in our_scores:
        twin = by_identity.get(side.identity(version=0, env=registry.load(side.env).items.twin))
        if twin is not None:
            pairs.append((side, twin))
    return pairs


def compare_twins(
    scores: Iterable[ItemScores], margin: float = MARGIN, is_chosen: Callable[[str], bool] = lambda task: True
) -> list[Comparison]:
    """Compare the results of models at environments and at their twins; all comparisons are one family.

    Args:
        scores: Scores of any tasks; those without a counterpart are left out.
        margin: The greatest difference in a tie, as a share of the metric's range.
        is_chosen: The name of a task -> whether it is compared; of a task and its twin's, one is enough.
    """
    pairs = [(side, twin) for side, twin in twin_pairs(scores) if is_chosen(side.task) or is_chosen(twin.task)]
    return adjust_comparisons(
        compare(side, twin, TWIN, name=f"{side.name} against {twin.name}", margin=margin) for side, twin in pairs
    )


def twin_effects(all_rows: Iterable[Row]) -> list[TwinEffect]:
    """Return the comparisons of environments with their twins, for each model and level by the headline metric.

    The tests of all models and levels at one environment are one family. Episodes that a teacher has played are left
    out.
    """
    by_level = group_by((row for row in all_rows if not row.guided), lambda row: row.level)
    return adjust_effects(
        TwinEffect(level=level, comparison=comparison)
        for level, level_rows in sorted(by_level.items())
        for side, twin in twin_pairs(headline_scores(level_rows))
        if (comparison := compare(side, twin, TWIN, family=side.env))
    )


AGREEMENT = Metric(
    name="agreement",
    of=lambda record: None,
    title="Agreement",
    doc="How far the results in two forms of an item agree: 1 minus their difference, as a share of the range.",
    low=0,
    high=1,
)


_ISOMORPHS = EffectKind(
    name="isomorphs",
    doc="One row for each player and task whose items were also played in another appearance (isomorphic sets).",
    columns=(
        GROUP,
        Column(
            "sets",
            list,
            "Numbers of the isomorphic sets.",
            "numbers",
            schema={"minItems": 1, "items": {"type": "integer", "minimum": 1}},
            heading="Isomorphic sets",
            text=lambda effect: str(len(effect.numbers)),
        ),
        *metric_and_item_columns(
            "Items that were played in both appearances.",
            text=(
                lambda effect: (
                    f"{effect.comparison.items:,}" + (f"\n{effect.same:,} left out: not new" if effect.same else "")
                )
            ),
        ),
        Column("same", int, "Isomorphic items left out: the original set has the same ones."),
        *comparison_columns(
            ("Mean at the original items, of a single attempt.", "Original"),
            ("isomorphic_mean", "The same at the isomorphic items.", "Isomorphic"),
            "Mean difference, original minus isomorphic.",
            "rows",
            "are the original items",
        ),
        Column(
            "agreement",
            IntervalEstimate,
            "Agreement of an item's forms: 1 minus the mean difference of two forms, as a share of the metric's range.",
            null=True,
            heading="Agreement",
            metric=AGREEMENT,
        ),
        Column(
            "worst",
            IntervalEstimate,
            "Mean over items of the worst of an item's forms.",
            null=True,
            heading="Worst form",
        ),
    ),
    id="task-isomorphs",
    title="Published against fresh: the same {items} in another appearance",
    caption="{metric} of a single attempt at the {items} and at isomorphic ones: the same problems in another "
    "appearance (rotated, mirrored, renamed, relabelled or shifted), which are as difficult by construction. The "
    "difference is original minus isomorphic, with its paired {interval}: a model that remembers published {items} is "
    "better at the originals. p is from a paired test, adjusted by Holm’s procedure over all tasks and models; a "
    "difference is bold where p is below 0.05. Agreement is 1 minus the mean difference between two forms of an item, "
    "as a share of the metric’s range; worst form is the mean over items of the lowest form.",
    table=("items", "sets", "mean", "isomorphic_mean", "difference", "p_adjusted", "agreement", "worst"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IsomorphEffect(Effect):
    """The results of a model at original items against those at isomorphic ones.

    Attributes:
        comparison: Its first side are the original items. The second side are the isomorphic items with the original
            items' keys: of an item with several isomorphic ones their mean.
        numbers: The numbers of the isomorphic sets, rising.
        same: Number of isomorphic items left out since the original set has the same instance, so that they are not
            new: small mazes that are symmetrical, for example.
        forms: Of each original item with two forms or more, the value in each form, the original's included.
    """

    kind = _ISOMORPHS
    numbers: tuple[int, ...]
    same: int
    forms: Mapping[ItemKey, Sequence[float]]

    @property
    def agreement(self) -> IntervalEstimate | None:
        """Agreement of the results in two forms of an item: 1 minus their mean difference, as a share of the range.

        For a metric that is 0 or 1 it is the share of pairs of forms with the same result. None where the metric has no
        bounds, and without items in several forms.
        """
        metric = self.comparison.metric
        if metric.low is None or metric.high is None or not self.forms:
            return None
        size = metric.high - metric.low
        distances = (
            fmean(abs(first - second) for first, second in combinations(values, 2)) for values in self.forms.values()
        )
        return clustered_mean(
            [1 - distance / size for distance in distances], [key.cluster for key in self.forms], 0, 1
        )

    @property
    def worst(self) -> IntervalEstimate | None:
        """The mean over items of the worst value in any of an item's forms; None without items in several forms."""
        metric = self.comparison.metric
        worst = max if metric.better == "lower" else min
        values = [worst(forms) for forms in self.forms.values()]
        return clustered_mean(values, [key.cluster for key in self.forms], *metric.interval_bounds) if values else None

    @property
    def more(self) -> dict[str, Json]:
        """The numbers beyond the comparison, as JSON values."""
        values = self.to_json()
        return {name: values[name] for name in ("sets", "same", "agreement", "worst")}


def _isomorph_effect(original: ItemScores, by_number: Mapping[int, ItemScores], margin: float) -> IsomorphEffect | None:
    """Compare a model's scores at original and at isomorphic items; None without a common item."""
    originals = {(key.level, key.item): key for key in original.item_keys}
    original_instances = {key.instance for key in original.item_keys}
    isomorphic_values: dict[ItemKey, list[float]] = {}
    lost: dict[str, set[ItemKey]] = {"missing": set(), "undefined": set(), "unconfirmed": set()}
    failures: defaultdict[ItemKey, list[FailureKind]] = defaultdict(list)
    attempts: Counter[ItemKey] = Counter()
    same = 0
    for side in by_number.values():
        # Sums of floats depend on the order, and that of a set differs between processes.
        for key in sorted(side.item_keys):
            original_key = originals.get((key.level, key.item))
            if original_key is None:
                continue
            if key.instance in original_instances:
                same += 1
                continue
            if key in side.values:
                isomorphic_values.setdefault(original_key, []).append(side.values[key])
            failures[original_key].extend(side.failures.get(key, ()))
            attempts[original_key] += side.attempts.get(key, 0)
            for name, keys in lost.items():
                if key in getattr(side, name):
                    keys.add(original_key)
    forms = {
        key: (*([original.values[key]] if key in original.values else []), *values)
        for key, values in isomorphic_values.items()
    }
    isomorphic = replace(
        next(iter(by_number.values())),
        values={key: fmean(values) for key, values in isomorphic_values.items()},
        # An item of which another set has a value is not lost.
        **{name: frozenset(keys - isomorphic_values.keys()) for name, keys in lost.items()},
        failures=failures,
        attempts=attempts,
        logs=frozenset().union(*(side.logs for side in by_number.values())),
    )
    comparison = compare(original, isomorphic, ISOMORPH, name=original.name, margin=margin)
    return comparison and IsomorphEffect(
        comparison=comparison,
        numbers=tuple(sorted(by_number)),
        same=same,
        forms={key: values for key, values in forms.items() if len(values) > 1},
    )


def compare_isomorphs(
    scores: Iterable[ItemScores], margin: float = MARGIN, is_chosen: Callable[[str], bool] = lambda task: True
) -> list[IsomorphEffect]:
    """Compare the results of models at original items with those at isomorphic ones; all comparisons are one family.

    Args:
        scores: Scores of any tasks; those of tasks that are not ours are left out.
        margin: The greatest difference in a tie, as a share of the metric's range.
        is_chosen: The name of a task -> whether it is compared.
    """
    by_set: dict[Hashable, dict[int, ItemScores]] = defaultdict(dict)
    for side in scores:
        if side.env and is_chosen(side.task):
            item_set, number = split_isomorphic_label(side.key.key)
            by_set[side.task, side.identity(key=item_set)][number] = side
    effects: list[IsomorphEffect] = []
    for by_number in by_set.values():
        original = by_number.pop(0, None)  # the number of original items
        if original is not None and by_number and (effect := _isomorph_effect(original, by_number, margin)):
            effects.append(effect)
    return adjust_effects(effects)


def isomorph_effects(all_rows: Iterable[Row]) -> list[IsomorphEffect]:
    """Return the comparisons of original with isomorphic items for each model, by the headline metric.

    Episodes that a teacher has played and those of searches are left out.
    """
    rows = [row for row in all_rows if not row.guided and not row.adaptive]
    keys = {split_isomorphic_label(row.group.key) for row in rows}
    return compare_isomorphs(headline_scores(rows)) if any(number for _, number in keys) else []


def _mean_with_ends(mean: IntervalEstimate, metric: Metric) -> str:
    """Return a mean with the ends of its interval as text."""
    return interval_text(mean.value, known_ends(mean, metric), partial(mean_text, metric=metric))


def invariance_text(effects: Sequence[IsomorphEffect]) -> str:
    """Return how far results in the forms of items agree, a line for each model and task."""
    lines = ["Invariance (results in the forms of an item, the original and its isomorphic ones):"]
    for effect in effects:
        comparison, agreement, worst = effect.comparison, effect.agreement, effect.worst
        if agreement is None or worst is None:
            continue
        metric = comparison.metric
        lines.append(
            f"  {one_line(comparison.first.model, LONGEST)}, {comparison.name}: agreement of two forms "
            f"{_mean_with_ends(agreement, AGREEMENT)}; {metric.title} in the worst form "
            f"{_mean_with_ends(worst, metric)} ({plural(len(effect.forms), 'item')}, "
            f"{plural(len(effect.numbers) + 1, 'form')})"
        )
        if effect.same:
            lines.append(
                f"    Excluded: {plural(effect.same, 'isomorphic item')} that the original set has, too, and that are "
                "not new."
            )
    return "\n".join(lines) if len(lines) > 1 else ""
