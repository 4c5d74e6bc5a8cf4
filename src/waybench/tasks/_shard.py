"""Shards of a task: ranges of its items, so that several jobs can share a fixed set."""

import re
from collections.abc import Iterable
from itertools import islice
from typing import TypeVar

from waybench.core import SHARD, Option, UsageError

SHARD_OPTION = Option(
    name=SHARD,
    default=None,
    kind=str,
    doc="A range of the items, as 2/8 for the second of eight, so that several jobs can share them; by default all "
    "items. It is no setting: results of all shards are those of one run.",
)
T = TypeVar("T")
_FORM = re.compile(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})")


def read_shard(text: str) -> tuple[int, int]:
    """Return the number of a shard, from 1, and of how many it is.

    Args:
        text: Both, as "2/8".

    Raises:
        UsageError: If the text has another form.
    """
    match = _FORM.fullmatch(text)
    if match is None or int(match[1]) > int(match[2]):
        raise UsageError(f"shard={text[:40]!r}: write it as 2/8, the second of eight shards")
    return int(match[1]), int(match[2])


def items_of_shard(items: Iterable[T], text: str | None) -> Iterable[T]:
    """Return the items of a shard; lengths of shards differ by one at most.

    Args:
        items: All items.
        text: The shard, as "2/8"; None for all items.

    Raises:
        UsageError: If the text has another form, or there are fewer items than shards.
    """
    if text is None:
        return items
    number, count = read_shard(text)
    listed = list(items)
    if count > len(listed):
        raise UsageError(f"shard={text}: there are only {len(listed):,} items; use fewer shards")
    return islice(listed, len(listed) * (number - 1) // count, len(listed) * number // count)


def missing_shards(shard: str, found: Iterable[str]) -> str:
    """Return which shards beside a given one are missing, for people; "" if none is.

    Args:
        shard: The shard, as "2/8".
        found: Shards that are there; those of another number do not matter.

    Raises:
        UsageError: If the shard has another form.
    """
    _, count = read_shard(shard)
    ours = {match[1] for match in map(_FORM.fullmatch, found) if match and int(match[2]) == count}
    left = [number for number in range(1, count + 1) if str(number) not in ours]
    listed = ", ".join(map(str, left[:10])) + (", ..." if len(left) > 10 else "")
    return f"of {count:,} shards, these are missing: {listed}" if left else ""
