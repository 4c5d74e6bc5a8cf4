"""Limits on parts of a log, and reading headers and samples without Inspect's models."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from importlib import import_module
from io import BufferedIOBase
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, NamedTuple, cast
from zipfile import ZipFile, ZipInfo

from waybench.core import DataError, Json, is_object
from waybench.core._json import JsonBounds
from waybench.results.formatting import one_line

# A sample of 20,000 requests to a model has about 200 MiB and 3 million values. At these limits the worst that
# can be written takes about 2 GB.
MOST_BYTES = 1 << 29  # of a sample or another part of a log, as it is before it is compressed
MOST_VALUES = 5_000_000
_CHUNK = 1 << 20  # bytes that are checked at a time
_COMPRESSED_CHUNK = 1 << 12  # bytes that are decompressed at a time
_SAMPLES = "samples/"
LINE = "line "  # how the name of a line of a file begins, in the place of a sample's id
_ATTACHED = "attachment://"  # how a long text begins that stands elsewhere in the sample
_HEADER, _SUMMARIES = "header.json", "summaries.json"  # of a log whose run has ended
_VERSION = 2  # of Inspect's format
# Fields of a header's `eval`, by the type of their values.
_TEXTS = "task", "task_id", "model", "created"
_OBJECTS = "task_args", "task_args_passed", "model_args", "model_generate_config", "config", "packages"
_UTC = "+00:00"  # how a date ends that Inspect leaves as it is
# Settings whose values Inspect leaves as they are if they have this type; a log with others is read by Inspect.
_GENERATION: Mapping[str, type] = {
    **dict.fromkeys(("max_retries", "timeout", "max_connections", "max_tokens", "seed"), int),
    **dict.fromkeys(("temperature", "top_p"), float),
    "reasoning_effort": str,
}
_LIMITS: Mapping[str, type] = {
    **dict.fromkeys(("token_limit", "message_limit", "turn_limit"), int),
    "token_limit_type": str,
    "cost_limit": float,
}


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
        """Return the skipped part and the reason as a line."""
        location = one_line(self.log, 300)
        if self.sample:
            location += f", {'' if self.sample.startswith(LINE) else 'sample '}{one_line(self.sample, 100)}"
        return f"skipped {location}: {self.error}"


def skipped_part(location: str, error: Exception | str, sample: str = "") -> Skipped:
    """Return the part of a log that is skipped (`sample` is "" for all of it), with the reason."""
    reason = str(error) or type(error).__name__
    return Skipped(log_path(location), sample, one_line(reason, 200))


def log_path(location: str) -> str:
    """Return the path of a log from the URL by which Inspect names it."""
    return location.removeprefix("file://")


def sample_part(sample: object, epoch: int) -> str:
    """Return the name of the file with a sample in a log's ZIP archive."""
    return f"{_SAMPLES}{sample}_epoch_{epoch}.json"


def part_sizes(location: str) -> dict[str, int]:
    """Return the uncompressed size of each part of a log; nothing for a JSON file."""
    if not _is_zip(location):
        return {}
    with ZipFile(log_path(location)) as log:
        return {info.filename: info.file_size for info in log.infolist()}


def check_parts(location: str, parts: Iterable[str] | None = None) -> None:
    """Check that Inspect can read some parts of a log within limits on memory.

    Args:
        location: The log's URL, as Inspect names it. A log that is a single JSON file is checked as a whole.
        parts: Their names; all but the samples if None. A part that is missing is left to Inspect.

    Raises:
        DataError: If a part is too large or too deep, has too many values or a NUL byte, or another size than the
            archive states.
        OSError: If the file cannot be read.
        zipfile.BadZipFile: If it is not a ZIP archive.
    """
    if not _is_zip(location):
        path = Path(log_path(location))
        with path.open("rb") as stream:
            _check_stream(stream, path.stat().st_size)
        return
    with ZipFile(log_path(location)) as log:
        for info in _select_parts(log, parts):
            _check_part(log, info)


def read_checked_parts(location: str, parts: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of parts of a log's ZIP archive, after checks as in `check_parts`."""
    with ZipFile(log_path(location)) as log:
        for info in _select_parts(log, parts):
            chunks: list[bytes] = []
            _check_part(log, info, chunks.append)
            yield info.filename, b"".join(chunks)


def _select_parts(log: ZipFile, parts: Iterable[str] | None) -> list[ZipInfo]:
    """Return the entries of a ZIP archive with these names; all except samples for None."""
    by_name = {info.filename: info for info in log.infolist()}  # the last one of a name, as Inspect takes it
    if parts is None:
        return [info for name, info in by_name.items() if not name.startswith(_SAMPLES)]
    return [by_name[name] for name in parts if name in by_name]


def _is_zip(location: str) -> bool:
    """Return whether a log is a ZIP archive; older logs are JSON files."""
    return not location.endswith(".json")


def _check_part(log: ZipFile, info: ZipInfo, keep: Callable[[bytes], None] = lambda chunk: None) -> None:
    """Check one part of a log's ZIP archive, and pass its bytes to `keep` in chunks.

    Inspect decompresses a whole part, whatever size the archive's directory states. So the stated size has to be true;
    the number of samples read at a time depends on it, too.

    Raises:
        DataError: If the part is beyond the limits or has another size.
    """
    _check_size(info.file_size)
    unlimited = copy(info)
    unlimited.file_size = 1 << 62  # otherwise `zipfile` would stop at the stated size
    with log.open(unlimited) as stream:
        size = _check_content(_decompress(cast(BufferedIOBase, stream), info.file_size), keep)
    if size != info.file_size:
        raise DataError(f"it has {size} bytes, but the directory of the archive states {info.file_size}")


def _check_stream(stream: IO[bytes], size: int) -> None:
    """Raise a DataError for a file that is too large or too deep."""
    _check_size(size)
    _check_content(iter(lambda: stream.read(_CHUNK), b""))


def _check_size(size: int) -> None:
    """Raise a DataError for a part that is too large."""
    if size > MOST_BYTES:
        raise DataError(f"it has {size >> 20} MiB; the maximum is {MOST_BYTES >> 20}")


def _check_content(chunks: Iterable[bytes], keep: Callable[[bytes], None] = lambda chunk: None) -> int:
    """Raise a DataError for content that is too large or deep; pass each chunk to `keep`; return the size."""
    bounds, size = JsonBounds(MOST_VALUES), 0
    for chunk in chunks:
        if 0 in chunk:  # parsers would take it for UTF-16, in which other signs have the bytes of quotation marks
            raise DataError("it has a NUL byte, which is not valid in JSON")
        bounds.check_next_part(chunk)
        size += len(chunk)
        keep(chunk)
    return size


def _decompress(stream: BufferedIOBase, size: int) -> Iterator[bytes]:
    """Yield a part's bytes in chunks, at most one chunk beyond the size in the directory.

    Only a few compressed bytes are read at a time, since each can expand to 32 KiB.
    """
    n_read = 0
    while n_read <= size:
        pieces: list[bytes] = []
        length = 0
        while length < _CHUNK and (piece := stream.read1(_COMPRESSED_CHUNK)):
            pieces.append(piece)
            length += len(piece)
        if not pieces:
            return
        n_read += length
        yield b"".join(pieces)
    raise DataError(f"it has more than the {size} bytes that the directory of the archive states")


def read_samples_directly(location: str, samples: Sequence[tuple[Any, int]]) -> list[Any] | None:
    """Read some samples (id and epoch) of a log without Inspect.

    Returns:
        Objects with `id`, `epoch`, `metadata`, `store`, `scores`, `error` and `limit`; None if the log or a sample is
        of another form than Inspect writes today or a sample is missing, so that Inspect itself has to read it.

    Raises:
        DataError: If one of them is beyond the limits (`check_parts`).
    """
    if not location.endswith(".eval"):
        return None
    objects: list[Any] = []
    for _, content in read_checked_parts(location, [sample_part(*sample) for sample in samples]):
        try:
            objects.append(_sample_object(json.loads(content), _ATTACHED.encode() in content))
        except Exception:  # Inspect says what is wrong, or can read it
            return None
    return None if len(objects) < len(samples) or any(sample is None for sample in objects) else objects


def _sample_object(data: Json, has_attachments: bool) -> Any:
    """Return a sample with the attributes of Inspect's object; None if it has another form."""
    if not is_object(data):
        return None
    name, epoch, metadata, store, scores = (data.get(key) for key in ("id", "epoch", "metadata", "store", "scores"))
    if not isinstance(name, str | int) or isinstance(name, bool) or type(epoch) is not int:
        return None
    if not is_object(metadata) or not is_object(store) or not is_object(scores):
        return None
    error, limit = data.get("error"), data.get("limit")
    for part, key in ((error, "message"), (limit, "type")):
        if part is not None and not (is_object(part) and isinstance(part.get(key), str)):
            return None
    score_objects: dict[str, Any] = {}
    for scorer, score in scores.items():
        score_metadata = score.get("metadata") if is_object(score) else False
        if score_metadata is not None and not is_object(score_metadata):
            return None
        score_objects[scorer] = SimpleNamespace(metadata=score_metadata)
    if has_attachments and _ATTACHED in json.dumps([metadata, store, scores, error, limit]):
        return None
    return SimpleNamespace(
        id=name,
        epoch=epoch,
        metadata=metadata,
        store=store,
        scores=score_objects,
        error=SimpleNamespace(**error) if is_object(error) else None,
        limit=SimpleNamespace(**limit) if is_object(limit) else None,
    )


class Summary(NamedTuple):
    """The summary of a sample of ours."""

    id: str | int
    epoch: int
    completed: bool
    error: str | None
    limit: str | None
    metadata: Mapping[str, Any]
    scores: Mapping[str, Any] = {}
    input: str = ""


class _Generation(NamedTuple):
    """Generation settings, none of which is None."""

    values: Mapping[str, Json]

    def model_dump(self, *, exclude_none: bool) -> dict[str, Json]:
        """Return the values; the method of Inspect's class."""
        return dict(self.values)


def read_log_directly(location: str, key: str) -> tuple[Any, list[Summary]] | None:
    """Read the header and the sample summaries of a log without Inspect.

    Args:
        location: The log's URL, as Inspect names it.
        key: A key that the metadata of each sample of ours have.

    Returns:
        An object with `eval` and `plan`, as of Inspect, and the summaries; None if the log is of another form than
        Inspect writes today, is not finished, or has no sample or one that is not ours. Inspect itself has to read it
        then.

    Raises:
        DataError: If a part is beyond the limits (`check_parts`).
    """
    if not location.endswith(".eval"):
        return None
    _add_compression()
    parts = dict(read_checked_parts(location, (_HEADER, _SUMMARIES)))
    if len(parts) < 2:
        return None
    try:
        header, entries = (json.loads(parts[name]) for name in (_HEADER, _SUMMARIES))
    except (ValueError, RecursionError):
        return None
    if not isinstance(entries, list) or not entries:
        return None
    header_object = _header_object(header)
    if header_object is None:
        return None
    summaries: list[Summary] = []
    for entry in cast(list[Json], entries):
        summary = _read_summary(entry, key)
        if summary is None:
            return None
        summaries.append(summary)
    return header_object, summaries


def list_logs(folder: Path) -> list[str] | None:
    """Return the logs in a folder at any depth, as URLs; None if Inspect has to list them (links, JSON, Windows)."""
    if os.sep != "/":
        return None
    locations: list[str] = []
    for root, folders, files in os.walk(folder.absolute()):
        if any(os.path.islink(os.path.join(root, name)) for name in folders):
            return None
        if any(name.endswith(".json") and name[:1].isdigit() for name in files):  # older logs, and others
            return None
        locations += [f"file://{root}/{name}" for name in files if name.endswith(".eval")]
    return locations


def _add_compression() -> None:
    """Register Inspect's compression with `zipfile`, as Inspect does."""
    if sys.version_info < (3, 14):
        with suppress(ImportError):  # then a log cannot be read here, and Inspect says why
            import_module("zipfile_zstd")


def _header_object(data: Any) -> Any:
    """Return a header with the attributes of Inspect's object; None if it has another form."""
    if not is_object(data) or data.get("version") != _VERSION:
        return None
    spec, plan = data.get("eval"), data.get("plan")
    if not is_object(spec) or not is_object(plan):
        return None
    texts, objects = ({name: spec.get(name) for name in names} for names in (_TEXTS, _OBJECTS))
    if not all(isinstance(text, str) for text in texts.values()) or not str(texts["created"]).endswith(_UTC):
        return None
    address, configs = spec.get("model_base_url"), (spec.get("model_generate_config"), plan.get("config"))
    if not all(map(is_object, objects.values())) or spec.get("model_roles") or not isinstance(address, str | None):
        return None
    generation_configs = [config for config in configs if is_object(config) and _have_types(config, _GENERATION)]
    if len(generation_configs) < len(configs):
        return None
    config, packages = cast(dict[str, Json], objects["config"]), cast(dict[str, Json], objects["packages"])
    limits = {name: config.get(name) for name in _LIMITS}
    if not _have_types(limits, _LIMITS):
        return None
    if not all(isinstance(version, str) for version in packages.values()):
        return None
    model_config, run_config = (
        _Generation({name: value for name, value in config.items() if value is not None})
        for config in generation_configs
    )
    spec_fields = {**texts, **objects, "model_generate_config": model_config, "config": SimpleNamespace(**limits)}
    return SimpleNamespace(
        eval=SimpleNamespace(**spec_fields, model_base_url=address, model_roles=None, metadata=spec.get("metadata")),
        plan=SimpleNamespace(config=run_config),
    )


def _have_types(values: Mapping[str, Json], types: Mapping[str, type]) -> bool:
    """Return whether all values are None or of the type under their name."""
    return all(value is None or (name in types and type(value) is types[name]) for name, value in values.items())


def _read_summary(data: Any, key: str) -> Summary | None:
    """Return a sample's summary; None if it has another form or no `key` in its metadata."""
    if not is_object(data):
        return None
    metadata, epoch, name, completed = (data.get(field) for field in ("metadata", "epoch", "id", "completed"))
    error, limit = data.get("error"), data.get("limit")
    if not is_object(metadata) or key not in metadata or type(epoch) is not int or type(completed) is not bool:
        return None
    if not isinstance(name, str | int) or isinstance(name, bool):
        return None
    if not isinstance(error, str | None) or not isinstance(limit, str | None):
        return None
    return Summary(name, epoch, completed, error, limit, metadata)
