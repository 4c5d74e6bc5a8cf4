"""The archive of a submission: a ZIP file with fixed names and order, and its manifest."""

import hashlib
import io
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from io import BufferedIOBase, BufferedReader
from pathlib import Path
from typing import IO, Any, NamedTuple, cast
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from waybench.core import DataError, Json, check_json_bounds, is_object
from waybench.core._spool import read_bytes_at


class SharedReader(io.RawIOBase):
    """An unbuffered file with a position of its own, so that copies of the process can read it at the same time."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__()
        self._file, self._position = file, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Change the position, and return it."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position}.get(whence)
        self._position = offset + (os.fstat(self._file.fileno()).st_size if start is None else start)
        return self._position

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: Any, /) -> int:
        """Read into a buffer, and return the number of bytes."""
        content = read_bytes_at(self._file, self._position, len(buffer))
        buffer[: len(content)] = content
        self._position += len(content)
        return len(content)


MANIFEST = "submission.json"
RESULTS = "results.json"
FORMAT = "waybench-submission"
VERSION = 1
# Limits on archives from outside. A run of 100,000 episodes of mazes has about 600 MB of records.
MOST_BYTES = 4 << 30  # of all files, before compression
MOST_FILES = 1_000
MOST_RECORDS = 1_000_000
LONGEST_LINE = 64 << 20  # bytes
_MOST_JSON = 64 << 20  # bytes of the manifest, of the results, and of a file of items
_MOST_VALUES = 2_000_000  # of a JSON file
_MOST_DIRECTORY = 1 << 20  # bytes of the archive's list of its files
_NAME = re.compile(r"submission\.json|results\.json|records/\d{3}-[a-z0-9_-]{1,60}\.jsonl|items/[0-9a-f]{16}\.jsonl")
_CHUNK = 1 << 20
_DATE = (1980, 1, 1, 0, 0, 0)  # of all files, so that the same records give the same bytes


class NotASubmission(DataError):
    """A file that is no submission, or exceeds the limits."""


class Member(NamedTuple):
    """A file of an archive: its name, the SHA-256 of its content in hexadecimal digits, and its size in bytes."""

    name: str
    sha256: str
    bytes: int


class ArchiveWriter:
    """Writes an archive in place of a file; the same contents, order and version of zlib give the same bytes."""

    def __init__(self, path: Path) -> None:
        self._zip = ZipFile(path, "w", ZIP_DEFLATED, compresslevel=6)

    def write(self, name: str, chunks: Iterator[bytes]) -> Member:
        """Add a file with this content; return its name, SHA-256 and size."""
        info = ZipInfo(name, _DATE)
        # As on Unix (3) with the mode 644, whatever the system, so that the bytes are the same.
        info.compress_type, info.create_system, info.external_attr = ZIP_DEFLATED, 3, 0o644 << 16
        digest, size = hashlib.sha256(), 0
        with self._zip.open(info, "w", force_zip64=True) as file:
            for chunk in chunks:
                file.write(chunk)
                digest.update(chunk)
                size += len(chunk)
        return Member(name, digest.hexdigest(), size)

    def close(self) -> None:
        """Write the list of files, and close the archive."""
        self._zip.close()


class _BoundedReader(BufferedReader):
    """A file of which at most 1 MiB is read at once.

    ZipFile reads the whole list of files at once, before its length can be checked, and makes an object of each entry:
    a list of 1 GB takes more than 10 GB of memory.
    """

    def read(self, size: int | None = -1, /) -> bytes:
        """Return at most `size` bytes; raise BadZipFile for more than 1 MiB."""
        if size is not None and size > _MOST_DIRECTORY:
            raise BadZipFile(f"its list of files has more than {_MOST_DIRECTORY >> 20} MiB")
        return super().read(size)


class Archive:
    """An archive from outside, which is hostile until it is verified: nothing in it is executed or extracted.

    Args:
        stream: The open file, without a buffer. Copies of the process can read it at the same time.

    Raises:
        NotASubmission: If it is no ZIP file, has other files than a submission, or exceeds the limits.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        try:
            self._zip = ZipFile(_BoundedReader(SharedReader(stream)))
            infos = self._zip.infolist()
        except (BadZipFile, OSError, ValueError, NotImplementedError, UnicodeDecodeError) as error:
            raise NotASubmission(f"it is no ZIP file ({str(error)[:100]})") from None
        if len(infos) > MOST_FILES:
            raise NotASubmission(f"it has {len(infos):,} files; the maximum is {MOST_FILES:,}")
        self._infos: dict[str, ZipInfo] = {}
        for info in infos:
            if not _NAME.fullmatch(info.filename):
                raise NotASubmission(f"no submission has a file {info.filename[:80]!r}")
            if info.filename in self._infos:
                raise NotASubmission(f"it has two files {info.filename}")
            if info.flag_bits & 1:
                raise NotASubmission(f"{info.filename} is encrypted")
            # With other methods, Python decompresses a whole chunk at once: 1 MB can become any number of gigabytes.
            if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
                raise NotASubmission(f"{info.filename} is compressed by another method than deflate")
            self._infos[info.filename] = info
        total = sum(info.file_size for info in infos)
        if total > MOST_BYTES:
            raise NotASubmission(f"its files have {total >> 20:,} MiB; the maximum is {MOST_BYTES >> 20:,}")
        if MANIFEST not in self._infos:
            raise NotASubmission(f"it has no {MANIFEST}")

    @property
    def names(self) -> Sequence[str]:
        """The names of all files."""
        return list(self._infos)

    def read_json(self, name: str) -> tuple[Json, Member]:
        """Return the value in a JSON file, and the file's name, SHA-256 and size.

        Raises:
            NotASubmission: If it is missing, too large, too deep, or no JSON.
        """
        if name not in self._infos:
            raise NotASubmission(f"it has no {name}")
        if self._infos[name].file_size > _MOST_JSON:
            raise NotASubmission(f"{name} has more than {_MOST_JSON >> 20} MiB")
        content = b"".join(self._read_chunks(name))
        try:
            text = content.decode()
            check_json_bounds(text, _MOST_VALUES)
            return json.loads(text), Member(name, hashlib.sha256(content).hexdigest(), len(content))
        except (ValueError, DataError, RecursionError) as error:
            raise NotASubmission(f"{name} is no JSON: {str(error)[:100]}") from None

    def read_content(self, name: str) -> bytes:
        """Return the content of a file of items.

        Raises:
            NotASubmission: If it is missing, damaged or larger than the limit for JSON files.
        """
        if name not in self._infos or self._infos[name].file_size > _MOST_JSON:
            raise NotASubmission(f"{name[:80]} is missing or has more than {_MOST_JSON >> 20} MiB")
        return b"".join(self._read_chunks(name))

    def read_lines(self, name: str, digest: Any = None) -> Iterator[bytes]:
        """Yield the lines of a file, without line ends; `digest`, a hash, is updated with all bytes.

        Raises:
            NotASubmission: If it is missing, damaged, or has a longer line than the limit.
        """
        if name not in self._infos:
            raise NotASubmission(f"it has no {name[:80]}")
        line_parts: list[bytes] = []  # of the line that is not complete; joined once, because a long line has many
        size = 0  # bytes of these parts
        for chunk in self._read_chunks(name):
            if digest is not None:
                digest.update(chunk)
            first, *others = chunk.split(b"\n")
            line_parts.append(first)
            size += len(first)
            if size > LONGEST_LINE:
                raise NotASubmission(f"{name} has a line of more than {LONGEST_LINE >> 20} MiB")
            if others:
                *complete_lines, last = others
                yield b"".join(line_parts)
                yield from complete_lines
                line_parts, size = [last], len(last)
        if size:
            yield b"".join(line_parts)

    def _read_chunks(self, name: str) -> Iterator[bytes]:
        """Yield the decompressed content of a file in chunks."""
        info, size = self._infos[name], 0
        try:
            with self._zip.open(info) as file:
                stream = cast(BufferedIOBase, file)
                while chunk := stream.read(_CHUNK):
                    size += len(chunk)
                    yield chunk
        except (BadZipFile, OSError, EOFError, ValueError, NotImplementedError) as error:
            raise NotASubmission(f"{name} is damaged: {str(error)[:100]}") from None
        except Exception as error:  # zlib.error, and others of a decompressor
            if isinstance(error, DataError):
                raise
            raise NotASubmission(f"{name} is damaged: {type(error).__name__}") from None
        if size != info.file_size:
            raise NotASubmission(f"{name} has {size} bytes, but the archive states {info.file_size}")


def canonical_json_bytes(data: Mapping[str, Json]) -> bytes:
    """Return an object as the bytes of a JSON file, with sorted keys."""
    return (json.dumps(data, sort_keys=True, indent=1) + "\n").encode()


_NAMES = ("file", "model", "task", "created", "version")  # fields that are kept in memory with every record
_LONGEST_NAME = 1_000  # characters


def checked_manifest(data: Any) -> dict[str, Any]:
    """Return a manifest, after checking the types of its fields; raise a ValueError that says what is wrong."""
    if not is_object(data) or data.get("format") != FORMAT:
        raise ValueError(f"{MANIFEST} does not say that it is a {FORMAT}")
    if data.get("schema") != VERSION:
        raise ValueError(
            f"its schema is {str(data.get('schema'))[:40]}; this waybench reads schema {VERSION}: update it"
        )
    manifest: dict[str, Any] = data
    kinds: dict[str, type] = {"submitter": str, "about": str, "runs": list, "files": dict, "waybench": str}
    _require_field_types(manifest, kinds, MANIFEST)
    if len(manifest["runs"]) > MOST_FILES:
        raise ValueError(f"it has {len(manifest['runs']):,} runs; the maximum is {MOST_FILES:,}")
    record_files: set[str] = set()
    for run in manifest["runs"]:
        kinds = {"file": str, "model": str, "task": str, "created": str, "version": str, "subset": str, "records": int}
        kinds |= {"epochs": int, "parameters": dict, "settings": dict, "search": dict}
        if not is_object(run):
            raise ValueError("a run is no object")
        _require_field_types(run, kinds, "a run")
        if not 1 <= run["epochs"] <= 1000:
            raise ValueError("a run has no or too many epochs")
        if run["records"] < 0:
            raise ValueError("a run has a negative number of records")
        # Otherwise a small archive could make the verification read one file any number of times.
        if run["file"] in record_files:
            raise ValueError("two runs name one file of records")
        record_files.add(run["file"])
    for name, file in manifest["files"].items():
        if not is_object(file):
            raise ValueError(f"the entry of file {name[:80]} is no object")
        _require_field_types(file, {"sha256": str, "bytes": int}, f"file {name[:80]}")
    return manifest


def _require_field_types(data: dict[str, Any], types: dict[str, type], label: str) -> None:
    """Raise a ValueError, which begins with `label`, unless an object has fields of these types."""
    for name, kind in types.items():
        if type(data.get(name)) is not kind:
            raise ValueError(f"{label}: {name!r} is missing or of another type")
        if name in _NAMES and len(data[name]) > _LONGEST_NAME:
            raise ValueError(f"{label}: {name!r} has more than {_LONGEST_NAME:,} characters")
