"""Inspect's reports during a run, finished samples of earlier runs, and the progress that follows from both."""

import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import rich
from inspect_ai.hooks import Hooks, TaskEnd, TaskStart, hooks
from inspect_ai.log import EvalLog, EvalSpec, list_eval_logs, read_eval_log, read_eval_log_sample_summaries

from waybench.evaluation._progress import Earlier, sample_name
from waybench.evaluation._run_journals import RunJournals
from waybench.evaluation._run_progress import RunProgress

Report = Callable[[str, Any], None]
_ENGINE = "inspect_ai"
_receiver: Report | None = None
_registered = False


@contextmanager
def reported_to(receiver: Report, *, quiet: bool) -> Generator[None]:
    """Report Inspect's events within a block to a function.

    Args:
        receiver: Receives the name of an event and its data: "start" and "end" of a task, and "log"
            with each warning or error of the engine as one line.
        quiet: Whether to keep the engine from printing.
    """
    global _receiver
    _register()
    handler = _OneLine(receiver)
    console = rich.get_console()
    before, console.quiet = console.quiet, quiet or console.quiet
    logging.getLogger(_ENGINE).addHandler(handler)
    _receiver = receiver
    try:
        yield
    finally:
        _receiver = None
        logging.getLogger(_ENGINE).removeHandler(handler)
        console.quiet = before


def _register() -> None:
    # Not on import: the engine greets the user with the names of all hooks that it finds.
    global _registered
    if not _registered:
        hooks(name="waybench_progress", description="shows the progress of a run")(_Progress)
        _registered = True


class _Progress(Hooks):
    def enabled(self) -> bool:
        return _receiver is not None

    async def on_task_start(self, data: TaskStart) -> None:
        self._report("start", data.spec)

    async def on_task_end(self, data: TaskEnd) -> None:
        self._report("end", data.log)

    def _report(self, event: str, data: Any) -> None:
        if _receiver is not None:
            _receiver(event, data)


class _OneLine(logging.Handler):
    """Forwards Inspect's warnings and errors, each as one line."""

    def __init__(self, receiver: Report) -> None:
        super().__init__(logging.WARNING)
        self._receiver = receiver

    def emit(self, record: logging.LogRecord) -> None:
        self._receiver("log", f"{record.levelname.lower()}: {' '.join(record.getMessage().split())}")


def earlier_logs(out: Path) -> dict[str, tuple[Earlier, bool]]:
    """Return, by task id, the samples that the newest log has finished and whether the task is complete.

    Args:
        out: The folder of the logs.
    """
    found: dict[str, tuple[str, Earlier, bool]] = {}
    for info in list_eval_logs(str(out.absolute()), recursive=False):
        try:
            header = read_eval_log(info, header_only=True)
            if header.eval.created <= found.get(header.eval.task_id, ("",))[0]:
                continue
            samples = [each for each in read_eval_log_sample_summaries(info) if not each.error and each.completed]
        except Exception:  # not a log, or one that was cut off; the engine reports it
            continue
        levels = [int(each.metadata["level"]) for each in samples if str(each.metadata.get("level", "")).isdigit()]
        earlier = Earlier(
            frozenset(sample_name(each.id, each.epoch) for each in samples),
            frozenset(str(each.uuid) for each in samples),
            max(levels, default=None),
            header.eval.task,
            str(header.eval.model),
            header.eval.task_args_passed,
        )
        found[header.eval.task_id] = header.eval.created, earlier, header.status == "success"
    return {task_id: (earlier, complete) for task_id, (_, earlier, complete) in found.items()}


_SAMPLE_ERROR = "Sample error (id:"  # the solver reports it, with the provider's own words


@contextmanager
def following(progress: RunProgress, journals: RunJournals, out: Path, *, quiet: bool) -> Generator[None]:
    """Update the progress of a run from Inspect's reports within a block.

    Args:
        progress: The progress; its tasks have been added.
        journals: The run's journals.
        out: The folder of the logs.
        quiet: Whether the engine prints nothing, so that its warnings are notes of the progress.
    """
    earlier = earlier_logs(out)
    for found, complete in earlier.values():
        if complete and (task := progress.find(found.task, found.model, found.args)):
            task.finished_before(found)
    noted: set[str] = set()

    def receive(event: str, data: Any) -> None:
        if event == "log":
            if quiet and data not in noted and _SAMPLE_ERROR not in data:
                noted.add(data)
                progress.notes.append(data)
        elif isinstance(data, EvalSpec):
            if task := progress.find(data.task, str(data.model), data.task_args_passed):
                known, _ = earlier.get(data.task_id, (Earlier(), False))
                task.start(known, journals.unlogged(task, known.uuids))
        elif isinstance(data, EvalLog) and (
            task := progress.find(data.eval.task, str(data.eval.model), data.eval.task_args_passed)
        ):
            task.finish(complete=data.status == "success")

    with reported_to(receive, quiet=quiet):
        yield
