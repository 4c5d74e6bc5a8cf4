"""Published data sets: download, and the places of copies.

No data set is part of waybench; environments declare them. `fetch_dataset` is the only function of the whole package
that downloads anything.
"""

import difflib
import hashlib
import logging
import os
import shlex
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from http import HTTPStatus
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from waybench.core import CatalogueWarning, DataError, DataFile, Download, UsageError, unknown_name_message, user_path
from waybench.envs import registry

__all__ = ["LocalFiles"]

StrPath = str | os.PathLike[str]
Progress = Callable[[DataFile, bool], None]
RETRIES = 2  # after waits of one and two seconds
TIMEOUT = 30.0  # seconds without an answer after which a download fails
_CHUNK = 1 << 16  # bytes
_SURPLUS = 1 << 20  # bytes beyond the published size after which no more of an answer is read
_RETRIED_STATUSES = (408, 429)  # the client errors after which a second request may succeed
_ELSEWHERE = "or set WAYBENCH_DATA to the folder of a copy"


@cache
def published_downloads() -> dict[str, Download]:
    """Return the published data sets of all environments by name."""
    by_name: dict[str, Download] = {}
    for entry in sorted(registry.entries, key=lambda entry: entry not in registry.built_in):
        try:
            datasets = registry.load(entry.id).items.datasets
        except Exception as error:  # the code of another package, whose errors must not hide other data sets
            _warn_about_entry(f"the data sets of environment {entry.id} are skipped: {type(error).__name__}: {error}")
            continue
        for download in (dataset.download for dataset in datasets if dataset.download is not None):
            if by_name.setdefault(download.name, download) != download:
                _warn_about_entry(
                    f"environment {entry.id}: a data set {download.name} exists already; this one is skipped"
                )
    return dict(sorted(by_name.items()))


def _warn_about_entry(message: str) -> None:
    """Warn at the caller of `published_downloads`."""
    warnings.warn(message, CatalogueWarning, stacklevel=3)


def find_download(name: str) -> Download:
    """Return a published data set by its name; raise a UsageError if there is none."""
    if name not in published_downloads():
        raise UsageError(unknown_name_message("data set", name, published_downloads()))
    return published_downloads()[name]


class LocalFiles:
    """Finds the files of data sets on this machine (`DataFiles`), in a folder or in the usual places.

    Args:
        folder: The folder of all data sets, or of a single data set; None for the usual places.
    """

    def __init__(self, folder: StrPath | None = None) -> None:
        self._folder = folder

    def __call__(self, dataset: str, file: str, /) -> Path:
        """Return the path of a file of a data set; see `locate_file`."""
        return locate_file(dataset, file, self._folder)

    def names(self, dataset: str, /) -> Sequence[str]:
        """Return the names of all files of a data set, whether they are on this machine or not."""
        return [file.path for file in find_download(dataset).files]


def cache_folder() -> Path:
    """Return the folder for downloads: $WAYBENCH_CACHE, or waybench's folder in the user's cache."""
    if path := os.environ.get("WAYBENCH_CACHE"):
        return Path(path)
    pooch: Any = import_module("pooch")  # it has no types
    return Path(pooch.os_cache("waybench"))


def locate_file(name: str, file: str, data_dir: StrPath | None = None) -> Path:
    """Return the path of a file of a data set on this machine.

    The file is searched in `data_dir` alone, or without it in $WAYBENCH_DATA and then in the cache, as NAME/FILE. The
    folder `data_dir` can also have the files of the data set itself.

    Raises:
        UsageError: If there is no such data set or file, or the file is in none of the places.
        DataError: If the file exists, but cannot be read or differs from the published file.
    """
    download = find_download(name)
    data_file = _published_file(download, file)
    for home in _possible_folders(data_dir, download):
        if _has_published_file(home, download, data_file):
            return _file_path(home, data_file)
    raise _missing_error(download, data_file, data_dir)


def locate_folder(name: str, data_dir: StrPath | None = None) -> Path:
    """Return the folder on this machine that has all files of a data set; see `locate_file` for the places.

    Raises:
        UsageError: If there is no such data set, or no place has all of its files.
        DataError: If a file exists, but cannot be read or differs from the published file.
    """
    download = find_download(name)
    missing: Sequence[DataFile] = download.files
    for home in _possible_folders(data_dir, download):
        missing = [file for file in download.files if not _has_published_file(home, download, file)]
        if not missing:
            return home
    raise _missing_error(download, missing[0], data_dir)


def _file_path(home: Path, file: DataFile) -> Path:
    """Return the path of a file in the folder of its data set."""
    return home.joinpath(*file.path.split("/"))


def file_sha256(path: Path) -> str:
    """Return a file's SHA-256, computed once per process unless the file changes.

    Raises:
        OSError: If the file is not there or cannot be read.
    """
    status = path.stat()
    return _cached_file_sha256(os.path.abspath(path), (status.st_ino, status.st_size, status.st_mtime_ns))


@cache
def _cached_file_sha256(path: str, identity: tuple[int, ...]) -> str:
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _possible_folders(data_dir: StrPath | None, download: Download) -> Iterator[Path]:
    """Yield the folders in which the files of a data set may be."""
    if data_dir is not None:
        root = user_path(data_dir)
        home = root / download.name
        is_home = not home.is_dir() and any(_file_path(root, file).is_file() for file in download.files)
        yield root if is_home else home
        return
    if variable := os.environ.get("WAYBENCH_DATA"):
        yield user_path(variable) / download.name
    yield cache_folder() / download.name


def _published_file(download: Download, path: str) -> DataFile:
    """Return the file of a data set with a path; an error suggests the most similar path."""
    paths = [file.path for file in download.files]
    if path in paths:
        return download.files[paths.index(path)]
    # A data set may have hundreds of files, too many to name them all.
    similar = difflib.get_close_matches(path[:200], paths, n=1)
    hint = f": did you mean {similar[0]!r}?" if similar else f"; it has {len(paths)}, such as {paths[0]!r}"
    raise UsageError(f"data set {download.name} has no file {path[:80]!r}{hint}")


def _has_published_file(home: Path, download: Download, file: DataFile) -> bool:
    """Return whether a folder has a published file; raise a DataError if the folder has another file of this name."""
    path = _file_path(home, file)
    try:
        sha256 = file_sha256(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}; fix this, or use another copy") from None
    if sha256 != file.sha256:
        # A download goes to a folder with the name of the data set, and so not to a folder of another name.
        option = f" --to {shlex.quote(str(home.parent))}" if home.absolute().name == download.name else ""
        command = f"waybench data fetch {download.name}{option}"
        difference = f"SHA-256 {sha256[:12]}..., expected {file.sha256[:12]}..."
        raise DataError(f"{path} is not the published file ({difference}): replace it by `{command}`")
    return True


def _missing_error(download: Download, file: DataFile, data_dir: StrPath | None) -> UsageError:
    """Return the error for a file that is in none of the places, with the command that downloads it."""
    roots = [Path(data_dir)] if data_dir is not None else [home.parent for home in _possible_folders(None, download)]
    places = " or ".join(map(str, roots))
    option = "" if data_dir is None else f" --to {shlex.quote(os.fspath(data_dir))}"
    command = f"waybench data fetch {download.name}{option}"
    return UsageError(f"{download.name}/{file.path} is not in {places}: run `{command}`, {_ELSEWHERE}")


class _DifferentFileError(ValueError):
    """A download that is not the published file; as a ValueError, it makes pooch try again."""

    def __init__(self, sha256: str, size: int) -> None:
        self.sha256, self.size = sha256, size


def fetch_dataset(name: str, to: StrPath | None = None, progress: Progress | None = None) -> Path:
    """Download a data set and return its folder.

    Existing files are not downloaded again, except that a file that differs from the published one is replaced. A file
    gets its name when it is complete and its checksum agrees, so that an interruption leaves no incomplete file.

    Args:
        name: The name of the data set.
        to: The folder of data sets in which it gets a folder of its name; None for the cache.
        progress: Receives each file when it exists, and whether this call downloaded it.

    Raises:
        UsageError: If there is no such data set, a download fails, or the folder cannot be written.
        DataError: If a download differs from the published file; it is not kept.
    """
    download = find_download(name)
    home = (cache_folder() if to is None else Path(to)) / download.name
    addresses = _address_by_file(download)
    for file in download.files:
        path = _file_path(home, file)
        try:
            is_needed = not path.exists() or file_sha256(path) != file.sha256
            if is_needed:
                path.parent.mkdir(parents=True, exist_ok=True)
                _download_file(addresses[file.path], home, file)
        except OSError as error:
            # Some of these errors are of pooch, and have the system's reason in their cause.
            reason = error.strerror or getattr(error.__cause__, "strerror", None) or "it cannot be written"
            raise UsageError(
                f"cannot store {path}: {reason}; choose another folder with --to or WAYBENCH_CACHE"
            ) from None
        if progress is not None:
            progress(file, is_needed)
    return home


def _address_by_file(download: Download) -> dict[str, str]:
    """Return the address of each file, of the authors or of $WAYBENCH_DATA_MIRROR."""
    mirror = os.environ.get("WAYBENCH_DATA_MIRROR")
    if not mirror:
        return {file.path: file.url for file in download.files}
    if not _is_web_address(mirror):
        example = "https://host/prefix, under which files lie as NAME/FILE"
        raise UsageError(f"WAYBENCH_DATA_MIRROR is not an address: set it to one such as {example}, or unset it")
    return {file.path: f"{mirror.rstrip('/')}/{quote(f'{download.name}/{file.path}')}" for file in download.files}


def _is_web_address(text: str) -> bool:
    """Return whether a text is a web address without a query and a fragment, to which a path can be added."""
    try:
        parts = urlsplit(text)
        has_host = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        return has_host and not parts.query and not parts.fragment
    except ValueError:  # of a port that is no number, or half an IPv6 address
        return False


def _download_file(address: str, home: Path, file: DataFile) -> None:
    """Download one file into the folder of its data set, and check it."""
    import requests  # after its errors, pooch tries again

    pooch: Any = import_module("pooch")  # it has no types

    def download(url: str, part: str, _: object) -> None:
        """Download an address to a path, for pooch; raise an error for wrong content."""
        # pooch's own downloader leaves the connection of a failed download open, and has no limit of size.
        with requests.get(url, stream=True, timeout=TIMEOUT) as response, open(part, "wb") as out:
            if 400 <= response.status_code < 500 and response.status_code not in _RETRIED_STATUSES:
                # A UsageError, after which pooch does not try again.
                raise _download_error(address, _status_text(response.status_code))
            response.raise_for_status()
            for chunk in response.iter_content(_CHUNK):
                out.write(chunk)
                if out.tell() > file.size + _SURPLUS:
                    break
        if (sha256 := file_sha256(Path(part))) != file.sha256:
            raise _DifferentFileError(sha256, os.path.getsize(part))
        os.chmod(part, 0o644)  # other users may read it, unlike a temporary file

    store = pooch.create(
        path=os.path.abspath(home),
        base_url="",
        registry={file.path: file.sha256},
        urls={file.path: address},
        retry_if_failed=RETRIES,
    )
    try:
        with _silenced(pooch.get_logger()):
            store.fetch(file.path, downloader=download)
    except _DifferentFileError as error:
        raise DataError(
            f"{_without_user(address)} is not the published file and was not kept: expected SHA-256 "
            f"{file.sha256} ({file.size} bytes), found {error.sha256} ({error.size} bytes); try again, {_ELSEWHERE}"
        ) from None
    except (requests.RequestException, ValueError) as error:
        raise _download_error(address, _failure_reason(error)) from None


@contextmanager
def _silenced(logger: logging.Logger) -> Generator[None, None, None]:
    """Keep a logger from writing within the block: callers report progress themselves."""
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


def _download_error(address: str, reason: str) -> UsageError:
    return UsageError(f"cannot download {_without_user(address)}: {reason}; try again later, {_ELSEWHERE}")


def _without_user(address: str) -> str:
    """Return an address without user and password, which that of a mirror may have."""
    parts = urlsplit(address)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _failure_reason(error: Exception) -> str:
    """Return the reason why a download failed in a few words."""
    import requests

    if isinstance(error, requests.Timeout):
        return f"no answer within {TIMEOUT:g} seconds"
    if isinstance(error, requests.HTTPError) and error.response is not None:
        return _status_text(error.response.status_code)
    # An error of requests is raised while one of urllib3 is handled, which has the system's error as its cause.
    cause = error.__context__
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
        cause = cause.__cause__
    return "the connection broke, or the answer was incomplete"


def _status_text(status: int) -> str:
    # The server's own phrase may hold anything.
    phrase = HTTPStatus(status).phrase if status in set(HTTPStatus) else ""
    return f"the server answered {status} {phrase}".rstrip()
