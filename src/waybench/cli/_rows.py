"""Lines of JSON as a Parquet file."""

import json
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from waybench.core import UsageError

_GROUP = 1000  # rows that are held in memory


@contextmanager
def parquet(path: str) -> Generator[Callable[[str], None], None, None]:
    """Open a Parquet file for lines of JSON that have the same fields.

    Args:
        path: The file's path; an older file is replaced.

    Yields:
        A function that writes one line.

    Raises:
        UsageError: If the file cannot be written.
    """
    arrow: Any = import_module("pyarrow")
    files: Any = import_module("pyarrow.parquet")
    waiting: list[Any] = []
    writer: Any = None

    def flush() -> None:
        nonlocal writer
        table = arrow.Table.from_pylist(waiting, schema=None if writer is None else writer.schema)
        if writer is None:
            try:
                writer = files.ParquetWriter(path, table.schema)
            except OSError as error:
                raise UsageError(f"cannot write {path!r}: {error.strerror or error}") from None
        writer.write_table(table)
        waiting.clear()

    def write(line: str) -> None:
        waiting.append(json.loads(line))
        if len(waiting) == _GROUP:
            flush()

    try:
        yield write
        if waiting:
            flush()
    finally:
        if writer is not None:
            writer.close()


def is_parquet(path: str | None) -> bool:
    """Return whether a file's name says that it is one of Parquet."""
    return path is not None and Path(path).suffix.lower() == ".parquet"
