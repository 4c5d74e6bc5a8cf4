"""The progress of a run, which follows Inspect's reports, and the file in which it is written for other programs."""

import json
import logging
import os
import threading
import time
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

import rich
from inspect_ai.hooks import Hooks, TaskEnd, TaskStart, hooks
from inspect_ai.log import EvalLog, EvalSpec, list_eval_logs, read_eval_log, read_eval_log_sample_summaries

from waybench.core import PROGRESS_FILE, Json, Price, duration_text, plural
from waybench.evaluation._progress import EarlierLog, TaskProgress, sample_name_in_epoch
from waybench.evaluation._server_watch import ServerWatch
from waybench.evaluation._task_status import TaskStatus, run_seconds_left, time_left_text, usage_texts

SPENT = "the run stopped during this episode: its budget was spent"
FORM = 1
_TEXTS = ("name", "done_text", "state_text", "use_text")
EVERY = 1.0  # seconds between two writes
_ENGINE = "inspect_ai"
_SAMPLE_ERROR = "Sample error (id:"  # the solver reports it, with the provider's own words


@dataclass(slots=True)
class RunProgress:
    """The progress of a whole run: one `TaskProgress` for each task with each model.

    Attributes:
        prices: Model -> its prices.
        notes: Lines that the user should read and has not been shown yet.
        began: When the run began, in seconds since the epoch.
        budget: What the run may spend, in tokens or dollars; None for no limit. Requests that are under way when it is
            spent are not counted beforehand, so a little more can be spent.
        in_dollars: Whether the budget is in dollars; models without a price then cost nothing.
        budget_tasks: The tasks, without their package, that the budget is for; all where it is empty.
        budget_is_spent: Whether the run has been stopped since the budget is spent.
        on_spent: Stops the run; is called once.
        opening: Lines that the user should read when the run begins.
        most_requests: Requests of each model at most, as far as results do not decide it; 0 if that is not known.
        servers: Followers of the requests to the models' servers.
    """

    prices: Mapping[str, Price] = field(default_factory=dict[str, Price])
    tasks: list[TaskProgress] = field(default_factory=list[TaskProgress])
    notes: list[str] = field(default_factory=list[str])
    began: float = field(default_factory=time.time)
    budget: float | None = None
    in_dollars: bool = False
    budget_tasks: Collection[str] = ()
    budget_is_spent: bool = False
    on_spent: Callable[[], None] = lambda: None
    opening: list[str] = field(default_factory=list[str])
    most_requests: int = 0
    servers: list[ServerWatch] = field(default_factory=list[ServerWatch])

    def watch_server(self, model: str, address: str | None, tell: Callable[[str], None]) -> ServerWatch:
        """Return a new watch of the requests to a model's server, which tells the user when it does not reply."""
        self.servers.append(ServerWatch(model, address, tell))
        return self.servers[-1]

    def check_servers(self) -> None:
        """Warn the user of servers that have not replied for long."""
        for server in self.servers:
            server.warn_of_silence(any(task.is_playing for task in self.tasks if task.model == server.model))

    def estimate_longest_run(self, check_seconds: Mapping[str, float], connections: Mapping[str, int]) -> None:
        """Add a note with the longest duration of the run, from the time that each model's check took.

        By model, `check_seconds` has the time of the reply to its check, and `connections` the most requests at a time.
        """
        for model, seconds in check_seconds.items():
            if self.most_requests:
                total = seconds * self.most_requests / min(connections[model], self.most_requests)
                self.opening.append(
                    f"{model}: the check was answered in {seconds:.1f} s. At that speed, {connections[model]} at a "
                    f"time, {plural(self.most_requests, 'request')} take about {duration_text(total)}; longer replies "
                    "take longer, and the first ones of the run replace this estimate."
                )

    def _check_budget(self) -> None:
        """Stop the run once its budget is spent."""
        if self.budget is not None and not self.budget_is_spent and self._total_spent() >= self.budget:
            self.budget_is_spent = True
            self.on_spent()

    def _total_spent(self) -> float:
        """Return what the tasks that count towards the budget have spent, in tokens or dollars."""
        names = self.budget_tasks
        tasks = [task for task in self.tasks if not names or task.task.removeprefix("waybench/") in names]
        return sum((task.cost or 0.0) if self.in_dollars else float(task.tokens) for task in tasks)

    def add_task(
        self,
        task: str,
        model: str,
        total: int | None,
        *,
        attempts: bool,
        args: Mapping[str, object],
        levels: Sequence[int] = (),
    ) -> TaskProgress:
        """Add a task with a model, and return its progress."""
        added = TaskProgress(
            task,
            model,
            total,
            attempts=attempts,
            price=self.prices.get(model),
            args=args,
            levels=levels,
            note=self.notes.append,
            spent=self._check_budget,
            why_stopped=lambda: SPENT if self.budget_is_spent else "",
        )
        self.tasks.append(added)
        for progress in self.tasks:
            key = progress.task, progress.model
            args_of_same_task = [rival.args for rival in self.tasks if (rival.task, rival.model) == key]
            differing = [
                f"{name}={value}"
                for name, value in progress.args.items()
                if any(args.get(name) != value for args in args_of_same_task)
            ]
            progress.label = " ".join([progress.task.removeprefix("waybench/"), *differing])
        return added

    def find_task(self, task: str, model: str, args: Mapping[str, object]) -> TaskProgress | None:
        """Return the progress of a task with a model; None if it is no part of the run."""
        key = task, model, dict(args)
        return next((member for member in self.tasks if (member.task, member.model, member.args) == key), None)

    def statuses(self) -> list[TaskStatus]:
        """Return a snapshot of the progress of each task."""
        return [progress.status() for progress in self.tasks]

    @property
    def running_text(self) -> str:
        """A heading, such as "running for 20 s, about 3 min left"."""
        statuses = self.statuses()
        elapsed_text = f"{'running' if statuses else 'starting'} for {duration_text(time.time() - self.began)}"
        seconds_left, is_upper_bound = run_seconds_left(statuses)
        spent = self._total_spent()
        if seconds_left is None and self.budget is not None and spent > 0:  # a ladder ends at its budget at the latest
            seconds_left = (time.time() - self.began) * max(self.budget - spent, 0.0) / spent
            is_upper_bound = True
        return (
            elapsed_text if seconds_left is None else f"{elapsed_text}, {time_left_text(seconds_left, is_upper_bound)}"
        )

    @property
    def totals_text(self) -> str:
        """The totals: "2 tasks, 60 items in 1 min 12 s; 152 requests, 31k input and 4k output tokens"."""
        statuses = self.statuses()
        done = plural(sum(status.done for status in statuses), _common_unit(statuses))
        n_before = sum(status.before for status in statuses)
        before_text = f" ({n_before:,} finished before)" if n_before else ""
        tasks = plural(len({status.task for status in statuses}), "task")
        duration = duration_text(time.time() - self.began)
        return f"{tasks}, {done}{before_text} in {duration}; {', '.join(usage_texts(statuses))}"

    @property
    def interrupted_text(self) -> str:
        """The message to a user whose run was interrupted: what is kept, and how to resume it."""
        statuses = self.statuses()
        n_done = sum(status.done for status in statuses)
        totals = [status.total for status in statuses if status.total is not None]
        unit = _common_unit(statuses)
        is_known = len(totals) == len(statuses) > 0
        finished_text = f"{n_done:,} of {plural(sum(totals), unit)}" if is_known else plural(n_done, f"finished {unit}")
        if self.budget_is_spent and self.budget is not None:
            spent = self._total_spent()
            amount = f"{self.budget:g} USD" if self.in_dollars else f"{self.budget:,.0f} tokens"
            spent_text = f"{spent:,.2f} USD" if self.in_dollars else f"{spent:,.0f}"
            tasks_text = f" of {', '.join(self.budget_tasks)}" if self.budget_tasks else ""
            return (
                f"Stopped: the budget of {amount}{tasks_text} is spent ({spent_text} by this command). {finished_text} "
                "and every reply so far are kept. To go on, run the same command again, with the same or another "
                "--budget, which counts from 0 again; it repeats no request that was answered."
            )
        return (
            f"Interrupted. {finished_text} and every reply so far are kept. To resume, run the same command again; it "
            "repeats no request that was answered."
        )


def _common_unit(statuses: Sequence[TaskStatus]) -> str:
    """Return what all tasks count, "episode" or "item"; "item" if they differ."""
    units = {status.unit for status in statuses}
    return units.pop() if len(units) == 1 else "item"


@contextmanager
def write_progress_regularly(folder: Path, progress: RunProgress) -> Generator[None]:
    """Write the progress of a run to its log folder, and look for silent servers, once a second while a block runs.

    The last state is "finished", "interrupted" (Ctrl-C) or "failed"; a killed process leaves "running" behind, and
    `waybench.reporting.view` knows by the folder's lock that it is not.
    """
    stop = threading.Event()

    def keep_writing() -> None:
        """Write the progress at once and then once a second, until the block has ended."""
        while not stop.is_set():
            _write_progress_file(folder, progress, "running")
            progress.check_servers()
            stop.wait(EVERY)

    thread = threading.Thread(target=keep_writing, name="waybench-progress", daemon=True)
    thread.start()
    state = "failed"
    try:
        yield
        state = "finished"
    except KeyboardInterrupt:
        state = "interrupted"
        raise
    finally:
        stop.set()
        thread.join()
        _write_progress_file(folder, progress, state)


def _write_progress_file(folder: Path, progress: RunProgress, state: str) -> None:
    """Write the progress of a run to the file in its log folder; a full disk is ignored."""
    statuses = progress.statuses()
    content: Json = {
        "form": FORM,
        "state": state,
        "pid": os.getpid(),
        "began": progress.began,
        "written": time.time(),
        "text": progress.running_text if state == "running" else progress.totals_text,
        "tasks": [{**asdict(status), **{name: getattr(status, name) for name in _TEXTS}} for status in statuses],
    }
    new_file = folder / f"{PROGRESS_FILE}.new"
    with suppress(OSError):  # a full disk ends the run where its replies are kept, not here
        new_file.write_text(json.dumps(content), "utf-8")
        new_file.replace(folder / PROGRESS_FILE)


_receiver: Callable[[str | EvalSpec | EvalLog], None] | None = None
_is_registered = False


class _EngineHooks(Hooks):
    """Forwards Inspect's reports that a task starts and ends."""

    def enabled(self) -> bool:
        return _receiver is not None

    async def on_task_start(self, data: TaskStart) -> None:
        if _receiver is not None:
            _receiver(data.spec)

    async def on_task_end(self, data: TaskEnd) -> None:
        if _receiver is not None:
            _receiver(data.log)


class _EngineLogHandler(logging.Handler):
    """Forwards Inspect's warnings and errors, each as one line."""

    def emit(self, record: logging.LogRecord) -> None:
        if _receiver is not None:
            _receiver(f"{record.levelname.lower()}: {' '.join(record.getMessage().split())}")


def finished_samples_by_task(folder: Path) -> dict[str, tuple[EarlierLog, bool]]:
    """Return, by task id, the samples that the newest log has finished, and whether the task is complete."""
    newest_logs: dict[str, tuple[str, EarlierLog, bool]] = {}
    for log_file in list_eval_logs(str(folder.absolute()), recursive=False):
        try:
            header = read_eval_log(log_file, header_only=True)
            if header.eval.created <= newest_logs.get(header.eval.task_id, ("",))[0]:
                continue
            summaries = read_eval_log_sample_summaries(log_file)
        except Exception:  # not a log, or one that was cut off; the engine reports it
            continue
        samples = [sample for sample in summaries if not sample.error and sample.completed]
        levels = [str(sample.metadata.get("level", "")) for sample in samples]
        log = EarlierLog(
            frozenset(sample_name_in_epoch(sample.id, sample.epoch) for sample in samples),
            frozenset(str(sample.uuid) for sample in samples),
            max((int(level) for level in levels if level.isdigit()), default=None),
            header.eval.task,
            str(header.eval.model),
            header.eval.task_args_passed,
        )
        newest_logs[header.eval.task_id] = header.eval.created, log, header.status == "success"
    return {task_id: (log, is_complete) for task_id, (_, log, is_complete) in newest_logs.items()}


@contextmanager
def follow_engine_reports(
    progress: RunProgress,
    count_unlogged_replies: Callable[[TaskProgress, Collection[str]], list[int]],
    folder: Path,
    *,
    quiet: bool,
    on_end: Callable[[EvalLog], None] = lambda log: None,
) -> Generator[None]:
    """Update the progress of a run from Inspect's reports of tasks that start and end, while a block runs.

    The tasks of the progress have been added. `count_unlogged_replies` returns the number of replies of each episode
    that a task's journal has, and its log, with samples of these UUIDs, has not. With `quiet` the engine prints
    nothing, and its warnings are notes of the progress. `on_end` receives the log of each task that has ended.
    """
    global _receiver, _is_registered
    logs_by_task = finished_samples_by_task(folder)
    for log, is_complete in logs_by_task.values():
        if is_complete and (task := progress.find_task(log.task, log.model, log.args)):
            task.finish_by_earlier_run(log)
    noted_reports: set[str] = set()

    def receive(report: str | EvalSpec | EvalLog) -> None:
        """Pass a report to the progress: a warning (text), or a task that starts (`EvalSpec`) or ends (`EvalLog`)."""
        if isinstance(report, str):
            if quiet and report not in noted_reports and _SAMPLE_ERROR not in report:
                noted_reports.add(report)
                progress.notes.append(report)
            return
        if isinstance(report, EvalLog):
            on_end(report)
        spec = report if isinstance(report, EvalSpec) else report.eval
        task = progress.find_task(spec.task, str(spec.model), spec.task_args_passed)
        if task is None:
            return
        if isinstance(report, EvalLog):
            task.finish(complete=report.status == "success")
        else:
            log, _ = logs_by_task.get(spec.task_id, (EarlierLog(), False))
            task.start(log, count_unlogged_replies(task, log.uuids))

    if not _is_registered:  # not on import: the engine greets the user with the names of all hooks that it finds
        hooks(name="waybench_progress", description="shows the progress of a run")(_EngineHooks)
        _is_registered = True
    logger, handler, console = logging.getLogger(_ENGINE), _EngineLogHandler(logging.WARNING), rich.get_console()
    was_quiet, console.quiet = console.quiet, quiet or console.quiet
    logger.addHandler(handler)
    _receiver = receive
    try:
        yield
    finally:
        _receiver = None
        logger.removeHandler(handler)
        console.quiet = was_quiet
