"""Byte strings in a temporary file, which copies of the process can read at the same time."""

import os
import tempfile
import zlib
from collections.abc import Hashable, Iterator
from types import TracebackType
from typing import IO, Generic, Self, TypeVar
from weakref import finalize

K = TypeVar("K", bound=Hashable)


class Spool(Generic[K]):
    """Byte strings by key, in a temporary file that is removed when the spool is closed.

    Copies of the process (forks) can get the byte strings that were added before they were made, at the same time.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="waybench-spool-", buffering=0)  # noqa: SIM115  closed by close
        self._location_of: dict[K, tuple[int, int]] = {}  # key -> position in the file, compressed size
        finalize(self, self._file.close)  # in case nobody closes the spool

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Remove the file."""
        self._file.close()

    def __contains__(self, key: K) -> bool:
        return key in self._location_of

    def __iter__(self) -> Iterator[K]:
        """Return the keys, in the order in which they were added."""
        return iter(self._location_of)

    def __len__(self) -> int:
        return len(self._location_of)

    def add(self, key: K, content: bytes) -> None:
        """Add a byte string; a second one of a key replaces the first."""
        self.add_compressed(key, zlib.compress(content, 1))

    def add_compressed(self, key: K, compressed: bytes) -> None:
        """Add a byte string that zlib has compressed."""
        self._file.seek(0, os.SEEK_END)
        self._location_of[key] = (self._file.tell(), len(compressed))
        self._file.write(compressed)

    def get(self, key: K) -> bytes:
        """Return the byte string of a key, decompressed."""
        start, size = self._location_of[key]
        return zlib.decompress(read_bytes_at(self._file, start, size))


def read_bytes_at(file: IO[bytes], start: int, size: int) -> bytes:
    """Return `size` bytes of an unbuffered file from position `start` on."""
    if hasattr(os, "pread"):
        return os.pread(file.fileno(), size, start)
    file.seek(start)
    return file.read(size)
