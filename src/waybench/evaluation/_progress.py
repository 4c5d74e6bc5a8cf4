"""The progress of one task with one model: what it has done and used so far, and how long it will take."""

import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from inspect_ai.log._samples import sample_active  # a public function has the state and not the sample

from waybench.core import End, Episode, Price, ProbeRecord, TurnRecord, Usage, duration_text, plural, short_count
from waybench.core._defects import DEFECT

_LONGEST = 200  # characters of an error
_SHOWN = 4  # episodes that go on of which the turn is named, and errors that have a line


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStatus:
    """The progress of one task with one model, at one moment.

    Attributes:
        task: The task's name, with those parameters that tell it from other tasks of the run.
        state: "waiting", "running", "finished", or "unfinished" where episodes are missing.
        done: Number of items that are finished, those of earlier runs included; of episodes, if `unit` says so.
        total: How many there are; None where the results decide it.
        unit: What is counted: "item" or "episode".
        level: The highest level that has begun; None where the number of items is known.
        before: Those of the finished items that an earlier run finished.
        active: Number of episodes that are being played.
        requests: Number of replies that were received.
        repeated: Number of replies taken from the journal of an interrupted run, in place of requests.
        input_tokens: Input tokens of the requests.
        output_tokens: Output tokens of the requests.
        cost: What they cost in dollars; None if the model's prices are not known.
        errors: Episodes that infrastructure errors ended and no later try has repaired.
        defects: Episodes that a defect of the environment ended.
        retries: How often a request had to be sent again.
        seconds_left: Estimated time left in seconds; None if it cannot be estimated.
        is_upper_bound: Whether the time left assumes episodes of full length, since none is finished.
        last_level: The level up to which the time left of a ladder is estimated; the results decide whether it is
            reached. None for other tasks.
    """

    task: str
    model: str
    state: str = "waiting"
    done: int = 0
    total: int | None = None
    unit: str = "item"
    level: int | None = None
    before: int = 0
    active: int = 0
    requests: int = 0
    repeated: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    errors: int = 0
    defects: int = 0
    retries: int = 0
    seconds_left: float | None = None
    is_upper_bound: bool = False
    last_level: int | None = None

    @property
    def name(self) -> str:
        """The task and its model."""
        return f"{self.task} with {self.model}"

    @property
    def units(self) -> str:
        """The counted unit, singular or plural as fits the total."""
        return self.unit if (self.done if self.total is None else self.total) == 1 else f"{self.unit}s"

    @property
    def done_text(self) -> str:
        """How much is done: "79 of 300", or "level 9, 12 items" where the results decide what is played."""
        if self.total is not None:
            return f"{self.done:,} of {self.total:,}"
        level = "" if self.level is None else f"level {self.level}, "
        return f"{level}{self.done:,} {self.units}"

    @property
    def state_text(self) -> str:
        """The time left of a running task: "3 min 20 s", "≤ 2 h", "up to level 31: 2 h"; otherwise its state."""
        if self.state != "running":
            return "done" if self.state == "finished" else self.state
        if self.seconds_left is None:
            return ""
        up_to = "" if self.last_level is None else f"up to level {self.last_level}: "
        return up_to + ("≤ " if self.is_upper_bound else "") + duration_text(self.seconds_left)

    @property
    def use_text(self) -> str:
        """What the task has used, and what went wrong: "152 requests, 31.2k input and 4.1k output tokens"."""
        return ", ".join(use_parts((self,)))

    @property
    def text(self) -> str:
        """The progress in one line."""
        units = f" {self.units}" if self.total is not None else ""
        remaining = "" if self.seconds_left is None else left_text(self.seconds_left, self.is_upper_bound)
        remaining += "" if self.last_level is None else f" if it climbs to level {self.last_level}"
        return ", ".join(part for part in (self.done_text + units, self.use_text, remaining) if part)


def use_parts(statuses: Sequence[TaskStatus]) -> Iterator[str]:
    """Yield what some tasks have used together, and what went wrong: "152 requests", "3 infrastructure errors"."""
    yield plural(sum(status.requests for status in statuses), "request")
    if repeated := sum(status.repeated for status in statuses):
        yield f"{plural(repeated, 'reply', 'replies')} taken over"
    tokens = sum(status.input_tokens for status in statuses), sum(status.output_tokens for status in statuses)
    if any(tokens):
        yield f"{short_count(tokens[0])} input and {short_count(tokens[1])} output tokens"
    if costs := [status.cost for status in statuses if status.cost is not None]:
        yield f"{sum(costs):.2f} USD"
    if retries := sum(status.retries for status in statuses):
        yield plural(retries, "retry", "retries")
    if errors := sum(status.errors for status in statuses):
        yield plural(errors, "infrastructure error")
    if defects := sum(status.defects for status in statuses):
        yield f"{plural(defects, 'episode')} ended by a defect of the environment"


def left_text(seconds: float, is_upper_bound: bool) -> str:
    """Return a time left: "about 3 min 20 s left", "at most 2 h left"."""
    return f"{'at most' if is_upper_bound else 'about'} {duration_text(seconds)} left"


def run_seconds_left(statuses: Iterable[TaskStatus]) -> tuple[float | None, bool]:
    """Return the time left until the last task is finished, and whether it is an upper bound; None if not known."""
    going = [status for status in statuses if status.state != "finished"]
    estimates = [status.seconds_left for status in going if status.seconds_left is not None]
    if not going or len(estimates) < len(going):
        return None, False
    return max(estimates), any(status.is_upper_bound for status in going)


class Earlier(NamedTuple):
    """What the log of an earlier run holds of a task.

    Attributes:
        finished: The samples that ended without an infrastructure error, by name.
        uuids: Their UUIDs.
        level: The highest level among them; None if there are none.
        task: The task's name.
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
    """An episode that is being played.

    Attributes:
        limit: The most replies that it can have.
        retries: Returns how often a request had to be sent again so far.
        turns: Its replies so far.
    """

    limit: int
    retries: Callable[[], int]
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
        levels: The levels of a ladder, the easiest one first; empty for other tasks.
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
        levels: Sequence[int] = (),
        note: Callable[[str], None] = lambda line: None,
        spent: Callable[[], None] = lambda: None,
        why_stopped: Callable[[], str] = lambda: "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.task, self.model, self.args = task, model, dict(args or {})
        self.label = task.removeprefix("waybench/")
        self._total, self._attempts, self._price = total, attempts, price
        self._note, self._spent, self._clock = note, spent, clock
        self._levels = list(levels)
        self._level_begins: dict[int, int] = {}  # level -> requests of this run before its first episode
        self.why_stopped = why_stopped
        self._lock = threading.Lock()
        self._state = "waiting"
        self._done: set[str] = set()
        self._before: frozenset[str] = frozenset()
        self._errors: set[str] = set()
        self._defects: set[str] = set()
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
            self._note(f"{self.label} with {self.model} continues: {self._continuation_text(journaled)}")

    def _continuation_text(self, journaled: Iterable[int]) -> str:
        status, turns = self.status(), sorted((count for count in journaled if count), reverse=True)
        of = f" of {status.total:,}" if status.total is not None else ""
        parts = [f"{status.done:,}{of} {status.units} finished before"]
        if turns:
            numbers = ", ".join(f"{count + 1:,}" for count in turns[:_SHOWN])
            more = f" and {len(turns) - _SHOWN:,} more" if len(turns) > _SHOWN else ""
            parts.append(f"{plural(len(turns), 'episode')} from turn {numbers}{more}")
            parts.append(f"{plural(sum(turns), 'reply', 'replies')} taken over without a request")
        return "; ".join(parts)

    def finish(self, complete: bool) -> None:
        """Note that the engine has ended the task, and whether it is complete."""
        with self._lock:
            self._state = "finished" if complete else "unfinished"
            for sample in list(self._open):
                self._close(sample)

    def finished_before(self, earlier: Earlier) -> None:
        """Note that an earlier run has finished the task, so that the engine does not start it."""
        with self._lock:
            self._done, self._before, self._level = set(earlier.finished), earlier.finished, earlier.level
            self._state = "finished"

    def begin(self, sample: str, level: int, limit: int, retries: Callable[[], int] = lambda: 0) -> None:
        """Note that an episode begins.

        Args:
            sample: The name of its sample.
            level: Its level.
            limit: The most turns that it can have.
            retries: Returns how often one of its requests had to be sent again so far.
        """
        with self._lock:
            self._open[sample] = _Open(limit, retries)
            self._level = level if self._level is None else max(self._level, level)
            self._level_begins.setdefault(level, self._requests)

    def reply(self, sample: str | None, usage: Usage | None, *, repeated: bool) -> None:
        """Note a reply.

        Args:
            sample: The name of the sample whose turn it is; None for the answer to a belief probe, which is no turn.
            usage: Its tokens.
            repeated: Whether it came from a journal, and costs nothing.
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
        """Note that a sample's episode has ended; `error` says which error or defect ended it, if one did."""
        is_defect = error.startswith(DEFECT)
        with self._lock:
            ended = self._close(sample)
            if error:
                (self._defects if is_defect else self._errors).add(sample)
            else:
                self._errors.discard(sample)
                self._done.add(sample)
                if ended is not None:
                    self._ended_turns.append(ended.turns)
        if error and error not in self._noted and len(self._noted) < _SHOWN:
            self._noted.add(error)
            what = "" if is_defect else "an infrastructure error ended an episode: "
            self._note(f"{self.label} with {self.model}: {what}{error}")

    def leave(self, sample: str) -> None:
        """Note that an episode was interrupted."""
        with self._lock:
            self._close(sample)

    def _close(self, sample: str) -> _Open | None:
        closed = self._open.pop(sample, None)
        self._retries += 0 if closed is None else closed.retries()
        return closed

    def status(self) -> TaskStatus:
        """Return the present progress."""
        with self._lock:
            seconds_left, is_upper_bound = self._seconds_left()
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
                defects=len(self._defects),
                retries=self._retries + sum(episode.retries() for episode in self._open.values()),
                seconds_left=seconds_left,
                is_upper_bound=is_upper_bound,
                last_level=self._levels[-1] if self._levels and seconds_left is not None else None,
            )

    def _count(self, samples: Collection[str]) -> int:
        if self._total is not None:
            return len(samples)
        return len({sample.rpartition("-")[0] for sample in samples})  # without the attempt

    def _seconds_left(self) -> tuple[float | None, bool]:
        """Return the time left, at the rate of requests so far, and whether it assumes episodes of full length."""
        if self._began is None or not self._requests or self._state != "running":
            return None, False
        if self._total is None:
            return self._seconds_to_last_level(), False
        waiting = self._total - len(self._done) - len(self._open)
        if self._ended_turns:
            length, is_upper_bound = sum(self._ended_turns) / len(self._ended_turns), False
        elif self._open:
            length, is_upper_bound = sum(episode.limit for episode in self._open.values()) / len(self._open), True
        else:
            return None, False
        is_upper_bound &= length > 1
        requests = max(waiting, 0) * length + sum(max(length - episode.turns, 1.0) for episode in self._open.values())
        return requests * (self._clock() - self._began) / self._requests, is_upper_bound

    def _seconds_to_last_level(self) -> float | None:
        """Return the time that a ladder takes up to its last level; None before a level is finished in this run.

        Levels to come are taken to need as many requests as the last one that is finished, at the rate so far.
        """
        begun = sorted(self._level_begins)
        if len(begun) < 2 or begun[-1] not in self._levels:
            return None
        level_requests = self._level_begins[begun[-1]] - self._level_begins[begun[-2]]
        done = self._requests - self._level_begins[begun[-1]]
        levels_left = len(self._levels) - 1 - self._levels.index(begun[-1])
        requests = max(level_requests - done, 1) + levels_left * max(level_requests, 1)
        return requests * (self._clock() - (self._began or 0.0)) / self._requests


class EpisodeProgress:
    """Reports what happens in one episode to its task's progress."""

    def __init__(self, task: TaskProgress, sample: int | str, epoch: int, episode: Episode[Any, Any, Any]) -> None:
        self._task, self._name, self._episode = task, sample_name(sample, epoch), episode
        # Inspect's event of a retry has its own ones alone; clients such as OpenAI's send most requests again by
        # themselves.
        active = sample_active()
        retries = lambda: 0 if active is None else active.http_retries  # noqa: E731
        task.begin(self._name, episode.item.level, episode.turns_left, retries)

    def reply(self, record: TurnRecord | ProbeRecord, *, repeated: bool) -> None:
        """Report a turn or the answer to a belief probe, and whether it came from a journal."""
        sample = self._name if isinstance(record, TurnRecord) else None
        self._task.reply(sample, record.usage, repeated=repeated)

    @property
    def why_stopped(self) -> str:
        """Why the run is ending early; "" if it is not, or if the user has interrupted it."""
        return self._task.why_stopped()

    def end(self) -> None:
        """Report how the episode stands now that it is left."""
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
