"""The journals of a run: one for each task and model, beside the logs."""

import json
import re
import signal
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from inspect_ai import Task
from inspect_ai._eval.evalset import GENERATE_CONFIG_FIELDS_TO_EXCLUDE  # what the engine tells runs apart without
from inspect_ai._util.registry import registry_params  # what a task was made with; neither has a public name
from inspect_ai.log import EvalLog, read_eval_log_sample_summaries
from inspect_ai.model import Model

from waybench.core import Json
from waybench.eval._adaptive import AdaptiveSampleSource
from waybench.eval._journal import Journal, Syncer, digest
from waybench.eval._ladder import Ladder
from waybench.eval._progress import TaskProgress
from waybench.eval._provider import EmbeddedPlayer
from waybench.eval._run_progress import RunProgress

SUFFIX = ".journal"
_MOST_LEVELS = 100_000  # of a ladder, which may be endless


@dataclass(slots=True)
class TaskJournals:
    """The journals of one task and its progress, by the model's name.

    Attributes:
        by_model: The journals; there is none for models whose replies cost nothing.
        progress: The progress.
    """

    by_model: dict[str, Journal] = field(default_factory=dict[str, Journal])
    progress: dict[str, TaskProgress] = field(default_factory=dict[str, TaskProgress])


# The solver is created with its task, and only then does the task say what it was made with.
_task_journals: ContextVar[TaskJournals | None] = ContextVar("waybench_task_journals", default=None)


def task_journals() -> TaskJournals | None:
    """Return the journals of the task that is being created; None outside of `evaluate`."""
    return _task_journals.get()


class RunJournals:
    """Creates the tasks of a run, and opens, closes and clears their journals.

    Args:
        folder: The folder of the logs.
        settings: What the run's replies depend on, beside task and model.
        warn: Receives a line about what of an older journal is ignored.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Json], warn: Callable[[str], None]) -> None:
        self._folder = folder
        self._settings = {
            name: value for name, value in settings.items() if name not in GENERATE_CONFIG_FIELDS_TO_EXCLUDE
        }
        self._warn = warn
        # Elsewhere the main thread is somebody else's, who has not asked to be interrupted.
        self._syncer = Syncer(interrupt if threading.current_thread() is threading.main_thread() else _nothing)
        self._tasks: list[tuple[Task, TaskJournals]] = []

    @property
    def failure(self) -> OSError | None:
        """The reason why a journal could not be written; None if there is none."""
        return self._syncer.failure

    def create(self, make: Callable[[], Task]) -> Task:
        """Create a task whose solver keeps its turns in journals of this run.

        Args:
            make: Returns the task.
        """
        journals = TaskJournals()
        token = _task_journals.set(journals)
        try:
            task = make()
        finally:
            _task_journals.reset(token)
        self._tasks.append((task, journals))
        return task

    def open(self, models: Sequence[Model], progress: RunProgress) -> None:
        """Open the journals of all tasks with some models.

        Args:
            models: The models.
            progress: The progress of the run, which is given its tasks.

        Raises:
            OSError: If one cannot be read.
        """
        for task, journals in self._tasks:
            for model in models:
                journals.progress[str(model)] = _add_progress(task, str(model), progress)
                if not isinstance(model.api, EmbeddedPlayer):
                    settings = self._identity(task, model)
                    parts = (
                        plain_name(task.name.removeprefix("waybench/")),
                        plain_name(str(model)),
                        digest(settings)[:16],
                    )
                    name = "_".join(parts) + SUFFIX
                    journal = Journal(self._folder / name, settings, self._syncer, self._warn)
                    journals.by_model[str(model)] = journal

    def unlogged(self, progress: TaskProgress, logged: Collection[str]) -> list[int]:
        """Return the number of replies of each episode that is in a task's journal and not in its log.

        Args:
            progress: The task's progress.
            logged: The UUIDs of the samples in the log.
        """
        owner = next((each for _, each in self._tasks if each.progress.get(progress.model) is progress), None)
        journal = owner.by_model.get(progress.model) if owner else None
        return journal.turns_without(logged) if journal else []

    def clear(self, logs: Sequence[EvalLog]) -> None:
        """Remove the journals of finished tasks, and from the others the samples that are in the logs.

        Other processes may still write journals of tasks that are not finished.

        Args:
            logs: The logs, after the run.
        """
        left: list[Journal] = []
        for _, journals in self._tasks:
            for model, journal in journals.by_model.items():
                if journals.progress[model].status().state == "finished":
                    # A sample that was killed between its log and its last line here has no end, but is in the log.
                    journal.remove()
                else:
                    left.append(journal)
        if left:
            summaries = (each for log in logs for each in read_eval_log_sample_summaries(log.location))
            logged = {str(each.uuid) for each in summaries if not each.error}
            for journal in left:
                journal.drop(logged)

    def close(self) -> None:
        """Sync and close all files."""
        self._syncer.close()
        for _, journals in self._tasks:
            for journal in journals.by_model.values():
                journal.close()

    def _identity(self, task: Task, model: Model) -> Json:
        """Return the identity of a task's run, as Inspect determines it when it resumes one."""
        return {
            "task": task.name,
            "version": task.version,
            "args": _args(task),
            "model": str(model),
            "model_args": dict(model.model_args),
            "model_config": json.loads(model.config.model_dump_json(exclude=GENERATE_CONFIG_FIELDS_TO_EXCLUDE)),
            **self._settings,
        }


def _add_progress(task: Task, model: str, progress: RunProgress) -> TaskProgress:
    source = task.sample_source
    total = source.total if isinstance(source, AdaptiveSampleSource) else len(task.dataset)
    return progress.add(
        task.name,
        model,
        total,
        attempts=source is None and any(not str(sample.id).endswith("-1") for sample in task.dataset),
        args=_args(task),
        levels=list(islice(source.levels(), _MOST_LEVELS)) if isinstance(source, Ladder) else (),
    )


def _args(task: Task) -> dict[str, Any]:
    try:
        return dict(registry_params(task))
    except ValueError:  # it was created without the engine's decorator
        return {}


def plain_name(name: str) -> str:
    """Return a name as a part of a journal's file name."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", name)[:60]


def interrupt() -> None:
    """End the run as Ctrl-C does, so that the engine writes what it can.

    Where nobody listens to Ctrl-C, each sample that is left ends before its next request.
    """
    if signal.getsignal(signal.SIGINT) not in (signal.SIG_IGN, None):
        signal.raise_signal(signal.SIGINT)


def _nothing() -> None:
    """End each remaining sample before its next request."""
