"""What the logs of a run say of the run itself."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from waybench.analysis.logs._guard import Skipped
from waybench.analysis.logs._inspect import Log, runs, to_stderr
from waybench.analysis.logs._settings import origin_of, settings_of
from waybench.core import Json


class RunInfo(NamedTuple):
    """A run of a task with a model, as the header of its newest log describes it.

    Attributes:
        run: Its id, which its episodes have as `LoggedEpisode.run`.
        task: The task's name, without its package.
        model: The model.
        parameters: All parameters of the task, a private key as its label.
        settings: Settings of the model and options of its items.
        epochs: Number of epochs.
        subset: The options that restrict the run to some samples of its task, as "limit=5"; "" for none.
        created: When the run began, as "2026-01-31 12:00 UTC".
        version: The version of waybench that ran it; "" if not known.
        logs: The logs, the oldest first.
    """

    run: str
    task: str
    model: str
    parameters: Mapping[str, Json]
    settings: Mapping[str, Json]
    epochs: int
    subset: str
    created: str
    version: str
    logs: Sequence[Log]


def run_infos(*places: Path, on_problem: Callable[[Skipped], None] | None = None) -> list[RunInfo]:
    """Return the runs of waybench's tasks in some folders and logs, in the order of `read_logs`.

    Args:
        *places: Folders with logs, in any depth, and logs.
        on_problem: Receives each file that is skipped; prints to stderr by default.

    Raises:
        UsageError: If a folder or log does not exist.
    """
    return [
        _info(logs)
        for logs in runs(places, on_problem or to_stderr)
        if any(sample.ours for log in logs for sample in log.samples)
    ]


def _info(logs: Sequence[Log]) -> RunInfo:
    header = logs[-1].header
    spec, origin = header.eval, origin_of(header)
    config: Any = spec.config
    chosen = {name: getattr(config, name, None) for name in ("limit", "sample_id")}
    return RunInfo(
        run=spec.task_id,
        task=spec.task.removeprefix("waybench/"),
        model=str(spec.model),
        parameters=dict(spec.task_args),
        settings=settings_of(header),
        epochs=config.epochs or 1,
        subset=", ".join(f"{name}={value}" for name, value in chosen.items() if value is not None),
        created=origin.created,
        version=origin.version,
        logs=logs,
    )
