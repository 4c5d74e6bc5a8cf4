"""The progress of a run: what its tasks have done so far, what they have used, and how long they will take."""

import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from waybench.core import End, Episode, Price, TurnRecord, Usage, duration_text, plural
from waybench.eval._task_status import TaskStatus, left_text, run_seconds_left, use_parts


class Earlier(NamedTuple):
    """What the log of an earlier run holds of a task.

    Attributes:
        finished: The samples that ended without an infrastructure error, by name.
        uuids: Their UUIDs.
        level: The highest level among them; None if there are none.
        task: The task's name.
        model: The model.
        args: The task's parameters.
    """

    finished: frozenset[str] = frozenset()
    uuids: frozenset[str] = frozenset()
    level: int | None = None
    task: str = ""
    model: str = ""
    args: Mapping[str, object] = MappingProxyType({})


@dataclass(slots=True)
class _Open:
    """An episode that is being played: its replies so far, and how many it can have at most."""

    limit: int
    turns: int = 0


class TaskProgress:
    """The progress of one task with one model. The solver reports to it; other threads read its status.

    Args:
        task: The task's name.
        model: The model.
        total: Number of samples; None where the results decide what is played.
        attempts: Whether a sample is one of several attempts at its item.
        price: The model's prices; None if they are not known.
        args: The task's parameters.
        note: Receives a line that the user should read.
        spent: Is called after each request that was paid for.
        why_stopped: Returns why the run is ending early, for the records of its open episodes; "" for no reason of its
            own.
        clock: Returns the time in seconds.
    """

    def __init__(
        self,
        task: str,
        model: str,
        total: int | None = None,
        *,
        attempts: bool = False,
        price: Price | None = None,
        args: Mapping[str, object] | None = None,
        note: Callable[[str], None] = lambda line: None,
        spent: Callable[[], None] = lambda: None,
        why_stopped: Callable[[], str] = lambda: "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.task, self.model, self.args = task, model, dict(args or {})
        self.label = task.removeprefix("waybench/")
        self._total, self._attempts, self._price = total, attempts, price
        self._note, self._spent, self._clock = note, spent, clock
        self.why_stopped = why_stopped
        self._lock = threading.Lock()
        self._state = "waiting"
        self._done: set[str] = set()
        self._before: frozenset[str] = frozenset()
        self._errors: set[str] = set()
        self._noted: set[str] = set()
        self._open: dict[str, _Open] = {}
        self._level: int | None = None
        self._requests = self._repeated = self._retries = 0
        self._input = self._output = self._cached = 0
        self._ended_turns: list[int] = []
        self._began: float | None = None  # when the first request that was answered left

    def start(self, earlier: Earlier, journaled: Collection[int] = ()) -> None:
        """Note that the engine starts the task.

        Args:
            earlier: What the log of an earlier run has finished.
            journaled: Of each episode that a journal holds and the log does not, the number of its replies.
        """
        with self._lock:
            is_first = self._state != "unfinished"  # otherwise the engine repeats what failed
            self._state = "running"
            if not is_first:
                return
            self._done = set(earlier.finished)
            self._before, self._level = earlier.finished, earlier.level
        if earlier.finished or any(journaled):
            self._note(f"{self.label} with {self.model} continues: {self._continued(journaled)}")

    @property
    def is_running(self) -> bool:
        """Whether the engine runs the task now."""
        return self._state == "running"

    def _continued(self, journaled: Iterable[int]) -> str:
        status, turns = self.status(), sorted((count for count in journaled if count), reverse=True)
        of = f" of {status.total:,}" if status.total is not None else ""
        parts = [f"{status.done:,}{of} {status.units} finished before"]
        if turns:
            shown = ", ".join(f"{count + 1:,}" for count in turns[:_SHOWN])
            more = f" and {len(turns) - _SHOWN:,} more" if len(turns) > _SHOWN else ""
            parts.append(f"{plural(len(turns), 'episode')} from turn {shown}{more}")
            parts.append(f"{plural(sum(turns), 'reply', 'replies')} taken over without a request")
        return "; ".join(parts)

    def finish(self, complete: bool) -> None:
        """Note that the engine has ended the task.

        Args:
            complete: Whether nothing is left of it.
        """
        with self._lock:
            self._state = "finished" if complete else "unfinished"
            self._open.clear()

    def finished_before(self, earlier: Earlier) -> None:
        """Note that an earlier run has finished the task, so that the engine does not start it."""
        with self._lock:
            self._done, self._before, self._level = set(earlier.finished), earlier.finished, earlier.level
            self._state = "finished"

    def begin(self, sample: str, level: int, limit: int) -> None:
        """Note that an episode begins.

        Args:
            sample: The name of its sample.
            level: Its level.
            limit: The most turns that it can have.
        """
        with self._lock:
            self._open[sample] = _Open(limit)
            self._level = level if self._level is None else max(self._level, level)

    def turn(self, sample: str, usage: Usage | None, *, repeated: bool) -> None:
        """Note a reply.

        Args:
            sample: The name of the episode's sample.
            usage: Its tokens.
            repeated: Whether it came from a journal.
        """
        with self._lock:
            if sample in self._open:
                self._open[sample].turns += 1
            if repeated:
                self._repeated += 1
                return
            self._requests += 1
            if self._began is None:  # what a journal answers takes no time
                self._began = self._clock() - (usage.seconds if usage else 0.0)
            if usage is not None:
                self._input += usage.input_tokens
                self._output += usage.output_tokens
                self._cached += usage.cached_tokens
        self._spent()

    def end(self, sample: str, error: str = "") -> None:
        """Note that an episode has ended.

        Args:
            sample: The name of its sample.
            error: The infrastructure error that ended it; "" if none did.
        """
        with self._lock:
            ended = self._open.pop(sample, None)
            if error:
                self._errors.add(sample)
            else:
                self._errors.discard(sample)
                self._done.add(sample)
                if ended is not None:
                    self._ended_turns.append(ended.turns)
        if error and error not in self._noted and len(self._noted) < _SHOWN:
            self._noted.add(error)
            self._note(f"{self.label} with {self.model}: an infrastructure error ended an episode: {error}")

    def leave(self, sample: str) -> None:
        """Note that an episode was interrupted."""
        with self._lock:
            self._open.pop(sample, None)

    def retry(self) -> None:
        """Note that a request is sent again."""
        with self._lock:
            self._retries += 1

    def status(self) -> TaskStatus:
        """Return the present progress."""
        with self._lock:
            left, is_upper_bound = self._seconds_left()
            return TaskStatus(
                task=self.label,
                model=self.model,
                state=self._state,
                done=self._count(self._done),
                total=self._total,
                unit="episode" if self._attempts and self._total is not None else "item",
                level=self._level if self._total is None else None,
                before=self._count(self._before),
                active=len(self._open),
                requests=self._requests,
                repeated=self._repeated,
                input_tokens=self._input,
                output_tokens=self._output,
                cost=None if self._price is None else self._price.cost(self._input, self._output, self._cached),
                errors=len(self._errors),
                retries=self._retries,
                seconds_left=left,
                is_upper_bound=is_upper_bound,
            )

    def _count(self, samples: Collection[str]) -> int:
        if self._total is not None:
            return len(samples)
        return len({sample.rpartition("-")[0] for sample in samples})  # without the attempt

    def _seconds_left(self) -> tuple[float | None, bool]:
        """Return the time left, at the rate of requests so far, and whether it assumes episodes of full length."""
        if self._total is None or self._began is None or not self._requests or self._state != "running":
            return None, False
        waiting = self._total - len(self._done) - len(self._open)
        if self._ended_turns:
            length, is_upper_bound = sum(self._ended_turns) / len(self._ended_turns), False
        elif self._open:
            length, is_upper_bound = sum(each.limit for each in self._open.values()) / len(self._open), True
        else:
            return None, False
        is_upper_bound &= length > 1
        requests = max(waiting, 0) * length + sum(max(length - each.turns, 1.0) for each in self._open.values())
        return requests * (self._clock() - self._began) / self._requests, is_upper_bound


class EpisodeProgress:
    """Reports what happens in one episode to its task's progress.

    Args:
        task: The task's progress; None if nobody follows it, as outside of `evaluate`.
        sample: The id of its sample.
        epoch: The sample's epoch.
        episode: The episode.
    """

    def __init__(
        self, task: TaskProgress | None, sample: int | str, epoch: int, episode: Episode[Any, Any, Any]
    ) -> None:
        self._task, self._name, self._episode = task, sample_name(sample, epoch), episode
        if task is not None:
            task.begin(self._name, episode.item.level, episode.limits.turns)

    def turn(self, turn: TurnRecord, *, repeated: bool) -> None:
        """Report a turn, and whether its reply came from a journal."""
        if self._task is not None:
            self._task.turn(self._name, turn.usage, repeated=repeated)

    @property
    def why_stopped(self) -> str:
        """Why the run is ending early; "" if it is not, or if the user has interrupted it."""
        return "" if self._task is None else self._task.why_stopped()

    def end(self) -> None:
        """Report how the episode stands now that it is left."""
        if self._task is None:
            return
        if self._episode.end_reason is None:
            self._task.leave(self._name)
        elif self._episode.end_reason is End.INFRASTRUCTURE:
            self._task.end(self._name, " ".join((self._episode.error or "unknown error").split())[:_LONGEST])
        else:
            self._task.end(self._name)


def sample_name(sample: int | str, epoch: int) -> str:
    """Return the name of a sample in one epoch: "501-1", or "501#2-1" in the second one."""
    item, _, attempt = str(sample).rpartition("-")
    return f"{item}#{epoch}-{attempt}" if epoch > 1 else str(sample)


SPENT = "the run stopped during this episode: its budget was spent"
_LONGEST = 200  # characters of an error
_SHOWN = 4  # episodes that go on of which the turn is named, and errors that have a line


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
        budget_is_spent: Whether the run has been stopped since the budget is spent.
        on_spent: Stops the run; is called once.
        opening: Lines that the user should read when the run begins.
    """

    prices: Mapping[str, Price] = field(default_factory=dict[str, Price])
    tasks: list[TaskProgress] = field(default_factory=list[TaskProgress])
    notes: list[str] = field(default_factory=list[str])
    began: float = field(default_factory=time.time)
    budget: float | None = None
    in_dollars: bool = False
    budget_is_spent: bool = False
    on_spent: Callable[[], None] = lambda: None
    opening: list[str] = field(default_factory=list[str])

    def _check_budget(self) -> None:
        if self.budget is None or self.budget_is_spent:
            return
        if self._spent(self.statuses()) >= self.budget:
            self.budget_is_spent = True
            self.on_spent()

    def _spent(self, statuses: Sequence[TaskStatus]) -> float:
        if self.in_dollars:
            return sum(each.cost or 0.0 for each in statuses)
        return float(sum(each.input_tokens + each.output_tokens for each in statuses))

    def add(
        self, task: str, model: str, total: int | None, *, attempts: bool, args: Mapping[str, object]
    ) -> TaskProgress:
        """Add a task with a model, and return its progress."""
        added = TaskProgress(
            task,
            model,
            total,
            attempts=attempts,
            price=self.prices.get(model),
            args=args,
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
        spent = self._spent(statuses)
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
            spent = self._spent(statuses)
            amount = f"{self.budget:g} USD" if self.in_dollars else f"{self.budget:,.0f} tokens"
            used = f"{spent:,.2f} USD" if self.in_dollars else f"{spent:,.0f}"
            return (
                f"Stopped: the budget of {amount} is spent ({used} by this command). {finished} and every reply so far "
                "are kept. To go on, run the same command again, with the same or another --budget, which counts from "
                "0 again; it repeats no request that was answered."
            )
        return (
            f"Interrupted. {finished} and every reply so far are kept. To resume, run the same command again; it "
            "repeats no request that was answered."
        )


def _differing(task: TaskProgress, rivals: Sequence[TaskProgress]) -> list[str]:
    return [
        f"{name}={value}" for name, value in task.args.items() if any(other.args.get(name) != value for other in rivals)
    ]
