"""The spread of a benchmark's scores over repeats on the same items."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import fsum, sqrt
from statistics import fmean, stdev

from waybench.analysis.results import Group, Row, grouped
from waybench.core import Json, Metric
from waybench.envs import registry


@dataclass(frozen=True, slots=True)
class Repeat:
    """One number over several repeats.

    Attributes:
        mean: The mean of the repeats' means.
        error: Its standard error: the repeats' standard deviation by the root of their number.
        repeats: Number of repeats.
    """

    mean: float
    error: float
    repeats: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """The results of one group's repeats. A repeat is the same attempt at every item.

    This error says how much chance in the model's replies moves a score. It says nothing of how other items would
    have come out; the clustered interval of an estimate does.

    Attributes:
        group: The group.
        metrics: Of every metric.
    """

    group: Group
    metrics: Mapping[str, Repeat]

    def to_json(self) -> dict[str, Json]:
        """Return the repeats as JSON values."""
        return {**asdict(self), "group": self.group.to_json()}


def repeats(all_rows: Iterable[Row]) -> list[Repeats]:
    """Return the repeats of every group that has at least two of them over all of its items.

    Attempts that are missing somewhere, for an infrastructure error or since an earlier one was perfect, are no
    repeats of the whole, and are left out.
    """
    found: list[Repeats] = []
    for group, own in grouped(all_rows, lambda row: row.group).items():
        whole = list(whole_attempts(own).values())
        if len(whole) > 1:
            measured = {metric.name: _repeat(whole, metric) for metric in registry.load(group.env).scoring.metrics}
            found.append(Repeats(group=group, metrics={name: one for name, one in measured.items() if one is not None}))
    return found


def whole_attempts(own: Iterable[Row]) -> dict[int, list[Row]]:
    """Return the attempts with the same number at all items of a group, by their number."""
    listed = list(own)
    items = {(row.level, row.item, row.instance) for row in listed if not row.exclusion_reason}
    by_attempt = grouped((row for row in listed if row.is_included), lambda row: row.attempt)
    return {number: some for number, some in sorted(by_attempt.items()) if len(some) == len(items)}


def _repeat(whole: Sequence[Sequence[Row]], metric: Metric) -> Repeat | None:
    figures = [figure for some in whole if (figure := _figure(some, metric)) is not None]
    if len(figures) < 2:
        return None
    return Repeat(fmean(figures), stdev(figures) / sqrt(len(figures)), len(figures))


def _figure(some: Sequence[Row], metric: Metric) -> float | None:
    values = [value for row in some if (value := row.metrics[metric.name]) is not None]
    if not values:
        return None
    if metric.per is None:
        return fmean(values)
    size = fsum(row.sizes[metric.name] for row in some)
    return fsum(values) / size if size else None
