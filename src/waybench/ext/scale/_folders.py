"""Folders by path, or by a URL of any file system that fsspec knows (s3://, gs://, ...)."""

import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path, PurePosixPath
from threading import Event, Thread
from typing import Any
from zipfile import is_zipfile

from waybench.core import UsageError, redact_address, redact_secrets

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")  # two letters at least: "c:" is a drive
# File systems whose uploads appear as a whole or not at all.
_WHOLE_PUTS = frozenset(["s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "memory"])
_LOG = ".eval"
_PART = ".part"  # ends the name of a file that is still being copied
_LONGEST_NAME = 1_024  # bytes, as in S3
_LONGEST_PART = 255 - len(_PART)  # of a folder or file of most file systems
_MIRRORED = (_LOG, ".journal")
_OLDER = (-1, -1)  # the state of a remote file that is older than the local file
# A client of our own: at the end of a run Inspect closes all clients of S3 that fsspec keeps, from the thread of its
# own loop. An upload that was beginning then in the mirror's thread never ended.
_OWN = {"use_listings_cache": False, "skip_instance_cache": True}
_EVERY = 1.0  # seconds between two uploads of changes: what is lost with a machine
_SLOWEST = 30.0  # seconds between two tries while the remote folder does not answer
PATIENCE = 60.0  # seconds for which the last upload is tried


def is_url(text: str) -> bool:
    """Return whether a text is the URL of a folder or file, not a path."""
    return _URL.match(text) is not None


def short_digest(*texts: str) -> str:
    """Return the first 24 digits of a SHA-256 of texts, as a short name."""
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:24]


class StorageFolder:
    """A folder by its path or URL.

    Keys and passwords come from the environment, as each file system's own client reads them. All methods raise a
    UsageError if the folder cannot be read or written.

    Raises:
        UsageError: If no file system is known for the URL, or its package is not installed.
    """

    def __init__(self, location: str) -> None:
        if location.lower().startswith("file://"):
            from urllib.request import url2pathname  # slow to import

            location = url2pathname(location[len("file://") :])
        self.place = location if is_url(location) else str(Path(location).absolute())
        self.shown = redact_address(location) if is_url(location) else location
        with self._explain_errors("use"):
            core: Any = import_module("fsspec.core")  # slow to import, and most commands do not need it
            options = _OWN if is_url(location) else {"auto_mkdir": True}
            files, root = core.url_to_fs(self.place, **options)
            self._files, self._root = files, str(root).rstrip("/")
        self._is_whole = is_url(self.place) and self.place.partition("://")[0].lower() in _WHOLE_PUTS

    def check_writable(self) -> None:
        """Raise a UsageError unless a small file can be written and removed."""
        probe = f"{self._root}/.waybench-write-test-{short_digest(str(time.time_ns()))}"
        with self._explain_errors("write to"):
            self._files.pipe_file(probe, b"waybench")
            self._files.rm_file(probe)

    def file_sizes_by_path(self) -> dict[str, int]:
        """Return the size of each file by its path in the folder; {} if there is no folder."""
        with self._explain_errors("read"):
            self._files.invalidate_cache()
            try:
                infos: dict[str, Any] = self._files.find(self._root, detail=True)
            except FileNotFoundError:
                return {}
        return {path.removeprefix(self._root).lstrip("/"): int(info["size"]) for path, info in infos.items()}

    def path_of(self, name: str) -> str:
        """Return the path or URL of a file of the folder."""
        return f"{self.place.rstrip('/')}/{name}"

    def fetch(self, name: str, to: Path) -> None:
        """Copy a file of the folder to this machine, as a whole or not at all."""
        to.parent.mkdir(parents=True, exist_ok=True)
        part = to.with_name(f"{to.name}{_PART}")
        with self._explain_errors("read"):
            self._files.get_file(f"{self._root}/{name}", str(part))
        part.replace(to)

    def put(self, path: Path, name: str) -> None:
        """Copy a file of this machine into the folder, as a whole or not at all."""
        target = f"{self._root}/{name}"
        with self._explain_errors("write to"):
            if self._is_whole:
                self._files.put_file(str(path), target)
                return
            part = f"{target}.{short_digest(str(path))}{_PART}"
            self._files.put_file(str(path), part)
            self._files.mv(part, target)

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        with self._explain_errors("write to"), suppress(FileNotFoundError):
            self._files.rm_file(f"{self._root}/{name}")

    @contextmanager
    def _explain_errors(self, verb: str) -> Generator[None]:
        """Turn any error of a file system's client into one line: each client has errors of its own."""
        try:
            yield
        except Exception as error:
            reason = redact_secrets(" ".join(str(error).split()))[:200] or type(error).__name__
            raise UsageError(f"cannot {verb} {self.shown[:200]} ({reason}): {_advice_for_error(error)}") from None


def _advice_for_error(error: Exception) -> str:
    """Return the advice at the end of an error message."""
    if isinstance(error, ImportError):
        return "install the package that it names"
    if isinstance(error, ValueError):
        return "check the address"
    if isinstance(error, PermissionError) or "redentials" in f"{type(error).__name__} {error}":
        return "check the keys in the environment and what they may do"
    if isinstance(error, FileNotFoundError):
        return "create it, or choose another one"
    return "check the address and the network"


def download_folder(url: str, cache: Path) -> Path:
    """Download the new and changed files of a folder by URL, and return the path of the copy.

    Files whose names this machine cannot have are left out: names can be anything in a bucket. Local files that the
    folder no longer has are removed.

    Raises:
        UsageError: If the folder cannot be read, is empty, or there is no room for it.
    """
    folder = StorageFolder(url)
    copy = cache / "folders" / short_digest(folder.place)
    size_by_name = {name: size for name, size in folder.file_sizes_by_path().items() if _is_safe_file_name(name)}
    folder_names = {str(parent) for name in size_by_name for parent in PurePosixPath(name).parents}
    # A bucket can have an object of the name of a folder.
    size_by_file_name = {name: size for name, size in size_by_name.items() if name not in folder_names}
    if not size_by_file_name:
        raise UsageError(f"there is nothing at {folder.shown[:200]}: check its name")
    copy.mkdir(parents=True, exist_ok=True)
    for path in sorted(copy.rglob("*"), reverse=True):
        if not path.is_dir():
            if path.relative_to(copy).as_posix() not in size_by_file_name:
                path.unlink()
        elif not any(path.iterdir()):
            path.rmdir()  # the folder can have a file of this name by now
    missing_names = [
        name
        for name, size in size_by_file_name.items()
        if not (path := copy / name).exists() or path.stat().st_size != size or not name.endswith(_LOG)
    ]
    needed, free = sum(size_by_file_name[name] for name in missing_names), shutil.disk_usage(copy).free
    if needed > free:
        raise UsageError(
            f"{folder.shown[:200]} has {needed / 1e9:,.1f} GB, and {cache} has room for {free / 1e9:,.1f}: name a "
            "folder with fewer files, or set WAYBENCH_CACHE to a larger disk"
        )
    for name in missing_names:
        folder.fetch(name, copy / name)
    return copy


def _is_safe_file_name(name: str) -> bool:
    """Return whether a file of this name can be copied into a folder, and does not lead out of it."""
    if not name or not name.isprintable() or "\\" in name or len(name.encode()) > _LONGEST_NAME:
        return False
    parts = name.split("/")
    return not any(part == ".." or part.endswith(_PART) or len(part.encode()) > _LONGEST_PART for part in parts)


@contextmanager
def mirror_folder(
    folder: StorageFolder, work: Path, is_wanted: Callable[[str], bool], warn: Callable[[str], None]
) -> Generator[None]:
    """Keep a local copy of a remote folder's logs and journals during the block, and upload its changes every second.

    Changes that an earlier call left here, since its process was killed or the remote folder did not answer, are
    uploaded as well. The local folder `work` is removed when everything is uploaded. `is_wanted` says by its name
    whether a file is needed here; `warn` receives a line when the remote folder does not answer.

    Raises:
        UsageError: If the remote folder cannot be read, or in the end not written; the text says where the files are.
    """
    work.mkdir(parents=True, exist_ok=True)
    mirror = _Mirror(folder, work)
    for path in work.iterdir():
        if path.name.endswith(_MIRRORED) and not path.stat().st_mtime_ns:
            # A journal that an earlier call fetched and never wrote to: another process may have removed it since.
            path.unlink()
    for name, size in folder.file_sizes_by_path().items():
        local_path = work / name
        if name.endswith(_PART) and is_wanted(name.removesuffix(_PART).rpartition(".")[0]):
            folder.remove(name)  # an upload that was interrupted
        if "/" not in name and name.endswith(_MIRRORED) and is_wanted(name) and _is_safe_file_name(name):
            if not local_path.exists() or local_path.stat().st_size < size:
                folder.fetch(name, local_path)
                if not name.endswith(_LOG):
                    os.utime(local_path, (0, 0))  # marks a journal as fetched; see above
            mirror.known[name] = _size_and_time(local_path) if local_path.stat().st_size == size else _OLDER
    stop = Event()

    def keep_pushing() -> None:
        """Upload changes until `stop` is set, more seldom while the remote folder does not answer."""
        pause = _EVERY
        while not stop.wait(pause):
            try:
                mirror.copy_changes()
                pause = _EVERY
            except (UsageError, OSError) as error:
                if pause == _EVERY:
                    warn(f"{error}; the run goes on and tries again")
                pause = min(2 * pause, _SLOWEST)

    thread = Thread(target=keep_pushing, name="waybench-mirror", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        mirror.copy_changes_with_retries()
    shutil.rmtree(work, ignore_errors=True)


class _Mirror:
    """Copies the changes in a folder of this machine to a remote folder."""

    def __init__(self, folder: StorageFolder, work: Path) -> None:
        self._folder = folder
        self.work = work
        self.known: dict[str, tuple[int, int]] = {}  # file name -> its size and time when it was last uploaded

    def copy_changes(self) -> None:
        """Copy new and changed files to the remote folder, logs first, and remove deleted files there."""
        for path in sorted(self._mirrored_files(), key=lambda path: not path.name.endswith(_LOG)):
            with suppress(FileNotFoundError):  # the file was removed since it was listed
                state = _size_and_time(path)
                if self.known.get(path.name) != state and self._copy_snapshot(path):
                    self.known[path.name] = state
        local_names = {path.name for path in self._mirrored_files()}
        for name in [*self.known]:
            if name not in local_names:
                self._folder.remove(name)
                del self.known[name]

    def copy_changes_with_retries(self) -> None:
        """Copy changes, and try again for up to a minute if the remote folder does not answer."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                self.copy_changes()
                return
            except (UsageError, OSError) as error:
                if time.monotonic() > deadline:
                    raise UsageError(
                        f"{error}. Everything is kept in {self.work}: run the same command again on this machine, and "
                        "it uploads that without a request"
                    ) from None
            time.sleep(_EVERY)

    def _mirrored_files(self) -> Iterator[Path]:
        """Return the logs and journals in the local folder."""
        return (path for path in self.work.iterdir() if path.name.endswith(_MIRRORED))

    def _copy_snapshot(self, path: Path) -> bool:
        """Copy a file to the remote folder and return True; False for a log that is just being written."""
        with tempfile.TemporaryDirectory(prefix="waybench-") as folder:
            snapshot = Path(folder, path.name)
            shutil.copyfile(path, snapshot)
            if path.name.endswith(_LOG) and not is_zipfile(snapshot):
                return False
            self._folder.put(snapshot, path.name)
            return True


def _size_and_time(path: Path) -> tuple[int, int]:
    """Return a file's size in bytes and the time of its last change in nanoseconds."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns
