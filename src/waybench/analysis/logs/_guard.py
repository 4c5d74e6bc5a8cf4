"""What keeps a damaged log from taking all memory: limits on its parts, which are checked before Inspect reads them."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, NamedTuple
from zipfile import ZipFile

from waybench.analysis._text import one_line
from waybench.core import DataError, JsonBounds

# A sample of 20,000 requests to a model comes to about 200 MiB and 3 million values. At these limits the worst that
# can be written takes about 2 GB.
MOST_BYTES = 1 << 29  # of a sample or another part of a log, as it is before it is compressed
MOST_VALUES = 5_000_000
_CHUNK = 1 << 20
_SAMPLES = "samples/"


class Skipped(NamedTuple):
    """What of the logs is passed over, and why. As text, it is a line for a terminal.

    Attributes:
        log: Path of the log file.
        sample: The sample's id; "" for the whole file.
        error: What is wrong with it, in at most 200 characters.
    """

    log: str
    sample: str
    error: str

    def __str__(self) -> str:
        place = one_line(self.log, 300) + (f", sample {one_line(self.sample, 100)}" if self.sample else "")
        return f"skipped {place}: {self.error}"


def skipped(location: str, error: Exception | str, sample: str = "") -> Skipped:
    """Return what is passed over.

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
        known = {info.filename: info for info in log.infolist()}  # the last one of a name, as Inspect takes it
        wanted = [name for name in known if not name.startswith(_SAMPLES)] if parts is None else parts
        for name in wanted:
            if name in known:
                with log.open(known[name]) as stream:
                    _check(stream, known[name].file_size)


def _is_zip(location: str) -> bool:
    return not location.endswith(".json")


def _check(stream: IO[bytes], size: int) -> None:
    if size > MOST_BYTES:
        raise DataError(f"it has {size >> 20} MiB, more than the {MOST_BYTES >> 20} that are read")
    bounds = JsonBounds(MOST_VALUES)
    for chunk in _chunks(stream):
        if 0 in chunk:  # parsers would take it for UTF-16, in which other signs have the bytes of quotation marks
            raise DataError("it has a NUL byte, which no JSON has")
        bounds.feed(chunk)


def _chunks(stream: IO[bytes]) -> Iterator[bytes]:
    while chunk := stream.read(_CHUNK):
        yield chunk
