"""The groups that can be compared, and the scores of one group at one test, item by item."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from statistics import fmean
from typing import Any, NamedTuple

from waybench.core import AGENT, TURN_LIMIT, End, FailureKind, Json, Metric, Range, UsageError, unknown_name_message
from waybench.core._metrics import GENERAL_FAILURES, FirstError
from waybench.envs import registry
from waybench.results.estimates import headline_spec, lost_rows
from waybench.results.estimates._bounds import Items, LostRows, curve_contributions
from waybench.results.formatting import counts_text, one_line
from waybench.results.results import (
    LONGEST,
    UNCONFIRMED,
    UNFINISHED,
    ItemKey,
    Row,
    RunKey,
    group_by,
    group_by_item,
    item_key,
    item_values,
    metric_values,
    with_observed_bounds,
)
from waybench.results.results._groups import TEST_SETTINGS, key_without_settings

MODEL = "model"  # what varies, where it is not an option
SOLVED = "solved"  # what every environment can be compared by, beside its metrics


class ComparisonKey(NamedTuple):
    """The settings that groups must share to be compared.

    Attributes:
        key: The key of the set of items.
        options: The options of play and of the items, as (name, `repr` of the value), sorted.
    """

    env: str
    version: int
    key: str
    options: tuple[tuple[str, str], ...]


def comparison_key(group: RunKey) -> ComparisonKey:
    """Return the settings that two groups must share to be compared, such as the environment and its options.

    The settings of the model, such as its temperature, and the task's name are not among them.
    """
    env = group.environment
    names = {option.name for option in (*env.playing.options, *env.items.options)} | TEST_SETTINGS
    options = sorted((name, repr(value)) for name, value in group.options if name in names)
    return ComparisonKey(group.env, group.version, group.key, tuple(options))


def match_groups(groups: Iterable[RunKey], varies: str = MODEL) -> list[list[RunKey]]:
    """Return lists of groups that differ in one thing only, in order of first appearance.

    Args:
        groups: The groups; one that differs from no other in this thing alone is a list of its own.
        varies: `MODEL`, or the name of an option.
    """
    if varies == MODEL:
        return list(group_by(groups, comparison_key).values())
    return list(group_by(groups, lambda group: key_without_settings(group, varies)).values())


def without_option(groups: Iterable[RunKey], option: str) -> dict[RunKey, RunKey]:
    """Return, for each group with an option, the group without it that is equal otherwise.

    Groups without such a reference are left out.
    """
    references: dict[RunKey, RunKey] = {}
    for alike in match_groups(groups, option):
        without = [group for group in alike if not dict(group.options).get(option)]
        references |= {group: without[0] for group in alike if without and group not in without}
    return references


@cache  # every row asks for them
def failure_kinds(env: str) -> tuple[FailureKind, ...]:
    """Return all kinds of failures of an environment, in the order of columns."""
    return tuple(registry.load(env).scoring.failure_kinds)


def main_failure(row: Row) -> FailureKind | None:
    """Return the main cause of an episode's failure, as its environment defines it.

    None if the episode was solved or is excluded, where a game of a fixed length came to its end, and with a teacher,
    who caused the end.
    """
    if not row.is_included or row.guided or not row.failure:
        return None
    return next(kind for kind in failure_kinds(row.group.env) if kind.name == row.failure)


def most_frequent_failure(kinds: Iterable[FailureKind], order: Sequence[FailureKind]) -> tuple[FailureKind, int] | None:
    """Return the most frequent kind of failure with its count; None without any.

    Of equally frequent kinds it is the first in the order of all kinds.
    """
    counts = Counter(kinds)
    return max(counts.items(), key=lambda pair: (pair[1], -order.index(pair[0]))) if counts else None


@dataclass(frozen=True, slots=True)
class Failures:
    """How attempts failed.

    Attributes:
        attempts: Number of included attempts, without those of a teacher.
        kinds: Number of attempts that failed, by kind; kinds that did not occur may be left out.
    """

    attempts: int
    kinds: Mapping[FailureKind, int]

    @property
    def failed(self) -> int:
        """Number of attempts that failed."""
        return sum(self.kinds.values())

    @property
    def at_its_end(self) -> bool:
        """Whether all attempts ended at the limit on turns, as in a game of a fixed length, which is no failure.

        An environment that gives the limit a title of its own means it as a failure.
        """
        return self.kinds.get(TURN_LIMIT, 0) == self.attempts


def count_failures(episodes: Iterable[Row]) -> Failures:
    """Return the counts of failures in episodes of one environment."""
    rows = [row for row in episodes if row.is_included and not row.guided]
    counts = Counter(kind for row in rows if (kind := main_failure(row)))
    order = failure_kinds(rows[0].group.env) if rows else ()
    return Failures(len(rows), {kind: counts[kind] for kind in order if counts[kind]})


def has_fixed_length(episodes: Sequence[Row]) -> bool:
    """Return whether all included episodes of an environment ended at their limit on turns; True without any."""
    rows = [row for row in episodes if row.is_included and not row.guided]
    return all(row.end == End.TURN_LIMIT and main_failure(row) in (None, TURN_LIMIT) for row in rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemScores:
    """The scores of one model, with one set of settings, at one test.

    Attributes:
        model: The model as the user named it.
        test: Identifies the test: only scores of the same test are compared.
        name: The test's title.
        details: Words that distinguish the test from others of this title, by name.
        settings: The settings that are not the test's, such as those of the model.
        inferred: Whether the metric's bounds are not known: they are 0 and 1 if all values are within these.
        values: Mean of a single attempt, by item.
        steps: Of a series, which is averaged over its steps, the number at each step, by item; empty of a metric.
        missing: Items of which all attempts ended in infrastructure errors.
        incomplete: The least and the greatest possible value at the items of which some attempts have no result; None
            for an end that is unbounded.
        unconfirmed: Items with an attempt that does not replay, whose record may have been changed.
        undefined: Items that were tried and have no value, as where no answer could be read.
        failures: The kinds of failure of the attempts that failed, by item.
        failure_kinds: All kinds in which an attempt at the test can fail.
        first_errors: The first errors of the attempts that failed, by item.
        attempts: Number of attempts that are included, by item.
        inputs: A hash of the text that was shown, by item; empty where an item's instance identifies it.
        reasoning_sent_back: How much of the reasoning of earlier replies later requests repeated (`counts_text`); "" if
            there was nothing to repeat, or if it is not known.
        logs: The logs that the scores come from.
        group: Model, task and settings; None of a task that is not ours.
    """

    model: str
    task: str
    test: Hashable
    name: str
    details: Mapping[str, str] = field(default_factory=dict[str, str])
    settings: Mapping[str, Json] = field(default_factory=dict[str, Json])
    metric: Metric
    inferred: bool = False
    values: Mapping[ItemKey, float]
    steps: Mapping[ItemKey, Sequence[float]] = field(default_factory=dict[ItemKey, Sequence[float]])
    missing: frozenset[ItemKey] = frozenset()
    incomplete: Mapping[ItemKey, Range] = field(default_factory=dict[ItemKey, Range])
    unconfirmed: frozenset[ItemKey] = frozenset()
    undefined: frozenset[ItemKey] = frozenset()
    failures: Mapping[ItemKey, Sequence[FailureKind]] = field(default_factory=dict[ItemKey, Sequence[FailureKind]])
    failure_kinds: Sequence[FailureKind] = GENERAL_FAILURES
    first_errors: Mapping[ItemKey, Sequence[FirstError]] = field(default_factory=dict[ItemKey, Sequence[FirstError]])
    attempts: Mapping[ItemKey, int] = field(default_factory=dict[ItemKey, int])
    inputs: Mapping[ItemKey, str] = field(default_factory=dict[ItemKey, str])
    reasoning_sent_back: str = ""
    logs: frozenset[str] = frozenset()
    group: RunKey | None = None

    @property
    def env(self) -> str:
        """The environment's id; "" of a task that is not ours."""
        return self.group.env if self.group else ""

    @property
    def agent(self) -> str:
        """The agent around the model; "" for the bare model."""
        return str(self.settings.get(AGENT) or "")

    @property
    def settings_key(self) -> str:
        """A text that is equal for equal settings, in any order."""
        return repr(sorted((name, repr(value)) for name, value in self.settings.items()))

    @property
    def key(self) -> ComparisonKey:
        """The item set and its options (`comparison_key`); for waybench's tasks only."""
        assert self.group is not None
        return comparison_key(self.group)

    def values_at(self, keys: Iterable[ItemKey]) -> list[float]:
        """Return one value for each of these items, whose mean is the score of the set.

        The score of a series is the mean of its curve, in which every step has the same weight (`curve_contributions`).
        """
        if not self.steps:
            return [self.values[key] for key in keys]
        average, contributions = curve_contributions([self.steps[key] for key in keys])
        return [average + len(contributions) * contribution for contribution in contributions]

    def identity(self, **replaced: Any) -> tuple[str, str, str, ComparisonKey]:
        """Return model, settings, metric and `key`, which identify the scores.

        Args:
            **replaced: Fields of the key with new values, so that scores that differ in these alone have one identity.
        """
        return self.model, self.settings_key, self.metric.name, self.key._replace(**replaced)

    @property
    def item_keys(self) -> set[ItemKey]:
        """All items that the group was given."""
        return {*self.values, *self.missing, *self.undefined, *self.unconfirmed}


def scores_from_values(group: RunKey, metric: Metric, values: Mapping[ItemKey, float]) -> ItemScores:
    """Return a group's scores with values only, without failures, attempts and lost items."""
    return ItemScores(
        model=group.model,
        task=group.task,
        test=metric.name,
        name=group.env,
        metric=metric,
        values=values,
        group=group,
    )


def item_scores(all_rows: Iterable[Row], metric: str = "", *, needed: bool = True) -> list[ItemScores]:
    """Return the scores of each model with its settings at each item set.

    Args:
        all_rows: The rows.
        metric: The metric's name, or "solved"; by default an environment's headline (`headline_spec`). Environments
            that have no such metric are left out.
        needed: Whether some environment must have the metric.

    Raises:
        UsageError: If no environment has a needed metric, no record replays, or the metric is a ratio over the whole
            set, so that single items have no value.
    """
    rows = [row for row in all_rows if row.exclusion_reason in ("", UNCONFIRMED, UNFINISHED)]
    by_group = group_by(rows, lambda row: row.group)
    all_scores = [
        scores for group, group_rows in by_group.items() if (scores := _scores_of_group(group, group_rows, metric))
    ]
    if rows and needed and not all_scores:
        if all(row.exclusion_reason == UNCONFIRMED for row in rows):
            raise UsageError(
                "there are no episodes with results: none of the records re-simulates, since the environment's code or "
                "the records have changed: run these items again, with another --out"
            )
        envs = {group.environment.id: group.environment for group in by_group}
        names = {m.name for env in envs.values() for m in env.scoring.metrics}
        raise UsageError(unknown_name_message("metric", metric, {SOLVED, *names}))
    return all_scores


def headline_scores(all_rows: Iterable[Row]) -> list[ItemScores]:
    """Return the scores of every model with its settings by the headline metric, in order of the groups' first rows."""
    by_group = group_by(all_rows, lambda row: row.group)
    return [scores for group_rows in by_group.values() for scores in item_scores(group_rows, needed=False)]


def _scores_of_group(group: RunKey, all_rows: Sequence[Row], name: str) -> ItemScores | None:
    """Return a group's scores by a metric ("" for the headline); None if it has no results or no such metric."""
    env = group.environment
    rows = [row for row in all_rows if row.exclusion_reason in ("", UNFINISHED)]
    if not rows:
        return None
    items = group_by_item(rows)
    headline, first_metric = headline_spec(env, any(row.guided for row in rows)), env.scoring.metrics[0]
    choices: dict[str, tuple[Metric, Callable[[Row], float | None]]] = {
        **{metric.name: (metric, lambda row, name=metric.name: row.metrics[name]) for metric in env.scoring.metrics},
        "": (headline.metric, headline.value),
        SOLVED: (_SOLVED, lambda row: float(row.end == End.SOLVED)),
    }
    if name not in choices:
        return None
    metric, value_of = choices[name]

    def metric_values_at(items: Items) -> Mapping[ItemKey, float]:
        """Return the metric's value at each item."""
        if metric.per is None:
            return item_values(items, first_metric, value_of)
        ratios = metric_values(items, first_metric, metric)
        if any(size != 1 for size in ratios.sizes or ()):  # with sizes of 1, a ratio is a plain mean
            raise UsageError(
                f"metric {metric.name!r} is a ratio over the whole set, so single items have no value: choose another "
                "metric"
            )
        return ratios.values

    values = metric_values_at(items)
    metrics = [with_observed_bounds(declared, rows) for declared in env.scoring.metrics]
    lost = None if headline.series else lost_rows(rows, metrics, best_of=env.scoring.best_of)
    incomplete = _incomplete_ranges(items, rows, lost, metric, metric_values_at) if lost else dict[ItemKey, Range]()
    bounded_metric = with_observed_bounds(metric, rows)
    kinds = {key: [kind for row in item if (kind := main_failure(row))] for key, item in items.items()}
    test = comparison_key(group)
    test_options = {option for option, _ in test.options}
    return ItemScores(
        model=group.model,
        task=group.task,
        test=(test, bounded_metric.name),
        name=env.title,
        details={
            "version": str(group.version),
            "key": group.key,
            **{option: one_line(str(value), LONGEST) for option, value in group.options if option in test_options},
        },
        settings={option: value for option, value in group.options if option not in test_options},
        metric=bounded_metric,
        values=values,
        steps=_mean_steps(items, headline.series) if headline.series and not name else {},
        missing=frozenset({item_key(row) for row in rows} - items.keys()),
        incomplete=incomplete,
        unconfirmed=frozenset(item_key(row) for row in all_rows if row.exclusion_reason == UNCONFIRMED),
        undefined=frozenset(items.keys() - values.keys()),
        reasoning_sent_back=counts_text(row.reasoning_sent_back for row in rows),
        failures=kinds,
        failure_kinds=failure_kinds(group.env),
        first_errors={key: [row.first_error for row in item if row.first_error] for key, item in items.items()},
        attempts={key: len(item) for key, item in items.items()},
        logs=frozenset(row.log for row in rows),
        group=group,
    )


def _mean_steps(items: Items, series: str) -> dict[ItemKey, list[float]]:
    """Return the mean of a series at each step over the attempts at each item."""
    curves = {key: [numbers for row in item if (numbers := row.series.get(series))] for key, item in items.items()}
    return {
        key: [fmean(numbers) for numbers in zip(*item_curves, strict=False)]  # of the steps that all attempts have
        for key, item_curves in curves.items()
        if item_curves
    }


def _incomplete_ranges(
    items: Items,
    rows: Iterable[Row],
    lost: LostRows,
    metric: Metric,
    values_at: Callable[[Items], Mapping[ItemKey, float]],
) -> Mapping[ItemKey, Range]:
    """Return the least and greatest possible value at items where some attempts have no result; None if unbounded."""
    incomplete_keys = {item_key(row) for row in rows if not row.is_included} & items.keys()
    values_when_filled = [values_at(filled_items) for filled_items in lost.filled] if incomplete_keys else []
    is_open_below, is_open_above = (metric.name in names for names in lost.unbounded)
    ranges: dict[ItemKey, Range] = {}
    for key in incomplete_keys:
        values = [values[key] for values in values_when_filled if key in values]
        if values:
            ranges[key] = None if is_open_below else min(values), None if is_open_above else max(values)
    return ranges


_SOLVED = Metric(
    name=SOLVED,
    of=lambda record: float(record.end == End.SOLVED),
    title="Solved",
    doc="Whether it was solved.",
    low=0,
    high=1,
)
