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

_BYTES = 64  # memory for each hash while hashes are sorted: two copies, the number of its set, its index in the order
_INDEX_BYTES = 4 * INDEX
_SPAN = 1 << 64  # ranges of hashes are ranges of their first 8 bytes
MEMORY = 512 << 20  # bytes for sorting a range of hashes


class NumberRange(NamedTuple):
    """The items of one shard: the number of the first item, and the number of items."""

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
    """The shards of a set as ranges of item numbers.

    Attributes:
        start: Number of the first item.
        count: Number of items.
        size: Number of items of a shard; the last shard may have fewer.
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
    """Remove a shard's files, the items first, so that no shard without hashes counts as finished."""
    store.remove(f"{ITEMS}/{shard.name}")
    store.remove(f"{HASHES}/{shard.hashes}")


def count_items_in_manifest(store: ShardFolder) -> int | None:
    """Return the number of items in a folder's manifest; None without a manifest."""
    return None if store.read_bytes(MANIFEST) is None else sum(shard.range.size for shard in read_manifest(store)[1])


def has_same_description(store: ShardFolder, description: Mapping[str, Json]) -> bool:
    """Return whether a folder has this description; False without any; raise a UsageError for another description."""
    content = store.read_bytes(DESCRIPTION)
    if content is None:
        return False
    stored = parse_json_object(content, f"{store.shown}/{DESCRIPTION}")
    wanted = json.loads(json.dumps(description))
    names = sorted(name for name in {*stored, *wanted} if stored.get(name) != wanted.get(name))
    if names:
        differences = "; ".join(f"{name} {stored.get(name)!r}, not {wanted.get(name)!r}" for name in names[:3])
        raise UsageError(
            f"{store.shown} has other shards, with {differences}: choose another folder, or the same options"
        )
    return True


def write_description(store: ShardFolder, description: Mapping[str, Json]) -> None:
    """Write the description of a folder's items."""
    store.write_file(DESCRIPTION, f"{json.dumps(description, indent=2, sort_keys=True)}\n".encode())


def parse_json_object(content: bytes, where: str) -> dict[str, Json]:
    """Return a JSON object from a file's content; raise a UsageError for any other content."""
    try:
        value = json.loads(content)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise UsageError(f"{where} is not a file that `waybench generate` wrote: choose another folder")
    return cast("dict[str, Json]", value)


def write_manifest(store: ShardFolder, description: Mapping[str, Json], shards: Iterable[Shard], **more: Json) -> None:
    """Write the manifest of a set: its description, further fields (`more`) and all shards in order."""
    shards = list(shards)
    summary: dict[str, Any] = {
        "set": dict(description),
        "items": sum(shard.range.size for shard in shards),
        "bytes": sum(shard.bytes for shard in shards),
        **more,
    }
    summary_json = json.dumps(summary, indent=2, sort_keys=True)
    # One line for each shard, so that two manifests can be compared line by line.
    files = ({"file": f"{ITEMS}/{shard.name}", "bytes": shard.bytes} for shard in shards)
    rows = ",\n    ".join(map(json.dumps, files))
    store.write_file(MANIFEST, f'{summary_json[:-2]},\n  "shards": [\n    {rows}\n  ]\n}}\n'.encode())


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

    Memory does not grow with the size of items: lines are written as they come, and only the hashes are kept.

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


class ShardCheck(NamedTuple):
    """A shard to verify: the set's folder, the shard by the manifest, and what each row must have (column, value)."""

    place: str
    shard: Shard
    expected: tuple[tuple[str, Json], ...]


def problem_of_shard(job: ShardCheck) -> str | None:
    """Return the first problem of a shard's file, items or hashes, in one line; None without a problem."""
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
    """Return the hash of each item in a shard's file by its index, or a text with the first problem of the items."""
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
    """A range of hashes of some sets, which one job sorts.

    Attributes:
        places: The sets' folders.
        files: For each set the names of its files of hashes.
        low: Start of the range, by the first 8 bytes of hashes.
        high: End of the range, exclusive.
    """

    places: tuple[str, ...]
    files: tuple[tuple[str, ...], ...]
    low: int
    high: int


class Count(NamedTuple):
    """Numbers of items: all, different items, different items of each set, and different items in two or more sets."""

    items: int
    different: int
    of_sets: tuple[int, ...]
    shared: int


def divide_into_hash_ranges(
    places: Sequence[str], shards: Sequence[Sequence[Shard]], memory: int = MEMORY
) -> list[HashRange]:
    """Divide the hashes of sets into ranges that can be counted independently, each with about `memory` bytes."""
    n_items = sum(shard.range.size for shards_of_set in shards for shard in shards_of_set)
    n_ranges = max(1, -(-n_items * _BYTES // memory))
    files = tuple(tuple(shard.hashes for shard in shards_of_set) for shards_of_set in shards)
    bounds = [_SPAN * index // n_ranges for index in range(n_ranges + 1)]
    return [HashRange(tuple(places), files, low, high) for low, high in pairwise(bounds)]


def count_distinct_hashes(part: HashRange) -> Count:
    """Count the different hashes in a range.

    Hashes are compared by their first 16 bytes. Among n different items, two are taken for one with a probability below
    n^2 / 2^129: for 10^9 items, 1.5e-21.

    Raises:
        UsageError: If a file is missing or damaged.
    """
    hashes: list[tuple[Any, Any]] = []
    sizes: list[int] = []
    for path, names in zip(part.places, part.files, strict=True):
        store = ShardFolder(path)
        hashes_of_set = [_hashes_in_range(store, name, part.low, part.high) for name in names]
        hashes += hashes_of_set
        sizes.append(sum(len(first_halves) for first_halves, _ in hashes_of_set))
    return _count_sorted_hashes(hashes, sizes)


def _hashes_in_range(store: ShardFolder, name: str, low: int, high: int) -> tuple[Any, Any]:
    """Return the hashes of a file in a range as two arrays: their first and their second 8 bytes.

    The file begins with an index (see `_files.indexed_hashes`), so that only the bytes near the range are read.
    """
    import numpy as np  # only commands that count need it

    path = f"{HASHES}/{name}"
    is_all = low == 0 and high == _SPAN
    read_content = store.read_bytes(path) if is_all else store.read_bytes(path, 0, _INDEX_BYTES)
    damage_error = UsageError(
        f"{store.shown}/{path} is missing or damaged: remove the shard's file in items/ and generate the set again, "
        "which makes only that shard"
    )
    if read_content is None or len(read_content) < _INDEX_BYTES:
        raise damage_error
    index = np.frombuffer(read_content, "<u4", INDEX)
    first, last = int(index[low >> 56]), int(index[((high - 1) >> 56) + 1])  # >> 56: the first of 8 bytes
    content = read_content[_INDEX_BYTES:] if is_all else b""
    if not is_all and last > first:
        content = store.read_bytes(path, _INDEX_BYTES + DIGEST * first, _INDEX_BYTES + DIGEST * last) or b""
    if len(content) != DIGEST * (last - first):
        raise damage_error
    digests = np.frombuffer(content, ">u8").reshape(-1, 2)
    begin = int(np.searchsorted(digests[:, 0], np.uint64(low), side="left"))
    end = int(np.searchsorted(digests[:, 0], np.uint64(high - 1), side="right"))
    hashes_in_range = digests[begin:end].astype(np.uint64)
    return hashes_in_range[:, 0], hashes_in_range[:, 1]


def _count_sorted_hashes(hashes: Sequence[tuple[Any, Any]], sizes: Sequence[int]) -> Count:
    """Return the counts of all and different hashes, by their first and second halves and the size of each set."""
    import numpy as np

    if not hashes:
        return Count(0, 0, (0,) * len(sizes), 0)
    first_halves, second_halves = (np.concatenate(halves) for halves in zip(*hashes, strict=True))
    order = np.lexsort((second_halves, first_halves))
    owners = np.repeat(np.arange(len(sizes), dtype=np.uint16), sizes)[order]
    first_halves, second_halves = first_halves[order], second_halves[order]
    is_new = np.ones(len(first_halves), bool)
    is_new[1:] = (first_halves[1:] != first_halves[:-1]) | (second_halves[1:] != second_halves[:-1])
    first_indices = np.flatnonzero(is_new)
    if len(sizes) == 1 or not len(first_indices):
        return Count(len(first_halves), len(first_indices), (len(first_indices), *(0,) * (len(sizes) - 1)), 0)
    n_sets_with = np.zeros(len(first_indices), np.int64)
    n_of_sets: list[int] = []
    for number in range(len(sizes)):
        is_in_set = np.logical_or.reduceat(owners == number, first_indices)
        n_of_sets.append(int(is_in_set.sum()))
        n_sets_with += is_in_set
    return Count(len(first_halves), len(first_indices), tuple(n_of_sets), int((n_sets_with > 1).sum()))


def sum_counts(counts: Iterable[Count]) -> Count:
    """Return the sum of the counts of all ranges."""
    items, different, of_sets, shared = zip(*counts, strict=True)
    return Count(sum(items), sum(different), tuple(map(sum, zip(*of_sets, strict=True))), sum(shared))
