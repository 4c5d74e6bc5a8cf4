"""Spread of estimates over several sets of items with the same options, and over attempts at the same items."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import mean

from waybench.analysis.estimates._estimates import Estimate, by_level
from waybench.analysis.estimates._repeats import whole_attempts
from waybench.analysis.results import Group, Row, grouped
from waybench.core import Json


@dataclass(frozen=True, slots=True)
class SetSpread:
    """One number over several sets, or over several attempts (AQA-Bench, arXiv:2402.09404, equations 8 to 10).

    Attributes:
        average: The mean of the sets' means, or of the attempts'.
        margin_min: By how much the least of them is below it; never negative.
        margin_max: By how much the greatest is above it; never negative.
        sets: Number of sets, or of attempts.
    """

    average: float
    margin_min: float
    margin_max: float
    sets: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The spread over groups that differ only in their set of items, or over the attempts of one, at one level.

    Attributes:
        group: The group; between sets its key is "".
        level: The level.
        keys: The sets' keys, in order of first appearance, or the numbers of the attempts.
        metrics: Of every metric that at least two of them have.
        curves: Of every series that at least two of them have, that of its curve's mean over the steps.
    """

    group: Group
    level: int
    keys: tuple[str, ...]
    metrics: Mapping[str, SetSpread]
    curves: Mapping[str, SetSpread]

    def to_json(self) -> dict[str, Json]:
        """Return the spread as JSON values."""
        return {**asdict(self), "group": self.group.to_json()}


def spread(estimates: Iterable[Estimate]) -> list[Spread]:
    """Return the spread of every level of which at least two sets were run with the same model and settings.

    Args:
        estimates: The estimates by level; those over all levels are ignored.
    """
    found: list[Spread] = []
    of_levels = [estimate for estimate in estimates if estimate.level is not None]
    for (group, level), some in grouped(of_levels, lambda each: (each.group.without_key(), each.level)).items():
        if len(some) > 1 and level is not None:
            found.append(_spread(group, level, [estimate.group.key for estimate in some], some))
    return found


def attempt_spread(all_rows: Iterable[Row]) -> list[Spread]:
    """Return the spread over attempts of every group and level whose items were all attempted several times.

    These are the results of running the same items again (Tables 8 and 9): attempts with the same number at all items
    are one run. Attempts that are missing somewhere, for an infrastructure error or since an earlier one was perfect,
    are left out.
    """
    found: list[Spread] = []
    for (group, level), own in grouped(all_rows, lambda row: (row.group, row.level)).items():
        whole = whole_attempts(own)
        if len(whole) > 1:
            some = [estimate for rows in whole.values() for estimate in by_level(rows)]
            found.append(_spread(group, level, list(map(str, whole)), some))
    return found


def _spread(group: Group, level: int, keys: Sequence[str], some: Sequence[Estimate]) -> Spread:
    return Spread(
        group=group,
        level=level,
        keys=tuple(keys),
        metrics=_set_spreads({name: mean.value for name, mean in each.metrics.items()} for each in some),
        curves=_set_spreads({name: one.average.value for name, one in each.curves.items()} for each in some),
    )


def _set_spreads(sets: Iterable[Mapping[str, float]]) -> dict[str, SetSpread]:
    listed = list(sets)
    names = dict.fromkeys(name for values in listed for name in values)
    of_name = {name: [values[name] for values in listed if name in values] for name in names}
    return {name: set_spread(values) for name, values in of_name.items() if len(values) > 1}


def set_spread(values: Iterable[float]) -> SetSpread:
    """Return the average of some numbers, and how far the least and the greatest are from it."""
    listed = list(values)
    average = mean(listed)  # exactly rounded, so that it is never beyond the least or the greatest
    return SetSpread(average, average - min(listed), max(listed) - average, len(listed))
