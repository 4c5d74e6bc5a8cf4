"""Writing JSON lines to a file or to standard output."""

import json
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import IO

from waybench.core import Json, UsageError


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
                raise  # standard output is everyone's: what happens to it is told in one place
            raise _refused(path, error) from None

    return write


def _refused(path: str, error: OSError) -> UsageError:
    return UsageError(f"cannot write {path!r}: {error.strerror}; choose another file")
