"""The progress of one task with one model: what it has done and used so far, and how long it will take."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from inspect_ai.log._samples import sample_active  # a public function has the state and not the sample

from waybench.core import (
    LOCAL_MODELS,
    WARN_ABOVE,
    End,
    Episode,
    Price,
    ProbeRecord,
    TurnRecord,
    Usage,
    plural,
    unreadable_reason,
)
from waybench.core._errors import DEFECT
from waybench.evaluation._task_status import TaskStatus

_ERROR_LENGTH = 200  # characters of an error
_REPLY_LENGTH = 120  # characters of an unreadable reply
_REPLIES_BEFORE_WARNING = 20  # replies at a game, so that a warning does not come by chance
_MOST_SHOWN = 4  # episodes that go on of which the turn is named, and errors that have a line


class EarlierLog(NamedTuple):
    """What the log of an earlier run holds of a task.

    Attributes:
        finished: The samples that ended without an infrastructure error, by name.
        uuids: Their UUIDs.
        level: The highest level among them; None if there are none.
    """

    finished: frozenset[str] = frozenset()
    uuids: frozenset[str] = frozenset()
    level: int | None = None
    task: str = ""
    model: str = ""
    args: Mapping[str, object] = MappingProxyType({})


@dataclass(slots=True)
class _OpenEpisode:
    """An episode that is being played.

    Attributes:
        limit: The most replies that it can have.
        retries: Returns how often a request had to be sent again so far.
    """

    limit: int
    retries: Callable[[], int]
    turns: int = 0


@dataclass(slots=True)
class _GameReplies:
    """The replies at one game of a task that had to name an action.

    Attributes:
        reasons: Why no action could be read -> how often.
        examples: Why -> the first such reply.
        is_noted: Whether the user has been warned.
    """

    count: int = 0
    reasons: Counter[str] = field(default_factory=Counter[str])
    examples: dict[str, str] = field(default_factory=dict[str, str])
    is_noted: bool = False


class TaskProgress:
    """The progress of one task with one model. The solver reports to it; other threads read its status.

    Args:
        total: Number of samples; None where the results decide what is played.
        attempts: Whether a sample is one of several attempts at its item.
        price: The model's prices; None if they are not known.
        levels: The levels of a ladder, the easiest one first; empty for other tasks.
        note: Receives a line that the user should read.
        spent: Is called after each request that was paid for.
        why_stopped: Returns why the run is ending early, for the records of its open episodes; "" for no reason of its
            own.
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
        self._total, self._has_attempts, self._price = total, attempts, price
        self._note, self._spent, self._clock = note, spent, clock
        self._levels = list(levels)
        self._requests_before_level: dict[int, int] = {}  # level -> requests of this run before its first episode
        self.why_stopped = why_stopped
        self._lock = threading.Lock()
        self._state = "waiting"
        self._finished_samples: set[str] = set()
        self._samples_before: frozenset[str] = frozenset()
        self._samples_with_errors: set[str] = set()
        self._samples_with_defects: set[str] = set()
        self._noted_errors: set[str] = set()
        self._open_episodes: dict[str, _OpenEpisode] = {}
        self._level: int | None = None
        self._replies_by_game: dict[str, _GameReplies] = {}
        self._n_requests = self._n_repeated = self._n_retries = 0
        self._input_tokens = self._output_tokens = self._cached_tokens = 0
        self._ended_turns = Counter[int]()
        self._began_at: float | None = None  # when the first request that was answered left

    def start(self, earlier: EarlierLog, journaled: Collection[int] = ()) -> None:
        """Record that the engine starts the task.

        `earlier` is what the log of an earlier run holds, and `journaled` has for each episode the number of replies
        that a journal holds and the log does not.
        """
        with self._lock:
            is_retry = self._state == "unfinished"  # the engine repeats what failed
            self._state = "running"
            if is_retry:
                return
            self._finished_samples = set(earlier.finished)
            self._samples_before, self._level = earlier.finished, earlier.level
        if earlier.finished or any(journaled):
            self._note(f"{self.label} with {self.model} continues: {self._continuation_text(journaled)}")

    def _continuation_text(self, journaled: Iterable[int]) -> str:
        """Return what a resumed task takes over: finished items, and replies of open episodes (`journaled`)."""
        status, turn_counts = self.status(), sorted((count for count in journaled if count), reverse=True)
        total_text = f" of {status.total:,}" if status.total is not None else ""
        parts = [f"{status.done:,}{total_text} {status.units} finished before"]
        if turn_counts:
            next_turns = ", ".join(f"{count + 1:,}" for count in turn_counts[:_MOST_SHOWN])
            more_episodes = f" and {len(turn_counts) - _MOST_SHOWN:,} more" if len(turn_counts) > _MOST_SHOWN else ""
            parts.append(f"{plural(len(turn_counts), 'episode')} from turn {next_turns}{more_episodes}")
            parts.append(f"{plural(sum(turn_counts), 'reply', 'replies')} taken over without a request")
        return "; ".join(parts)

    def finish(self, complete: bool) -> None:
        """Record that the engine has ended the task, and whether it is complete."""
        with self._lock:
            self._state = "finished" if complete else "unfinished"
            for sample in list(self._open_episodes):
                self._close_episode(sample)

    def finish_by_earlier_run(self, earlier: EarlierLog) -> None:
        """Record that an earlier run has finished the task, so that the engine does not start it."""
        with self._lock:
            self._finished_samples, self._samples_before, self._level = (
                set(earlier.finished),
                earlier.finished,
                earlier.level,
            )
            self._state = "finished"

    def begin_episode(self, sample: str, level: int, limit: int, retries: Callable[[], int] = lambda: 0) -> None:
        """Record that an episode of a level begins; `limit` is the most turns that it can have.

        `retries` returns how often one of its requests had to be sent again so far.
        """
        with self._lock:
            self._open_episodes[sample] = _OpenEpisode(limit, retries)
            self._level = level if self._level is None else max(self._level, level)
            self._requests_before_level.setdefault(level, self._n_requests)

    def add_reply(self, sample: str | None, usage: Usage | None, *, repeated: bool) -> None:
        """Count a reply and its tokens.

        The sample is None for the answer to a belief probe, which is no turn. A repeated reply came from a journal, and
        costs nothing.
        """
        with self._lock:
            if sample in self._open_episodes:
                self._open_episodes[sample].turns += 1
            if repeated:
                self._n_repeated += 1
                return
            self._n_requests += 1
            if self._began_at is None:  # what a journal answers takes no time
                self._began_at = self._clock() - (usage.seconds if usage else 0.0)
            if usage is not None:
                self._input_tokens += usage.input_tokens
                self._output_tokens += usage.output_tokens
                self._cached_tokens += usage.cached_tokens
        self._spent()

    def count_unreadable_reply(self, game_title: str, turn: TurnRecord) -> None:
        """Count a reply by whether an action could be read from it, and warn once for each game if many could not."""
        with self._lock:
            replies = self._replies_by_game.setdefault(game_title, _GameReplies())
            replies.count += 1
            if reason := unreadable_reason(turn):
                replies.reasons[reason] += 1
                replies.examples.setdefault(reason, turn.reply[: 4 * _REPLY_LENGTH])  # enough after blanks are joined
            n_unreadable = replies.reasons.total()
            if (
                replies.is_noted
                or replies.count < _REPLIES_BEFORE_WARNING
                or n_unreadable <= WARN_ABOVE * replies.count
            ):
                return
            replies.is_noted = True
            (reason, n_with_reason), *_ = replies.reasons.most_common(1)
            example = " ".join(replies.examples[reason].split())[:_REPLY_LENGTH]
        if not self.model.startswith("waybench/") or self.model.removeprefix("waybench/") in LOCAL_MODELS:
            self._note(
                f"warning: {self.label}, {game_title}, with {self.model}: {n_unreadable:,} of the first "
                f"{replies.count:,} replies could not be read; {n_with_reason:,} of them: {reason} "
                f"Example: {example or '(an empty reply)'}"
            )

    def end_episode(self, sample: str, error: str = "") -> None:
        """Record that a sample's episode has ended; `error` describes the error or defect that ended it, if any."""
        is_defect = error.startswith(DEFECT)
        with self._lock:
            ended = self._close_episode(sample)
            if error:
                (self._samples_with_defects if is_defect else self._samples_with_errors).add(sample)
            else:
                self._samples_with_errors.discard(sample)
                self._finished_samples.add(sample)
                if ended is not None:
                    self._ended_turns[ended.turns] += 1
        if error and error not in self._noted_errors and len(self._noted_errors) < _MOST_SHOWN:
            self._noted_errors.add(error)
            prefix = "" if is_defect else "an infrastructure error ended an episode: "
            self._note(f"{self.label} with {self.model}: {prefix}{error}")

    def interrupt_episode(self, sample: str) -> None:
        """Record that a sample's episode was interrupted."""
        with self._lock:
            self._close_episode(sample)

    def _close_episode(self, sample: str) -> _OpenEpisode | None:
        """Remove an episode from the open ones and return it; None if it is not open."""
        closed = self._open_episodes.pop(sample, None)
        self._n_retries += 0 if closed is None else closed.retries()
        return closed

    def status(self) -> TaskStatus:
        """Return a snapshot of the progress."""
        with self._lock:
            seconds_left, is_upper_bound = self._seconds_left()
            return TaskStatus(
                task=self.label,
                model=self.model,
                state=self._state,
                done=self._count_units(self._finished_samples),
                total=self._total,
                unit="episode" if self._has_attempts and self._total is not None else "item",
                level=self._level if self._total is None else None,
                before=self._count_units(self._samples_before),
                active=len(self._open_episodes),
                requests=self._n_requests,
                repeated=self._n_repeated,
                input_tokens=self._input_tokens,
                output_tokens=self._output_tokens,
                cost=self.cost,
                action_replies=sum(replies.count for replies in self._replies_by_game.values()),
                unreadable=sum(replies.reasons.total() for replies in self._replies_by_game.values()),
                errors=len(self._samples_with_errors),
                defects=len(self._samples_with_defects),
                retries=self._n_retries + sum(episode.retries() for episode in self._open_episodes.values()),
                seconds_left=seconds_left,
                is_upper_bound=is_upper_bound,
                last_level=self._levels[-1] if self._levels and seconds_left is not None else None,
            )

    @property
    def is_playing(self) -> bool:
        """Whether an episode is being played."""
        return bool(self._open_episodes)

    @property
    def tokens(self) -> int:
        """The sum of the input and output tokens of its requests."""
        return self._input_tokens + self._output_tokens

    @property
    def cost(self) -> float | None:
        """The cost of its requests in dollars; None if the model's prices are not known."""
        if self._price is None:
            return None
        return self._price.cost(self._input_tokens, self._output_tokens, self._cached_tokens)

    def _count_units(self, samples: Collection[str]) -> int:
        """Return the number of samples; where results decide what is played, the number of their items."""
        if self._total is not None:
            return len(samples)
        return len({sample.rpartition("-")[0] for sample in samples})  # an id ends with the attempt

    def _seconds_left(self) -> tuple[float | None, bool]:
        """Return the estimated seconds left (None if not known), and whether they assume episodes of full length."""
        if self._began_at is None or not self._n_requests or self._state != "running":
            return None, False
        if self._total is None:
            return self._seconds_to_last_level(), False
        limits = [episode.limit for episode in self._open_episodes.values()] or [*self._ended_turns.elements()]
        if not limits:
            return None, False
        lengths = EpisodeLengths(self._ended_turns, [episode.turns for episode in self._open_episodes.values()])
        n_waiting = max(self._total - len(self._finished_samples) - len(self._open_episodes), 0)
        turns, beyond_longest = lengths.expected_turns_left(0, sum(limits) / len(limits))
        requests, unseen_requests = n_waiting * turns, n_waiting * beyond_longest
        for episode in self._open_episodes.values():
            turns, beyond_longest = lengths.expected_turns_left(episode.turns, episode.limit)
            requests, unseen_requests = requests + turns, unseen_requests + beyond_longest
        # More than half are turns that no episode has had yet; of tasks of one turn each number is known.
        is_upper_bound = max(limits) > 1 and unseen_requests > requests / 2
        return requests * (self._clock() - self._began_at) / self._n_requests, is_upper_bound

    def _seconds_to_last_level(self) -> float | None:
        """Return the estimated seconds of a ladder up to its last level; None before a level is finished.

        Levels to come are taken to need as many requests as the last one that is finished, at the rate so far.
        """
        if len(self._requests_before_level) < 2:
            return None
        *_, (_, requests_before_last), (level, requests_before) = sorted(self._requests_before_level.items())
        if level not in self._levels:
            return None
        requests_per_level = requests_before - requests_before_last
        requests_at_level = self._n_requests - requests_before
        levels_left = len(self._levels) - 1 - self._levels.index(level)
        requests_left = max(requests_per_level - requests_at_level, 1) + levels_left * max(requests_per_level, 1)
        return requests_left * (self._clock() - (self._began_at or 0.0)) / self._n_requests


class EpisodeLengths:
    """The distribution of the turns of episodes, of which some are still being played (Kaplan and Meier, 1958).

    The mean over the ended episodes alone would be too low, since short episodes end first.

    Args:
        ended: Number of turns -> how many episodes have ended after so many.
        going_on: The turns so far of the other episodes.
    """

    def __init__(self, ended: Mapping[int, int], going_on: Sequence[int]) -> None:
        self._steps: list[tuple[int, float]] = []  # (turns, share of episodes that go on after so many)
        all_lengths = Counter(going_on) + Counter(ended)
        n_at_risk, survival = all_lengths.total(), 1.0
        for turns, count in sorted(all_lengths.items()):
            if n_ended := ended.get(turns, 0):
                survival *= 1 - n_ended / n_at_risk
                self._steps.append((turns, survival))
            n_at_risk -= count
        self._longest = max(all_lengths, default=0)

    def expected_turns_left(self, turns: int, limit: float) -> tuple[float, float]:
        """Return the expected turns of an episode after its first `turns`, and how many of them no episode has had yet.

        Turns beyond the longest episode so far are taken to be played up to the limit. An episode that goes on takes at
        least one turn more.
        """
        area = area_beyond_longest = 0.0
        # Integrates the survival function, step by step, from `turns` to the limit.
        step_start, survival, survival_at_turns = 0, 1.0, 1.0
        for step_end, survival_after in (*self._steps, (limit, 0.0)):
            if turns >= step_end:
                survival_at_turns = survival_after
            area += survival * max(min(step_end, limit) - max(step_start, turns), 0)
            area_beyond_longest += survival * max(min(step_end, limit) - max(step_start, turns, self._longest), 0)
            step_start, survival = step_end, survival_after
        if survival_at_turns <= 0 or area <= 0:
            return float(turns > 0), 0.0
        return max(area / survival_at_turns, float(turns > 0)), area_beyond_longest / survival_at_turns


class EpisodeProgress:
    """Reports what happens in one episode to its task's progress."""

    def __init__(self, task: TaskProgress, sample: int | str, epoch: int, episode: Episode[Any, Any, Any]) -> None:
        self._task, self._name, self._episode = task, sample_name_in_epoch(sample, epoch), episode
        # Inspect's events of retries lack those of clients such as OpenAI's, which send most requests again themselves.
        active = sample_active()
        task.begin_episode(
            self._name, episode.item.level, episode.turns_left, lambda: 0 if active is None else active.http_retries
        )

    def report_reply(self, record: TurnRecord | ProbeRecord, *, repeated: bool, is_thought: bool = False) -> None:
        """Report a turn or the answer to a belief probe; `is_thought` if no action had to be named in the turn.

        `repeated` says whether it came from a journal.
        """
        is_turn = isinstance(record, TurnRecord)
        self._task.add_reply(self._name if is_turn else None, record.usage, repeated=repeated)
        if is_turn and not is_thought:
            self._task.count_unreadable_reply(self._episode.environment.title, record)

    @property
    def why_stopped(self) -> str:
        """Why the run is ending early; "" if it is not, or if the user has interrupted it."""
        return self._task.why_stopped()

    def report_end(self) -> None:
        """Report whether the episode has ended, was interrupted or ended in an error."""
        if self._episode.end_reason is None:
            self._task.interrupt_episode(self._name)
        elif self._episode.end_reason is End.INFRASTRUCTURE:
            self._task.end_episode(
                self._name, " ".join((self._episode.error or "unknown error").split())[:_ERROR_LENGTH]
            )
        else:
            self._task.end_episode(self._name)


def sample_name_in_epoch(sample: int | str, epoch: int) -> str:
    """Return the name of a sample in one epoch: "501-1", or "501#2-1" in the second one."""
    item, _, attempt = str(sample).rpartition("-")
    return f"{item}#{epoch}-{attempt}" if epoch > 1 else str(sample)
