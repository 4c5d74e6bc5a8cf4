"""Updates the progress of a run from Inspect's reports."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog, EvalSpec

from waybench.eval._earlier import earlier_logs
from waybench.eval._hooks import reported_to
from waybench.eval._progress import Earlier
from waybench.eval._run_journals import RunJournals
from waybench.eval._run_progress import RunProgress

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
