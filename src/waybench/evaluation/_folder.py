"""The folder of a run: one run at a time, and what to say of a full disk."""

import errno
import json
import os
import platform
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

from inspect_ai._util.appdirs import inspect_data_dir  # where the engine buffers samples; it has no public name

from waybench.core import LOCK_FILE, UsageError

HOLDER = ".waybench-lock.json"
_WAIT = 0.5  # seconds: `waybench view` touches the lock to see whether a run holds it


@contextmanager
def locked(folder: Path) -> Generator[None]:
    """Hold the lock of a folder, since two runs in it at once would send every request twice.

    SQLite's lock of a file, which holds nothing, is the operating system's on each platform. It ends with the process
    however that ends, so that no lock is ever left over, nor mistaken for that of a process that got the same id.

    Args:
        folder: The folder; it is created if there is none.

    Raises:
        UsageError: If another process holds it; the message says which, and since when.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = _acquired(folder)
    holder = folder / HOLDER
    with suppress(OSError):
        holder.write_text(json.dumps({"pid": os.getpid(), "host": platform.node(), "since": time.time()}), "utf-8")
    try:
        yield
    finally:
        with suppress(OSError):
            holder.unlink(missing_ok=True)
        if lock is not None:
            lock.close()


def _acquired(folder: Path) -> sqlite3.Connection | None:
    """Return the locked file; None where the file system has no locks, which stops no run."""
    lock = None
    try:
        lock = sqlite3.connect(folder / LOCK_FILE, timeout=_WAIT, isolation_level=None)
        lock.execute("PRAGMA journal_mode = MEMORY")  # no second file
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.DatabaseError as error:  # also of a file system without locks, or of a file that is not ours
        if lock is not None:
            lock.close()
        if error.sqlite_errorcode in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise UsageError(_held(folder)) from None
        return None
    return lock


def _held(folder: Path) -> str:
    who = "another process"
    with suppress(OSError, ValueError, KeyError, TypeError):
        holder: Any = json.loads((folder / HOLDER).read_text("utf-8"))
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(float(holder["since"])))
        who = f"process {int(holder['pid'])} on {str(holder['host'])[:60]}, since {since},"
    return f"{folder} is in use: {who} is running in it; wait until it ends, or choose another folder with --out"


_CODES = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_WORDS = (*map(os.strerror, _CODES), "database or disk is full")  # where only an error's text is left
_LITTLE = 1 << 20  # bytes; with less than this a file system counts as full


def is_full(error: BaseException) -> bool:
    """Return whether an error or one of its causes says that the disk is full."""
    return any(
        (isinstance(each, OSError) and each.errno in _CODES)
        or (isinstance(each, sqlite3.OperationalError) and _WORDS[-1] in str(each))
        for each in _causes(error)
    )


def says_full(text: str) -> bool:
    """Return whether the text of an error says that the disk is full."""
    return any(words in text for words in _WORDS)


def full_message(out: Path) -> str:
    """Return a message that names the full folder and says what to do.

    Args:
        out: The folder of its logs.
    """
    folders = [out, Path(inspect_data_dir("samplebuffer")), Path(tempfile.gettempdir())]
    full = [f"{folder} ({_size(free)} left)" for folder, free in _free(folders) if free < _LITTLE]
    where = " and ".join(full) or " or ".join(map(str, folders)) + " (or a quota there)"
    return (
        f"no space left to write: {where}. Free some space and run the same command again: it continues where this run "
        "stopped, without repeating completed requests"
    )


def _free(folders: Iterable[Path]) -> Iterator[tuple[Path, int]]:
    for folder in folders:
        try:
            yield folder, shutil.disk_usage(folder).free
        except OSError:
            continue


def _size(count: int) -> str:
    return f"{count:,} bytes"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, its causes and its members, each once, since causes can form a cycle."""
    left: list[BaseException | None] = [error]
    seen: set[int] = set()
    while left:
        each = left.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        left += [each.__cause__, each.__context__]
        if isinstance(each, BaseExceptionGroup):
            left += cast(Sequence[BaseException], each.exceptions)  # pyright: ignore[reportUnknownMemberType]
