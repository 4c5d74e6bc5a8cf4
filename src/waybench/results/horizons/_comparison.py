"""Comparisons of horizons: how many times as far one model reaches as another."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from math import exp, log
from statistics import fmean

from waybench.core import OPTION_AXES, Json
from waybench.results.horizons._items import Tried, tried_axes
from waybench.results.horizons._references import SHARES, ReferenceHorizon, axis_named
from waybench.results.horizons._text import reference_text
from waybench.results.results import Group, Row, grouped
from waybench.results.stats import HORIZON_CONFIDENCE, HorizonRatio, horizon_ratio, t_interval

FEWEST_FAMILIES = 3  # for a ratio over families

_FURTHER = {1: "A reaches further", -1: "B reaches further", 0: "no difference shown"}
_DEPENDS = "it depends on the attempts without a result which one reaches further"
_VERDICTS = {1: "first", -1: "second", 0: "not shown"}


@dataclass(frozen=True, slots=True, kw_only=True)
class HorizonComparison:
    """The ratio of two models' 50 % horizons at a task.

    Attributes:
        first: Model, task and settings of the one.
        second: Those of the other.
        axis: Name of what makes items hard.
        ratio: The first horizon divided by the second.
        references: The horizons of players that know nothing of the items, where they are known.
        first_mark: That the first horizon is not above these: "not above a random player's"; "" otherwise.
        second_mark: The same of the second.
        bounds: Where attempts have no result: what `ratio.further` would be if all of them were failures of the first
            and solved by the second, and the other way round. Empty where all have one.
    """

    first: Group
    second: Group
    axis: str
    ratio: HorizonRatio
    references: tuple[ReferenceHorizon, ...] = ()
    first_mark: str = ""
    second_mark: str = ""
    bounds: tuple[int, ...] = ()

    @property
    def depends(self) -> bool:
        """Whether the verdict is another one under one of the bounds."""
        return len({self.ratio.further, *self.bounds}) > 1

    @property
    def is_bounded(self) -> bool:
        """Whether anything is known of the ratio."""
        return self.ratio.low is not None or self.ratio.high is not None

    @property
    def text(self) -> str:
        """The ratio and the verdict in a line: "A reaches 1.4 times as far as B (90 %: 1.1 to 1.8): ..."."""
        title = axis_named(self.first.env, self.axis).title.lower()
        value, low, high = self.ratio.value, self.ratio.low, self.ratio.high
        ends = (
            f"90 %: {low:.2g} to {high:.2g}"
            if low is not None and high is not None
            else f"90 %: at least {low:.2g}"
            if low is not None
            else f"90 %: at most {high:.2g}"
            if high is not None
            else "not bounded by the levels tested"
        )
        times = (
            "a horizon is outside the levels tested" if value is None else f"A reaches {value:.2g} times as far as B"
        )
        verdict = _DEPENDS if self.depends else _FURTHER[self.ratio.further]
        parts = [
            f"{self.first.task}, 50 % horizon by {title}: {times} ({ends}): {verdict}",
            *(f"{side} is {mark}" for side, mark in (("A", self.first_mark), ("B", self.second_mark)) if mark),
            reference_text(self.references),
        ]
        return "; ".join(part for part in parts if part)

    def to_json(self) -> dict[str, Json]:
        """Return the comparison as JSON values; unknown values are null."""
        return {
            "first": self.first.to_json(),
            "second": self.second.to_json(),
            "axis": self.axis,
            "share": SHARES[0],
            "ratio": self.ratio.value,
            "low": self.ratio.low,
            "high": self.ratio.high,
            "verdict": "depends" if self.depends else _VERDICTS[self.ratio.further],
            "references": [asdict(each) for each in self.references],
            "first_mark": self.first_mark,
            "second_mark": self.second_mark,
        }


@dataclass(frozen=True, slots=True)
class RatioOverFamilies:
    """The ratio of two models' horizons over several families, which are its clusters.

    Attributes:
        ratio: The geometric mean of the families' ratios.
        low: Lower end of its 90 % interval (Student's t of the logarithms).
        high: Upper end.
        families: Number of families.
    """

    ratio: float
    low: float
    high: float
    families: int

    @property
    def text(self) -> str:
        """The ratio in a line."""
        return (
            f"over {self.families} families: A reaches {self.ratio:.2g} times as far as B (90 %: {self.low:.2g} to "
            f"{self.high:.2g})"
        )

    def to_json(self) -> dict[str, Json]:
        """Return it as JSON values."""
        return asdict(self)


def ratio_over_families(found: Sequence[HorizonComparison]) -> RatioOverFamilies | None:
    """Return the ratio over families, of horizons of difficulty; None for less than three in which it is known.

    Args:
        found: The comparisons of two models.
    """
    known = [each for each in found if each.ratio.value and each.axis not in OPTION_AXES]
    by_family = grouped(known, lambda each: each.first.env.partition("/")[0])
    logs = [fmean(log(each.ratio.value or 1.0) for each in own) for own in by_family.values()]
    if len(logs) < FEWEST_FAMILIES:
        return None
    mean, low, high = t_interval(logs, HORIZON_CONFIDENCE)
    return RatioOverFamilies(exp(mean), exp(low), exp(high), len(logs))


def compare_horizons(first: Iterable[Row], second: Iterable[Row]) -> list[HorizonComparison]:
    """Compare the 50 % horizons of two sides at all tasks that both were given, on the first axis of their items.

    Horizons need no common items. Where a side has several groups at a task, those with equal settings are compared,
    or the only one of either side.

    Args:
        first: The rows of the one side.
        second: Those of the other.
    """
    mine, theirs = (_by_task(rows) for rows in (first, second))
    return [_comparison(one, other) for task in mine for one, other in _matched(mine[task], theirs.get(task, []))]


def _comparison(first: Tried, second: Tried) -> HorizonComparison:
    own, other = (each.horizon(SHARES[0]) for each in (first, second))
    return HorizonComparison(
        first=first.group,
        second=second.group,
        axis=first.axis.name,
        ratio=horizon_ratio(first.plain, second.plain, SHARES[0]),
        references=own.references,
        first_mark=own.mark,
        second_mark=other.mark,
        bounds=_bounds(first, second),
    )


def _bounds(first: Tried, second: Tried) -> tuple[int, ...]:
    if first.extremes is None and second.extremes is None:
        return ()
    (first_failed, first_solved), (second_failed, second_solved) = (
        tried.extremes or (tried, tried) for tried in (first, second)
    )
    pairs = (first_failed, second_solved), (first_solved, second_failed)
    return tuple(horizon_ratio(low.plain, high.plain, SHARES[0]).further for low, high in pairs)


def _by_task(rows: Iterable[Row]) -> dict[tuple[str, str, int, str], list[Tried]]:
    first_axes = [one for one in tried_axes(rows) if one.leads]
    return grouped(first_axes, lambda one: (one.group.task, one.group.env, one.group.version, one.axis.name))


def _matched(mine: Sequence[Tried], theirs: Sequence[Tried]) -> list[tuple[Tried, Tried]]:
    if len(mine) == len(theirs) == 1:
        return [(mine[0], theirs[0])]
    return [(one, other) for one in mine for other in theirs if one.group.options == other.group.options]
