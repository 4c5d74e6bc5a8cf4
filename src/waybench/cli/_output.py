"""What several commands write: lines to a file or to standard output, and what of the logs is skipped."""

import json
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from waybench.core import Json, UsageError, plural

if TYPE_CHECKING:
    from waybench.results.logs import Skipped

_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")
MOST_SKIPPED = 10  # samples that are skipped, of which the terminal has a line each


def size_text(size: float) -> str:
    """Write a number of bytes in a fitting unit, with three digits that count."""
    for unit in _UNITS[:-1]:
        if size < 999.5:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:,.0f} {_UNITS[-1]}"


def dumps(value: Json) -> str:
    """Return a value as one line of ASCII JSON."""
    return json.dumps(value, separators=(",", ":"))


@contextmanager
def lines(path: str | None, *, append: bool = False) -> Generator[Callable[[str], None], None, None]:
    """Open a file, or standard output, for lines that are out as soon as they are written.

    Args:
        path: The file's path; None or "-" for standard output.
        append: Whether a file's present content is kept.

    Yields:
        A function that writes one line.

    Raises:
        UsageError: If the file cannot be opened or written.
    """
    if path is None or path == "-":
        yield _writer(sys.stdout, None)
        return
    try:
        stream = open(path, "a" if append else "w", encoding="ascii", newline="\n")  # noqa: SIM115  closed below
    except OSError as error:
        raise _refused(path, error) from None
    try:
        yield _writer(stream, path)
    finally:
        with suppress(OSError):  # every line is flushed when it is written, so that nothing new can go wrong here
            stream.close()


def _writer(stream: IO[str], path: str | None) -> Callable[[str], None]:
    def write(line: str) -> None:
        try:
            stream.write(line + "\n")
            stream.flush()
        except OSError as error:
            if path is None:
                raise  # standard output is everyone's: its errors are shown in one place
            raise _refused(path, error) from None

    return write


def _refused(path: str, error: OSError) -> UsageError:
    return UsageError(f"cannot write {path!r}: {error.strerror}; choose another file")


def to_stderr(line: str) -> None:
    """Write a line to stderr."""
    click.echo(line, err=True)


def tell_skipped(skipped: "Sequence[Skipped]", tell: Callable[[str], None] = to_stderr) -> None:
    """Name what of the logs is skipped, the first ten with a line each.

    Args:
        skipped: What is skipped.
        tell: Is given the lines; by default stderr is.
    """
    for one in skipped[:MOST_SKIPPED]:
        tell(f"waybench: {one}")
    if len(skipped) > MOST_SKIPPED:
        tell(f"waybench: and {len(skipped) - MOST_SKIPPED} more")


def skipped_warning(skipped: "Sequence[Skipped]") -> str:
    """Return a warning that counts what of the logs is skipped."""
    count = plural(len(skipped), "sample or file", "samples and files")
    return f"warning: {count} of the logs could not be read and are excluded from all results"


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
