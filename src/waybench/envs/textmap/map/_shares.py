"""Helpers for metrics that are shares from 0 to 1."""

from collections.abc import Callable

from waybench.core import EpisodeRecord, Json, Metric

MetricFunction = Callable[[EpisodeRecord], float | None]


def event(record: EpisodeRecord, name: str) -> Json:
    """Return an event of the last turn; None if the answer could not be read or there was none."""
    return record.turns[-1].events.get(name) if record.turns else None


def share(
    name: str, compute: MetricFunction, title: str, doc: str, *, better: str = "higher", labels: tuple[str, ...] = ()
) -> Metric:
    """Return a metric from 0 to 1 with the given attributes."""
    return Metric(name=name, of=compute, title=title, low=0, high=1, better=better, doc=doc, labels=labels)
