"""Sets of shards: ranges and names, manifest, writing, verification and counts of duplicates."""

import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, cast

from waybench.core import Json, UsageError
from waybench.ext.scale.shards._files import DIGEST, INDEX, Store, file_hash, hash_file, lines_in, open_writer

ITEMS, HASHES = "items", "hashes"  # folders
DESCRIPTION, MANIFEST = "set.json", "manifest.json"
FORMATS: Mapping[str, str] = {"jsonl": ".jsonl.gz", "parquet": ".parquet"}  # format -> how its files' names end
_NAME = re.compile(r"(\d{12})-(\d+)-([0-9a-f]{64})(\.jsonl\.gz|\.parquet)")

_BYTES = 64  # of memory for each hash while it is sorted: itself twice, its set, its place in the order
_HEAD = 4 * INDEX
_SPAN = 1 << 64  # hashes are divided by their first 8 bytes
MEMORY = 512 << 20  # bytes that one part may take


class NumberRange(NamedTuple):
    """The items of one shard: the number of the first one, and how many they are."""

    first: int
    size: int


class Shard(NamedTuple):
    """A finished shard: its items, the hash and size of its file, and how the file's name ends."""

    range: NumberRange
    sha256: str
    bytes: int
    ending: str

    @property
    def name(self) -> str:
        """Name of the file within `ITEMS`: the first item, the number of items, and the hash of the content."""
        return f"{self.range.first:012d}-{self.range.size}-{self.sha256}{self.ending}"

    @property
    def hashes(self) -> str:
        """Name of the file within `HASHES` that has the hashes of the items."""
        return f"{self.name.removesuffix(self.ending)}.hashes"


@dataclass(frozen=True)
class ShardPlan:
    """The shards of a set: ranges of item numbers, whoever makes them.

    Attributes:
        start: Number of the first item.
        count: Number of items.
        size: Items of a shard; the last one may have fewer.
    """

    start: int
    count: int
    size: int

    def __len__(self) -> int:
        """Return the number of shards."""
        return -(-self.count // self.size)

    def range(self, number: int) -> NumberRange:
        """Return the items of a shard.

        Raises:
            UsageError: If there is no such shard.
        """
        if not 0 <= number < len(self):
            raise UsageError(f"shard {number}: there are {len(self):,}, numbered from 0")
        first = number * self.size
        return NumberRange(self.start + first, min(self.size, self.count - first))

    def number(self, items: NumberRange) -> int | None:
        """Return the number of the shard that has exactly these items; None if there is none."""
        number = (items.first - self.start) // self.size
        return number if 0 <= number < len(self) and self.range(number) == items else None


def shard_of(name: str, size: int) -> Shard | None:
    """Return the shard of a file with this name and size in bytes; None if the name is not that of a shard."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    return Shard(NumberRange(int(match[1]), int(match[2])), match[3], size, match[4])


def finished_shards(store: Store, ending: str) -> dict[NumberRange, Shard]:
    """Return the finished shards of a folder, by one listing.

    A shard is finished once its file has its name: it is written elsewhere and moved there, or uploaded as a whole.
    """
    shards = (shard_of(name, size) for name, size in store.file_sizes(ITEMS).items())
    return {shard.range: shard for shard in shards if shard is not None and shard.ending == ending}


def remove(store: Store, shard: Shard) -> None:
    """Remove a shard's files, that with its items first: without it, the shard is not finished."""
    store.remove(f"{ITEMS}/{shard.name}")
    store.remove(f"{HASHES}/{shard.hashes}")


def held_items(store: Store) -> int | None:
    """Return the number of items of a folder's manifest; None if it has none."""
    return None if store.read(MANIFEST) is None else sum(shard.range.size for shard in read_manifest(store)[1])


def check_described(store: Store, description: Mapping[str, Json]) -> bool:
    """Return whether a folder has a description, which has to be that of these shards.

    Raises:
        UsageError: If it is the description of other shards.
    """
    content = store.read(DESCRIPTION)
    if content is None:
        return False
    before = read_object(content, f"{store.shown}/{DESCRIPTION}")
    wanted = json.loads(json.dumps(description))
    names = sorted(name for name in {*before, *wanted} if before.get(name) != wanted.get(name))
    if names:
        differ = "; ".join(f"{name} {before.get(name)!r}, not {wanted.get(name)!r}" for name in names[:3])
        raise UsageError(f"{store.shown} has other shards, with {differ}: choose another folder, or the same options")
    return True


def describe(store: Store, description: Mapping[str, Json]) -> None:
    """Write what a folder's items are."""
    store.write(DESCRIPTION, f"{json.dumps(description, indent=2, sort_keys=True)}\n".encode())


def read_object(content: bytes, where: str) -> dict[str, Json]:
    """Read a JSON object.

    Raises:
        UsageError: If the content is none.
    """
    try:
        value = json.loads(content)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise UsageError(f"{where} is not a file that `waybench generate` wrote: choose another folder")
    return cast("dict[str, Json]", value)


def write_manifest(store: Store, description: Mapping[str, Json], shards: Iterable[Shard], **more: Json) -> None:
    """Write the manifest of a whole set: the description, further facts, and each shard in order."""
    shards = list(shards)
    facts: dict[str, Any] = {
        "set": dict(description),
        "items": sum(shard.range.size for shard in shards),
        "bytes": sum(shard.bytes for shard in shards),
        **more,
    }
    head = json.dumps(facts, indent=2, sort_keys=True)
    # One line for each shard, so that two manifests can be compared line by line.
    files = ({"file": f"{ITEMS}/{shard.name}", "bytes": shard.bytes} for shard in shards)
    rows = ",\n    ".join(map(json.dumps, files))
    store.write(MANIFEST, f'{head[:-2]},\n  "shards": [\n    {rows}\n  ]\n}}\n'.encode())


def read_manifest(store: Store) -> tuple[dict[str, Json], list[Shard]]:
    """Return a manifest and the shards that it lists.

    Raises:
        UsageError: If there is none, or it is damaged.
    """
    content = store.read(MANIFEST)
    if content is None:
        raise UsageError(
            f"{store.shown} has no {MANIFEST}: it is no folder of `waybench generate`, or not all shards are finished; "
            "run the same command again without --shard"
        )
    manifest = read_object(content, f"{store.shown}/{MANIFEST}")
    shards: list[Shard] = []
    try:
        for row in cast("list[dict[str, Json]]", manifest["shards"]):
            shard = shard_of(str(row["file"]).removeprefix(f"{ITEMS}/"), int(row["bytes"]))
            if shard is None:
                raise ValueError
            shards.append(shard)
        if not isinstance(manifest["set"], dict) or sum(shard.range.size for shard in shards) != manifest["items"]:
            raise ValueError
    except (KeyError, TypeError, ValueError):
        raise UsageError(
            f"{store.shown}/{MANIFEST} is damaged: generate the set again, which keeps its shards"
        ) from None
    return manifest, shards


def write_shard(store: Store, items: NumberRange, rows: Iterable[tuple[str, Iterable[str]]], file_format: str) -> Shard:
    """Write a shard: its hashes first, then its file, which is there as a whole or not at all.

    Memory does not grow with the size of items: lines are written as they come, and 16 bytes of each hash are kept.

    Args:
        store: The set's folder.
        items: The items of the shard.
        rows: Of each item in order, its hash and its lines.
        file_format: "jsonl" or "parquet".
    """
    with store.scratch() as folder:
        file, hashes = folder / "items", folder / "hashes"
        hashes.write_bytes(hash_file(_write_items(rows, file, file_format)))
        shard = Shard(items, file_hash(file), file.stat().st_size, FORMATS[file_format])
        store.put(hashes, f"{HASHES}/{shard.hashes}")
        store.put(file, f"{ITEMS}/{shard.name}")
    return shard


def _write_items(rows: Iterable[tuple[str, Iterable[str]]], file: Path, file_format: str) -> Iterator[str]:
    """Write the items' lines and yield the items' hashes."""
    with open_writer(file, file_format) as write:
        for digest, lines in rows:
            for line in lines:
                write(line)
            yield digest


class ToCheck(NamedTuple):
    """A shard to verify: the set's folder, the shard by the manifest, and what each row must have (column, value)."""

    place: str
    shard: Shard
    expected: tuple[tuple[str, Json], ...]


def check_shard(job: ToCheck) -> str | None:
    """Verify a shard: its file's hash, its items' numbers and count, and the hashes kept of them.

    Returns:
        What is wrong, in one line; None if nothing is.
    """
    store, shard = Store(job.place), job.shard
    where = f"{ITEMS}/{shard.name}"
    try:
        with store.reading(where) as path:
            if file_hash(path) != shard.sha256:
                return f"{where}: the content is not that of its name (SHA-256 differs)"
            hashes = _hashes(path, shard, dict(job.expected))
    except FileNotFoundError:
        return f"{where}: missing"
    except (OSError, EOFError, ValueError, KeyError, TypeError, zlib.error) as error:
        return f"{where}: cannot be read as a shard ({type(error).__name__})"
    if isinstance(hashes, str):
        return f"{where}: {hashes}"
    content = store.read(f"{HASHES}/{shard.hashes}")
    if content != hash_file(hashes.values()):
        return f"{HASHES}/{shard.hashes}: {'missing' if content is None else 'not the hashes of the items'}"
    return None


def _hashes(path: Path, shard: Shard, expected: dict[str, Json]) -> dict[int, str] | str:
    """Return the hashes of a file's items by their index, or what is wrong with them."""
    hashes: dict[Any, str] = {}
    for number, row in enumerate(lines_in(path, shard.ending)):
        for name, value in expected.items():
            if row[name] != value:
                return f"row {number} has {name} {json.dumps(row[name])[:80]}, not {json.dumps(value)}"
        hashes[row["index"]] = row["hash"]
    if len(hashes) != shard.range.size:
        return f"{len(hashes):,} items, not {shard.range.size:,}"
    return hashes


class HashRange(NamedTuple):
    """The hashes of some shards that lie in a range: what one job sorts.

    Attributes:
        places: The sets' folders.
        files: Of each set, the names of its files of hashes.
        low: Start of the range, by the first 8 bytes.
        high: End of the range.
    """

    places: tuple[str, ...]
    files: tuple[tuple[str, ...], ...]
    low: int
    high: int


class Count(NamedTuple):
    """Numbers of items: all, the different ones among them, these of each set, and those in two or more sets."""

    items: int
    different: int
    of_sets: tuple[int, ...]
    shared: int


def parts(places: Sequence[str], shards: Sequence[Sequence[Shard]], memory: int = MEMORY) -> list[HashRange]:
    """Divide the hashes of sets into parts that are sorted one by one, in any order and anywhere.

    Sorting one part takes about `memory` bytes.
    """
    items = sum(shard.range.size for one_set in shards for shard in one_set)
    number = max(1, -(-items * _BYTES // memory))
    files = tuple(tuple(shard.hashes for shard in one_set) for one_set in shards)
    bounds = [_SPAN * index // number for index in range(number + 1)]
    return [HashRange(tuple(places), files, low, high) for low, high in pairwise(bounds)]


def count_part(part: HashRange) -> Count:
    """Count the different hashes of a part.

    Two hashes are the same if their first 16 bytes are. Of n different items, two are taken for one with a probability
    below n^2 / 2^129: for 10^9 items, 1.5e-21.

    Raises:
        UsageError: If a file is missing or damaged.
    """
    hashes: list[tuple[Any, Any]] = []
    sizes: list[int] = []
    for path, names in zip(part.places, part.files, strict=True):
        store = Store(path)
        of_set = [_hashes_within(store, name, part.low, part.high) for name in names]
        hashes += of_set
        sizes.append(sum(len(head) for head, _ in of_set))
    return _count(hashes, sizes)


def _hashes_within(store: Store, name: str, low: int, high: int) -> tuple[Any, Any]:
    """Return the hashes of a file that lie in a range, as their first and their second 8 bytes."""
    import numpy as np  # only those commands load it that count

    path = f"{HASHES}/{name}"
    is_all = low == 0 and high == _SPAN
    head = store.read(path) if is_all else store.read(path, 0, _HEAD)
    damaged = UsageError(
        f"{store.shown}/{path} is missing or damaged: remove the shard's file in items/ and generate the set again, "
        "which makes only that shard"
    )
    if head is None or len(head) < _HEAD:
        raise damaged
    index = np.frombuffer(head, "<u4", INDEX)
    first, last = int(index[low >> 56]), int(index[((high - 1) >> 56) + 1])
    content = head[_HEAD:] if is_all else b""
    if not is_all and last > first:
        content = store.read(path, _HEAD + DIGEST * first, _HEAD + DIGEST * last) or b""
    if len(content) != DIGEST * (last - first):
        raise damaged
    digests = np.frombuffer(content, ">u8").reshape(-1, 2)
    begin = int(np.searchsorted(digests[:, 0], np.uint64(low), side="left"))
    end = int(np.searchsorted(digests[:, 0], np.uint64(high - 1), side="right"))
    chosen = digests[begin:end].astype(np.uint64)
    return chosen[:, 0], chosen[:, 1]


def _count(hashes: Sequence[tuple[Any, Any]], sizes: Sequence[int]) -> Count:
    import numpy as np

    if not hashes:
        return Count(0, 0, (0,) * len(sizes), 0)
    heads, tails = (np.concatenate(halves) for halves in zip(*hashes, strict=True))
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
    items, different, of_sets, shared = zip(*counts, strict=True)
    return Count(sum(items), sum(different), tuple(map(sum, zip(*of_sets, strict=True))), sum(shared))
