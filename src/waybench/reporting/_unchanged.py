"""A report of which nothing has changed since it was written: neither its logs nor its pages."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, cast

from waybench.reporting._cache import ReportCache, content_key, pack_values, unpack_values
from waybench.reporting._files import Folder

_FORMS = (".eval", ".json", ".jsonl", ".jsonl.gz")  # of logs, and of files of records


def inputs_key(folders: Iterable[Path], out: Path, *parts: object) -> bytes:
    """Return the key of a report: of the contents of all files that may be logs or records, and of its settings.

    Args:
        folders: The folders with logs, and files of records.
        out: The site's folder, whose files are no logs.
        *parts: What the report depends on besides.

    Returns:
        The key; b"" where a file cannot be read, or a folder is a link, whose files are not looked for here.
    """
    found: list[tuple[str, str]] = []
    try:
        for folder in folders:
            for path in _files(folder.absolute(), out.resolve()):
                with open(path, "rb") as file:
                    found.append((str(path), hashlib.file_digest(file, "sha256").hexdigest()))
    except OSError:
        return b""
    return content_key("report", [str(folder.absolute()) for folder in folders], sorted(found), *parts)


def _files(folder: Path, out: Path) -> Iterator[Path]:
    if folder.is_file():
        yield folder
        return
    for root, names, files in os.walk(folder, onerror=_raise):
        if any(os.path.islink(os.path.join(root, name)) for name in names):
            raise OSError("a folder is a link")
        names[:] = [name for name in names if Path(root, name).resolve() != out]
        yield from (Path(root, name) for name in files if name.endswith(_FORMS))


def _raise(error: OSError) -> None:
    raise error


def earlier(kept: ReportCache, key: bytes, folder: Folder) -> object:
    """Return what was kept of a report (`keep`) if all that it wrote is in the folder as it was; None otherwise.

    Args:
        kept: What earlier reports have kept.
        key: The report's key (`inputs_key`).
        folder: The site's folder.
    """
    content = kept.get(key) if key else None
    found = unpack_values(content) if content else None
    if not isinstance(found, tuple):
        return None
    files, values = cast(tuple[Any, Any], found)
    return values if folder.has(files) else None


def keep(kept: ReportCache, key: bytes, folder: Folder, values: object) -> None:
    """Keep what is said of a report under its key."""
    kept.put(key, pack_values((folder.written, values)))
