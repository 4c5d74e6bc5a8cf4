"""What a set of shards is: the ranges of its items, and the names of its files, which say all about them."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from waybench.core import Json, UsageError
from waybench.ext.scale.shards._files import Store

ITEMS, HASHES = "items", "hashes"  # folders
DESCRIPTION, MANIFEST = "set.json", "manifest.json"
FORMATS: Mapping[str, str] = {"jsonl": ".jsonl.gz", "parquet": ".parquet"}  # format -> how its files' names end
_NAME = re.compile(r"(\d{12})-(\d+)-([0-9a-f]{64})(\.jsonl\.gz|\.parquet)")


class Range(NamedTuple):
    """The items of one shard.

    Attributes:
        first: Number of the first item.
        size: Number of items.
    """

    first: int
    size: int


class Shard(NamedTuple):
    """A finished shard.

    Attributes:
        range: Its items.
        sha256: Hash of its file.
        bytes: Size of its file.
        ending: How the file's name ends.
    """

    range: Range
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
class Plan:
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

    def range(self, number: int) -> Range:
        """Return the items of a shard.

        Raises:
            UsageError: If there is no such shard.
        """
        if not 0 <= number < len(self):
            raise UsageError(f"shard {number}: there are {len(self):,}, numbered from 0")
        first = number * self.size
        return Range(self.start + first, min(self.size, self.count - first))

    def number(self, made: Range) -> int | None:
        """Return the number of the shard that has exactly these items; None if there is none."""
        number, within = divmod(made.first - self.start, self.size)
        if within or not 0 <= number < len(self):
            return None
        return number if self.range(number) == made else None


def shard_of(name: str, size: int) -> Shard | None:
    """Read a file's name; None if it is not that of a shard.

    Args:
        name: The name.
        size: The file's size in bytes.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    return Shard(Range(int(match[1]), int(match[2])), match[3], size, match[4])


def finished(store: Store, ending: str) -> dict[Range, Shard]:
    """Return the finished shards of a folder, by one listing.

    A shard is finished once its file has its name: it is written elsewhere and moved there, or uploaded as a whole.
    """
    named = (shard_of(name, size) for name, size in store.listed(ITEMS).items())
    return {shard.range: shard for shard in named if shard is not None and shard.ending == ending}


def remove(store: Store, shard: Shard) -> None:
    """Remove a shard's files, that with its items first: without it, the shard is not finished."""
    store.remove(f"{ITEMS}/{shard.name}")
    store.remove(f"{HASHES}/{shard.hashes}")


def held_items(store: Store) -> int | None:
    """Return the number of items of a folder's manifest; None if it has none."""
    return None if store.read(MANIFEST) is None else sum(shard.range.size for shard in read_manifest(store)[1])


def check_described(store: Store, description: Mapping[str, Json]) -> bool:
    """Check that a folder has no shards of something else.

    Args:
        store: The folder.
        description: All that the content of shards depends on.

    Returns:
        Whether the folder is described.

    Raises:
        UsageError: If it has other shards.
    """
    found = store.read(DESCRIPTION)
    if found is None:
        return False
    before = read_object(found, f"{store.shown}/{DESCRIPTION}")
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
        UsageError: If it is none.
    """
    try:
        value = json.loads(content)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise UsageError(f"{where} is not a file that `waybench generate` wrote: choose another folder")
    return cast("dict[str, Json]", value)


def write_manifest(store: Store, description: Mapping[str, Json], shards: Iterable[Shard], **more: Json) -> None:
    """Write the manifest of a whole set: the description, and each shard in order.

    Args:
        store: The folder.
        description: What the items are.
        shards: The shards, in order.
        **more: Further facts of the set.
    """
    listed = list(shards)
    manifest: dict[str, Any] = {
        "set": dict(description),
        "items": sum(shard.range.size for shard in listed),
        "bytes": sum(shard.bytes for shard in listed),
        **more,
        "shards": [{"file": f"{ITEMS}/{shard.name}", "bytes": shard.bytes} for shard in listed],
    }
    # One line for each shard, so that two manifests can be compared line by line.
    head = json.dumps({name: value for name, value in manifest.items() if name != "shards"}, indent=2, sort_keys=True)
    rows = ",\n    ".join(json.dumps(row) for row in manifest["shards"])
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
