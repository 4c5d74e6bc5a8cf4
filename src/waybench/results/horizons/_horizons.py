"""The items of a player on an axis of difficulty, its horizons and its curve of success."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import isfinite
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from waybench.core import OPTION_AXES, Axis, Metric
from waybench.results.estimates import lost_rows
from waybench.results.horizons._references import (
    SHARES,
    DifficultyBin,
    Expected,
    Extreme,
    Horizon,
    LostHorizon,
    SuccessCurve,
    below_reference_text,
    group_axes,
    is_above_references,
    reference_horizons,
)
from waybench.results.results import (
    Cluster,
    ItemKey,
    Row,
    RunKey,
    are_perfect,
    attempts_to_average,
    count_items,
    group_by,
    group_by_item,
    with_observed_bounds,
)
from waybench.results.stats import FIXED_DESIGN, Array, Fit
from waybench.results.stats._curves import CurvePrior
from waybench.results.stats._fit import HORIZON_CONFIDENCE, HorizonPosition, fit_curves
from waybench.results.stats._horizon_ratios import horizon_order, horizon_ratio
from waybench.results.stats._intervals import holm_adjusted

FEWEST = 2  # difficulties: the slope of the curve cannot be estimated from one
_LINE_POINTS = 25  # difficulties at which a curve is evaluated
# What else could be taken for granted of curves, one thing at a time beside "nothing is guessed".
ALTERNATIVES: Mapping[str, CurvePrior] = {
    "guess: none": CurvePrior(),
    "link: logistic": CurvePrior(links=("logistic",)),
    "link: probit": CurvePrior(links=("normal",)),
    "link: complementary log-log": CurvePrior(links=("gumbel",)),
    "prior: slopes twice as free": CurvePrior(spread=2.0),
    "lapse: none": CurvePrior(lapse={0.0: 1.0}),
    "axis: linear": CurvePrior(log=False),
}


class _Item(NamedTuple):
    """An item as a trial.

    Attributes:
        at: Its difficulty.
        solved: Share of the averaged attempts that succeed.
        n_averaged: Number of these attempts (`attempts_to_average`).
        trials: Number of all attempts.
    """

    key: ItemKey
    at: float
    solved: float
    n_averaged: int
    trials: int


@dataclass(frozen=True)
class AxisItems:
    """The items of a group on an axis; it `leads` if it is the group's first axis.

    If a search along this axis chose the items, `searched` has the least and greatest difficulty that it could try.
    Where attempts have no result, `lost` is their number, and `extremes` has the items if all of them were failures,
    and if all were solved. `alternatives` are the other assumptions under which curves are fitted, by name.
    """

    group: RunKey
    axis: Axis
    items: Sequence[_Item]
    alternatives: Mapping[str, CurvePrior]
    leads: bool
    searched: tuple[float, float] | None = None
    lost: int = 0
    extremes: tuple["AxisItems", "AxisItems"] | None = None

    @property
    def difficulty_range(self) -> tuple[str, str, float, float]:
        """Environment, axis, and least and greatest difficulty of the curves."""
        low, high = self.searched or (float(self.difficulties.min()), float(self.difficulties.max()))
        return self.group.env, self.axis.name, low, high

    @cached_property
    def difficulties(self) -> Array:
        """The difficulty of each item."""
        return np.array([item.at for item in self.items], dtype=np.float64)

    @cached_property
    def clusters(self) -> list[int]:
        """The number of each item's cluster, from 0."""
        numbers: dict[Cluster, int] = {}
        return [numbers.setdefault(item.key.cluster, len(numbers)) for item in self.items]

    def fit(self, prior: CurvePrior) -> Fit:
        """Return the curve fitted to the items with a prior."""
        solved = np.array([item.solved for item in self.items], dtype=np.float64)
        n_attempts = [item.n_averaged for item in self.items]
        return fit_curves(prior, self.difficulties, solved, self.clusters, n_attempts, self.searched)

    @cached_property
    def main_fit(self) -> Fit:
        """The fit from which horizons are read; for items that a search chose, the search's own one."""
        rates = self.group.guess_rates(self.axis.name)
        return self.fit((CurvePrior() if self.searched else FIXED_DESIGN).with_guess_rates(rates))

    @cached_property
    def _alternative_horizons(self) -> dict[str, Mapping[float, HorizonPosition]]:
        """Cache of the horizons under other assumptions, by name and share."""
        return {}

    def alternative_horizon(self, name: str) -> Mapping[float, HorizonPosition]:
        """Return the horizon at each share under another assumption; computed once."""
        if name not in self._alternative_horizons:
            fit = self.fit(self.alternatives[name])
            self._alternative_horizons[name] = {
                share: fit.horizon_position(share, HORIZON_CONFIDENCE) for share in SHARES
            }
        return self._alternative_horizons[name]

    def horizons(self) -> Iterator[Horizon]:
        """Yield the horizon at each share, with its positions under other assumptions."""
        for share in SHARES:
            yield self.horizon(share, {name: self.alternative_horizon(name)[share] for name in self.alternatives})

    def _lost_horizon(self, share: float) -> LostHorizon | None:
        """Return how many attempts have no result, with the horizons if all failed and if all succeeded."""
        if self.extremes is None:
            return None
        horizons = [items.horizon(share) for items in self.extremes]
        planned = sum(item.trials for item in self.items) + self.lost
        lowest, highest = (
            Extreme(horizon.value, horizon.side, horizon.easiest, horizon.hardest) for horizon in horizons
        )
        return LostHorizon(self.lost, planned, lowest, highest)

    def horizon(self, share: float, others: Mapping[str, HorizonPosition] = MappingProxyType({})) -> Horizon:
        """Return the horizon at a share, with its positions under other assumptions."""
        easiest, hardest = float(self.difficulties.min()), float(self.difficulties.max())

        def within_difficulties(value: float) -> float | None:
            """Return the value; None if it is outside the difficulties that were tried."""
            return value if isfinite(value) and easiest <= value <= hardest else None

        value, low, high, side = self.main_fit.horizon_position(share, HORIZON_CONFIDENCE)
        references = reference_horizons(self.group, self.axis.name, share)
        least = low
        if self.extremes is not None:  # above the references only if it is so whatever the lost results were
            least = self.extremes[0].main_fit.horizon_position(share, HORIZON_CONFIDENCE).low
        return Horizon(
            group=self.group,
            axis=self.axis.name,
            share=share,
            value=within_difficulties(value),
            low=within_difficulties(low),
            high=within_difficulties(high),
            side=side,
            easiest=easiest,
            hardest=hardest,
            trials=sum(item.trials for item in self.items),
            items=self._n_items(),
            clusters=max(self.clusters) + 1,
            sensitivity={name: within_difficulties(other.value) for name, other in others.items()},
            sides={name: other.side for name, other in others.items()},
            known=low >= easiest or high <= hardest,
            references=references,
            above_references=is_above_references(least, references),
            mark=below_reference_text(value, least, references),
            curve_fits=self.main_fit.is_adequate,
            lost=self._lost_horizon(share),
        )

    def _n_items(self) -> int:
        """Return the number of items; an item that was played with several values of an option is one."""
        if self.axis.name in OPTION_AXES:
            return len({item.key.instance for item in self.items})
        return count_items(item.key for item in self.items)

    def bins(self) -> Iterator[DifficultyBin]:
        """Yield the success rate at each difficulty, rising."""
        for at, items in sorted(group_by(self.items, lambda item: item.at).items()):
            share = sum(item.solved for item in items) / len(items)
            yield DifficultyBin(at, share, count_items(item.key for item in items), sum(item.trials for item in items))

    def curve_points(self) -> Iterator[Expected]:
        """Yield points of the fitted curve with its confidence band."""
        at: Array = np.geomspace(float(self.difficulties.min()), float(self.difficulties.max()), _LINE_POINTS)
        rates, (low, high) = self.main_fit.expected_rates(at), self.main_fit.rate_band(at, HORIZON_CONFIDENCE)
        for point in zip(at.tolist(), rates.tolist(), low.tolist(), high.tolist(), strict=True):
            yield Expected(*point)


def axis_items(all_rows: Iterable[Row]) -> Iterator[AxisItems]:
    """Yield the items of each group on each axis on which at least two difficulties were tried.

    Episodes with a teacher, and those of comparisons that stop when they are decided, are left out.
    """
    # A comparison stops by the very results that a horizon would be read from.
    unguided = [row for row in all_rows if not row.guided and not row.is_streamed]
    all_by_group = group_by(unguided, lambda row: row.group)
    included_by_group = group_by((row for row in unguided if row.is_included), lambda row: row.group)
    for group, rows in included_by_group.items():
        scoring, axes = group.environment.scoring, group_axes(rows)
        rows_by_item = group_by_item(rows) if axes else {}
        metrics = [with_observed_bounds(metric, rows) for metric in scoring.metrics]
        lost = lost_rows(all_by_group[group], metrics, best_of=scoring.best_of)
        for number, axis in enumerate(axes):
            items = _items_on_axis(rows_by_item, axis, scoring.metrics[0])
            if len({item.at for item in items}) < FEWEST:
                continue
            is_first = number == 0
            alternatives = ALTERNATIVES if is_first else dict[str, CurvePrior]()
            limits = _search_limits(rows, axis)
            items_of_axis = AxisItems(group, axis, items, alternatives, leads=is_first, searched=limits)
            if lost is not None:
                failures, solved = (
                    replace(items_of_axis, items=_items_on_axis(filled, axis, scoring.metrics[0]))
                    for filled in (lost.filled[0], lost.filled[-1])
                )
                items_of_axis = replace(items_of_axis, lost=lost.lost, extremes=(failures, solved))
            yield items_of_axis


def _items_on_axis(rows_by_item: Mapping[ItemKey, Sequence[Row]], axis: Axis, headline: Metric) -> list[_Item]:
    """Return the items with a difficulty above 0 on the axis, from each item's rows."""
    items: list[_Item] = []
    for key, rows in rows_by_item.items():
        at = next((row.axes[axis.name] for row in rows if row.axes.get(axis.name) is not None), None)
        if at is not None and at > 0:
            averaged = attempts_to_average(rows, are_perfect(rows, headline))
            solved = sum(row.succeeded for row in averaged) / len(averaged)
            items.append(_Item(key, at, solved, len(averaged), len(rows)))
    return items


def _search_limits(rows: Sequence[Row], axis: Axis) -> tuple[float, float] | None:
    """Return the least and greatest difficulty that searches could choose; None unless they chose all items."""
    ranges = [search for row in rows if (search := row.search_range) is not None and search.axis == axis.name]
    if len(ranges) < len(rows):
        return None
    return min(search.lowest for search in ranges), max(search.highest for search in ranges)


def horizons(all_rows: Iterable[Row]) -> list[Horizon]:
    """Return the horizons of every model, task and settings on every axis of its items, for `SHARES`.

    A horizon is of single attempts, and each item is a trial: whether it was a success as the environment declares it
    (`Difficulty.is_success`), or the share of its attempts that were. Where attempts end with a perfect one, items at
    which a player is good have fewer of them, and all attempts as trials would give too small a horizon: where mazes of
    one dimension are not equally hard, 90 % intervals would cover the true horizon in only 42 to 90 % of cases. So an
    item counts as the expected result of one attempt (`single_attempt_mean`).

    Items are clustered as they were drawn. Left out are the episodes and axes that `axis_items` leaves out.
    """
    all_items = list(axis_items(all_rows))
    by_index = {index: list(all_items[index].horizons()) for index in _grid_order(all_items)}
    return [horizon for index in range(len(all_items)) for horizon in by_index[index]]


def success_curves(all_rows: Iterable[Row]) -> list[SuccessCurve]:
    """Return the success rate along each axis, with its horizons and their comparison with the leader's."""
    all_items = list(axis_items(all_rows))
    curves = {index: _success_curve(all_items[index]) for index in _grid_order(all_items)}
    tasks = _ranked_tasks(all_items)
    p_adjusted = _adjusted_p_values(all_items, [task.ranked for task in tasks])
    for task in tasks:
        leader = max(task.ranked, key=lambda index: curves[index].horizons[0].order)
        for index in task.complete:
            if index != leader:
                curves[index] = replace(
                    curves[index],
                    leader=all_items[leader].group,
                    ratio=horizon_ratio(all_items[index].main_fit, all_items[leader].main_fit, SHARES[0]),
                    p_adjusted=p_adjusted.get(frozenset((index, leader))),
                )
    return [curves[index] for index in range(len(all_items))]


def _grid_order(all_items: Sequence[AxisItems]) -> Iterator[int]:
    """Yield all indices, those that share a grid of curves after each other.

    A grid is large and takes long to compute. So before the indices of one range of difficulties are yielded, all of
    them are fitted under one alternative after the other.
    """
    by_range = group_by(range(len(all_items)), lambda index: all_items[index].difficulty_range)
    for _, indices in sorted(by_range.items()):
        for name in dict.fromkeys(name for index in indices for name in all_items[index].alternatives):
            for index in indices:
                if name in all_items[index].alternatives:
                    all_items[index].alternative_horizon(name)
        yield from indices


class _Task(NamedTuple):
    """Indices of the `AxisItems` whose horizons are compared at a task.

    Attributes:
        complete: The indices of items without lost attempts; others have no rank.
        ranked: The models among these, or all of them if none is a model.
    """

    complete: list[int]
    ranked: list[int]


def _ranked_tasks(all_items: Sequence[AxisItems]) -> list[_Task]:
    """Return, for each task, the indices of the `AxisItems` whose horizons are compared, on the first axis."""

    def task_key(index: int) -> tuple[str, str, int, str]:
        """Return the task, environment, version and axis of the items with an index."""
        group = all_items[index].group
        return group.task, group.env, group.version, all_items[index].axis.name

    complete = [index for index, items in enumerate(all_items) if items.leads and not items.lost]
    return [
        _Task(indices, [index for index in indices if not all_items[index].group.embedded] or indices)
        for indices in group_by(complete, task_key).values()
    ]


def _adjusted_p_values(all_items: Sequence[AxisItems], ranked: Iterable[Sequence[int]]) -> dict[frozenset[int], float]:
    """Return the p value of each pair of horizons, adjusted for all pairs at all tasks.

    Adjusted only for the pairs with the leader, which the results choose, it would be too small.
    """
    pairs = [pair for indices in ranked for pair in combinations(indices, 2)]
    fits = ((all_items[first].main_fit, all_items[second].main_fit) for first, second in pairs)
    p_values = [horizon_order(first, second, SHARES[0]).p for first, second in fits]
    return dict(zip(map(frozenset, pairs), holm_adjusted(p_values), strict=True))


def _success_curve(items: AxisItems) -> SuccessCurve:
    """Return the success rate along an axis, with its horizons but without a leader."""
    return SuccessCurve(
        group=items.group,
        axis=items.axis.name,
        horizons=tuple(items.horizons()),
        bins=tuple(items.bins()),
        line=tuple(items.curve_points()),
    )


def headline_horizons(horizons: Iterable[Horizon]) -> dict[RunKey, Horizon]:
    """Return the horizon of each group at the first share, on its environment's first axis.

    For a search along an option it is that on the option's axis, the only one that its items have.
    """
    return {
        horizon.group: horizon
        for horizon in horizons
        if horizon.share == SHARES[0]
        and (horizon.axis in OPTION_AXES or horizon.axis == horizon.group.environment.difficulty.axes[0].name)
    }
