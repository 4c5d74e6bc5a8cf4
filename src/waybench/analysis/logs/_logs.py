"""Reading episodes out of Inspect's logs, one sample at a time."""

import hashlib
import json
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

from waybench._version import __version__
from waybench.analysis.logs._episodes import LoggedEpisode, is_embedded
from waybench.analysis.logs._guard import Skipped, path_of, sample_part, sizes, skipped
from waybench.analysis.logs._inspect import KEY, OF_TIME, logs_in, newest, read_samples, runs, to_stderr
from waybench.analysis.logs._records import read_records
from waybench.analysis.logs._settings import of_record, settings_of, without_key
from waybench.core import End, EpisodeRecord, Json, UsageError, WaybenchError

_SEARCH = "waybench_search"
_UNUSED = {"events", "timelines", "messages", "output"}
_BATCH = 100  # samples in memory at a time, and of large ones fewer
_BATCH_BYTES = 1 << 26
_WORTH_PROCESSES = 3_000  # samples from which on another process, which takes seconds to start, saves time


class Contents(Protocol):
    """Keeps contents by a key that says everything that they depend on."""

    def get(self, key: bytes) -> bytes | None:
        """Return the content of a key; None if there is none."""
        ...

    def put(self, key: bytes, content: bytes) -> None:
        """Keep the content of a key."""
        ...


class NoEpisodesError(UsageError):
    """There are folders, and no episodes in them; there may be when a run has gone on."""


def read_logs(
    *directories: Path,
    on_problem: Callable[[Skipped], None] | None = None,
    processes: int = 1,
    kept: Contents | None = None,
) -> Iterator[LoggedEpisode]:
    """Read the episodes of all logs and files of records in some directories, finished and interrupted ones alike.

    A run that was taken up again has several logs, and the newest need not hold all that the older ones had finished,
    for it may have been interrupted while it took that over. Each sample is read from the newest log in which it has
    ended without an error, or else from the newest that has it. A file that cannot be read is skipped, and so is a
    sample that holds no record, or one of an environment that is not installed, or that is larger or deeper than what
    is read (512 MiB, 5 million values, 100 brackets within each other).

    Args:
        *directories: Folders with logs and files of records (`*.jsonl`, `*.jsonl.gz`) in any depth, and files of
            records, as `waybench play --record` writes them.
        on_problem: Is called with each file, sample and line that is skipped, and the reason; prints to stderr by
            default.
        processes: In how many processes large runs are read ahead. With more than one, the main module must be one
            that can be imported, as for Python's `multiprocessing`.
        kept: Keeps the samples of logs, which are then not read again as long as their log is the same.

    Yields:
        Episodes, in the order of models, tasks and runs, later runs last; then those of files of records.

    Raises:
        UsageError: If a directory does not exist.
        NoEpisodesError: If none of them has an episode of a waybench task that can be read; a UsageError, too.
    """
    report = on_problem or to_stderr
    found = False
    chosen = [
        (log, [(one.id, one.epoch) for one in wanted if one.ours])
        for logs in runs(directories, report)
        for log, wanted in newest(logs)
    ]
    headers = {log.location: (log.header, settings_of(log.header)) for log, _ in chosen}
    for location, sample in _samples([(log.location, wanted) for log, wanted in chosen], report, processes, kept):
        if sample.head is None:
            continue
        header, settings = headers[location]
        try:
            record = without_key(_record(sample), header)
            own = of_record(record, settings)
        except (WaybenchError, RecursionError) as error:
            report(skipped(location, error, sample.name))
            continue
        found = True
        yield LoggedEpisode(
            model=str(header.eval.model),
            task=header.eval.task.removeprefix("waybench/"),
            record=record,
            settings=own,
            log=location,
            sample=sample.name,
            run=header.eval.task_id,
            search=_search(sample.search),
        )
    for episode in read_records(directories, report):
        found = True
        yield episode
    if not found:
        where = ", ".join(map(str, directories))
        raise NoEpisodesError(f"no episodes in {where}: run a task with `waybench run` first")


def logged_models(*directories: Path, on_problem: Callable[[Skipped], None] | None = None) -> list[str]:
    """Return the names of all models with logs in some directories, without the embedded players, in order.

    Args:
        *directories: Folders with logs, in any depth.
        on_problem: Is called with each file that is skipped, as in `read_logs`.

    Raises:
        UsageError: If a directory does not exist.
    """
    names = {str(log.header.eval.model) for log in logs_in(directories, on_problem or to_stderr)}
    return sorted(name for name in names if not is_embedded(name))


class _Sample(NamedTuple):
    """The parts of a sample that are needed.

    Attributes:
        name: Its id.
        head: What is known of its episode before the first reply; None if it has no episode.
        progress: Its progress, as the store has it.
        error: What went wrong; "" if nothing did.
        limit: The limit that ended it; "" if none did.
        search: What the search for a horizon that it belongs to is for, as JSON; "" if it belongs to none.
    """

    name: str
    head: str | None = None
    progress: Any = None
    error: str = ""
    limit: str = ""
    search: str = ""


class _Unread(NamedTuple):
    """A sample that cannot be read, and why."""

    name: str
    error: str


_Batch = tuple[str, Sequence[tuple[Any, int]]]  # a log's location, and id and epoch of some of its samples


def _samples(
    logs: Sequence[tuple[str, Sequence[tuple[Any, int]]]],
    report: Callable[[Skipped], None],
    processes: int,
    kept: Contents | None,
) -> Iterator[tuple[str, _Sample]]:
    """Yield the wanted samples of some logs (their location, and id and epoch of each), with the log's location."""
    batches = [(log, some) for log, wanted in logs for some in _batches(log, wanted)]
    read = _read_all(batches, processes) if kept is None else _read_new(batches, processes, kept)
    for (location, _), found in zip(batches, read, strict=True):
        for sample in found:
            if isinstance(sample, _Unread):
                report(skipped(location, sample.error, sample.name))
            else:
                yield location, sample


def _read_new(batches: Sequence[_Batch], processes: int, kept: Contents) -> Iterator[list[_Sample | _Unread]]:
    """Yield what is read of some batches of samples, from what is kept where their log is the same as it was."""
    digests = {location: _digest(location) for location in dict.fromkeys(location for location, _ in batches)}
    keys = [_key(digests[location], wanted) for location, wanted in batches]
    is_kept = [kept.get(key) is not None for key in keys]
    new = _read_all([batch for batch, known in zip(batches, is_kept, strict=True) if not known], processes)
    for key, known in zip(keys, is_kept, strict=True):
        content = kept.get(key) if known else None
        if content is not None:
            yield [_Sample(*values) for values in json.loads(zlib.decompress(content))]
            continue
        found = next(new)
        if not any(isinstance(each, _Unread) for each in found):
            kept.put(key, zlib.compress(json.dumps(found).encode(), 1))
        yield found


def _digest(location: str) -> bytes:
    with open(path_of(location), "rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _key(digest: bytes, wanted: Sequence[tuple[Any, int]]) -> bytes:
    parts = __version__, version("inspect-ai"), _sources(), [(str(name), epoch) for name, epoch in wanted]
    return hashlib.sha256(digest + json.dumps(parts).encode()).digest()


@cache
def _sources() -> str:
    """Return a digest of the modules that read samples."""
    folder = files("waybench.analysis.logs")
    modules = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".py"))
    return hashlib.sha256(b"".join((folder / name).read_bytes() for name in modules)).hexdigest()


def _batches(location: str, wanted: Sequence[tuple[Any, int]]) -> Iterator[list[tuple[Any, int]]]:
    size_of = sizes(location)
    batch: list[tuple[Any, int]] = []
    size = 0
    for one in wanted:
        own = size_of.get(sample_part(*one), 0)
        if batch and (len(batch) == _BATCH or size + own > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += own
    if batch:
        yield batch


def _read_all(
    batches: Sequence[tuple[str, Sequence[tuple[Any, int]]]], processes: int
) -> Iterator[list[_Sample | _Unread]]:
    """Read batches of samples, in order."""
    if processes < 2 or sum(len(wanted) for _, wanted in batches) < _WORTH_PROCESSES:
        yield from (_batch(location, wanted) for location, wanted in batches)
        return
    # A new interpreter each, for a copy of this one would have its threads' locks without the threads.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        ahead: deque[Future[list[_Sample | _Unread]]] = deque()
        for location, wanted in batches:
            ahead.append(pool.submit(_batch, location, wanted))
            if len(ahead) > 2 * processes:  # what is read ahead is in memory
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


def _batch(location: str, wanted: Sequence[tuple[Any, int]]) -> list[_Sample | _Unread]:
    try:
        return [_plain(sample) for sample in read_samples(location, wanted, _UNUSED)]
    except Exception:  # one of them cannot be read, and it is not said which
        return [_each(location, one) for one in wanted]


def _each(location: str, one: tuple[Any, int]) -> _Sample | _Unread:
    try:
        (sample,) = read_samples(location, [one], _UNUSED)
        return _plain(sample)
    except Exception as error:
        return _Unread(str(one[0]), str(error) or type(error).__name__)


def _plain(sample: Any) -> _Sample:
    name, metadata = str(sample.id), sample.metadata
    if KEY not in metadata:
        return _Sample(name)
    error = str(sample.error.message)[:2000] if sample.error else ""
    limit = str(sample.limit.type) if sample.limit else ""
    search = str(metadata.get(_SEARCH, ""))
    return _Sample(name, metadata[KEY], _progress(sample), error or ("error" if sample.error else ""), limit, search)


def _search(plan: str) -> Mapping[str, Json]:
    """Return the settings of a search; settings that cannot be read are left out, since no score depends on them."""
    try:
        found: Any = json.loads(plan) if plan else {}
    except ValueError:
        return {}
    return cast(dict[str, Json], found) if isinstance(found, dict) else {}


def _progress(sample: Any) -> Any:
    """Return what became of an episode, which its sample's store holds, and its score once more.

    Of a sample that had ended but was not yet in its log when the run was killed, Inspect restores all but the store.
    """
    scores: dict[str, Any] = sample.scores or {}
    scored: list[Any] = [score.metadata[KEY] for score in scores.values() if score.metadata and KEY in score.metadata]
    return sample.store.get(KEY) or (scored[0] if scored else None)


def _record(sample: _Sample) -> EpisodeRecord:
    assert sample.head is not None
    record = EpisodeRecord.assemble(sample.head, sample.progress)
    if sample.error:
        return replace(record, end=End.INFRASTRUCTURE, error=record.error or sample.error)
    if record.end is None:
        end = End.TURN_LIMIT if sample.limit and sample.limit not in OF_TIME else End.INFRASTRUCTURE
        return replace(record, end=end, error=f"stopped by a limit: {sample.limit or 'interruption'}")
    return record
