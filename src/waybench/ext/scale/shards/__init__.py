"""Sets of items as shards: files of items in order, which any number of processes make, anywhere, byte for byte alike.

A set is a folder, or a URL that fsspec understands:

    set.json               what the items are; all shards agree with it
    items/FIRST-COUNT-SHA256.jsonl.gz or .parquet
    hashes/FIRST-COUNT-SHA256.hashes    the sorted hashes of a shard's items
    manifest.json          written at the end: the shards, in order, and counts
"""
