"""The cache of a report: results by content hash, values that take long, and reports of which nothing has changed."""

import hashlib
import io
import os
import pickle
import platform
import re
import struct
import time
import zlib
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import is_dataclass
from enum import Enum
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, NamedTuple, cast

from waybench.core import Price, map_in_processes, to_pickle
from waybench.envs import registry
from waybench.reporting._files import SiteFolder
from waybench.results import LoggedEpisode, Row
from waybench.results.results import Simulated

_DAYS_KEPT = 30  # after which the cache of a site that was not written again is removed
_FIRST_LINE = b"waybench report cache 1\n"
_ENTRY_HEADER = struct.Struct(">32s32sI")  # key and digest of the content (SHA-256), and the content's length
_SOURCES = (".py", ".html", ".css", ".js", ".json", ".toml")
# Packages whose versions may change what a page shows.
_LIBRARIES = ("inspect-ai", "jinja2", "numba", "numpy", "scipy", "vl-convert-python")
# In the `repr` of a metric, for example: the address of a function in memory differs from one report to the next.
_FUNCTION = re.compile(r"(<function [\w.<>]+) at 0x[0-9a-f]+>")
# The classes of cached values, beside the value classes of waybench.
_CLASSES = {kind.__qualname__: kind for kind in (Counter, dict, range)}


class Changes(NamedTuple):
    """Entries added to a cache, and the keys that were read or added."""

    new: dict[bytes, bytes]
    used: set[bytes]


class ReportCache:
    """A file of contents by key, read at the start and written at the end.

    A key is a digest of everything that the content depends on, the source of waybench included. An entry that is
    damaged is left out, and its content is made again. Entries that a report does not use are not written back, so
    that the file does not grow.

    Attributes:
        new: Entries that were added.
        used: Keys of entries that were read or added.
    """

    def __init__(self, path: Path | None) -> None:
        """Read the file, which need not exist; None keeps nothing."""
        self._path = path
        self._entries = _read_entries(path) if path else {}
        self.new: dict[bytes, bytes] = {}
        self.used: set[bytes] = set()
        self._added_before: list[dict[bytes, bytes]] = []  # entries that were added before blocks of `record_changes`

    def get(self, key: bytes) -> bytes | None:
        """Return the content of a key; None if there is none."""
        content = next(
            (entries[key] for entries in (self.new, *self._added_before, self._entries) if key in entries), None
        )
        if content is not None:
            self.used.add(key)
        return content

    def put(self, key: bytes, content: bytes) -> None:
        """Keep the content of a key."""
        self.new[key] = content
        self.used.add(key)

    @contextmanager
    def record_changes(self) -> Generator[Changes, None, None]:
        """Yield a record that receives the entries that are added, and the keys that are used, within the block."""
        new, used = self.new, self.used
        changes = Changes({}, set())
        self.new, self.used = changes
        self._added_before.append(new)
        try:
            yield changes
        finally:
            self._added_before.pop()
            self.new, self.used = new | changes.new, used | changes.used

    def merge_changes(self, changes: Changes) -> None:
        """Add the changes that a copy of the cache in another process has collected."""
        self.new |= changes.new
        self.used |= changes.used

    def save(self) -> None:
        """Write the file if an entry has changed; a folder that cannot be written to has no cache."""
        if self._path is None or (not self.new and self.used == self._entries.keys()):
            return
        entries = {**self._entries, **self.new}
        temporary = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        try:
            with open(temporary, "wb") as file:
                file.write(_FIRST_LINE)
                for key in sorted(self.used & entries.keys()):  # a cached page may have used an entry that is damaged
                    content = entries[key]
                    file.write(_ENTRY_HEADER.pack(key, hashlib.sha256(content).digest(), len(content)) + content)
            temporary.replace(self._path)
        except OSError:
            pass
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def open_cache(folder: Path, site: Path) -> ReportCache:
    """Return the cache of a site, and delete the caches of sites that were not written for `_DAYS_KEPT` days.

    `folder` has this user's caches. They are not in the sites, so that a site from somebody else cannot have a cache
    that says which records have been confirmed.
    """
    path = folder / hashlib.sha256(os.fsencode(site.resolve())).hexdigest()[:32]
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for other in folder.iterdir():
            if other != path and time.time() - other.stat().st_mtime > _DAYS_KEPT * 86_400:
                other.unlink()
        os.utime(path)
    return ReportCache(path)


def _read_entries(path: Path) -> dict[bytes, bytes]:
    """Return the undamaged entries of a cache file; none if it is missing or does not begin as a cache file."""
    try:
        data = path.read_bytes()
    except OSError:
        return {}
    entries: dict[bytes, bytes] = {}
    if not data.startswith(_FIRST_LINE):
        return entries
    position = len(_FIRST_LINE)
    while position + _ENTRY_HEADER.size <= len(data):
        key, digest, length = _ENTRY_HEADER.unpack_from(data, position)
        position += _ENTRY_HEADER.size
        content = data[position : position + length]
        if hashlib.sha256(content).digest() == digest:
            entries[key] = content
        position += length
    return entries


def content_key(kind: str, *parts: object) -> bytes:
    """Return the cache key of a content: a digest of the source of waybench, the kind, and the `repr` of each part."""
    digest = hashlib.sha256(source_digest())
    for part in (kind, *parts):
        data = part if isinstance(part, bytes) else _FUNCTION.sub(r"\1>", repr(part)).encode("utf-8", "surrogatepass")
        digest.update(struct.pack(">Q", len(data)) + data)
    return digest.digest()


@cache
def source_digest() -> bytes:
    """Return a digest of the source of waybench, and of the versions of Python and of the libraries that it uses."""
    digest = hashlib.sha256(platform.python_version().encode())
    for name in _LIBRARIES:
        with suppress(PackageNotFoundError):
            digest.update(f"{name} {version(name)}\n".encode())
    _add_source_files(files("waybench"), digest)
    return digest.digest()


def _add_source_files(folder: Traversable, digest: Any) -> None:
    """Add the names and contents of a folder's source files to a digest."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            if entry.name != "__pycache__":
                _add_source_files(entry, digest)
        elif entry.name.endswith(_SOURCES):
            digest.update(entry.name.encode() + b"\0" + hashlib.sha256(entry.read_bytes()).digest())


def is_cacheable(env: str) -> bool:
    """Return whether an environment is part of waybench: cache keys do not depend on the source of other packages."""
    return any(entry.id == env for entry in registry.built_in)


def episode_key(episode: LoggedEpisode, price: Price | None, record: str) -> bytes:
    """Return the cache key of an episode's row, from its record as text and the price of its tokens."""
    settings, design = sorted(episode.settings.items()), sorted(episode.design.items())
    source = episode.model, episode.task, settings, episode.log, episode.sample, episode.run, episode.origin
    return content_key("row", *source, design, episode.attempt, price, record.encode("utf-8", "surrogatepass"))


def unpack_row(content: bytes) -> tuple[Row, Simulated] | None:
    """Return the row and the simulation of an episode from a cached content; None if it is not valid."""
    values = unpack_values(content)
    if not isinstance(values, tuple) or tuple(map(type, cast(tuple[Any, ...], values))) != (Row, Simulated):
        return None
    return cast(tuple[Row, Simulated], values)


def pack_values(values: object) -> bytes:
    """Return values as a content of the cache."""
    return zlib.compress(to_pickle(values), 1)


def unpack_values(content: bytes) -> object:
    """Return the values in a content of the cache; None if it is not valid."""
    try:
        return _Unpickler(io.BytesIO(zlib.decompress(content))).load()
    except Exception:  # a damaged content can raise any error; the values are computed again
        return None


class _Unpickler(pickle.Unpickler):
    """Unpickles values alone, so that a content of the cache cannot execute anything."""

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        """Return a class of plain values by its name; raise UnpicklingError for all others."""
        kind: Any = _CLASSES.get(global_name)
        if kind is None and module_name.startswith("waybench."):
            kind = super().find_class(module_name, global_name)
        if not _is_value_class(kind) or kind.__module__ != module_name:
            raise pickle.UnpicklingError(f"{module_name}.{global_name} is no kind of value")
        return kind


def _is_value_class(kind: object) -> bool:
    """Return whether something is a class whose instances only hold values."""
    if not isinstance(kind, type):
        return False
    return kind in _CLASSES.values() or is_dataclass(kind) or issubclass(kind, tuple | Enum)


class Computation(NamedTuple):
    """A value to compute.

    Attributes:
        key: Its cache key (`content_key`); b"" if it cannot be cached.
        work: Computes the value, which is not None.
    """

    key: bytes
    work: Callable[[], Any]


@contextmanager
def compute_values(
    computations: Sequence[Computation], cache: ReportCache, processes: int
) -> Generator[Iterator[Any], None, None]:
    """Yield an iterator of the values of computations, in order: cached ones, and the others from other processes.

    The other processes begin at once and work in parallel with the block. New values are added to the cache.
    """
    contents = [cache.get(computation.key) if computation.key else None for computation in computations]
    cached = [None if content is None else unpack_values(content) for content in contents]
    uncached = [computation for computation, value in zip(computations, cached, strict=True) if value is None]

    def compute_new(number: int) -> bytes:
        return to_pickle(uncached[number].work())

    with map_in_processes(compute_new, len(uncached), processes) as results:
        yield _yield_values(computations, cached, results, cache)


def _yield_values(
    computations: Sequence[Computation], cached: Sequence[Any], results: Iterator[bytes], cache: ReportCache
) -> Iterator[Any]:
    """Yield each computation's cached value or the next of the new results, which are added to the cache."""
    for computation, value in zip(computations, cached, strict=True):
        if value is not None:
            yield value
            continue
        content = next(results)
        if computation.key:
            cache.put(computation.key, zlib.compress(content, 1))
        yield pickle.loads(content)  # trusted: a copy of this process has just pickled it


_INPUT_SUFFIXES = (".eval", ".json", ".jsonl", ".jsonl.gz")  # of logs, and of files of records


def inputs_key(folders: Iterable[Path], out: Path, *parts: object) -> bytes:
    """Return the cache key of a report: of the contents of all files that may be logs or records, and of `parts`.

    The files of the site (`out`) are left out. The key is b"" if a file cannot be read, or if a folder is a link, whose
    files are not read here.
    """
    digests: list[tuple[str, str]] = []
    try:
        for folder in folders:
            for path in _input_files(folder.absolute(), out.resolve()):
                with open(path, "rb") as file:
                    digests.append((str(path), hashlib.file_digest(file, "sha256").hexdigest()))
    except OSError:
        return b""
    return content_key("report", [str(folder.absolute()) for folder in folders], sorted(digests), *parts)


def _input_files(folder: Path, out: Path) -> Iterator[Path]:
    """Yield the files in a folder, or the file itself, that may be logs or records, but no files of the site."""
    if folder.is_file():
        yield folder
        return
    for root, names, file_names in os.walk(folder, onerror=_raise_error):
        if any(os.path.islink(os.path.join(root, name)) for name in names):
            raise OSError("a folder is a link")
        names[:] = [name for name in names if Path(root, name).resolve() != out]  # the folders that are visited next
        yield from (Path(root, name) for name in file_names if name.endswith(_INPUT_SUFFIXES))


def _raise_error(error: OSError) -> None:
    raise error


def load_report(cache: ReportCache, key: bytes, folder: SiteFolder) -> object:
    """Return the saved values of a report if the folder still has all its files unchanged, or else None."""
    content = cache.get(key) if key else None
    saved = unpack_values(content) if content else None
    if not isinstance(saved, tuple):
        return None
    file_digests, values = cast(tuple[Any, Any], saved)
    return values if folder.has_files(file_digests) else None


def save_report(cache: ReportCache, key: bytes, folder: SiteFolder, values: object) -> None:
    """Save a report's values under its key, with the list of the files that it wrote."""
    cache.put(key, pack_values((folder.written, values)))
