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
    """An item: key, difficulty, share of the counted attempts that solve it, their number, and that of all attempts."""

    key: ItemKey
    at: float
    solved: float
    counted: int
    trials: int

    @property
    def cluster(self) -> Cluster:
        return self.key.cluster


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
        return (
            self.group.env,
            self.axis.name,
            *(self.searched or (float(self.difficulties.min()), float(self.difficulties.max()))),
        )

    @cached_property
    def difficulties(self) -> Array:
        return np.array([item.at for item in self.items], dtype=np.float64)

    @cached_property
    def clusters(self) -> list[int]:
        """The number of each item's cluster, from 0."""
        numbers: dict[Cluster, int] = {}
        return [numbers.setdefault(item.cluster, len(numbers)) for item in self.items]

    def fit(self, prior: CurvePrior) -> Fit:
        """Return the curve fitted to the items with a prior."""
        solved = np.array([item.solved for item in self.items], dtype=np.float64)
        return fit_curves(
            prior, self.difficulties, solved, self.clusters, [item.counted for item in self.items], self.searched
        )

    @cached_property
    def main_fit(self) -> Fit:
        """The fit from which horizons are read; for items that a search chose, the search's own one."""
        rates = self.group.guess_rates(self.axis.name)
        return self.fit((CurvePrior() if self.searched else FIXED_DESIGN).with_guess_rates(rates))

    @cached_property
    def _alternative_horizons(self) -> dict[str, Mapping[float, HorizonPosition]]:
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
        ends = [extreme.horizon(share) for extreme in self.extremes]
        planned = sum(item.trials for item in self.items) + self.lost
        lowest, highest = (Extreme(end.value, end.side, end.easiest, end.hardest) for end in ends)
        return LostHorizon(self.lost, planned, lowest, highest)

    def horizon(self, share: float, others: Mapping[str, HorizonPosition] = MappingProxyType({})) -> Horizon:
        """Return the horizon at a share, with its positions under other assumptions."""
        easiest, hardest = float(self.difficulties.min()), float(self.difficulties.max())

        def within_difficulties(value: float) -> float | None:
            """Return the value; None if it is outside the difficulties that were tried."""
            return value if isfinite(value) and easiest <= value <= hardest else None

        value, low, high, side = self.main_fit.horizon_position(share, HORIZON_CONFIDENCE)
        references = reference_horizons(self.group, self.axis.name, share)
        # With attempts whose results are lost, it is above these only if it is so whatever the results were.
        least = (
            low if self.extremes is None else self.extremes[0].main_fit.horizon_position(share, HORIZON_CONFIDENCE).low
        )
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
    all_of_group = group_by(unguided, lambda row: row.group)
    free = [row for row in unguided if row.is_included]
    for group, group_rows in group_by(free, lambda row: row.group).items():
        env, axes = group.environment, group_axes(group_rows)
        tried = group_by_item(group_rows) if axes else {}
        lost = lost_rows(
            all_of_group[group],
            [with_observed_bounds(metric, group_rows) for metric in env.scoring.metrics],
            best_of=env.scoring.best_of,
        )
        for number, axis in enumerate(axes):
            items = _items_on_axis(tried, axis, env.scoring.metrics[0])
            if len({item.at for item in items}) >= FEWEST:
                others = ALTERNATIVES if number == 0 else dict[str, CurvePrior]()
                tried_axis = AxisItems(
                    group, axis, items, others, leads=number == 0, searched=_search_limits(group_rows, axis)
                )
                if lost is not None:
                    failures, solved = (
                        replace(tried_axis, items=_items_on_axis(filled, axis, env.scoring.metrics[0]))
                        for filled in (lost.filled[0], lost.filled[-1])
                    )
                    tried_axis = replace(tried_axis, lost=lost.lost, extremes=(failures, solved))
                yield tried_axis


def _items_on_axis(tried: Mapping[ItemKey, Sequence[Row]], axis: Axis, head: Metric) -> list[_Item]:
    """Return the items with a difficulty on the axis, from each item's rows."""
    items: list[_Item] = []
    for key, rows in tried.items():
        at = next((row.axes[axis.name] for row in rows if row.axes.get(axis.name) is not None), None)
        if at is not None and at > 0:
            counted = attempts_to_average(rows, are_perfect(rows, head))
            solved = sum(row.succeeded for row in counted) / len(counted)
            items.append(_Item(key, at, solved, len(counted), len(rows)))
    return items


def _search_limits(rows: Sequence[Row], axis: Axis) -> tuple[float, float] | None:
    """Return the difficulties that searches could choose; None if searches did not choose all items."""
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
    all_tried = list(axis_items(all_rows))
    by_number = {number: list(all_tried[number].horizons()) for number in _grid_order(all_tried)}
    return [horizon for number in range(len(all_tried)) for horizon in by_number[number]]


def success_curves(all_rows: Iterable[Row]) -> list[SuccessCurve]:
    """Return the success rate along each axis, with its horizons and their comparison with the leader's."""
    all_tried = list(axis_items(all_rows))
    curves = {number: _success_curve(all_tried[number]) for number in _grid_order(all_tried)}
    tasks = _ranked_tasks(all_tried)
    adjusted = _adjusted_p_values(all_tried, [task.ranked for task in tasks])
    leaders: dict[int, int] = {}
    for task in tasks:
        leader = max(task.ranked, key=lambda number: curves[number].horizons[0].order)
        leaders |= {number: leader for number in task.complete if number != leader}
    return [
        curves[number]
        if number not in leaders
        else replace(
            curves[number],
            leader=all_tried[leaders[number]].group,
            ratio=horizon_ratio(all_tried[number].main_fit, all_tried[leaders[number]].main_fit, SHARES[0]),
            p_adjusted=adjusted.get(frozenset((number, leaders[number]))),
        )
        for number in range(len(all_tried))
    ]


def _grid_order(all_tried: Sequence[AxisItems]) -> Iterator[int]:
    """Yield all indices, those that share a grid of curves after each other.

    A grid is large and takes long to compute. So before the indices of one range of difficulties are yielded, all of
    them are fitted under one alternative after the other.
    """
    alike = group_by(range(len(all_tried)), lambda number: all_tried[number].difficulty_range)
    for _, numbers in sorted(alike.items()):
        for name in dict.fromkeys(name for number in numbers for name in all_tried[number].alternatives):
            for number in numbers:
                if name in all_tried[number].alternatives:
                    all_tried[number].alternative_horizon(name)
        yield from numbers


class _Task(NamedTuple):
    """Indices of the `AxisItems` whose horizons are compared at a task.

    Attributes:
        complete: Those without lost attempts; the others have no rank.
        ranked: The models among these, or all of them if none is a model.
    """

    complete: list[int]
    ranked: list[int]


def _ranked_tasks(all_tried: Sequence[AxisItems]) -> list[_Task]:
    """Return, for each task, the indices of the `AxisItems` whose horizons are compared, on the first axis."""

    def task_key(number: int) -> tuple[str, str, int, str]:
        """Return the task, environment, version and axis of the series of attempts with an index."""
        group = all_tried[number].group
        return group.task, group.env, group.version, all_tried[number].axis.name

    complete = [number for number, tried in enumerate(all_tried) if tried.leads and not tried.lost]
    return [
        _Task(numbers, [number for number in numbers if not all_tried[number].group.embedded] or numbers)
        for numbers in group_by(complete, task_key).values()
    ]


def _adjusted_p_values(all_tried: Sequence[AxisItems], ranked: Iterable[Sequence[int]]) -> dict[frozenset[int], float]:
    """Return the p value of each pair of horizons, adjusted for all pairs at all tasks.

    Adjusted only for the pairs with the leader, which the results choose, it would be too small.
    """
    pairs = [pair for numbers in ranked for pair in combinations(numbers, 2)]
    orders = [horizon_order(all_tried[one].main_fit, all_tried[other].main_fit, SHARES[0]) for one, other in pairs]
    return dict(zip(map(frozenset, pairs), holm_adjusted([order.p for order in orders]), strict=True))


def _success_curve(tried: AxisItems) -> SuccessCurve:
    """Return the success rate along an axis, with its horizons but without a leader."""
    return SuccessCurve(
        group=tried.group,
        axis=tried.axis.name,
        horizons=tuple(tried.horizons()),
        bins=tuple(tried.bins()),
        line=tuple(tried.curve_points()),
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
