"""The progress of a run, and the file in which it is written for other programs."""

import json
import os
import threading
import time
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from waybench.core import PROGRESS_FILE, Json, Price, duration_text, plural
from waybench.evaluation._progress import TaskProgress
from waybench.evaluation._task_status import TaskStatus, left_text, run_seconds_left, use_parts

SPENT = "the run stopped during this episode: its budget was spent"


@dataclass(slots=True)
class RunProgress:
    """The progress of a whole run: one `TaskProgress` for each task with each model.

    Attributes:
        prices: Model -> its prices.
        tasks: The tasks with each model, in the order in which they were given.
        notes: Lines that the user should read and has not been shown yet.
        began: When the run began, in seconds since the epoch.
        budget: What the run may spend, in tokens or dollars; None for no limit. Requests that are under way when it is
            spent are not counted beforehand, so a little more can be spent.
        in_dollars: Whether it is in dollars; models without a price then cost nothing.
        budget_tasks: The tasks, without their package, that the budget is for; all where it is empty.
        budget_is_spent: Whether the run has been stopped since the budget is spent.
        on_spent: Stops the run; is called once.
        opening: Lines that the user should read when the run begins.
        most_requests: Requests of each model at most, as far as results do not decide it; 0 if that is not known.
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

    def note_check(self, seconds: Mapping[str, float], connections: Mapping[str, int]) -> None:
        """Estimate the time that the run takes at most from the request that checked each model.

        Args:
            seconds: Model -> how long the reply to its check took.
            connections: Model -> most requests at a time.
        """
        for model, took in seconds.items():
            if self.most_requests:
                whole = took * self.most_requests / min(connections[model], self.most_requests)
                self.opening.append(
                    f"{model}: the check was answered in {took:.1f} s. At that speed, {connections[model]} at a time, "
                    f"{plural(self.most_requests, 'request')} take about {duration_text(whole)}; longer replies take "
                    "longer, and the first ones of the run replace this estimate."
                )

    def _check_budget(self) -> None:
        if self.budget is None or self.budget_is_spent:
            return
        if self._spent_of_budget() >= self.budget:
            self.budget_is_spent = True
            self.on_spent()

    def _spent_of_budget(self) -> float:
        names = self.budget_tasks
        tasks = [each for each in self.tasks if not names or each.task.removeprefix("waybench/") in names]
        return self._spent([each.status() for each in tasks])

    def _spent(self, statuses: Sequence[TaskStatus]) -> float:
        if self.in_dollars:
            return sum(each.cost or 0.0 for each in statuses)
        return float(sum(each.input_tokens + each.output_tokens for each in statuses))

    def add(
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
        for each in self.tasks:
            rivals = [other for other in self.tasks if (other.task, other.model) == (each.task, each.model)]
            each.label = " ".join([each.task.removeprefix("waybench/"), *_differing(each, rivals)])
        return added

    def find(self, task: str, model: str, args: Mapping[str, object]) -> TaskProgress | None:
        """Return the progress of a task with a model; None if it is no part of the run."""
        return next((one for one in self.tasks if (one.task, one.model, one.args) == (task, model, dict(args))), None)

    def statuses(self) -> list[TaskStatus]:
        """Return the present progress of all tasks."""
        return [each.status() for each in self.tasks]

    @property
    def running_text(self) -> str:
        """A heading: "running for 20 s, about 3 min left"."""
        statuses = self.statuses()
        going = f"{'running' if statuses else 'starting'} for {duration_text(time.time() - self.began)}"
        left, is_upper_bound = run_seconds_left(statuses)
        spent = self._spent_of_budget()
        if left is None and self.budget is not None and spent > 0:  # a ladder ends at its budget at the latest
            left = (time.time() - self.began) * max(self.budget - spent, 0.0) / spent
            is_upper_bound = True
        return going if left is None else f"{going}, {left_text(left, is_upper_bound)}"

    @property
    def totals_text(self) -> str:
        """What the run has done: "2 tasks, 60 items in 1 min 12 s; 152 requests, 31k input and 4k output tokens"."""
        statuses = self.statuses()
        units = {each.unit for each in statuses}
        done = plural(sum(each.done for each in statuses), units.pop() if len(units) == 1 else "item")
        before = sum(each.before for each in statuses)
        taken_over = f" ({before:,} finished before)" if before else ""
        tasks = plural(len({each.task for each in statuses}), "task")
        took = duration_text(time.time() - self.began)
        return f"{tasks}, {done}{taken_over} in {took}; {', '.join(use_parts(statuses))}"

    @property
    def interrupted_text(self) -> str:
        """What is kept of the run when the user has interrupted it, and how to resume it."""
        statuses = self.statuses()
        done = sum(each.done for each in statuses)
        totals = [each.total for each in statuses if each.total is not None]
        units = {each.unit for each in statuses}
        unit = units.pop() if len(units) == 1 else "item"
        is_known = len(totals) == len(statuses) > 0
        finished = f"{done:,} of {plural(sum(totals), unit)}" if is_known else plural(done, f"finished {unit}")
        if self.budget_is_spent and self.budget is not None:
            spent = self._spent_of_budget()
            amount = f"{self.budget:g} USD" if self.in_dollars else f"{self.budget:,.0f} tokens"
            used = f"{spent:,.2f} USD" if self.in_dollars else f"{spent:,.0f}"
            of_tasks = f" of {', '.join(self.budget_tasks)}" if self.budget_tasks else ""
            return (
                f"Stopped: the budget of {amount}{of_tasks} is spent ({used} by this command). {finished} and "
                "every reply so far are kept. To go on, run the same command again, with the same or another --budget, "
                "which counts from 0 again; it repeats no request that was answered."
            )
        return (
            f"Interrupted. {finished} and every reply so far are kept. To resume, run the same command again; it "
            "repeats no request that was answered."
        )


def _differing(task: TaskProgress, rivals: Sequence[TaskProgress]) -> list[str]:
    return [
        f"{name}={value}" for name, value in task.args.items() if any(other.args.get(name) != value for other in rivals)
    ]


FORM = 1
_TEXTS = ("name", "done_text", "state_text", "use_text")
EVERY = 1.0  # seconds between two writes


@contextmanager
def written(folder: Path, progress: RunProgress) -> Generator[None]:
    """Write the progress of a run to a file in the folder of its logs, at most once a second, while a block runs.

    The last state is "finished", "interrupted" (Ctrl-C) or "failed"; a killed process leaves "running" behind, and
    `waybench.reporting.view` knows by the folder's lock that it is not.

    Args:
        folder: The folder of the logs.
        progress: The progress.
    """
    stop = threading.Event()

    def keep_writing() -> None:
        while not stop.is_set():
            _write(folder, progress, "running")
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
        _write(folder, progress, state)


def _write(folder: Path, progress: RunProgress, state: str) -> None:
    statuses = progress.statuses()
    data: Json = {
        "form": FORM,
        "state": state,
        "pid": os.getpid(),
        "began": progress.began,
        "written": time.time(),
        "text": progress.running_text if state == "running" else progress.totals_text,
        "tasks": [{**asdict(each), **{name: getattr(each, name) for name in _TEXTS}} for each in statuses],
    }
    fresh = folder / f"{PROGRESS_FILE}.new"
    with suppress(OSError):  # a full disk ends the run where its replies are kept, not here
        fresh.write_text(json.dumps(data), "utf-8")
        fresh.replace(folder / PROGRESS_FILE)
