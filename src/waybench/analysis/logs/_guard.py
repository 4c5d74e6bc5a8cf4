"""Limits on the parts of a log, checked before Inspect reads them, so that a damaged log cannot exhaust memory."""

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from io import BufferedIOBase
from pathlib import Path
from typing import IO, NamedTuple, cast
from zipfile import ZipFile, ZipInfo

from waybench.analysis.formatting import one_line
from waybench.core import DataError, JsonBounds

# A sample of 20,000 requests to a model has about 200 MiB and 3 million values. At these limits the worst that
# can be written takes about 2 GB.
MOST_BYTES = 1 << 29  # of a sample or another part of a log, as it is before it is compressed
MOST_VALUES = 5_000_000
_CHUNK = 1 << 20
_FEW = 1 << 12
_SAMPLES = "samples/"
LINE = "line "  # how the name of a line of a file begins, in the place of a sample's id


class Skipped(NamedTuple):
    """A part of the logs that was skipped, and the reason. As text, it is a line for the terminal.

    Attributes:
        log: Path of the log file.
        sample: The sample's id, or "line 3" of a file of records; "" for the whole file.
        error: What is wrong with it, in at most 200 characters.
    """

    log: str
    sample: str
    error: str

    def __str__(self) -> str:
        place = one_line(self.log, 300) + (
            f", {'' if self.sample.startswith(LINE) else 'sample '}{one_line(self.sample, 100)}" if self.sample else ""
        )
        return f"skipped {place}: {self.error}"


def skipped(location: str, error: Exception | str, sample: str = "") -> Skipped:
    """Return the skipped part with its reason.

    Args:
        location: The log, as Inspect calls it.
        error: Why it is.
        sample: The sample's id; "" for the whole file.
    """
    why = str(error) or type(error).__name__
    return Skipped(path_of(location), sample, one_line(why, 200))


def path_of(location: str) -> str:
    """Return the path of a log."""
    return location.removeprefix("file://")


def sample_part(sample: object, epoch: int) -> str:
    """Return the name of the part of a log that holds a sample."""
    return f"{_SAMPLES}{sample}_epoch_{epoch}.json"


def sizes(location: str) -> dict[str, int]:
    """Return the size of each part of a log, as it is before it is compressed; of a JSON file nothing is known."""
    if not _is_zip(location):
        return {}
    with ZipFile(path_of(location)) as log:
        return {info.filename: info.file_size for info in log.infolist()}


def check_parts(location: str, parts: Iterable[str] | None = None) -> None:
    """Check that Inspect can read some parts of a log within limits on memory.

    Args:
        location: The log, as Inspect calls it. One that is a single JSON file is checked as a whole.
        parts: Their names; all but the samples if None. A part that is missing is left to Inspect.

    Raises:
        DataError: If a part is too large or too deep, or has too many values.
        OSError: If the file cannot be read.
        zipfile.BadZipFile: If it is none of Inspect's.
    """
    if not _is_zip(location):
        path = Path(path_of(location))
        with path.open("rb") as stream:
            _check(stream, path.stat().st_size)
        return
    with ZipFile(path_of(location)) as log:
        for info in _wanted(log, parts):
            _check_part(log, info)


def checked_parts(location: str, parts: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents of some parts of a log that is a ZIP file, each after it was checked (`check_parts`)."""
    with ZipFile(path_of(location)) as log:
        for info in _wanted(log, parts):
            chunks: list[bytes] = []
            _check_part(log, info, chunks.append)
            yield info.filename, b"".join(chunks)


def _wanted(log: ZipFile, parts: Iterable[str] | None) -> list[ZipInfo]:
    known = {info.filename: info for info in log.infolist()}  # the last one of a name, as Inspect takes it
    if parts is None:
        return [info for name, info in known.items() if not name.startswith(_SAMPLES)]
    return [known[name] for name in parts if name in known]


def _is_zip(location: str) -> bool:
    return not location.endswith(".json")


def _check_part(log: ZipFile, info: ZipInfo, keep: Callable[[bytes], None] = lambda chunk: None) -> None:
    """Check a part of a log that is a ZIP file.

    Inspect decompresses all that there is, whatever size the file's directory says. So that size has to be the true
    one: how many samples are read at a time depends on it, too.
    """
    _check_size(info.file_size)
    unlimited = copy(info)
    unlimited.file_size = 1 << 62  # or else what is beyond the directory's size would not be seen
    with log.open(unlimited) as stream:
        size = _check_content(_decompressed(cast(BufferedIOBase, stream), info.file_size), keep)
    if size != info.file_size:
        raise DataError(f"it has {size} bytes, but the directory of the archive states {info.file_size}")


def _check(stream: IO[bytes], size: int) -> None:
    _check_size(size)
    _check_content(iter(lambda: stream.read(_CHUNK), b""))


def _check_size(size: int) -> None:
    if size > MOST_BYTES:
        raise DataError(f"it has {size >> 20} MiB; the maximum is {MOST_BYTES >> 20}")


def _check_content(chunks: Iterable[bytes], keep: Callable[[bytes], None] = lambda chunk: None) -> int:
    """Check a part's bytes, give each chunk on, and return how many they are."""
    bounds, size = JsonBounds(MOST_VALUES), 0
    for chunk in chunks:
        if 0 in chunk:  # parsers would take it for UTF-16, in which other signs have the bytes of quotation marks
            raise DataError("it has a NUL byte, which is not valid in JSON")
        bounds.feed(chunk)
        size += len(chunk)
        keep(chunk)
    return size


def _decompressed(stream: BufferedIOBase, size: int) -> Iterator[bytes]:
    """Yield a part's bytes, and no more than a chunk beyond the size that it should have.

    Only a few compressed bytes are read at a time, since each can expand to 32 KiB.
    """
    read = 0
    while read <= size:
        chunk: list[bytes] = []
        length = 0
        while length < _CHUNK and (few := stream.read1(_FEW)):
            chunk.append(few)
            length += len(few)
        if not chunk:
            return
        read += length
        yield b"".join(chunk)
    raise DataError(f"it has more than the {size} bytes that the directory of the archive states")
