"""Reading episodes out of Inspect's logs, one sample at a time."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from waybench.analysis._episodes import LoggedEpisode
from waybench.core import DataError, End, EpisodeRecord, Json, UsageError
from waybench.envs import registry

_KEY = "waybench"
_UNUSED = {"events", "timelines", "messages", "output", "scores"}
_BATCH = 100  # samples in memory at a time
# Settings of Inspect's that decide how requests are sent, not what is asked.
_TRANSPORT = {
    *("max_retries", "timeout", "attempt_timeout", "max_connections", "adaptive_connections"),
    *("batch", "cache", "cache_prompt"),
}
_PLAIN = (str, int, float, bool, type(None))
_OF_TIME = ("time", "working", "operator")


def read_logs(*directories: Path) -> Iterator[LoggedEpisode]:
    """Read the episodes of all logs in some directories, finished runs and interrupted ones alike.

    Of a task that was taken up again, the newest log counts; it holds what the older ones had finished.

    Args:
        *directories: Folders with logs, in any depth.

    Yields:
        Episodes, in the order of models, tasks and items in the logs.

    Raises:
        UsageError: If a directory does not exist or has no log of a waybench task.
    """
    from inspect_ai.log import list_eval_logs, read_eval_log

    newest: dict[str, tuple[str, Any]] = {}
    for directory in directories:
        if not directory.is_dir():
            raise UsageError(f"no folder {directory}: give the folder that `waybench run --out` wrote")
        for info in list_eval_logs(str(directory.absolute())):
            header = read_eval_log(info, header_only=True)
            known = newest.get(header.eval.task_id)
            if known is None or known[1].eval.created <= header.eval.created:
                newest[header.eval.task_id] = (info.name, header)
    found = False
    for location, header in sorted(newest.values(), key=lambda log: (str(log[1].eval.model), log[1].eval.task)):
        settings = _settings(header)
        for sample in _samples(location):
            if _KEY in sample.metadata:
                found = True
                yield LoggedEpisode(
                    model=str(header.eval.model),
                    task=header.eval.task.removeprefix("waybench/"),
                    record=_record(sample),
                    settings=settings,
                    log=location,
                )
    if not found:
        raise UsageError(f"no episodes in {', '.join(map(str, directories))}: run a task with `waybench run` first")


def _settings(header: Any) -> dict[str, Json]:
    """Return what tells runs of one model at one task apart and is in no record.

    Which options of the task are the source's is known by name: they are those that an environment declares.
    """
    drawn = {option.name for entry in registry.entries for option in registry.load(entry.id).source_options}
    spec = header.eval
    found = {
        **{name: value for name, value in spec.task_args.items() if name in drawn},
        **{f"model.{name}": value for name, value in spec.model_args.items()},
        **{
            name: value
            for name, value in spec.model_generate_config.model_dump(exclude_none=True).items()
            if name not in _TRANSPORT
        },
        **({"token_limit": spec.config.token_limit} if spec.config.token_limit else {}),
    }
    return {
        name: value if isinstance(value, _PLAIN) else json.dumps(value, default=str) for name, value in found.items()
    }


def _samples(location: str) -> Iterator[Any]:
    from inspect_ai.log import read_eval_log_sample_summaries, read_eval_log_samples_by_id

    # The log's own list of samples has only those that the task began with, not those that a ladder added.
    known = [(summary.id, summary.epoch) for summary in read_eval_log_sample_summaries(location)]
    for start in range(0, len(known), _BATCH):
        yield from read_eval_log_samples_by_id(
            location, known[start : start + _BATCH], resolve_attachments="core", exclude_fields=_UNUSED
        )


def _record(sample: Any) -> EpisodeRecord:
    try:
        record = EpisodeRecord.assemble(sample.metadata[_KEY], sample.store.get(_KEY))
    except DataError as error:
        raise DataError(f"sample {sample.id}: {error}") from None
    if sample.error:
        return replace(record, end=End.INFRASTRUCTURE, error=record.error or str(sample.error.message)[:2000])
    if record.end is None:
        limit = sample.limit.type if sample.limit else "interruption"
        end = End.TURN_LIMIT if sample.limit and limit not in _OF_TIME else End.INFRASTRUCTURE
        return replace(record, end=end, error=f"stopped by a limit: {limit}")
    return record
