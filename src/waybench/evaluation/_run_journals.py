"""The journals of a run, the turns of a sample from them, and the files that a part of a run continues."""

import json
import re
import signal
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from inspect_ai import Task
from inspect_ai._eval.eval_set_selection import (
    eval_set_selection_requested,  # the protocol is for other programs, so it has no public name
    read_eval_set_selection,  # the protocol is for other programs, so it has no public name
)
from inspect_ai._eval.evalset import GENERATE_CONFIG_FIELDS_TO_EXCLUDE  # what the engine tells runs apart without
from inspect_ai._util.registry import registry_params  # what a task was made with; neither has a public name
from inspect_ai.log import EvalLog, read_eval_log, read_eval_log_sample_summaries
from inspect_ai.model import Model, ModelOutput

from waybench.core import SHARD, Json, TurnRecord
from waybench.core._record import SCHEMA
from waybench.evaluation._adaptive import AdaptiveSampleSource
from waybench.evaluation._agents import inspect_model_name
from waybench.evaluation._journal import Journal, JournalError, Syncer, json_digest
from waybench.evaluation._ladders import Ladder, Ladders
from waybench.evaluation._progress import TaskProgress
from waybench.evaluation._provider import EmbeddedPlayer
from waybench.evaluation._run_progress import RunProgress


class SampleTurns:
    """The turns of one sample: first the turns in the journal, then new ones, whose outputs are added to it.

    Args:
        journal: The journal; None if there is none, as where replies cost nothing.
        sample: The sample's id and epoch.
        uuid: The sample's UUID, by which the log knows it.
        episode_head: JSON of the episode's record before the first reply.

    Attributes:
        is_replayed: Whether the last reply came from the journal.
    """

    def __init__(self, journal: Journal | None, sample: tuple[str, int], uuid: str, episode_head: str) -> None:
        self._journal, self._sample, self._uuid = journal, sample, uuid
        self._turn = 0
        heads = [episode_head]
        schema_field = f'"schema":{SCHEMA}}}'
        # Outputs that older versions wrote stay valid: the schema of a record is nothing that a player is shown.
        if episode_head.endswith(schema_field):
            heads += [f'{episode_head.removesuffix(schema_field)}"schema":{older}}}' for older in range(1, SCHEMA)]
        # Digests of what the player was shown so far: of this version, then of the older ones, which are only read.
        self._history_digests = [json_digest(head) for head in heads]
        self.is_replayed = False

    def read_output(self, probe: str | None = None) -> ModelOutput | None:
        """Return the stored output of the next turn, or the stored answer to a belief probe before it; else None.

        Raises:
            JournalError: If a request is needed whose reply could not be kept.
        """
        if self._journal is None:
            return None
        output = self._journal.read_output(self._sample, self._turn, self._history_digests, probe)
        if probe is None:
            self.is_replayed = output is not None
        if output is None:
            self._journal.raise_if_failed()
        return output

    def write_probe_answer(self, probe: str, output: ModelOutput) -> None:
        """Add a new answer to a belief probe to the journal, or raise a `JournalError`."""
        if self._journal is not None:
            self._journal.write_output(self._sample, self._turn, self._history_digests[0], output, probe)

    def write_turn(self, output: ModelOutput, turn: TurnRecord) -> None:
        """Write the output of a turn to the journal, unless it came from there, and go on to the next turn.

        Raises:
            JournalError: If the output could not be written.
        """
        if self._journal is None:
            return
        if not self.is_replayed:
            self._journal.write_output(self._sample, self._turn, self._history_digests[0], output)
        self._turn += 1
        shown = turn._replace(usage=None).dumps()  # no player is shown tokens and times
        self._history_digests = [json_digest([digest, shown]) for digest in self._history_digests]

    def end_sample(self) -> None:
        """Write to the journal that the sample has ended."""
        if self._journal is not None:
            with suppress(JournalError):  # which the next request raises; without the line no turn is dropped
                self._journal.end_sample(self._sample, self._uuid)


SUFFIX = ".journal"
_MOST_LEVELS = 100_000  # of a ladder, which may be endless


@dataclass(slots=True)
class TaskJournals:
    """The journals of one task and its progress, by the model's name.

    Attributes:
        by_model: The journals; there is none for models whose replies cost nothing.
    """

    by_model: dict[str, Journal] = field(default_factory=dict[str, Journal])
    progress: dict[str, TaskProgress] = field(default_factory=dict[str, TaskProgress])


# The solver is created with its task, and only then does the task say what it was made with.
_task_journals: ContextVar[TaskJournals | None] = ContextVar("waybench_task_journals", default=None)


def current_task_journals() -> TaskJournals | None:
    """Return the journals of the task that is being created; None outside of `evaluate`."""
    return _task_journals.get()


class RunJournals:
    """Creates the tasks of a run, and opens, closes and clears their journals.

    Args:
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
        is_ours = threading.current_thread() is threading.main_thread()
        self._syncer = Syncer(interrupt_run if is_ours else lambda: None)
        self._tasks: list[tuple[Task, TaskJournals]] = []

    @property
    def failure(self) -> OSError | None:
        """The reason why a journal could not be written; None if there is none."""
        return self._syncer.failure

    def create_task(self, make_task: Callable[[], Task]) -> Task:
        """Create a task whose solver keeps its turns in journals of this run."""
        journals = TaskJournals()
        token = _task_journals.set(journals)
        try:
            task = make_task()
        finally:
            _task_journals.reset(token)
        self._tasks.append((task, journals))
        return task

    def open_journals(self, models: Sequence[Model], progress: RunProgress) -> None:
        """Open the journals of all tasks with some models, and add the tasks to the progress of the run.

        Raises:
            OSError: If one cannot be read.
        """
        for task, journals in self._tasks:
            for model in models:
                journals.progress[str(model)] = _add_task_progress(task, str(model), progress)
                if not isinstance(model.api, EmbeddedPlayer):
                    settings = self._run_identity(task, model)
                    names = file_name_part(task.name.removeprefix("waybench/")), file_name_part(str(model))
                    path = self._folder / ("_".join((*names, json_digest(settings)[:16])) + SUFFIX)
                    journals.by_model[str(model)] = Journal(path, settings, self._syncer, self._warn)

    def count_unlogged_replies(self, progress: TaskProgress, logged_uuids: Collection[str]) -> list[int]:
        """Return the number of replies of each episode in a task's journal that its log does not have, by UUID."""
        for _, journals in self._tasks:
            if journals.progress.get(progress.model) is progress and progress.model in journals.by_model:
                return journals.by_model[progress.model].count_unlogged_turns(logged_uuids)
        return []

    def remove_logged_turns(self, logs: Sequence[EvalLog]) -> None:
        """Remove the journals of finished tasks, and from the others the samples that are in the logs.

        Other processes may still write journals of tasks that are not finished.
        """
        unfinished: list[Journal] = []
        for _, journals in self._tasks:
            for model, journal in journals.by_model.items():
                if journals.progress[model].status().state == "finished":
                    # A sample that was killed between its log and its last line here has no end, but is in the log.
                    journal.remove_file()
                else:
                    unfinished.append(journal)
        if unfinished:
            summaries = (sample for log in logs for sample in read_eval_log_sample_summaries(log.location))
            logged = {str(sample.uuid) for sample in summaries if not sample.error}
            for journal in unfinished:
                journal.drop_logged_samples(logged)

    def close_journals(self) -> None:
        """Sync and close all files."""
        self._syncer.close()
        for _, journals in self._tasks:
            for journal in journals.by_model.values():
                journal.close()

    def _run_identity(self, task: Task, model: Model) -> Json:
        """Return what determines the replies of a task with a model; Inspect compares the same to resume a run."""
        return {
            "task": task.name,
            "version": task.version,
            "args": task_args(task),
            "model": str(model),
            "model_args": dict(model.model_args),
            "model_config": json.loads(model.config.model_dump_json(exclude=GENERATE_CONFIG_FIELDS_TO_EXCLUDE)),
            **self._settings,
        }


def _add_task_progress(task: Task, model: str, progress: RunProgress) -> TaskProgress:
    """Add a task with a model to the progress of a run, and return its progress."""
    source = task.sample_source
    total = source.total if isinstance(source, AdaptiveSampleSource) else len(task.dataset)
    return progress.add_task(
        task.name,
        model,
        total,
        attempts=source is None and any(not str(sample.id).endswith("-1") for sample in task.dataset),
        args=task_args(task),
        levels=list(islice(source.levels(), _MOST_LEVELS)) if isinstance(source, Ladder | Ladders) else (),
    )


def task_args(task: Task) -> dict[str, Any]:
    """Return the arguments with which a task was created, as its logs have them."""
    try:
        return registry_params(task)
    except ValueError:  # it was created without the engine's decorator
        return {}


def file_name_part(name: str) -> str:
    """Return at most 60 letters, digits, dots and hyphens of a name, for the name of a journal file."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", name)[:60]


def interrupt_run() -> None:
    """Raise SIGINT as Ctrl-C does, so that the engine writes its logs and stops.

    Where nobody listens to Ctrl-C, each sample that is left ends before its next request.
    """
    if signal.getsignal(signal.SIGINT) not in (signal.SIG_IGN, None):
        signal.raise_signal(signal.SIGINT)


def resumption_file_filter(
    tasks: Collection[tuple[str, Mapping[str, Any]]], models: Collection[str], locate: Callable[[str], str]
) -> Callable[[str], bool]:
    """Return a function that returns whether a part of a run needs a file, given its name, to continue."""
    # Names of logs have the task, and those of journals the model.
    task_parts = [f"_{file_name_part(task.rpartition('/')[2])}_" for task, _ in tasks]
    shards = {args.get(SHARD) for _, args in tasks}
    names = {inspect_model_name(model) for model in models}
    model_parts = [f"_{file_name_part(name)}_" for name in names]

    def is_needed(name: str) -> bool:
        """Return whether the part of the run needs the file with this name."""
        if name.endswith(SUFFIX):
            return any(part in name for part in model_parts)
        if not any(part in name for part in task_parts):
            return False
        try:
            spec = read_eval_log(locate(name), header_only=True).eval
            return str(spec.model) in names and spec.task_args.get(SHARD) in shards
        except Exception:  # not a log, or one that was cut off: nothing to continue
            return False

    return is_needed


def count_selected_tasks() -> int:
    """Return the number of tasks that INSPECT_EVAL_SET_SELECTION selects; 0 if it is not set.

    Raises:
        PrerequisiteError: If the file that the variable names is no selection.
    """
    path = eval_set_selection_requested()
    return len(read_eval_set_selection(path).tasks) if path else 0
