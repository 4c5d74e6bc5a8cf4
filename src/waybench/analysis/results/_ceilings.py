"""Ceilings that a player's score exceeds on the same items."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from waybench.analysis.results._items import at_items, headline_values
from waybench.analysis.results._rows import Row
from waybench.envs import registry

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
