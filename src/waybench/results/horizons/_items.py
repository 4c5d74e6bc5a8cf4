"""The items of a player on an axis of difficulty, and the horizons that follow from its results at them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, isfinite
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from waybench.core import OPTION_AXES, Axis, Metric
from waybench.envs import registry
from waybench.results.estimates import lost_rows
from waybench.results.horizons._references import (
    SHARES,
    DifficultyBin,
    Expected,
    Extreme,
    Horizon,
    LostHorizon,
    axes_of,
    is_above,
    reference_horizons,
    reference_mark,
)
from waybench.results.results import (
    Cluster,
    Group,
    ItemKey,
    Row,
    at_items,
    count_items,
    grouped,
    over,
    perfections,
    telling,
)
from waybench.results.stats import FIXED_DESIGN, HORIZON_CONFIDENCE, Array, Fit, Shape, fitted

FEWEST = 2  # difficulties: the slope of the curve cannot be estimated from one
_LINE_POINTS = 25  # difficulties at which a curve is evaluated
# What else could be taken for granted of curves, one thing at a time beside "nothing is guessed".
ALTERNATIVES: Mapping[str, Shape] = {
    "guess: none": Shape(),
    "link: logistic": Shape(links=("logistic",)),
    "link: probit": Shape(links=("normal",)),
    "link: complementary log-log": Shape(links=("gumbel",)),
    "prior: slopes twice as free": Shape(spread=2.0),
    "lapse: none": Shape(lapse={0.0: 1.0}),
    "axis: linear": Shape(log=False),
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
class Tried:
    """The items of a group on an axis, and whether it is the first one, that of its horizon.

    If a search along this axis chose the items, `searched` has the least and greatest difficulty that it could try.
    Where attempts have no result, `lost` is their number, and `extremes` has the items if all of them were failures,
    and if all were solved.
    """

    group: Group
    axis: Axis
    items: Sequence[_Item]
    alternatives: Mapping[str, Shape]
    leads: bool
    searched: tuple[float, float] | None = None
    lost: int = 0
    extremes: tuple["Tried", "Tried"] | None = None

    @property
    def range(self) -> tuple[str, str, float, float]:
        """The environment, the axis, and the difficulties that its curves lie between."""
        return self.group.env, self.axis.name, *(self.searched or (float(self.at.min()), float(self.at.max())))

    @cached_property
    def at(self) -> Array:
        return np.array([item.at for item in self.items], dtype=np.float64)

    @cached_property
    def clusters(self) -> list[int]:
        numbers: dict[Cluster, int] = {}
        return [numbers.setdefault(item.cluster, len(numbers)) for item in self.items]

    def fit(self, shape: Shape) -> Fit:
        solved = np.array([item.solved for item in self.items], dtype=np.float64)
        return fitted(shape, self.at, solved, self.clusters, [item.counted for item in self.items], self.searched)

    @cached_property
    def plain(self) -> Fit:
        """The fit that horizons come from; that of a search is the one that the search itself has gone by."""
        return self.fit(Shape() if self.searched else FIXED_DESIGN)

    @cached_property
    def _under(self) -> dict[str, Mapping[float, float]]:
        return {}

    def under(self, name: str) -> Mapping[float, float]:
        """Return the horizon at each share under an alternative; it is worked out once."""
        if name not in self._under:
            fit = self.fit(self.alternatives[name])
            self._under[name] = {share: self._bounded(fit, share)[0] for share in SHARES}
        return self._under[name]

    def horizons(self) -> Iterator[Horizon]:
        for share in SHARES:
            yield self.horizon(share, {name: self.under(name)[share] for name in self.alternatives})

    def _bounded(self, fit: Fit, share: float) -> tuple[float, float, float]:
        """Return a horizon and the ends of its interval, infinite where no attempt or every attempt succeeded.

        Where all attempts solved their items the horizon is beyond the hardest of them, and where none did, below the
        easiest: between these it would be a guess from what is taken for granted of curves. The interval is at least
        as wide as the gap between the tried difficulties around the horizon (`Fit.spanned_horizon`).
        """
        value, low, high = fit.spanned_horizon(share, HORIZON_CONFIDENCE)
        solved = {item.solved for item in self.items}
        if solved == {1.0}:
            return inf, low, inf
        return (-inf, -inf, high) if solved == {0.0} else (value, low, high)

    def _lost(self, share: float) -> LostHorizon | None:
        """Return what the horizon lacks, with its values under the two extremes."""
        if self.extremes is None:
            return None
        ends = [extreme.horizon(share) for extreme in self.extremes]
        planned = sum(item.trials for item in self.items) + self.lost
        lowest, highest = (Extreme(end.value, end.side, end.easiest, end.hardest) for end in ends)
        return LostHorizon(self.lost, planned, lowest, highest)

    def horizon(self, share: float, others: Mapping[str, float] = MappingProxyType({})) -> Horizon:
        """Return the horizon at a share, with its values under other assumptions."""
        easiest, hardest = float(self.at.min()), float(self.at.max())

        def within(value: float) -> float | None:
            return value if isfinite(value) and easiest <= value <= hardest else None

        def side(value: float) -> str:
            return "" if within(value) is not None else "beyond" if value > hardest else "below"

        value, low, high = self._bounded(self.plain, share)
        references = reference_horizons(self.group, self.axis.name, share)
        # With attempts whose results are lost, it is above these only if it is so whatever the results were.
        least = low if self.extremes is None else self.extremes[0]._bounded(self.extremes[0].plain, share)[1]
        return Horizon(
            group=self.group,
            axis=self.axis.name,
            share=share,
            value=within(value),
            low=within(low),
            high=within(high),
            side=side(value),
            easiest=easiest,
            hardest=hardest,
            trials=sum(item.trials for item in self.items),
            items=self._count(),
            clusters=max(self.clusters) + 1,
            sensitivity={name: within(other) for name, other in others.items()},
            sides={name: side(other) for name, other in others.items()},
            known=low >= easiest or high <= hardest,
            references=references,
            above_references=is_above(least, references),
            mark=reference_mark(value, least, references),
            curve_fits=self.plain.is_adequate,
            lost=self._lost(share),
        )

    def _count(self) -> int:
        """Return the number of items; along an option, one that was played with several values is one item."""
        if self.axis.name in OPTION_AXES:
            return len({item.key.instance for item in self.items})
        return count_items(item.key for item in self.items)

    def bins(self) -> Iterator[DifficultyBin]:
        for at, some in sorted(grouped(self.items, lambda item: item.at).items()):
            share = sum(item.solved for item in some) / len(some)
            yield DifficultyBin(at, share, count_items(item.key for item in some), sum(item.trials for item in some))

    def line(self) -> Iterator[Expected]:
        at: Array = np.geomspace(float(self.at.min()), float(self.at.max()), _LINE_POINTS)
        rates, (low, high) = self.plain.rate(at), self.plain.band(at, HORIZON_CONFIDENCE)
        for each in zip(at.tolist(), rates.tolist(), low.tolist(), high.tolist(), strict=True):
            yield Expected(*each)


def tried_axes(all_rows: Iterable[Row]) -> Iterator[Tried]:
    """Return the items of every group on each axis of which enough difficulties were tried."""
    unguided = [row for row in all_rows if not row.guided]
    all_of_group = grouped(unguided, lambda row: row.group)
    free = [row for row in unguided if row.is_included]
    for group, own in grouped(free, lambda row: row.group).items():
        env, axes = registry.load(group.env), axes_of(own)
        tried = at_items(own) if axes else {}
        lost = lost_rows(
            all_of_group[group], [over(one, own) for one in env.scoring.metrics], best_of=env.scoring.best_of
        )
        for number, axis in enumerate(axes):
            items = _items(tried, axis, env.scoring.metrics[0])
            if len({item.at for item in items}) >= FEWEST:
                others = ALTERNATIVES if number == 0 else dict[str, Shape]()
                made = Tried(group, axis, items, others, leads=number == 0, searched=_searched(own, axis))
                if lost is not None:
                    failures, solved = (
                        replace(made, items=_items(filled, axis, env.scoring.metrics[0]))
                        for filled in (lost.filled[0], lost.filled[-1])
                    )
                    made = replace(made, lost=lost.lost, extremes=(failures, solved))
                yield made


def _items(tried: Mapping[ItemKey, Sequence[Row]], axis: Axis, head: Metric) -> list[_Item]:
    items: list[_Item] = []
    for key, rows in tried.items():
        at = next((row.axes[axis.name] for row in rows if row.axes.get(axis.name) is not None), None)
        if at is not None and at > 0:
            counted = telling(rows, perfections(rows, head))
            solved = sum(row.succeeded for row in counted) / len(counted)
            items.append(_Item(key, at, solved, len(counted), len(rows)))
    return items


def _searched(own: Sequence[Row], axis: Axis) -> tuple[float, float] | None:
    """Return what searches could try if they chose all items of a group along an axis."""
    ranges = [one for row in own if (one := row.search_range) is not None and one.axis == axis.name]
    if len(ranges) < len(own):
        return None
    return min(one.lowest for one in ranges), max(one.highest for one in ranges)
