"""Reading episodes out of Inspect's logs, one sample at a time."""

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from waybench.analysis._episodes import LoggedEpisode
from waybench.analysis._rows import PLAIN
from waybench.analysis._text import one_line
from waybench.core import DataError, End, EpisodeRecord, Json, UsageError
from waybench.envs import registry

_KEY = "waybench"
_UNUSED = {"events", "timelines", "messages", "output"}
_BATCH = 100  # samples in memory at a time
# Settings of Inspect's that decide how requests are sent, not what is asked.
_TRANSPORT = {
    *("max_retries", "timeout", "attempt_timeout", "max_connections", "adaptive_connections"),
    *("stream_idle_timeout", "batch", "cache", "cache_prompt", "extra_headers"),
}
# Parameters of tasks that say how much of an item is shown, where that is counted in tokens; the first one turns it on.
_SHOWN = ("prefix_tokens", "tokenizer")
_OF_TIME = ("time", "working", "operator")


class _Log(NamedTuple):
    location: str
    header: Any
    samples: tuple[tuple[Any, int, bool], ...]  # id, epoch, and whether it ended without an error


def read_logs(*directories: Path, on_problem: Callable[[str], None] | None = None) -> Iterator[LoggedEpisode]:
    """Read the episodes of all logs in some directories, finished runs and interrupted ones alike.

    A run that was taken up again has several logs, and the newest need not hold all that the older ones had finished,
    for it may have been interrupted while it took that over. Each sample is read from the newest log in which it has
    ended without an error, or else from the newest that has it. A file that cannot be read is passed over.

    Args:
        *directories: Folders with logs, in any depth.
        on_problem: Is told of each file that is passed over, and why, in one line; by default stderr is.

    Yields:
        Episodes, in the order of models, tasks and runs, later runs last.

    Raises:
        UsageError: If a directory does not exist or has no log of a waybench task.
        DataError: If a log has a record that is none.
    """
    told = on_problem or _to_stderr
    runs: dict[str, dict[str, _Log]] = defaultdict(dict)
    for log in _logs(directories, told):
        runs[log.header.eval.task_id][log.location] = log
    found = False
    in_order = [sorted(logs.values(), key=_age) for logs in runs.values()]
    for logs in sorted(
        in_order, key=lambda logs: (str(logs[-1].header.eval.model), logs[-1].header.eval.task, _age(logs[-1]))
    ):
        for log, wanted in _chosen(logs):
            settings = _settings(log.header)
            for sample in _samples(log.location, wanted, told):
                if _KEY in sample.metadata:
                    found = True
                    record = _record(sample, log.location)
                    yield LoggedEpisode(
                        model=str(log.header.eval.model),
                        task=log.header.eval.task.removeprefix("waybench/"),
                        record=record,
                        settings=_of(record, settings),
                        log=log.location,
                        run=log.header.eval.task_id,
                    )
    if not found:
        raise UsageError(f"no episodes in {', '.join(map(str, directories))}: run a task with `waybench run` first")


def _to_stderr(problem: str) -> None:
    print(f"waybench: {problem}", file=sys.stderr)


def _skipped(location: str, error: Exception) -> str:
    path = location.removeprefix("file://")
    return f"skipped {one_line(path, 300)}: {one_line(str(error) or type(error).__name__, 200)}"


def _logs(directories: Sequence[Path], told: Callable[[str], None]) -> Iterator[_Log]:
    from inspect_ai.log import list_eval_logs, read_eval_log, read_eval_log_sample_summaries

    for directory in directories:
        if not directory.is_dir():
            raise UsageError(f"no folder {directory}: give the folder that `waybench run --out` wrote")
        for info in list_eval_logs(str(directory.absolute())):
            # Whatever a damaged or foreign file makes the reader trip over, the other files are worth reading.
            try:
                header = read_eval_log(info, header_only=True)
                # The log's own list of samples has only those that the task began with, not those a ladder added.
                samples = tuple(read_eval_log_sample_summaries(info))
            except Exception as error:
                told(_skipped(info.name, error))
                continue
            yield _Log(info.name, header, tuple((one.id, one.epoch, _is_clean(one)) for one in samples))


def _age(log: _Log) -> tuple[str, str]:
    return str(log.header.eval.created), log.location


def _is_clean(summary: Any) -> bool:
    return bool(summary.completed) and not summary.error and summary.limit not in _OF_TIME


def _chosen(logs: Sequence[_Log]) -> Iterator[tuple[_Log, list[tuple[Any, int]]]]:
    """Yield the logs of a run, the oldest first, with those samples (id, epoch) that are to be read from each."""
    best: dict[tuple[Any, int], tuple[bool, int]] = {}
    for number, log in enumerate(logs):
        for sample, epoch, clean in log.samples:
            best[sample, epoch] = max(best.get((sample, epoch), (False, -1)), (clean, number))
    for number, log in enumerate(logs):
        wanted = [(sample, epoch) for sample, epoch, _ in log.samples if best[sample, epoch][1] == number]
        if wanted:
            yield log, wanted


@cache
def _drawn() -> frozenset[str]:
    return frozenset(option.name for entry in registry.entries for option in registry.load(entry.id).source_options)


def _of(record: EpisodeRecord, settings: dict[str, Json]) -> dict[str, Json]:
    """Return a run's settings without those that say how another environment's items are drawn."""
    own = {option.name for option in registry.load(record.env).source_options}
    return {name: value for name, value in settings.items() if name in own or name not in _drawn()}


def _settings(header: Any) -> dict[str, Json]:
    """Return what tells runs of one model at one task apart and is in no record.

    Which options of the task are the source's is known by name: they are those that an environment declares.
    """
    drawn = _drawn()
    spec = header.eval
    # The first is how the model was made, the second what the run was given besides, which has the last word.
    configs = (spec.model_generate_config, header.plan.config)
    asked = {name: value for config in configs for name, value in config.model_dump(exclude_none=True).items()}
    found = {
        **{name: value for name, value in spec.task_args.items() if name in drawn},
        **{name: spec.task_args.get(name) for name in _SHOWN if spec.task_args.get(_SHOWN[0])},
        **{f"model.{name}": value for name, value in spec.model_args.items()},
        **{name: value for name, value in asked.items() if name not in _TRANSPORT},
        **({"token_limit": spec.config.token_limit} if spec.config.token_limit else {}),
    }
    return {
        name: value if isinstance(value, PLAIN) else json.dumps(value, default=str) for name, value in found.items()
    }


def _samples(location: str, wanted: Sequence[tuple[Any, int]], told: Callable[[str], None]) -> Iterator[Any]:
    for start in range(0, len(wanted), _BATCH):
        batch = wanted[start : start + _BATCH]
        try:
            found = _read(location, batch)
        except Exception:  # one of them cannot be read, and it is not said which
            found = _each(location, batch, told)
        yield from found


def _each(location: str, some: Sequence[tuple[Any, int]], told: Callable[[str], None]) -> Iterator[Any]:
    for one in some:
        try:
            (sample,) = _read(location, [one])
        except Exception as error:
            told(_skipped(f"{location}, sample {one[0]}", error))
        else:
            yield sample


def _read(location: str, some: Sequence[tuple[Any, int]]) -> list[Any]:
    from inspect_ai.log import read_eval_log_samples_by_id

    return read_eval_log_samples_by_id(location, some, resolve_attachments="core", exclude_fields=_UNUSED)


def _progress(sample: Any) -> Any:
    """Return what became of an episode, which its sample's store holds, and its score once more.

    Of a sample that had ended but was not yet in its log when the run was killed, Inspect restores all but the store.
    """
    scores: dict[str, Any] = sample.scores or {}
    scored: list[Any] = [score.metadata[_KEY] for score in scores.values() if score.metadata and _KEY in score.metadata]
    return sample.store.get(_KEY) or (scored[0] if scored else None)


def _record(sample: Any, location: str) -> EpisodeRecord:
    try:
        record = EpisodeRecord.assemble(sample.metadata[_KEY], _progress(sample))
    except DataError as error:
        raise DataError(f"{location}: sample {sample.id}: {error}") from None
    if sample.error:
        return replace(record, end=End.INFRASTRUCTURE, error=record.error or str(sample.error.message)[:2000])
    if record.end is None:
        limit = sample.limit.type if sample.limit else "interruption"
        end = End.TURN_LIMIT if sample.limit and limit not in _OF_TIME else End.INFRASTRUCTURE
        return replace(record, end=end, error=f"stopped by a limit: {limit}")
    return record
