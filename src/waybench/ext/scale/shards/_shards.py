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
from waybench.ext.scale.shards._files import (
    DIGEST,
    INDEX,
    ShardFolder,
    file_hash,
    indexed_hashes,
    open_line_writer,
    rows_in_file,
)

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
        """The name of the shard's file: first item, number of items and hash of the content."""
        return f"{self.range.first:012d}-{self.range.size}-{self.sha256}{self.ending}"

    @property
    def hashes(self) -> str:
        """The name of the file with the hashes of the items."""
        return f"{self.name.removesuffix(self.ending)}.hashes"


@dataclass(frozen=True)
class ShardPlan:
    """The shards of a set: ranges of item numbers, whoever makes them.

    Attributes:
        start: Number of the first item.
        size: Items of a shard; the last one may have fewer.
    """

    start: int
    count: int
    size: int

    def __len__(self) -> int:
        return -(-self.count // self.size)

    def items_of_shard(self, number: int) -> NumberRange:
        """Return the range of items of a shard; raise a UsageError if there is no such shard."""
        if not 0 <= number < len(self):
            raise UsageError(f"shard {number}: there are {len(self):,}, numbered from 0")
        first = number * self.size
        return NumberRange(self.start + first, min(self.size, self.count - first))

    def shard_number(self, items: NumberRange) -> int | None:
        """Return the number of the shard with exactly these items; None if there is none."""
        number = (items.first - self.start) // self.size
        return number if 0 <= number < len(self) and self.items_of_shard(number) == items else None


def shard_of_file(name: str, size: int) -> Shard | None:
    """Return the shard that a file's name describes; None for other names. `size` is in bytes."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    return Shard(NumberRange(int(match[1]), int(match[2])), match[3], size, match[4])


def finished_shards(store: ShardFolder, ending: str) -> dict[NumberRange, Shard]:
    """Return the finished shards of a folder by their items.

    A shard is finished once its file has its name: it is written elsewhere and moved there, or uploaded as a whole.
    """
    shards = (shard_of_file(name, size) for name, size in store.file_sizes_by_name(ITEMS).items())
    return {shard.range: shard for shard in shards if shard is not None and shard.ending == ending}


def remove_shard(store: ShardFolder, shard: Shard) -> None:
    """Remove a shard's files, that with the items first, since it makes a shard a finished one."""
    store.remove(f"{ITEMS}/{shard.name}")
    store.remove(f"{HASHES}/{shard.hashes}")


def count_items_in_manifest(store: ShardFolder) -> int | None:
    """Return the number of items in a folder's manifest; None without a manifest."""
    return None if store.read_bytes(MANIFEST) is None else sum(shard.range.size for shard in read_manifest(store)[1])


def has_same_description(store: ShardFolder, description: Mapping[str, Json]) -> bool:
    """Return whether a folder has this description, False for none; raise a UsageError if it has another one."""
    content = store.read_bytes(DESCRIPTION)
    if content is None:
        return False
    before = parse_json_object(content, f"{store.shown}/{DESCRIPTION}")
    wanted = json.loads(json.dumps(description))
    names = sorted(name for name in {*before, *wanted} if before.get(name) != wanted.get(name))
    if names:
        differ = "; ".join(f"{name} {before.get(name)!r}, not {wanted.get(name)!r}" for name in names[:3])
        raise UsageError(f"{store.shown} has other shards, with {differ}: choose another folder, or the same options")
    return True


def write_description(store: ShardFolder, description: Mapping[str, Json]) -> None:
    """Write the description of a folder's items."""
    store.write_file(DESCRIPTION, f"{json.dumps(description, indent=2, sort_keys=True)}\n".encode())


def parse_json_object(content: bytes, where: str) -> dict[str, Json]:
    """Return a JSON object from a file's content; raise a UsageError if it is none."""
    try:
        value = json.loads(content)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise UsageError(f"{where} is not a file that `waybench generate` wrote: choose another folder")
    return cast("dict[str, Json]", value)


def write_manifest(store: ShardFolder, description: Mapping[str, Json], shards: Iterable[Shard], **more: Json) -> None:
    """Write the manifest of a set: its description, further fields and all shards in order."""
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
    store.write_file(MANIFEST, f'{head[:-2]},\n  "shards": [\n    {rows}\n  ]\n}}\n'.encode())


def read_manifest(store: ShardFolder) -> tuple[dict[str, Json], list[Shard]]:
    """Return a folder's manifest and the shards in it; raise a UsageError if it is missing or damaged."""
    content = store.read_bytes(MANIFEST)
    if content is None:
        raise UsageError(
            f"{store.shown} has no {MANIFEST}: it is no folder of `waybench generate`, or not all shards are finished; "
            "run the same command again without --shard"
        )
    manifest = parse_json_object(content, f"{store.shown}/{MANIFEST}")
    shards: list[Shard] = []
    try:
        for row in cast("list[dict[str, Json]]", manifest["shards"]):
            shard = shard_of_file(str(row["file"]).removeprefix(f"{ITEMS}/"), int(row["bytes"]))
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


def write_shard(
    store: ShardFolder, items: NumberRange, rows: Iterable[tuple[str, Iterable[str]]], file_format: str
) -> Shard:
    """Write a shard's hashes and then its file, and return the shard.

    Memory does not grow with the size of items: lines are written as they come, and 16 bytes of each hash are kept.

    `rows` has the hash and the lines of each item in order; `file_format` is "jsonl" or "parquet".
    """
    with store.open_scratch_folder() as folder:
        file, hashes = folder / "items", folder / "hashes"
        hashes.write_bytes(indexed_hashes(_write_lines_and_yield_hashes(rows, file, file_format)))
        shard = Shard(items, file_hash(file), file.stat().st_size, FORMATS[file_format])
        store.put(hashes, f"{HASHES}/{shard.hashes}")
        store.put(file, f"{ITEMS}/{shard.name}")
    return shard


def _write_lines_and_yield_hashes(
    rows: Iterable[tuple[str, Iterable[str]]], file: Path, file_format: str
) -> Iterator[str]:
    """Write the lines of each item and yield the item's hash."""
    with open_line_writer(file, file_format) as write:
        for digest, lines in rows:
            for line in lines:
                write(line)
            yield digest


class ToCheck(NamedTuple):
    """A shard to verify: the set's folder, the shard by the manifest, and what each row must have (column, value)."""

    place: str
    shard: Shard
    expected: tuple[tuple[str, Json], ...]


def problem_of_shard(job: ToCheck) -> str | None:
    """Return what is wrong with a shard's file, items or hashes, in one line; None if nothing is."""
    store, shard = ShardFolder(job.place), job.shard
    where = f"{ITEMS}/{shard.name}"
    try:
        with store.open_local_copy(where) as path:
            if file_hash(path) != shard.sha256:
                return f"{where}: the content is not that of its name (SHA-256 differs)"
            hashes = _hash_by_index(path, shard, dict(job.expected))
    except FileNotFoundError:
        return f"{where}: missing"
    except (OSError, EOFError, ValueError, KeyError, TypeError, zlib.error) as error:
        return f"{where}: cannot be read as a shard ({type(error).__name__})"
    if isinstance(hashes, str):
        return f"{where}: {hashes}"
    content = store.read_bytes(f"{HASHES}/{shard.hashes}")
    if content != indexed_hashes(hashes.values()):
        return f"{HASHES}/{shard.hashes}: {'missing' if content is None else 'not the hashes of the items'}"
    return None


def _hash_by_index(path: Path, shard: Shard, expected: dict[str, Json]) -> dict[int, str] | str:
    """Return the hash of each item in a shard's file by its index, or what is wrong with the items."""
    hashes: dict[Any, str] = {}
    for number, row in enumerate(rows_in_file(path, shard.ending)):
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


def divide_into_hash_ranges(
    places: Sequence[str], shards: Sequence[Sequence[Shard]], memory: int = MEMORY
) -> list[HashRange]:
    """Divide the hashes of sets into ranges that can be counted independently.

    Sorting one part takes about `memory` bytes.
    """
    items = sum(shard.range.size for one_set in shards for shard in one_set)
    number = max(1, -(-items * _BYTES // memory))
    files = tuple(tuple(shard.hashes for shard in one_set) for one_set in shards)
    bounds = [_SPAN * index // number for index in range(number + 1)]
    return [HashRange(tuple(places), files, low, high) for low, high in pairwise(bounds)]


def count_distinct_hashes(part: HashRange) -> Count:
    """Count the different hashes in a range.

    Two hashes are the same if their first 16 bytes are. Of n different items, two are taken for one with a probability
    below n^2 / 2^129: for 10^9 items, 1.5e-21.

    Raises:
        UsageError: If a file is missing or damaged.
    """
    hashes: list[tuple[Any, Any]] = []
    sizes: list[int] = []
    for path, names in zip(part.places, part.files, strict=True):
        store = ShardFolder(path)
        of_set = [_hashes_in_range(store, name, part.low, part.high) for name in names]
        hashes += of_set
        sizes.append(sum(len(head) for head, _ in of_set))
    return _count_sorted_hashes(hashes, sizes)


def _hashes_in_range(store: ShardFolder, name: str, low: int, high: int) -> tuple[Any, Any]:
    """Return the hashes of a file in a range as two arrays: their first and their second 8 bytes."""
    import numpy as np  # only those commands load it that count

    path = f"{HASHES}/{name}"
    is_all = low == 0 and high == _SPAN
    head = store.read_bytes(path) if is_all else store.read_bytes(path, 0, _HEAD)
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
        content = store.read_bytes(path, _HEAD + DIGEST * first, _HEAD + DIGEST * last) or b""
    if len(content) != DIGEST * (last - first):
        raise damaged
    digests = np.frombuffer(content, ">u8").reshape(-1, 2)
    begin = int(np.searchsorted(digests[:, 0], np.uint64(low), side="left"))
    end = int(np.searchsorted(digests[:, 0], np.uint64(high - 1), side="right"))
    chosen = digests[begin:end].astype(np.uint64)
    return chosen[:, 0], chosen[:, 1]


def _count_sorted_hashes(hashes: Sequence[tuple[Any, Any]], sizes: Sequence[int]) -> Count:
    """Return the counts of different hashes in all sets, and in each of them."""
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


def sum_counts(counts: Iterable[Count]) -> Count:
    """Return the sum of the counts of all ranges."""
    items, different, of_sets, shared = zip(*counts, strict=True)
    return Count(sum(items), sum(different), tuple(map(sum, zip(*of_sets, strict=True))), sum(shared))
