"""The progress of one task with one model: what it has done and used so far, and how long it will take."""

import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from inspect_ai.log._samples import sample_active  # a public function has the state and not the sample

from waybench.core import End, Episode, Price, ProbeRecord, TurnRecord, Usage, plural
from waybench.evaluation._task_status import TaskStatus


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
            for sample in list(self._open):
                self._closed(sample)

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
            self._answered(usage, repeated)
        if not repeated:
            self._spent()

    def probe(self, usage: Usage | None, *, repeated: bool) -> None:
        """Note the answer to a belief probe, which is no turn of its episode and is paid for like one.

        Args:
            usage: Its tokens.
            repeated: Whether it came from a journal.
        """
        with self._lock:
            self._answered(usage, repeated)
        if not repeated:
            self._spent()

    def _answered(self, usage: Usage | None, repeated: bool) -> None:
        if repeated:
            self._repeated += 1
        else:
            self._requests += 1
            if self._began is None:  # what a journal answers takes no time
                self._began = self._clock() - (usage.seconds if usage else 0.0)
            if usage is not None:
                self._input += usage.input_tokens
                self._output += usage.output_tokens
                self._cached += usage.cached_tokens

    def end(self, sample: str, error: str = "") -> None:
        """Note that an episode has ended.

        Args:
            sample: The name of its sample.
            error: The infrastructure error that ended it; "" if none did.
        """
        with self._lock:
            ended = self._closed(sample)
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
            self._closed(sample)

    def _closed(self, sample: str) -> _Open | None:
        closed = self._open.pop(sample, None)
        self._retries += 0 if closed is None else closed.retries()
        return closed

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
                retries=self._retries + sum(each.retries() for each in self._open.values()),
                seconds_left=left,
                is_upper_bound=is_upper_bound,
                last_level=self._levels[-1] if self._levels and left is not None else None,
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
            length, is_upper_bound = sum(each.limit for each in self._open.values()) / len(self._open), True
        else:
            return None, False
        is_upper_bound &= length > 1
        requests = max(waiting, 0) * length + sum(max(length - each.turns, 1.0) for each in self._open.values())
        return requests * (self._clock() - self._began) / self._requests, is_upper_bound

    def _seconds_to_last_level(self) -> float | None:
        """Return the time that a ladder takes up to its last level; None before a level is finished in this run.

        Levels to come are taken to need as many requests as the last one that is finished, at the rate so far.
        """
        begun = sorted(self._level_begins)
        if len(begun) < 2 or begun[-1] not in self._levels:
            return None
        each = self._level_begins[begun[-1]] - self._level_begins[begun[-2]]
        done = self._requests - self._level_begins[begun[-1]]
        levels_left = len(self._levels) - 1 - self._levels.index(begun[-1])
        requests = max(each - done, 1) + levels_left * max(each, 1)
        return requests * (self._clock() - (self._began or 0.0)) / self._requests


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
            task.begin(self._name, episode.item.level, episode.turns_left, _http_retries())

    def turn(self, turn: TurnRecord, *, repeated: bool) -> None:
        """Report a turn, and whether its reply came from a journal."""
        if self._task is not None:
            self._task.turn(self._name, turn.usage, repeated=repeated)

    def probe(self, probe: ProbeRecord, *, repeated: bool) -> None:
        """Report the answer to a belief probe, and whether it came from a journal."""
        if self._task is not None:
            self._task.probe(probe.usage, repeated=repeated)

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


def _http_retries() -> Callable[[], int]:
    """Return what counts the retries of the present sample's requests, by Inspect and by the provider's own client.

    Inspect's event of a retry has its own ones alone; clients such as OpenAI's send most requests again by themselves.
    """
    sample = sample_active()
    return lambda: 0 if sample is None else sample.http_retries


def sample_name(sample: int | str, epoch: int) -> str:
    """Return the name of a sample in one epoch: "501-1", or "501#2-1" in the second one."""
    item, _, attempt = str(sample).rpartition("-")
    return f"{item}#{epoch}-{attempt}" if epoch > 1 else str(sample)


_LONGEST = 200  # characters of an error
_SHOWN = 4  # episodes that go on of which the turn is named, and errors that have a line
