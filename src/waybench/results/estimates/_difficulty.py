"""Difficulty indices of items, regressions on variables of clusters, and the spread over sets."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import NamedTuple

import numpy as np

from waybench.core import DIFFICULTY_INDEX, Axis, ItemIndex, Json, plural
from waybench.envs import registry
from waybench.results.estimates._bounds import Variables, complete_attempts, metric_cluster_values
from waybench.results.estimates._estimates import Estimate, by_level
from waybench.results.results import (
    Cluster,
    GroupResult,
    Row,
    RunKey,
    are_perfect,
    attempts_to_average,
    group_by,
    group_by_item,
)
from waybench.results.stats import Array
from waybench.results.stats._difficulty import IndexGain, index_gain
from waybench.results.stats._intervals import regression_line


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemDifficulty:
    """The difficulty index of an environment's items (see `IndexGain`).

    Attributes:
        apart: Settings, as text, whose results have tables of their own.
        axis: Name of the environment's first axis, the level of the index.
        variables: Names of the other variables.
        gain: The index, with its gain over the level alone; None if there is none.
        why: The reason why there is none; "" otherwise.
    """

    env: str
    apart: tuple[str, ...]
    axis: str
    variables: tuple[str, ...]
    gain: IndexGain | None
    why: str = ""

    @property
    def index(self) -> ItemIndex | None:
        """The index as searches for a horizon take it; None if there is none."""
        if self.gain is None:
            return None
        index = self.gain.index
        terms: list[list[float]] = np.stack([index.starts, index.rises, index.weights], axis=1).round(4).tolist()
        named = zip(self.variables, terms, strict=True)
        return ItemIndex({name: (start, rise, weight) for name, (start, rise, weight) in named if weight})

    @property
    def weights(self) -> dict[str, float]:
        """The number of doublings of the level that a doubling of each variable is worth; empty without an index."""
        weights: list[float] = self.gain.index.weights.tolist() if self.gain else []
        return dict(zip(self.variables, weights, strict=False))

    def equivalent_level(self, row: Row) -> float | None:
        """Return the level at which an average item is as hard as the item of a row; None if that is not known."""
        level, index = row.axes.get(self.axis), self.index
        return None if index is None or level is None or level <= 0 else index.equivalent_level(level, row.variables)

    def to_json(self) -> dict[str, Json]:
        """Return the index and its gain as JSON values; null where there is none."""
        names = ("marginal", "conditional", "ratio", "low", "high", "marginal_loss", "conditional_loss")
        counts = ("attempts", "players", "clusters")
        return {
            "env": self.env,
            "apart": list(self.apart),
            "axis": self.axis,
            "why": self.why,
            **{name: getattr(self.gain, name) if self.gain else None for name in (*names, *counts)},
            "weights": self.weights,
            "index": None if self.index is None else self.index.to_json(),
        }


class _Result(NamedTuple):
    """A group's result at an item: its cluster, level, other variables, and the share of attempts that succeeded."""

    group: RunKey
    cluster: Cluster
    level: float
    values: list[float]
    solved: float


def item_difficulties(all_rows: Iterable[Row]) -> list[ItemDifficulty]:
    """Return the difficulty index of each environment that declares explanatory variables of items.

    Results of all models with all their settings count, those of searches for a horizon too, but not those with a
    teacher, and not those of searches by such an index, which have no levels. An item's result is the share of single
    attempts that succeed, as for horizons.
    """
    rows = [
        row
        for row in all_rows
        if row.is_included and not row.guided and DIFFICULTY_INDEX not in dict(row.group.options)
    ]
    difficulties: list[ItemDifficulty] = []
    for (env, separate_by), env_rows in group_by(rows, lambda row: (row.group.env, row.group.separate_by)).items():
        declared = registry.load(env).difficulty
        if declared.item_variables and declared.axes:
            difficulties.append(_item_difficulty(env, separate_by, declared.axes[0], env_rows))
    return difficulties


def _item_difficulty(env: str, separate_by: tuple[str, ...], axis: Axis, env_rows: Sequence[Row]) -> ItemDifficulty:
    """Return the difficulty index of one environment's items, fitted on the rows of all groups."""
    variables = tuple(variable.name for variable in registry.load(env).difficulty.item_variables)
    results = [
        result
        for group, rows in group_by(env_rows, lambda row: row.group).items()
        for result in _item_results(group, rows, axis, variables)
    ]
    groups = {group: number for number, group in enumerate(dict.fromkeys(result.group for result in results))}
    clusters = {cluster: number for number, cluster in enumerate(sorted({result.cluster for result in results}))}
    values: Array = np.array([result.values for result in results], dtype=np.float64)
    gain = (
        index_gain(
            [result.solved for result in results],
            [groups[result.group] for result in results],
            [result.level for result in results],
            values,
            [clusters[result.cluster] for result in results],
        )
        if results
        else "no item has a level"
    )
    is_known = isinstance(gain, IndexGain)
    return ItemDifficulty(
        env=env,
        apart=separate_by,
        axis=axis.name,
        variables=variables,
        gain=gain if is_known else None,
        why="" if is_known else gain,
    )


def _item_results(group: RunKey, rows: Sequence[Row], axis: Axis, variables: Sequence[str]) -> Iterable[_Result]:
    """Yield a group's result at each item that has a level above 0 on an axis."""
    headline = group.environment.scoring.metrics[0]
    for key, attempts in group_by_item(rows).items():
        level = attempts[0].axes.get(axis.name)
        if level is not None and level > 0:
            averaged_attempts = attempts_to_average(attempts, are_perfect(attempts, headline))
            solved = sum(row.succeeded for row in averaged_attempts) / len(averaged_attempts)
            values = [attempts[0].variables.get(name) for name in variables]
            numbers = [np.nan if value is None else value for value in values]
            yield _Result(group, key.cluster, level, numbers, solved)


def difficulty_text(difficulties: Iterable[ItemDifficulty]) -> str:
    """Return a line for each index: the ratio of its slope of success to that of the level alone; "" without any."""
    lines: list[str] = []
    for difficulty in difficulties:
        if difficulty.gain is not None:
            env, gain = registry.load(difficulty.env), difficulty.gain
            title = next(axis.title for axis in env.difficulty.axes if axis.name == difficulty.axis).lower()
            clusters = plural(gain.clusters, env.presentation.cluster or env.presentation.item or "item")
            lines.append(
                f"{env.title}: success falls {gain.ratio:.2f} times as steeply with the difficulty of single "
                f"items as with {title} alone (95 % interval {gain.low:.2f} to {gain.high:.2f}, "
                f"{clusters}){'' if gain.low > 1 else ': no gain is shown'}"
            )
    return "\n".join(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slope:
    """The regression line of a metric's values in clusters on one variable.

    Attributes:
        clusters: Number of clusters in which both the metric and the variable are defined.
        beta: Change of the metric with one standard deviation of the variable; None without a line.
        low: Lower end of the 95 % confidence interval of `beta`; None without a line.
        p: Two-sided p-value of the hypothesis that there is no change; None without a line.
        why: The reason why there is no line; "" if there is one.
    """

    variable: str
    clusters: int
    beta: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Regression(GroupResult):
    """Regressions of a metric in the clusters of one group on each variable alone (MANGO, section C.3 and Table 10).

    Attributes:
        clusters: Number of clusters in which the metric is defined.
    """

    metric: str
    clusters: int
    slopes: tuple[Slope, ...]


def regressions(
    all_rows: Iterable[Row], cluster_variables: Mapping[RunKey, Mapping[Cluster, Variables]]
) -> list[Regression]:
    """Return regressions of metrics on variables of clusters, for groups whose environment declares variables."""
    all_regressions: list[Regression] = []
    for group, rows in group_by(all_rows, lambda row: row.group).items():
        declared = group.environment.difficulty.explanatory_variables
        if declared is None:
            continue
        variables = cluster_variables.get(group, {})
        for name, values in metric_cluster_values(rows, declared.by_metric).items():
            slopes = tuple(
                _regression_slope(
                    variable,
                    [(variables.get(cluster, {}).get(variable), value.value) for cluster, value in values.items()],
                )
                for variable in declared.by_metric[name]
            )
            all_regressions.append(Regression(group=group, metric=name, clusters=len(values), slopes=slopes))
    return all_regressions


def _regression_slope(variable: str, pairs: Sequence[tuple[float | None, float]]) -> Slope:
    """Return the line of a variable's regression over (variable, metric) pairs, one for each cluster."""
    known_pairs = [(value, rate) for value, rate in pairs if value is not None]
    line = regression_line([value for value, _ in known_pairs], [rate for _, rate in known_pairs])
    if isinstance(line, str):  # the reason why there is none
        return Slope(variable=variable, clusters=len(known_pairs), why=line)
    beta, low, high, p = line
    return Slope(variable=variable, clusters=len(known_pairs), beta=beta, low=low, high=high, p=p)


@dataclass(frozen=True, slots=True)
class SetSpread:
    """One number over several sets, or over several attempts (AQA-Bench, arXiv:2402.09404, equations 8 to 10).

    Attributes:
        average: The mean of the sets' means, or of the attempts'.
        margin_min: The average minus the least of these means; never negative.
        margin_max: The greatest of these means minus the average; never negative.
        sets: Number of sets, or of attempts.
    """

    average: float
    margin_min: float
    margin_max: float
    sets: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread(GroupResult):
    """The spread over groups that differ only in their set of items, or over the attempts of one, at one level.

    Attributes:
        group: The group; between sets its key is "".
        keys: The sets' keys, in order of first appearance, or the numbers of the attempts.
        metrics: The spread of every metric that at least two of them have.
        curves: For every series that at least two of them have, the spread of its curve's mean over the steps.
    """

    level: int
    keys: tuple[str, ...]
    metrics: Mapping[str, SetSpread]
    curves: Mapping[str, SetSpread]


def spreads_over_sets(estimates: Iterable[Estimate]) -> list[Spread]:
    """Return the spread over sets of items, at every level that was run with two sets or more and the same settings.

    Estimates over all levels are ignored.
    """
    sets_by_level = group_by(estimates, lambda estimate: (estimate.group.without_key(), estimate.level))
    return [
        _spread_of_estimates(group, level, [estimate.group.key for estimate in sets], sets)
        for (group, level), sets in sets_by_level.items()
        if len(sets) > 1 and level is not None
    ]


def spreads_over_attempts(all_rows: Iterable[Row]) -> list[Spread]:
    """Return the spread over attempts of every group and level whose items were all attempted several times.

    These are the results of running the same items again (Tables 8 and 9): attempts with the same number at all items
    are one run. Attempts that are missing somewhere, for an infrastructure error or since an earlier one was perfect,
    are left out.
    """
    spreads: list[Spread] = []
    for (group, level), level_rows in group_by(all_rows, lambda row: (row.group, row.level)).items():
        rows_by_attempt = complete_attempts(level_rows)
        if len(rows_by_attempt) > 1:
            estimates = [estimate for rows in rows_by_attempt.values() for estimate in by_level(rows)]
            spreads.append(_spread_of_estimates(group, level, list(map(str, rows_by_attempt)), estimates))
    return spreads


def _spread_of_estimates(group: RunKey, level: int, keys: Sequence[str], estimates: Sequence[Estimate]) -> Spread:
    """Return the spread of metrics and curves over estimates, one for each set or attempt (`keys`)."""
    return Spread(
        group=group,
        level=level,
        keys=tuple(keys),
        metrics=_spread_by_name(
            {name: mean.value for name, mean in estimate.metrics.items()} for estimate in estimates
        ),
        curves=_spread_by_name(
            {name: curve.average.value for name, curve in estimate.curves.items()} for estimate in estimates
        ),
    )


def _spread_by_name(sets: Iterable[Mapping[str, float]]) -> dict[str, SetSpread]:
    """Return by name the spread over sets of every number that at least two sets have."""
    values_of_sets = list(sets)
    names = dict.fromkeys(name for values in values_of_sets for name in values)
    values_by_name = {name: [values[name] for values in values_of_sets if name in values] for name in names}
    return {name: set_spread(values) for name, values in values_by_name.items() if len(values) > 1}


def set_spread(values: Sequence[float]) -> SetSpread:
    """Return the average of some numbers, and how far the least and the greatest are from it."""
    average = mean(values)  # exactly rounded, so that it is never beyond the least or the greatest
    return SetSpread(average, average - min(values), max(values) - average, len(values))
