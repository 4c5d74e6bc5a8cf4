"""Downloads of data sets, checked against their checksums."""

import logging
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http import HTTPStatus
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from waybench.core import DataError, DataFile, Download, UsageError
from waybench.data._index import find_download
from waybench.data._places import StrPath, cache_dir, checksum, place

Progress = Callable[[DataFile, bool], None]

RETRIES = 2  # after waits of one and two seconds
TIMEOUT = 30.0  # seconds of silence after which a server counts as gone
_CHUNK = 1 << 16  # bytes
_SURPLUS = 1 << 20  # bytes beyond the published size after which no more of an answer is read
_BUSY = (408, 429)  # of the statuses that blame the client, those which a second request may mend
_ELSEWHERE = "or set WAYBENCH_DATA to the folder of a copy"


class _Changed(ValueError):
    """A download that is not the published file; being a ValueError, it makes pooch try again."""

    def __init__(self, found: str, size: int) -> None:
        self.found = found
        self.size = size


def fetch(name: str, to: StrPath | None = None, progress: Progress | None = None) -> Path:
    """Download a data set from where its authors publish it, or from $WAYBENCH_DATA_MIRROR.

    Files that are there and right are not downloaded again; a file that differs from the published one is replaced. A
    file gets its name when it is complete and its checksum agrees, so that an interruption leaves no half file.

    Args:
        name: The data set.
        to: The folder of data sets in which it gets a folder of its name; None for the cache.
        progress: Called with each file when it is there, and with whether it was downloaded by this call.

    Returns:
        The folder with the set's files.

    Raises:
        UsageError: If there is no such data set, a download fails, or the folder cannot be written.
        DataError: If what was downloaded is not the published file; it is not kept.
    """
    wanted = find_download(name)
    root = cache_dir() if to is None else Path(to)
    addresses = _addresses(wanted)
    for file in wanted.files:
        path = place(root, wanted, file)
        try:
            needed = not path.exists() or checksum(path) != file.sha256
            if needed:
                path.parent.mkdir(parents=True, exist_ok=True)
                _download(addresses[file.path], root / wanted.name, file)
        except OSError as error:
            # pooch words some of these errors itself, and leaves the system's reason to their cause.
            why = error.strerror or getattr(error.__cause__, "strerror", None) or "it cannot be written"
            raise UsageError(f"cannot store {path}: {why}; choose another folder with --to or WAYBENCH_CACHE") from None
        if progress is not None:
            progress(file, needed)
    return root / wanted.name


def _addresses(wanted: Download) -> dict[str, str]:
    """Return each file's address.

    Raises:
        UsageError: If the mirror's address is none.
    """
    mirror = os.environ.get("WAYBENCH_DATA_MIRROR")
    if not mirror:
        return {file.path: file.url for file in wanted.files}
    if not _is_address(mirror):
        example = "https://host/prefix, under which files lie as NAME/FILE"
        raise UsageError(f"WAYBENCH_DATA_MIRROR is not an address: set it to one such as {example}, or unset it")
    return {file.path: f"{mirror.rstrip('/')}/{quote(f'{wanted.name}/{file.path}')}" for file in wanted.files}


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        reached = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        return reached and not parts.query and not parts.fragment
    except ValueError:  # of a port that is no number, or half an IPv6 address
        return False


def _download(address: str, home: Path, file: DataFile) -> None:
    """Download one file to its place below the folder of its data set.

    Raises:
        UsageError: If the server does not give it.
        DataError: If it gives another one.
        OSError: If the file cannot be written.
    """
    import requests  # pooch takes its errors for reasons to try again

    pooch: Any = import_module("pooch")  # it carries no types

    def download(url: str, part: str, _: object) -> None:
        # pooch's own downloader leaves the connection of a failed download open, and reads on for ever.
        with requests.get(url, stream=True, timeout=TIMEOUT) as response, open(part, "wb") as out:
            if 400 <= response.status_code < 500 and response.status_code not in _BUSY:
                raise _refused(address, _answered(response.status_code))  # no error after which pooch tries again
            response.raise_for_status()
            for chunk in response.iter_content(_CHUNK):
                out.write(chunk)
                if out.tell() > file.size + _SURPLUS:
                    break
        found = checksum(Path(part))
        if found != file.sha256:
            raise _Changed(found, os.path.getsize(part))
        os.chmod(part, 0o644)  # a temporary file is its owner's alone; this one may be shared

    store = pooch.create(
        path=os.path.abspath(home),
        base_url="",
        registry={file.path: file.sha256},
        urls={file.path: address},
        retry_if_failed=RETRIES,
    )
    try:
        with _silent(pooch.get_logger()):
            store.fetch(file.path, downloader=download)
    except _Changed as error:
        raise DataError(
            f"{_shown(address)} is not the published file and was not kept: expected SHA-256 {file.sha256} "
            f"({file.size} bytes), found {error.found} ({error.size} bytes); try again, {_ELSEWHERE}"
        ) from None
    except (requests.RequestException, ValueError) as error:
        raise _refused(address, _words(error)) from None


@contextmanager
def _silent(logger: logging.Logger) -> Generator[None, None, None]:
    """Keep pooch from printing each download on standard error: callers get `progress`."""
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


def _refused(address: str, why: str) -> UsageError:
    return UsageError(f"cannot download {_shown(address)}: {why}; try again later, {_ELSEWHERE}")


def _shown(address: str) -> str:
    """Return an address without the user and password that a mirror's may have."""
    parts = urlsplit(address)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _words(error: Exception) -> str:
    """Return in a few words why a download failed; what the libraries say themselves is long and names objects."""
    import requests

    if isinstance(error, requests.Timeout):
        return f"no answer within {TIMEOUT:g} seconds"
    if isinstance(error, requests.HTTPError) and error.response is not None:
        return _answered(error.response.status_code)
    # requests raises its errors while it handles those of urllib3, which name the system's error as their cause.
    link = error.__context__
    while link is not None:
        if isinstance(link, OSError) and link.strerror:
            return link.strerror
        link = link.__cause__
    return "the connection broke, or the answer was incomplete"


def _answered(status: int) -> str:
    # The server's own phrase may hold anything.
    phrase = next((known.phrase for known in HTTPStatus if known == status), "")
    return f"the server answered {status} {phrase}".rstrip()
