"""Reads Inspect's logs: the list of logs, their headers, the summaries of samples, and the samples."""

import hashlib
import logging
import math
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from waybench.core import Json, UsageError
from waybench.results.logs._guard import Skipped, check_parts, list_logs, read_log_directly, sample_part, skipped_part

KEY = "waybench"  # under which metadata, store and score of a sample of ours have their parts
REASONING = "waybench_reasoning"  # under which the store of a sample has the reasoning of its model
SENT = "waybench_sent"  # and the form in which its conversation was sent, if that was not the usual one
LOG = ".eval"  # the suffix of Inspect's logs
OF_TIME = ("time", "working", "operator")  # limits that are no limits of a test
# Values of scores that Inspect knows as numbers; the words in any case.
_LETTERS = {"C", "P", "I", "N"}
_WORDS = {"yes", "no", "true", "false"}


class Seen(NamedTuple):
    """The summary of a sample in a log.

    Attributes:
        epoch: Its epoch, from 1.
        clean: Whether it ended without an error and within the limits on time.
        ours: Whether it is an episode of waybench's.
        error: Whether an error ended it, or it did not end.
        limit: The limit that ended it; "" if none did.
        scores: Its scores by scorer, as they are; empty for ours.
        input_hash: SHA-256 of the beginning of the input, which is all of it that a summary has; "" for ours.
    """

    id: Any
    epoch: int
    clean: bool
    ours: bool
    error: bool
    limit: str
    scores: Mapping[str, Any]
    input_hash: str


class Log(NamedTuple):
    """A log with its URL, its header as Inspect's object, and its samples."""

    location: str
    header: Any
    samples: tuple[Seen, ...]


def print_problem(problem: Skipped) -> None:
    """Print a skipped part on standard error."""
    print(f"waybench: {problem}", file=sys.stderr)


def logs_by_run(
    directories: Sequence[Path], on_problem: Callable[[Skipped], None], *, simple: bool = False
) -> list[list[Log]]:
    """Return the logs of each run in some directories, the oldest first; runs sorted by model, task and time.

    Args:
        directories: Folders with logs, in any depth, and logs (`*.eval`).
        on_problem: Is called with each file that cannot be read, with the reason.
        simple: Whether the caller needs only the parts of headers and summaries from which our episodes are read.
            Finished logs without other parts are then read without importing Inspect.

    Raises:
        UsageError: If a directory does not exist.
    """
    runs_by_id: dict[str, dict[str, Log]] = defaultdict(dict)
    for log in iterate_logs(directories, on_problem, simple=simple):
        runs_by_id[log.header.eval.task_id][log.location] = log
    runs = [sorted(logs.values(), key=_creation_key) for logs in runs_by_id.values()]
    return sorted(
        runs, key=lambda logs: (str(logs[-1].header.eval.model), logs[-1].header.eval.task, _creation_key(logs[-1]))
    )


def newest_samples(logs: Sequence[Log]) -> Iterator[tuple[Log, list[Seen]]]:
    """Yield the logs of a run, the oldest first, each with the samples to read from it.

    Each sample is taken from the newest log in which it is clean (see `Seen`), or else from the newest that has it.
    """
    best: dict[tuple[Any, int], tuple[bool, int]] = {}  # whether the sample is clean, and the log's number
    for number, log in enumerate(logs):
        for sample in log.samples:
            key = sample.id, sample.epoch
            best[key] = max(best.get(key, (False, -1)), (sample.clean, number))
    for number, log in enumerate(logs):
        newest = [sample for sample in log.samples if best[sample.id, sample.epoch][1] == number]
        if newest:
            yield log, newest


def iterate_logs(
    directories: Sequence[Path], on_problem: Callable[[Skipped], None], *, simple: bool = False
) -> Iterator[Log]:
    """Yield all logs in some directories; arguments and errors are those of `logs_by_run`."""
    _filter_asyncio_messages()
    for directory in directories:
        if os.path.isfile(directory):
            if directory.suffix == LOG:  # any other file has records, which `read_records` reads
                yield from _read_logs_at([directory.absolute().as_uri()], on_problem, simple)
            continue
        if not os.path.isdir(directory):  # False also for a name that is too long to be one
            raise UsageError(
                f"no folder {directory}: give the folder that `waybench run --out` wrote, or a file of records"
            )
        locations = list_logs(directory) if simple else None
        if locations is None:
            locations = _locations_by_inspect(directory)
        yield from _read_logs_at(locations, on_problem, simple)


def _locations_by_inspect(directory: Path) -> list[str]:
    """Return the URLs of the logs in a folder, listed by Inspect."""
    from inspect_ai.log import list_eval_logs

    return [info.name for info in list_eval_logs(str(directory.absolute()))]


def _read_logs_at(locations: Iterable[str], on_problem: Callable[[Skipped], None], simple: bool) -> Iterator[Log]:
    """Yield the logs at these locations; one that cannot be read goes to `on_problem`."""
    for location in locations:
        try:  # whatever is wrong with a damaged or foreign file, the others are read
            header, summaries = (read_log_directly(location, KEY) if simple else None) or _read_by_inspect(location)
            samples = tuple(map(_summarise_sample, summaries))
        except Exception as error:
            on_problem(skipped_part(location, error))
            continue
        yield Log(location, header, samples)


def _read_by_inspect(location: str) -> tuple[Any, Iterable[Any]]:
    """Return the header of a log and the summaries of its samples, read by Inspect."""
    from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries

    check_parts(location)
    # The log's own list of samples has only those that the task began with, not those a ladder added.
    return read_eval_log(location, header_only=True), read_eval_log_sample_summaries(location)


def _summarise_sample(summary: Any) -> Seen:
    """Return what is needed of Inspect's summary of a sample."""
    clean = bool(summary.completed) and not summary.error and summary.limit not in OF_TIME
    ours = KEY in summary.metadata
    scores: dict[str, Any] = {} if ours else summary.scores or {}
    input_text = "" if ours else repr(_input_texts(summary.input))
    return Seen(
        id=summary.id,
        epoch=summary.epoch,
        clean=clean,
        ours=ours,
        error=bool(summary.error) or not summary.completed,
        limit=str(summary.limit or ""),
        scores={name: score.value for name, score in scores.items()},
        input_hash="" if ours else hashlib.sha256(input_text.encode("utf-8", "replace")).hexdigest(),
    )


def _input_texts(sample_input: Any) -> list[str]:
    """Return the messages of a sample's input as texts, without their ids, which differ for equal inputs."""
    if isinstance(sample_input, str):
        return [sample_input]
    return [f"{message.role}: {message.text}" for message in sample_input]


def _creation_key(log: Log) -> tuple[str, str]:
    """Return the sort key of a log by its time of creation."""
    return str(log.header.eval.created), log.location


def read_samples(location: str, samples: Sequence[tuple[Any, int]], unused: Collection[str]) -> list[Any]:
    """Read some samples (id and epoch) of a log by Inspect, without unused fields.

    Raises:
        DataError: If one of them is beyond the limits (`check_parts`).
    """
    from inspect_ai.log import read_eval_log_samples_by_id

    check_parts(location, [sample_part(*sample) for sample in samples])
    _filter_asyncio_messages()
    return read_eval_log_samples_by_id(location, samples, resolve_attachments="core", exclude_fields=set(unused))


def _filter_asyncio_messages() -> None:
    """Suppress messages that Inspect's reader causes (`_is_worth_logging`)."""
    logging.getLogger("asyncio").addFilter(_is_worth_logging)  # the same one is added once


def _is_worth_logging(record: logging.LogRecord) -> bool:
    """Return False for asyncio's messages about tasks that Inspect's reader leaves pending, whose error is reported."""
    error = record.exc_info[1] if record.exc_info else None
    return not (isinstance(error, RuntimeError) and "asynchronous generator is already running" in str(error))


def as_number(value: Json) -> float | None:
    """Return a score as a number, as Inspect converts it (C is 1, P 0.5, I and N 0).

    None for a value that is not finite, or that Inspect does not know, for which it takes 0 with a warning.
    """
    from inspect_ai.scorer import value_to_float

    if isinstance(value, str):
        if value not in _LETTERS and value.lower() not in _WORDS and not _is_number(value):
            return None
    elif not isinstance(value, int | float):
        return None
    number = value_to_float()(value)
    return number if math.isfinite(number) else None


def _is_number(text: str) -> bool:
    """Return whether a text is a finite number."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
