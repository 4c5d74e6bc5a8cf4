"""The ranges of metrics and series for the episodes at hand."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

from waybench.core import Bounded, Environment, EpisodeRecord, Range

B = TypeVar("B", bound=Bounded)

Ranges = Mapping[str, Range]


class HasRanges(Protocol):
    """A row, or an estimate of several."""

    @property
    def ranges(self) -> Ranges:
        """By name, at least the range of every metric and series whose range depends on the episode."""
        ...


def record_ranges(environment: Environment[Any, Any, Any], record: EpisodeRecord) -> Ranges:
    """Return the ranges that depend on the episode, by the name of the metric or series.

    Args:
        environment: The record's environment.
        record: The record; what was replied does not matter.
    """
    declared = (*environment.scoring.metrics, *environment.scoring.series)
    return _shared(tuple((one.name, one.range(record)) for one in declared if one.range is not None))


@lru_cache(maxsize=4096)  # most episodes of a run have the same ones, and each row keeps them
def _shared(ranges: tuple[tuple[str, Range], ...]) -> Ranges:
    return MappingProxyType(dict(ranges))


def joint_ranges(environment: Environment[Any, Any, Any], some: Iterable[HasRanges]) -> Ranges:
    """Return the ranges of all metrics and series for several rows at once, by name."""
    records = list(some)
    joint = {one.name: over(one, records) for one in (*environment.scoring.metrics, *environment.scoring.series)}
    return {name: one.bounds for name, one in joint.items()}


def over(one: B, some: Iterable[HasRanges]) -> B:
    """Return a metric or a series with the bounds that it has over some rows or estimates.

    Args:
        one: The metric or series.
        some: The rows or estimates; without any, the bounds are those that hold for every episode.
    """
    if one.range is None:
        return one
    return one.over({each.ranges[one.name] for each in some if one.name in each.ranges})
