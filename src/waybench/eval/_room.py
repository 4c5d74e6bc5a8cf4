"""Detects a full disk and names the folder."""

import errno
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import cast

from inspect_ai._util.appdirs import inspect_data_dir  # where the engine buffers samples; it has no public name

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
