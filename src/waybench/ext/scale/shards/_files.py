"""The files of a shard, and the folder of a set in which a file is there as a whole or not at all."""

import gzip
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from typing import Any

from waybench.core import Json
from waybench.ext.scale import StorageFolder, is_url

DIGEST = 16  # bytes of an item's SHA-256 that are kept
INDEX = 257  # numbers in the index of a file of hashes, see `indexed_hashes`
_GROUP = 1000  # rows of Parquet that are held in memory
_LEVEL = 6  # of gzip: twice as fast as its default, for 2 % more bytes
_NUMBERS = ("version", "level", "index")  # columns that are integers; others are text, or JSON as text

_PART, _SCRATCH = ".part", ".making-"


@contextmanager
def open_line_writer(path: Path, file_format: str) -> Generator[Callable[[str], None], None, None]:
    """Give a function that writes lines of JSON to a shard's file; equal lines give equal bytes."""
    if file_format != "jsonl":
        with _open_parquet_writer(path) as write:
            yield write
        return
    # Neither the file's name nor the time is written, so that equal lines give equal bytes.
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", _LEVEL, raw, mtime=0) as stream:

        def write_line(line: str) -> None:
            stream.write(f"{line}\n".encode())

        yield write_line


@contextmanager
def _open_parquet_writer(path: Path) -> Generator[Callable[[str], None], None, None]:
    """Give a function that writes lines of JSON to a Parquet file as rows."""
    arrow: Any = import_module("pyarrow")
    files: Any = import_module("pyarrow.parquet")
    rows: list[dict[str, Json]] = []
    writers: list[Any] = []

    def flush() -> None:
        """Write the collected rows as a row group."""
        if not writers:  # types depend on the columns' names only, so that all shards have the same types
            writers.append(files.ParquetWriter(str(path), _arrow_schema(arrow, rows), compression="zstd"))
        schema = writers[0].schema
        text_columns = [field.name for field in schema if field.type == arrow.string()]
        for row in rows:
            for name in text_columns:
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


def _arrow_schema(arrow: Any, rows: list[dict[str, Json]]) -> Any:
    """Return the Arrow schema of rows, from the names in the first row."""
    names = list(rows[0]) if rows else []
    types: dict[str, Any] = {name: arrow.int64() for name in _NUMBERS}
    if "messages" in names:
        types["messages"] = arrow.list_(arrow.struct(_message_fields(arrow, rows[0])))
    return arrow.schema([(name, types.get(name, arrow.string())) for name in names])


def _message_fields(arrow: Any, row: dict[str, Json]) -> list[tuple[str, Any]]:
    """Return the names and Arrow types of the fields of messages in a row."""
    text = arrow.string()
    fields = [("role", text), ("content", text)]
    if any("reasoning_content" in message for message in row["messages"]):
        fields.append(("reasoning_content", text))
    if "tools" in row:
        function = arrow.struct([("name", text), ("arguments", text)])
        call = arrow.struct([("id", text), ("type", text), ("function", function)])
        fields += [("tool_calls", arrow.list_(call)), ("tool_call_id", text)]
    return fields


def uncompressed_size(path: Path) -> int:
    """Return the size of a Parquet file's columns in bytes before they were compressed."""
    files: Any = import_module("pyarrow.parquet")
    metadata = files.read_metadata(str(path))
    return sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))


def rows_in_file(path: Path, ending: str) -> Iterator[dict[str, Json]]:
    """Yield the rows of a shard's file as objects.

    Raises:
        OSError, ValueError, EOFError: If the file is no shard's file, or damaged.
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


def indexed_hashes(hashes: Iterable[str]) -> bytes:
    """Return the bytes of a file of sorted hashes with an index.

    It is an index of 257 little-endian 32-bit numbers (how many hashes begin with a byte below 0, 1, ..., 256) and the
    first 16 bytes of each hash, sorted: a range of hashes is read without the rest.
    """
    digests = sorted(bytes.fromhex(text[: 2 * DIGEST]) for text in hashes)
    counts = [0] * INDEX
    for digest in digests:
        counts[digest[0] + 1] += 1
    index = b"".join(number.to_bytes(4, "little") for number in accumulate(counts))
    return index + b"".join(digests)


class ShardFolder(StorageFolder):
    """A folder of files that are written once."""

    @property
    def _local_path(self) -> Path | None:
        """The folder's path if it is on this machine, otherwise None."""
        return None if is_url(self.place) else Path(self.place)

    def file_sizes_by_name(self, folder: str) -> dict[str, int]:
        """Return the size of each file of a subfolder, sorted by name; {} if it does not exist."""
        with self._explain_errors("read"):
            self._files.invalidate_cache()
            try:
                infos: list[dict[str, Any]] = self._files.ls(f"{self._root}/{folder}", detail=True)
            except FileNotFoundError:
                return {}
        sizes = {info["name"].rpartition("/")[2]: int(info["size"] or 0) for info in infos if info["type"] == "file"}
        return {name: sizes[name] for name in sorted(sizes) if not name.endswith(_PART)}

    def read_bytes(self, name: str, start: int | None = None, end: int | None = None) -> bytes | None:
        """Return a file's bytes, or its bytes from `start` to `end`; None if it does not exist."""
        with self._explain_errors("read"), suppress(FileNotFoundError):
            return self._files.cat_file(f"{self._root}/{name}", start=start, end=end)
        return None

    @contextmanager
    def open_local_copy(self, name: str) -> Generator[Path, None, None]:
        """Give the path of a file on this machine, or of a temporary copy of it."""
        if self._local_path is not None:
            yield self._local_path / name
            return
        with tempfile.TemporaryDirectory(prefix="waybench-") as folder:
            copy = Path(folder) / "file"
            self.fetch(name, copy)
            yield copy

    @contextmanager
    def open_scratch_folder(self) -> Generator[Path, None, None]:
        """Give an empty local folder for files that `put` then moves into this folder."""
        if self._local_path is None:
            folder = tempfile.mkdtemp(prefix="waybench-")
        else:
            with self._explain_errors("write to"):
                self._local_path.mkdir(parents=True, exist_ok=True)
                # On the same file system, so that a file is moved into its place in one step.
                folder = tempfile.mkdtemp(prefix=_SCRATCH, dir=self._local_path)
        try:
            yield Path(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def put(self, path: Path, name: str) -> None:
        """Move a finished local file into the folder, where it replaces an older file of the name."""
        if self._local_path is None:
            super().put(path, name)
            return
        target = self._local_path / name
        with self._explain_errors("write to"):
            target.parent.mkdir(exist_ok=True)
            with open(path, "rb") as stream:
                os.fsync(stream.fileno())  # so that the name is never on the disk without the content
            os.replace(path, target)

    def write_file(self, name: str, content: bytes) -> None:
        """Write a small file as a whole."""
        with self.open_scratch_folder() as folder:
            file = folder / "file"
            file.write_bytes(content)
            self.put(file, name)

    def remove_scratch_folders(self) -> None:
        """Remove scratch folders of killed processes; call it when nobody writes."""
        if self._local_path is not None:
            for folder in self._local_path.glob(f"{_SCRATCH}*"):
                shutil.rmtree(folder, ignore_errors=True)

    def free_bytes(self) -> int | None:
        """Return the free bytes of the folder's disk; None for an object store."""
        home = self._local_path
        if home is None:
            return None
        while not home.exists():
            home = home.parent
        return shutil.disk_usage(home).free
