"""Sets of items as shards: files of items in order, which any number of processes make, anywhere, byte for byte alike.

A set is a folder, or a URL that fsspec understands:

    set.json               what the items are; all shards agree with it
    items/FIRST-COUNT-SHA256.jsonl.gz or .parquet
    hashes/FIRST-COUNT-SHA256.hashes    the sorted hashes of a shard's items
    manifest.json          written at the end: the shards, in order, and counts
"""

from waybench.ext.scale.shards._files import DIGEST, Store
from waybench.ext.scale.shards._shards import (
    FORMATS,
    Count,
    Plan,
    Range,
    Shard,
    ToCheck,
    check_described,
    check_shard,
    count_part,
    describe,
    finished,
    held_items,
    parts,
    read_manifest,
    remove,
    total,
    write_manifest,
    write_shard,
)

__all__ = [
    "DIGEST",
    "FORMATS",
    "Count",
    "Plan",
    "Range",
    "Shard",
    "Store",
    "ToCheck",
    "check_described",
    "check_shard",
    "count_part",
    "describe",
    "finished",
    "held_items",
    "parts",
    "read_manifest",
    "remove",
    "total",
    "write_manifest",
    "write_shard",
]
