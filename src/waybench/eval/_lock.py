"""One run at a time in a folder."""

import json
import os
import platform
import sqlite3
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

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
