"""Makes one shard."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from waybench.shards._files import file_hash, hash_file, writing
from waybench.shards._layout import FORMATS, HASHES, ITEMS, Range, Shard
from waybench.shards._store import Store


def write_shard(store: Store, items: Range, rows: Iterable[tuple[str, Iterable[str]]], file_format: str) -> Shard:
    """Write a shard: its hashes first, then its file, which is there as a whole or not at all.

    Memory does not grow with the size of items: lines are written as they come, and 16 bytes of each hash are kept.

    Args:
        store: The set's folder.
        items: Which items it has.
        rows: Of each item in order, its hash and its lines.
        file_format: "jsonl" or "parquet".

    Raises:
        UsageError: If the folder cannot be written.
    """
    with store.scratch() as folder:
        file, hashes = folder / "items", folder / "hashes"
        hashes.write_bytes(hash_file(_written(rows, folder / "items", file_format)))
        shard = Shard(items, file_hash(file), file.stat().st_size, FORMATS[file_format])
        store.put(hashes, f"{HASHES}/{shard.hashes}")
        store.put(file, f"{ITEMS}/{shard.name}")
    return shard


def _written(rows: Iterable[tuple[str, Iterable[str]]], file: Path, file_format: str) -> Iterator[str]:
    """Write lines and yield the items' hashes."""
    with writing(file, file_format) as write:
        for digest, lines in rows:
            for line in lines:
                write(line)
            yield digest
