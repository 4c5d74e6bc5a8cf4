"""Horizons: the difficulty at which a player's success rate falls to 50 % or 80 %."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from math import inf, isfinite
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from waybench.analysis.horizons._axes import axes_of
from waybench.analysis.horizons._references import ReferenceHorizon, is_above, reference_horizons, reference_mark
from waybench.analysis.results import Cluster, Group, ItemKey, Row, at_items, count_items, grouped, perfections, telling
from waybench.core import OPTION_AXES, Axis, Json
from waybench.envs import registry
from waybench.stats import FIXED_DESIGN, HORIZON_CONFIDENCE, Array, Fit, HorizonRatio, Shape, fitted, horizon_ratio

SHARES = (0.5, 0.8)
FEWEST = 2  # difficulties: the slope of the curve cannot be estimated from one
_OUTSIDE = 1e9  # greater than any difficulty
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Horizon:
    """The difficulty at which a player succeeds at a share of the items.

    Attributes:
        group: Model, task and settings.
        axis: Name of what makes items hard.
        share: The share.
        value: The difficulty; None where that is not between what was tried (see `side`).
        low: Lower end of its 90 % interval; None where it is not between what was tried.
        high: Upper end, likewise.
        side: "beyond" where the horizon is above the hardest items that were tried, "below" where it is below the
            easiest ones; "" between.
        easiest: The least difficulty that was tried.
        hardest: The greatest one.
        trials: Number of attempts.
        items: Number of items that they were made at.
        clusters: Number of independent clusters that they come from.
        sensitivity: The value under other assumptions (`ALTERNATIVES`), by their names; None where it is not between
            what was tried. Of an environment's first axis alone.
        sides: The sides of these values, likewise.
        known: Whether the interval leaves out some of what was tried. If it does not, there were too few items.
        references: The horizons of players that know nothing of the items, where they are known.
        above_references: Whether the interval is above all of these; None where there are none.
        mark: That it is not: "not above a random player's"; "" otherwise.
        curve_fits: Whether the success rates agree with the fitted curve. If they do not (a plateau, a dip), the
            interval holds for any curve that falls.
    """

    group: Group
    axis: str
    share: float
    value: float | None
    low: float | None
    high: float | None
    side: str
    easiest: float
    hardest: float
    trials: int
    items: int
    clusters: int
    sensitivity: Mapping[str, float | None]
    sides: Mapping[str, str]
    known: bool = True
    references: tuple[ReferenceHorizon, ...] = ()
    above_references: bool | None = None
    mark: str = ""
    curve_fits: bool = True

    def under(self, assumption: str) -> "Horizon":
        """Return the horizon under another assumption, of which no interval is known."""
        return replace(
            self,
            value=self.sensitivity[assumption],
            side=self.sides[assumption],
            low=None,
            high=None,
            sensitivity={},
            sides={},
            references=(),
            above_references=None,
            mark="",
            curve_fits=True,
        )

    @property
    def order(self) -> float:
        """Sort key of the horizons of one axis: first those below the difficulties tested, last those above them."""
        if self.value is not None:
            return self.value
        return _OUTSIDE + self.hardest if self.side == "beyond" else self.easiest - _OUTSIDE

    def to_json(self) -> dict[str, Json]:
        """Return the horizon as JSON values."""
        return {**asdict(self), "group": self.group.to_json()}


class DifficultyBin(NamedTuple):
    """The observed success rate at one difficulty.

    Attributes:
        at: The difficulty.
        solved: Share of its items at which a single attempt succeeds, from 0 to 1.
        items: Number of its items.
        trials: Number of attempts at them.
    """

    at: float
    solved: float
    items: int
    trials: int


class Expected(NamedTuple):
    """The fitted success rate at one difficulty.

    Attributes:
        at: The difficulty.
        rate: The expected success rate.
        low: Lower end of its 90 % interval at this difficulty.
        high: Upper end.
    """

    at: float
    rate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SuccessCurve:
    """How the success of a player falls along an axis.

    Attributes:
        group: Model, task and settings.
        axis: Name of what makes items hard.
        horizons: The horizons at `SHARES`.
        bins: The success rate observed at each difficulty, rising.
        line: The fitted curve from the least difficulty that was tried to the greatest.
        leader: The group that reaches furthest at the same task, among models if there are any; None on other axes
            than the first one, and for that group itself.
        ratio: The 50 % horizon divided by the leader's; None without a leader.
    """

    group: Group
    axis: str
    horizons: tuple[Horizon, ...]
    bins: tuple[DifficultyBin, ...]
    line: tuple[Expected, ...]
    leader: Group | None = None
    ratio: HorizonRatio | None = None


def horizons(all_rows: Iterable[Row]) -> list[Horizon]:
    """Return the horizons of every model, task and settings on every axis of its items, for `SHARES`.

    A horizon is of single attempts, and each item is a trial: whether it was a success as the environment declares it
    (`Environment.succeeded`), or the share of its attempts that were. Where attempts end with a perfect one, items at
    which a player is good have fewer of them, and all attempts as trials would find too small a horizon: a player to
    whom mazes of one dimension are more or less hard would have it in 42 to 90 % of its 90 % intervals. So an item
    counts as `single_attempt` says.

    Items are clustered as they were drawn. Left out are episodes with a teacher, whose merit it is, and axes of which
    fewer than two difficulties were tried.
    """
    all_tried = list(tried_axes(all_rows))
    found = {number: list(all_tried[number].horizons()) for number in _by_grid(all_tried)}
    return [horizon for number in range(len(all_tried)) for horizon in found[number]]


def success_curves(all_rows: Iterable[Row]) -> list[SuccessCurve]:
    """Return how success falls along every axis on which `horizons` finds some, with these."""
    all_tried = list(tried_axes(all_rows))
    found = {number: _success_curve(all_tried[number]) for number in _by_grid(all_tried)}
    leaders = _leaders(all_tried, found)
    return [
        found[number]
        if number not in leaders
        else replace(
            found[number],
            leader=all_tried[leaders[number]].group,
            ratio=horizon_ratio(all_tried[number].plain, all_tried[leaders[number]].plain, SHARES[0]),
        )
        for number in range(len(all_tried))
    ]


def _by_grid(all_tried: Sequence["Tried"]) -> Iterator[int]:
    """Yield the numbers of all, in an order in which those whose fits share a grid of curves follow each other.

    A grid is costly to lay out and large. So players of one range of difficulties come together, and before these are
    yielded, all of them are fitted under one alternative after the other.
    """
    alike = grouped(range(len(all_tried)), lambda number: all_tried[number].range)
    for _, numbers in sorted(alike.items()):
        for name in dict.fromkeys(name for number in numbers for name in all_tried[number].alternatives):
            for number in numbers:
                if name in all_tried[number].alternatives:
                    all_tried[number].under(name)
        yield from numbers


def _leaders(all_tried: Sequence["Tried"], found: Mapping[int, SuccessCurve]) -> dict[int, int]:
    """Return the number of the leader of each that has one."""
    leaders: dict[int, int] = {}
    first_axes = [number for number, one in enumerate(all_tried) if one.leads]

    def task(number: int) -> tuple[str, str, int, str]:
        group = all_tried[number].group
        return group.task, group.env, group.version, all_tried[number].axis.name

    for numbers in grouped(first_axes, task).values():
        models = [number for number in numbers if not all_tried[number].group.embedded] or numbers
        leader = max(models, key=lambda number: found[number].horizons[0].order)
        leaders |= {number: leader for number in numbers if number != leader}
    return leaders


def _success_curve(tried: "Tried") -> SuccessCurve:
    return SuccessCurve(
        group=tried.group,
        axis=tried.axis.name,
        horizons=tuple(tried.horizons()),
        bins=tuple(tried.bins()),
        line=tuple(tried.line()),
    )


def leading(found: Iterable[Horizon]) -> dict[Group, Horizon]:
    """Return of each group the horizon that stands for it: that of the first share, on its environment's first axis.

    For a search along an option it is that on the option's axis, the only one that its items have.
    """
    return {
        each.group: each
        for each in found
        if each.share == SHARES[0]
        and (each.axis in OPTION_AXES or each.axis == registry.load(each.group.env).axes[0].name)
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
    """

    group: Group
    axis: Axis
    items: Sequence[_Item]
    alternatives: Mapping[str, Shape]
    leads: bool
    searched: tuple[float, float] | None = None

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

    def horizon(self, share: float, others: Mapping[str, float] = MappingProxyType({})) -> Horizon:
        """Return the horizon at a share, with its values under other assumptions."""
        easiest, hardest = float(self.at.min()), float(self.at.max())

        def within(value: float) -> float | None:
            return value if isfinite(value) and easiest <= value <= hardest else None

        def side(value: float) -> str:
            return "" if within(value) is not None else "beyond" if value > hardest else "below"

        value, low, high = self._bounded(self.plain, share)
        references = reference_horizons(self.group, self.axis.name, share)
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
            above_references=is_above(low, references),
            mark=reference_mark(value, low, references),
            curve_fits=self.plain.is_adequate,
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
    free = [row for row in all_rows if row.is_included and not row.guided]
    for group, own in grouped(free, lambda row: row.group).items():
        env, axes = registry.load(group.env), axes_of(own)
        tried = at_items(own) if axes else {}
        for number, axis in enumerate(axes):
            items: list[_Item] = []
            for key, some in tried.items():
                at = some[0].axes.get(axis.name)
                if at is not None and at > 0:
                    counted = telling(some, perfections(some, env.metrics[0]))
                    solved = sum(row.succeeded for row in counted) / len(counted)
                    items.append(_Item(key, at, solved, len(counted), len(some)))
            if len({item.at for item in items}) >= FEWEST:
                others = ALTERNATIVES if number == 0 else dict[str, Shape]()
                yield Tried(group, axis, items, others, leads=number == 0, searched=_searched(own, axis))


def _searched(own: Sequence[Row], axis: Axis) -> tuple[float, float] | None:
    """Return what searches could try if they chose all items of a group along an axis."""
    ranges = [one for row in own if (one := row.search_range) is not None and one.axis == axis.name]
    if len(ranges) < len(own):
        return None
    return min(one.lowest for one in ranges), max(one.highest for one in ranges)
