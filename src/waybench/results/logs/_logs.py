"""Reading episodes out of Inspect's logs, one sample at a time, and from files of records."""

import hashlib
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, cached_property
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

from waybench._version import __version__
from waybench.core import End, EpisodeRecord, Json, UsageError, WaybenchError
from waybench.core._designs import DESIGN
from waybench.core._errors import DEFECT
from waybench.results.logs._guard import (
    Skipped,
    log_path,
    part_sizes,
    read_samples_directly,
    sample_part,
    skipped_part,
)
from waybench.results.logs._inspect import (
    KEY,
    OF_TIME,
    REASONING,
    SENT,
    iterate_logs,
    logs_by_run,
    newest_samples,
    print_problem,
    read_samples,
)
from waybench.results.logs._record_files import BATCH, BATCH_BYTES, RecordSpool, read_records
from waybench.results.logs._settings import (
    LoggedEpisode,
    Origin,
    allowed_attempts,
    is_embedded,
    read_origin,
    read_settings,
    settings_of_record,
    task_name,
    with_key_label,
)

_CANCELLED, _INTERRUPTED = "CancelledError(", "the run was interrupted"  # as the engine says it, and as we do
SYSTEM_ROLE = "system_role"  # the setting that says in which role a server takes the rules
_UNUSED_FIELDS = {"events", "timelines", "messages", "output"}  # of a sample


class Contents(Protocol):
    """A store of contents by a key, a hash of everything that they depend on."""

    def get(self, key: bytes) -> bytes | None:
        """Return the stored content of a key; None if there is none."""
        ...

    def put(self, key: bytes, content: bytes) -> None:
        """Store the content of a key."""
        ...


class NoEpisodesError(UsageError):
    """The folders exist and hold no episodes that can be read; they may once a run has gone on."""


def read_logs(*directories: Path, on_problem: Callable[[Skipped], None] | None = None) -> Iterator[LoggedEpisode]:
    """Read the episodes of all logs and files of records in some directories, finished and interrupted ones alike.

    A run that was resumed has several logs, and the newest may lack samples of the older ones if it was interrupted
    early. Each sample is read from the newest log in which it has ended without an error, or else from the newest that
    has it. A file that cannot be read is skipped, and so is a sample without a valid record, of an environment that is
    not installed, or beyond the limits (512 MiB, 5 million values, 100 nested brackets).

    Args:
        *directories: Folders with logs and files of records (`*.jsonl`, `*.jsonl.gz`) in any depth, and files of
            records, as `waybench play --record` writes them.
        on_problem: Is called with each file, sample and line that is skipped, and the reason; prints to stderr by
            default.

    Yields:
        Episodes, in the order of models, tasks and runs, later runs last; then those of files of records.

    Raises:
        UsageError: If a directory does not exist.
        NoEpisodesError: If none of them has an episode of a waybench task that can be read; a UsageError, too.
    """
    skipped: list[Skipped] = []

    def report(problem: Skipped) -> None:
        skipped.append(problem)
        (on_problem or print_problem)(problem)

    batches = EpisodeBatches(*directories, on_problem=report)
    has_episode = False
    for episodes in (
        *(batches.read(number, report) for number in range(batches.n_log_batches)),
        read_records(directories, report),
    ):
        for episode in episodes:
            has_episode = True
            yield episode
    if not has_episode:
        raise batches.no_episodes_error(skipped)


class EpisodeBatches:
    """The episodes of all logs and files of records in some directories, in batches that can be read one by one.

    Together the batches hold what `read_logs` yields, in its order. Forks of this process can each read some of them.
    """

    def __init__(
        self,
        *directories: Path,
        on_problem: Callable[[Skipped], None] | None = None,
        cache: Contents | None = None,
    ) -> None:
        """Read the headers of the logs.

        Args:
            *directories: Folders and files, as for `read_logs`.
            on_problem: Is called with each log that is skipped, and the reason; prints to stderr by default.
            cache: Stores the samples of logs, which are not read again while their log is the same.

        Raises:
            UsageError: If a directory does not exist.
        """
        self._directories, self._cache = directories, cache
        self._headers: dict[str, tuple[Any, dict[str, Json], Origin]] = {}
        self._batches: list[tuple[str, list[tuple[Any, int]]]] = []
        for logs in logs_by_run(directories, on_problem or print_problem, simple=True):
            for log, samples in newest_samples(logs):
                self._headers[log.location] = log.header, read_settings(log.header), read_origin(log.header)
                our_samples = [(sample.id, sample.epoch) for sample in samples if sample.ours]
                self._batches += [(log.location, batch) for batch in _split_into_batches(log.location, our_samples)]
        locations = dict.fromkeys(location for location, _ in self._batches)
        self._digests = {location: _log_digest(location) for location in locations} if cache else {}

    def __len__(self) -> int:
        """Return the number of batches, from logs and files of records."""
        return self.n_log_batches + len(self._record_spool)

    @property
    def n_log_batches(self) -> int:
        """Number of batches from logs; those from files of records come after them."""
        return len(self._batches)

    @cached_property
    def _record_spool(self) -> RecordSpool:
        """The batches of the files of records, whose attempts are numbered in one pass."""
        return RecordSpool(self._directories)

    def read(self, number: int, on_problem: Callable[[Skipped], None]) -> Iterator[LoggedEpisode]:
        """Yield the episodes of a batch, by its number from 0.

        `on_problem` is called with each file, sample and line that is skipped, and the reason.
        """
        if number >= self.n_log_batches:
            yield from self._record_spool.read(number - self.n_log_batches, on_problem)
            return
        location, _ = self._batches[number]
        for sample in self._read_samples(number):
            if isinstance(sample, _Unread):
                on_problem(skipped_part(location, sample.error, sample.name))
            elif sample.head is not None:
                episode = self._read_episode(location, sample, on_problem)
                if episode is not None:
                    yield episode

    def no_episodes_error(self, skipped: Sequence[Skipped] = ()) -> NoEpisodesError:
        """Return the error to raise if no batch has an episode; it names the first skipped part."""
        where = ", ".join(map(str, self._directories))
        if skipped:
            return NoEpisodesError(f"no episodes in {where} that can be read; {len(skipped)} are skipped: {skipped[0]}")
        return NoEpisodesError(f"no episodes in {where}: run a task with `waybench run` first")

    def _read_episode(
        self, location: str, sample: "_Sample", on_problem: Callable[[Skipped], None]
    ) -> LoggedEpisode | None:
        """Return the episode in a sample; None, after a call of `on_problem`, if it has none."""
        header, settings, origin = self._headers[location]
        try:
            record = with_key_label(_record_of_sample(sample), header)
            record_settings = settings_of_record(record, settings)
        except (WaybenchError, RecursionError) as error:
            on_problem(skipped_part(location, error, sample.name))
            return None
        return LoggedEpisode(
            model=str(header.eval.model),
            task=task_name(header),
            record=record,
            settings=record_settings | ({SYSTEM_ROLE: sample.system_role} if sample.system_role else {}),
            log=location,
            sample=sample.name,
            run=header.eval.task_id,
            design=_read_design(sample.design),
            origin=origin,
            epoch=sample.epoch,
            most_attempts=allowed_attempts(header.eval.task_args),
            reasoning=sample.reasoning or {},
        )

    def _read_samples(self, number: int) -> "list[_Sample | _Unread]":
        """Return the samples of a batch, from the cache if their log is unchanged."""
        location, batch = self._batches[number]
        if self._cache is None:
            return _read_batch(location, batch)
        names = [(str(name), epoch) for name, epoch in batch]
        dependencies = __version__, version("inspect-ai"), _reader_digest(), names
        key = hashlib.sha256(self._digests[location] + json.dumps(dependencies).encode()).digest()
        content = self._cache.get(key)
        if content is not None:
            return [_Sample(*values) for values in json.loads(zlib.decompress(content))]
        samples = _read_batch(location, batch)
        if not any(isinstance(sample, _Unread) for sample in samples):
            self._cache.put(key, zlib.compress(json.dumps(samples).encode(), 1))
        return samples


def logged_models(*directories: Path, on_problem: Callable[[Skipped], None] | None = None) -> list[str]:
    """Return the names of the models with logs in some directories, sorted, without embedded players.

    Arguments are as for `read_logs`; files of records are ignored.

    Raises:
        UsageError: If a directory does not exist.
    """
    names = {str(log.header.eval.model) for log in iterate_logs(directories, on_problem or print_problem)}
    return sorted(name for name in names if not is_embedded(name))


class _Sample(NamedTuple):
    """The parts of a sample that are needed.

    Attributes:
        head: The part of its record from before the first reply, as the log has it; None if it has no episode.
        progress: The rest of its record, as the store has it.
        design: The declared design of its run (`LoggedEpisode.design`), as JSON; "" for none.
        reasoning: The reasoning that the model returned, by the turn's number from 0.
        system_role: The role that system messages were sent with; "" for the usual one.
    """

    name: str
    head: Any = None
    progress: Any = None
    error: str = ""
    limit: str = ""
    design: str = ""
    epoch: int = 0
    reasoning: Mapping[str, str] | None = None
    system_role: str = ""


class _Unread(NamedTuple):
    """A sample that cannot be read, and why."""

    name: str
    error: str


def _log_digest(location: str) -> bytes:
    """Return a digest of a log's content."""
    with open(log_path(location), "rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


@cache
def _reader_digest() -> str:
    """Return a digest of the source code that reads samples."""
    folder = files("waybench.results.logs")
    modules = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".py"))
    return hashlib.sha256(b"".join((folder / name).read_bytes() for name in modules)).hexdigest()


def _split_into_batches(location: str, samples: Sequence[tuple[Any, int]]) -> Iterator[list[tuple[Any, int]]]:
    """Yield batches of a log's samples (id and epoch) that fit into memory."""
    sizes = part_sizes(location)
    batch: list[tuple[Any, int]] = []
    size = 0
    for sample in samples:
        sample_size = sizes.get(sample_part(*sample), 0)
        if batch and (len(batch) == BATCH or size + sample_size > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(sample)
        size += sample_size
    if batch:
        yield batch


def _read_batch(location: str, batch: Sequence[tuple[Any, int]]) -> list[_Sample | _Unread]:
    """Return the samples of a batch (id and epoch), with the error in place of a sample that cannot be read."""
    with suppress(Exception):  # a sample cannot be read, and the error does not say which
        samples = read_samples_directly(location, batch)
        if samples is None:
            samples = read_samples(location, batch, _UNUSED_FIELDS)
        return [_plain_sample(sample) for sample in samples]
    results: list[_Sample | _Unread] = []
    for name, epoch in batch:
        try:
            (sample,) = read_samples(location, [(name, epoch)], _UNUSED_FIELDS)
            results.append(_plain_sample(sample))
        except Exception as error:
            results.append(_Unread(str(name), str(error) or type(error).__name__))
    return results


def _plain_sample(sample: Any) -> _Sample:
    """Return the needed fields of Inspect's sample as plain values."""
    name, metadata = str(sample.id), sample.metadata
    if KEY not in metadata:
        return _Sample(name)
    # Of a sample that had ended but was not yet in its log when the run was killed, Inspect restores all but the store;
    # the record is then in the metadata of a score.
    scores: dict[str, Any] = sample.scores or {}
    score_data: list[Any] = [score.metadata for score in scores.values() if score.metadata]
    return _Sample(
        name=name,
        head=metadata[KEY],
        progress=sample.store.get(KEY) or next((data[KEY] for data in score_data if KEY in data), None),
        error=str(sample.error.message)[:2000] or "error" if sample.error else "",
        limit=str(sample.limit.type) if sample.limit else "",
        design=str(metadata.get(DESIGN, "")),
        epoch=sample.epoch,
        reasoning=_read_texts(sample.store.get(REASONING)),
        system_role=_read_texts(sample.store.get(SENT)).get(SYSTEM_ROLE, ""),
    )


def _read_texts(stored: Any) -> dict[str, str]:
    """Return the values of a sample's stored object as texts; empty if it is not an object."""
    texts = cast(dict[Any, Any], stored) if isinstance(stored, dict) else {}
    return {str(name): str(text) for name, text in texts.items()}


def _read_design(text: str) -> Mapping[str, Json]:
    """Return a run's declared design; empty if it cannot be read, since no score depends on it."""
    try:
        design: Any = json.loads(text) if text else {}
    except ValueError:
        return {}
    return cast(dict[str, Json], design) if isinstance(design, dict) else {}


def _record_of_sample(sample: _Sample) -> EpisodeRecord:
    """Return the record of the episode in a sample, ended by an infrastructure error or a limit if the sample was."""
    assert sample.head is not None
    record = EpisodeRecord.from_parts(sample.head, sample.progress)
    was_cancelled = sample.error.startswith(_CANCELLED)
    if record.end not in (None, End.INFRASTRUCTURE) and (was_cancelled or DEFECT in sample.error):
        return record  # the run was interrupted between the episode's end and its score, or a metric raised
    if sample.error:
        message = _INTERRUPTED if was_cancelled else sample.error
        return replace(record, end=End.INFRASTRUCTURE, error=record.error or message)
    if record.end is None:
        end = End.TURN_LIMIT if sample.limit and sample.limit not in OF_TIME else End.INFRASTRUCTURE
        return replace(record, end=end, error=f"stopped by a limit: {sample.limit or 'interruption'}")
    return record
