"""A player's result at each item over all its attempts, and ceilings that a score exceeds."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from math import fsum
from typing import NamedTuple, TypeVar

from waybench.core import Metric
from waybench.envs import registry
from waybench.results.results._rows import Cluster, Row, grouped, is_perfect

T = TypeVar("T")


def single_attempt(values: Sequence[float], perfect: Sequence[bool]) -> float:
    """Estimate the mean of a single attempt at an item from attempts that stop after the first perfect one.

    The plain mean would be biased by the stopping. The first attempt alone is not; nor is its mean over all orders in
    which the attempts before the perfect one could have come (Rao and Blackwell), which has a smaller variance: the
    first attempt's value if that was perfect, otherwise the mean over the attempts that were not.

    Args:
        values: A metric's values, by attempt.
        perfect: Whether each attempt was perfect.
    """
    some = telling(values, perfect)
    return fsum(some) / len(some)


def telling(attempts: Sequence[T], perfect: Sequence[bool]) -> Sequence[T]:
    """Return the attempts at an item whose mean estimates a single attempt; see `single_attempt`.

    Args:
        attempts: The attempts, in their order.
        perfect: Whether each was perfect.
    """
    return attempts[:1] if perfect[0] else [each for each, done in zip(attempts, perfect, strict=True) if not done]


def perfections(item: Sequence[Row], head: Metric) -> list[bool]:
    """Return of each attempt at an item whether it was perfect, so that no other had to follow.

    Args:
        item: The attempts.
        head: The headline metric.
    """
    return _perfections(item, head, registry.load(item[0].group.env).scoring.best_of)


def _perfections(item: Sequence[Row], head: Metric, stops: bool) -> list[bool]:
    return [stops and not row.guided and is_perfect(row.metrics[head.name], head) for row in item]


class ItemKey(NamedTuple):
    """What attempts at one item have in common.

    Attributes:
        level: The level.
        item: The item's id.
        instance: SHA-256 of the instance.
        cluster: What the item was drawn with.
    """

    level: int
    item: str
    instance: str
    cluster: Cluster


def key_of(row: Row) -> ItemKey:
    """Return the identity of a row's item."""
    return ItemKey(row.level, row.item, row.instance, row.cluster)


def at_items(some: Iterable[Row]) -> dict[ItemKey, list[Row]]:
    """Return the attempts that count by item, in their order; items without one are left out."""
    counted = grouped((row for row in some if row.is_included), key_of)
    return {key: sorted(item, key=lambda row: row.attempt) for key, item in counted.items()}


def whole_items(items: Mapping[ItemKey, Sequence[Row]]) -> dict[ItemKey, list[Row]]:
    """Return the attempts by item, also where each attempt at an item is a cluster of its own.

    So it is where a level has a single item: what is drawn there are attempts, and intervals are over them.

    Args:
        items: Attempts by item and cluster, as `at_items` has them.
    """
    places = grouped(items, _place)
    return {keys[0]: [row for key in keys for row in items[key]] for keys in places.values()}


def count_items(keys: Iterable[ItemKey]) -> int:
    """Return the number of items among some keys: one that was attempted five times is one item."""
    return len(set(map(_place, keys)))


def _place(key: ItemKey) -> tuple[int, str, str]:
    return key.level, key.item, key.instance


def item_values(
    items: Mapping[ItemKey, Sequence[Row]], head: Metric, value_of: Callable[[Row], float | None]
) -> dict[ItemKey, float]:
    """Return the mean of a single attempt at each item; items without a defined value are left out.

    Args:
        items: Attempts by item, all at one environment.
        head: The headline metric, which says what attempts are perfect.
        value_of: Row -> the value.
    """
    found: dict[ItemKey, float] = {}
    first = next(iter(items.values()), None)
    stops = bool(first) and registry.load(first[0].group.env).scoring.best_of
    for key, item in items.items():
        defined = [(value, row) for row in item if (value := value_of(row)) is not None]
        if defined:
            perfect = _perfections([row for _, row in defined], head, stops)
            found[key] = single_attempt([value for value, _ in defined], perfect)
    return found


class Measured(NamedTuple):
    """A metric's values, item by item.

    Attributes:
        values: What a single attempt at each item gives on average; items where nothing is defined are left out.
        sizes: What each of these is a share of, in the same order; None where they are no shares.
    """

    values: Mapping[ItemKey, float]
    sizes: Sequence[float] | None

    @property
    def clusters(self) -> list[Cluster]:
        """What each item was drawn with."""
        return [key.cluster for key in self.values]


def measured(items: Mapping[ItemKey, Sequence[Row]], head: Metric, metric: Metric) -> Measured:
    """Return a metric's values at some items.

    Args:
        items: Attempts by item.
        head: The headline metric, which says what attempts are perfect.
        metric: The metric.
    """
    values = item_values(items, head, lambda row: row.metrics[metric.name])
    if metric.per is None:
        return Measured(values, None)
    # Of the attempts that have a value: one whose reply cannot be read is in neither part of a share.
    each = item_values(
        items, head, lambda row: None if row.metrics[metric.name] is None else row.sizes.get(metric.name)
    )
    values = {key: value for key, value in values.items() if each.get(key)}
    return Measured(values, [each[key] for key in values])


def _best_values(items: Mapping[ItemKey, Sequence[Row]], metric: Metric) -> dict[ItemKey, float]:
    """Return the best of a metric's values among the attempts at each item; items without one are left out."""
    best_of = min if metric.better == "lower" else max
    found: dict[ItemKey, float] = {}
    for key, item in items.items():
        values = [value for row in item if (value := row.metrics[metric.name]) is not None]
        if values:
            found[key] = best_of(values)
    return found


def headline_values(items: Mapping[ItemKey, Sequence[Row]], head: Metric) -> Measured:
    """Return each item's score: its best attempt or the mean of single attempts, as `best_of` of the environment says.

    Args:
        items: Attempts by item.
        head: The headline metric.
    """
    first = next(iter(items.values()), None)
    if first and registry.load(first[0].group.env).scoring.best_of:
        return Measured(_best_values(items, head), None)
    return measured(items, head, head)


_TINY = 1e-9


def beaten_items(samples: Iterable[Sequence[Row]]) -> frozenset[str]:
    """Return the items on which some player's mean score is better than the oracle's.

    The oracle's score is no ceiling there, for any player: a score that is rescaled by it would mean nothing.

    Args:
        samples: Rows of one model with one task's settings each, at one level or at all.

    Returns:
        Names of items with their options (`Anchors.item`).
    """
    beaten: set[str] = set()
    for rows in samples:
        items = {key: item for key, item in at_items(rows).items() if not any(row.guided for row in item)}
        if not items:
            continue
        head = registry.load(rows[0].group.env).scoring.metrics[0]
        excess, names = 0.0, set[str]()
        for key, score in headline_values(items, head).values.items():
            anchors = items[key][0].anchors
            if anchors is not None and anchors.ceiling is not None:
                excess += anchors.ceiling - score if head.better == "lower" else score - anchors.ceiling
                names.add(anchors.item)
        if excess > _TINY:
            beaten |= names
    return frozenset(beaten)


def without_ceilings(rows: Sequence[Row], items: Collection[str]) -> Sequence[Row]:
    """Return rows with no ceiling at some items.

    Args:
        rows: The rows.
        items: Names of the items with their options (`Anchors.item`).
    """
    return [
        replace(row, anchors=row.anchors._replace(ceiling=None)) if row.anchors and row.anchors.item in items else row
        for row in rows
    ]
