"""How many items of sets are the same: exact counts over shards and keys, in bounded memory."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from waybench.core import UsageError
from waybench.shards._files import DIGEST, INDEX
from waybench.shards._layout import HASHES, Shard
from waybench.shards._store import Store

_BYTES = 64  # of memory for each hash while it is sorted: itself twice, its set, its place in the order
_HEAD = 4 * INDEX
_SPAN = 1 << 64  # hashes are divided by their first 8 bytes
MEMORY = 512 << 20  # bytes that one part may take


class Part(NamedTuple):
    """The hashes of some shards that lie in a range: what one job sorts.

    Attributes:
        places: The sets' folders.
        files: Of each set, the names of its files of hashes.
        low: Where the range begins, by the first 8 bytes.
        high: Where it ends.
    """

    places: tuple[str, ...]
    files: tuple[tuple[str, ...], ...]
    low: int
    high: int


class Count(NamedTuple):
    """How many items are different.

    Attributes:
        items: Number of items.
        different: Number of different ones among all of them.
        of_sets: Number of different ones in each set.
        shared: Number of different ones that are in two or more sets.
    """

    items: int
    different: int
    of_sets: tuple[int, ...]
    shared: int


def parts(places: Sequence[str], shards: Sequence[Sequence[Shard]], memory: int = MEMORY) -> list[Part]:
    """Divide the hashes of sets into parts that are sorted one by one, in any order and anywhere.

    Args:
        places: The sets' folders.
        shards: The shards of each.
        memory: Bytes that sorting one part may take, about.
    """
    items = sum(shard.range.size for one_set in shards for shard in one_set)
    number = max(1, -(-items * _BYTES // memory))
    files = tuple(tuple(shard.hashes for shard in one_set) for one_set in shards)
    bounds = [_SPAN * index // number for index in range(number + 1)]
    return [Part(tuple(places), files, low, high) for low, high in pairwise(bounds)]


def count_part(part: Part) -> Count:
    """Count the different hashes of a part.

    Two hashes are the same if their first 16 bytes are. Of n different items, two are taken for one with a probability
    below n^2 / 2^129: for 10^9 items, 1.5e-21.

    Raises:
        UsageError: If a file is missing or damaged.
    """
    heads: list[Any] = []
    tails: list[Any] = []
    sizes: list[int] = []
    for place, names in zip(part.places, part.files, strict=True):
        store, size = Store(place), 0
        for name in names:
            head, tail = _within(store, name, part.low, part.high)
            heads.append(head)
            tails.append(tail)
            size += len(head)
        sizes.append(size)
    return _counted(heads, tails, sizes)


def _within(store: Store, name: str, low: int, high: int) -> tuple[Any, Any]:
    """Return the hashes of a file that lie in a range, as their first and their second 8 bytes."""
    import numpy as np  # only those commands load it that count

    path = f"{HASHES}/{name}"
    whole = low == 0 and high == _SPAN
    head = store.read(path) if whole else store.read(path, 0, _HEAD)
    if head is None or len(head) < _HEAD:
        raise _damaged(store, path)
    index = np.frombuffer(head, "<u4", INDEX)
    first, last = int(index[low >> 56]), int(index[((high - 1) >> 56) + 1])
    content = head[_HEAD:] if whole else b""
    if not whole and last > first:
        content = store.read(path, _HEAD + DIGEST * first, _HEAD + DIGEST * last) or b""
    if len(content) != DIGEST * (last - first):
        raise _damaged(store, path)
    digests = np.frombuffer(content, ">u8").reshape(-1, 2)
    begin = int(np.searchsorted(digests[:, 0], np.uint64(low), side="left"))
    end = int(np.searchsorted(digests[:, 0], np.uint64(high - 1), side="right"))
    chosen = digests[begin:end].astype(np.uint64)
    return chosen[:, 0], chosen[:, 1]


def _counted(found_heads: Sequence[Any], found_tails: Sequence[Any], sizes: Sequence[int]) -> Count:
    import numpy as np

    if not found_heads:
        return Count(0, 0, (0,) * len(sizes), 0)
    heads, tails = np.concatenate(found_heads), np.concatenate(found_tails)
    order = np.lexsort((tails, heads))
    owners = np.repeat(np.arange(len(sizes), dtype=np.uint16), sizes)[order]
    heads, tails = heads[order], tails[order]
    is_new = np.ones(len(heads), bool)
    is_new[1:] = (heads[1:] != heads[:-1]) | (tails[1:] != tails[:-1])
    groups = np.flatnonzero(is_new)
    if len(sizes) == 1 or not len(groups):
        return Count(len(heads), len(groups), (len(groups), *(0,) * (len(sizes) - 1)), 0)
    holders = np.zeros(len(groups), np.int64)
    of_sets: list[int] = []
    for number in range(len(sizes)):
        has = np.logical_or.reduceat(owners == number, groups)
        of_sets.append(int(has.sum()))
        holders += has
    return Count(len(heads), len(groups), tuple(of_sets), int((holders > 1).sum()))


def total(counts: Iterable[Count]) -> Count:
    """Return the counts of all parts together, in whatever order they come."""
    found: Iterator[Count] = iter(counts)
    items, different, of_sets, shared = next(found)
    for count in found:
        items, different, shared = items + count.items, different + count.different, shared + count.shared
        of_sets = tuple(map(sum, zip(of_sets, count.of_sets, strict=True)))
    return Count(items, different, of_sets, shared)


def _damaged(store: Store, path: str) -> UsageError:
    return UsageError(
        f"{store.shown}/{path} is missing or damaged: remove the shard's file in items/ and generate the set again, "
        "which makes only that shard"
    )
