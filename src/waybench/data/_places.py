"""Locations of data sets, and checks that their files are the published ones."""

import difflib
import hashlib
import os
import shlex
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from waybench.core import DataError, DataFile, Download, UsageError, user_path
from waybench.data._index import find_download

StrPath = str | os.PathLike[str]


class LocalFiles:
    """Finds the files of data sets on this machine (`DataFiles`), in a folder or in the usual places.

    Args:
        folder: The folder of all data sets, or of the one that is asked for; None for the usual places.
    """

    def __init__(self, folder: StrPath | None = None) -> None:
        self._folder = folder

    def __call__(self, dataset: str, file: str, /) -> Path:
        """Return where a file lies; see `locate`."""
        return locate(dataset, file, self._folder)

    def names(self, dataset: str, /) -> Sequence[str]:
        """Return the names of all files of a data set, whether they are here or not."""
        return [file.path for file in find_download(dataset).files]


def cache_dir() -> Path:
    """Return the folder into which data sets are downloaded: $WAYBENCH_CACHE, or the user's cache of waybench."""
    given = os.environ.get("WAYBENCH_CACHE")
    if given:
        return Path(given)
    pooch: Any = import_module("pooch")  # imported when it is needed, as everywhere; it carries no types
    return Path(pooch.os_cache("waybench"))


def locate(name: str, file: str, data_dir: StrPath | None = None) -> Path:
    """Find a file of a data set.

    A given folder is the only place that counts. Otherwise it is $WAYBENCH_DATA and, for what that has not, the cache.
    In each of them the file lies at NAME/FILE. A given folder can also have the data set's files itself.

    Args:
        name: The data set.
        file: The file's path within the data set.
        data_dir: The folder of all data sets, or of this one; None for the usual places.

    Raises:
        UsageError: If there is no such data set or file, or the file is in none of the places.
        DataError: If the file is there, but cannot be read or is not the published one.
    """
    wanted = find_download(name)
    entry = _file(wanted, file)
    for home in _homes(data_dir, wanted):
        if _is_published(home, wanted, entry):
            return _within(home, entry)
    raise _missing(wanted, entry, data_dir)


def folder(name: str, data_dir: StrPath | None = None) -> Path:
    """Find the folder that has all files of a data set, in the places of `locate`.

    Args:
        name: The data set.
        data_dir: The folder of all data sets, or of this one; None for the usual places.

    Raises:
        UsageError: If there is no such data set, or no place has all of its files.
        DataError: If a file is there, but cannot be read or is not the published one.
    """
    wanted = find_download(name)
    absent: DataFile | None = None
    for home in _homes(data_dir, wanted):
        lacking = [file for file in wanted.files if not _is_published(home, wanted, file)]
        if not lacking:
            return home
        absent = lacking[0]
    assert absent is not None, "there is always a place to look in"
    raise _missing(wanted, absent, data_dir)


def place(root: Path, wanted: Download, file: DataFile) -> Path:
    """Return where a file lies, or would lie, in a folder of data sets."""
    return _within(root / wanted.name, file)


def _within(home: Path, file: DataFile) -> Path:
    return home.joinpath(*file.path.split("/"))


def checksum(path: Path) -> str:
    """Return a file's SHA-256; it is computed once per process unless the file changes.

    Raises:
        OSError: If the file is not there or cannot be read.
    """
    found = path.stat()
    return _checksum(os.path.abspath(path), (found.st_ino, found.st_size, found.st_mtime_ns))


@cache
def _checksum(path: str, identity: tuple[int, ...]) -> str:
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _homes(data_dir: StrPath | None, wanted: Download) -> Iterator[Path]:
    """Yield the folders in which the files of a data set may lie."""
    if data_dir is not None:
        given = user_path(data_dir)
        home = given / wanted.name
        direct = not home.is_dir() and any(_within(given, file).is_file() for file in wanted.files)
        yield given if direct else home
        return
    variable = os.environ.get("WAYBENCH_DATA")
    if variable:
        yield user_path(variable) / wanted.name
    yield cache_dir() / wanted.name


def _file(wanted: Download, path: str) -> DataFile:
    for file in wanted.files:
        if file.path == path:
            return file
    # A data set may have hundreds of files: too many to name them all, as for other names.
    near = difflib.get_close_matches(path[:200], [file.path for file in wanted.files], n=1)
    hint = f": did you mean {near[0]!r}?" if near else f"; it has {len(wanted.files)}, such as {wanted.files[0].path!r}"
    raise UsageError(f"data set {wanted.name} has no file {path[:80]!r}{hint}")


def _is_published(home: Path, wanted: Download, file: DataFile) -> bool:
    """Return whether a folder has a file; a file that differs from the published one is an error."""
    path = _within(home, file)
    try:
        found = checksum(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}; fix this, or use another copy") from None
    if found != file.sha256:
        # A folder of another name is the user's own: a download would not go there.
        to = f" --to {shlex.quote(str(home.parent))}" if home.absolute().name == wanted.name else ""
        again = f"waybench data fetch {wanted.name}{to}"
        difference = f"SHA-256 {found[:12]}..., expected {file.sha256[:12]}..."
        raise DataError(f"{path} is not the published file ({difference}): replace it by `{again}`")
    return True


def _missing(wanted: Download, file: DataFile, data_dir: StrPath | None) -> UsageError:
    roots = [Path(data_dir)] if data_dir is not None else [home.parent for home in _homes(None, wanted)]
    places = " or ".join(map(str, roots))
    to = "" if data_dir is None else f" --to {shlex.quote(os.fspath(data_dir))}"
    return UsageError(
        f"{wanted.name}/{file.path} is not in {places}: run `waybench data fetch {wanted.name}{to}`, "
        "or set WAYBENCH_DATA to the folder of a copy"
    )
