"""The files of a shard: its lines as compressed JSON or Parquet, and the sorted hashes of its items."""

import gzip
import hashlib
import json
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from typing import Any

from waybench.core import Json

DIGEST = 16  # bytes of an item's SHA-256 that are kept
INDEX = 257  # numbers before the hashes: how many begin with a byte below 0, 1, ..., 256
_GROUP = 1000  # rows of Parquet that are held in memory
_LEVEL = 6  # of gzip: twice as fast as its default, for 2 % more bytes
_CHUNK = 1 << 20
_NUMBERS = ("version", "level", "index")  # columns that are integers; others are text, or JSON as text


@contextmanager
def writing(path: Path, file_format: str) -> Generator[Callable[[str], None], None, None]:
    """Open a shard's file for lines of JSON; the same lines give the same bytes.

    Args:
        path: The file.
        file_format: "jsonl" or "parquet".

    Yields:
        A function that writes one line.
    """
    with (_compressed if file_format == "jsonl" else _columns)(path) as write:
        yield write


@contextmanager
def _compressed(path: Path) -> Generator[Callable[[str], None], None, None]:
    # Neither the name nor the time is written, for both would make each file a different one.
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", _LEVEL, raw, mtime=0) as stream:
        yield lambda line: _write(stream, line)


def _write(stream: gzip.GzipFile, line: str) -> None:
    stream.write(f"{line}\n".encode())


@contextmanager
def _columns(path: Path) -> Generator[Callable[[str], None], None, None]:
    arrow: Any = import_module("pyarrow")
    files: Any = import_module("pyarrow.parquet")
    rows: list[dict[str, Json]] = []
    writers: list[Any] = []

    def flush() -> None:
        if not writers:  # the types do not depend on values, so that all shards have the same ones
            writers.append(files.ParquetWriter(str(path), _schema(arrow, rows), compression="zstd"))
        schema = writers[0].schema
        texts = [field.name for field in schema if field.type == arrow.string()]
        for row in rows:
            for name in texts:
                if not isinstance(row[name], str):
                    row[name] = json.dumps(row[name], separators=(",", ":"))
        writers[0].write_table(arrow.Table.from_pylist(rows, schema=schema))
        rows.clear()

    def write(line: str) -> None:
        rows.append(json.loads(line))
        if len(rows) == _GROUP:
            flush()

    try:
        yield write
        if rows or not writers:
            flush()
    finally:
        for writer in writers:
            writer.close()


def _schema(arrow: Any, rows: list[dict[str, Json]]) -> Any:
    names = list(rows[0]) if rows else []
    own = {"messages": arrow.list_(arrow.struct(_message(arrow, rows[0])))} if "messages" in names else {}
    numbers = dict.fromkeys(_NUMBERS, arrow.int64())
    return arrow.schema([(name, (own | numbers).get(name, arrow.string())) for name in names])


def _message(arrow: Any, row: dict[str, Json]) -> list[tuple[str, Any]]:
    text = arrow.string()
    fields = [("role", text), ("content", text)]
    if any("reasoning_content" in message for message in row["messages"]):
        fields.append(("reasoning_content", text))
    if "tools" in row:
        function = arrow.struct([("name", text), ("arguments", text)])
        call = arrow.struct([("id", text), ("type", text), ("function", function)])
        fields += [("tool_calls", arrow.list_(call)), ("tool_call_id", text)]
    return fields


def lines_in(path: Path, ending: str) -> Iterator[dict[str, Json]]:
    """Yield the rows of a shard's file.

    Raises:
        OSError: If the file is no such file, or damaged.
        ValueError: Likewise.
        EOFError: Likewise.
    """
    if ending == ".parquet":
        files: Any = import_module("pyarrow.parquet")
        with files.ParquetFile(str(path)) as file:
            for batch in file.iter_batches(_GROUP):
                yield from batch.to_pylist()
        return
    with gzip.open(path, "rt", encoding="ascii") as stream:
        for line in stream:
            yield json.loads(line)


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def hash_file(hashes: Iterable[str]) -> bytes:
    """Return the content of the file of items' hashes.

    It is an index of 257 little-endian 32-bit numbers (how many hashes begin with a byte below 0, 1, ..., 256) and the
    first 16 bytes of each hash, sorted: a range of hashes is read without the rest.
    """
    digests = sorted(bytes.fromhex(each[: 2 * DIGEST]) for each in hashes)
    counts = [0] * INDEX
    for digest in digests:
        counts[digest[0] + 1] += 1
    index = b"".join(number.to_bytes(4, "little") for number in accumulate(counts))
    return index + b"".join(digests)
