"""Verifies a set against its manifest."""

import json
import zlib
from typing import Any, NamedTuple

from waybench.core import Json
from waybench.shards._files import file_hash, hash_file, lines_in
from waybench.shards._layout import HASHES, ITEMS, Shard
from waybench.shards._store import Store


class ToCheck(NamedTuple):
    """A shard that is to be verified.

    Attributes:
        place: The set's folder.
        shard: The shard, as the manifest lists it.
        expected: What each row must have, such as the environment: column -> value.
    """

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
            found = _found(path, shard, dict(job.expected))
    except FileNotFoundError:
        return f"{where}: missing"
    except (OSError, EOFError, ValueError, KeyError, TypeError, zlib.error) as error:
        return f"{where}: cannot be read as a shard ({type(error).__name__})"
    if isinstance(found, str):
        return f"{where}: {found}"
    kept = store.read(f"{HASHES}/{shard.hashes}")
    if kept != hash_file(found.values()):
        return f"{HASHES}/{shard.hashes}: {'missing' if kept is None else 'not the hashes of the items'}"
    return None


def _found(path: Any, shard: Shard, expected: dict[str, Json]) -> dict[int, str] | str:
    """Return the hashes of a file's items by their place in it, or what is wrong with them."""
    found: dict[Any, str] = {}
    for number, row in enumerate(lines_in(path, shard.ending)):
        for name, value in expected.items():
            if row[name] != value:
                return f"row {number} has {name} {json.dumps(row[name])[:80]}, not {json.dumps(value)}"
        found[row["index"]] = row["hash"]
    if len(found) != shard.range.size:
        return f"{len(found):,} items, not {shard.range.size:,}"
    return found
