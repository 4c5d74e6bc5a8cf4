"""The progress of one task with one model at one moment, and of a run's tasks together, in words."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from waybench.core import duration_text, plural, short_count


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
        cost: What they cost in dollars; None if the model's prices are not known.
        action_replies: Number of replies that had to name an action, those from the journal included.
        unreadable: Number of those from which no action could be read.
        errors: Episodes that infrastructure errors ended and no later try has repaired.
        defects: Episodes that a defect of the environment ended.
        retries: How often a request had to be sent again.
        seconds_left: Estimated time left in seconds; None if it cannot be estimated.
        is_upper_bound: Whether the time left assumes that most episodes take all their turns, since few have ended.
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
    action_replies: int = 0
    unreadable: int = 0
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
        """Time left of a running task ("3 min 20 s", "≤ 2 h", "up to level 31: 2 h"; "" if unknown); else its state."""
        if self.state != "running":
            return "done" if self.state == "finished" else self.state
        if self.seconds_left is None:
            return ""
        up_to = "" if self.last_level is None else f"up to level {self.last_level}: "
        return up_to + ("≤ " if self.is_upper_bound else "") + duration_text(self.seconds_left)

    @property
    def unreadable_text(self) -> str:
        """The share of replies from which no action could be read: "12 %"; "" before the first reply."""
        return f"{100 * self.unreadable / self.action_replies:.0f} %" if self.action_replies else ""

    @property
    def use_text(self) -> str:
        """The usage and the errors of the task: "152 requests, 31.2k input and 4.1k output tokens"."""
        return ", ".join(usage_texts((self,)))

    @property
    def text(self) -> str:
        """The progress in one line."""
        units = f" {self.units}" if self.total is not None else ""
        remaining = "" if self.seconds_left is None else time_left_text(self.seconds_left, self.is_upper_bound)
        remaining += "" if self.last_level is None else f" if it climbs to level {self.last_level}"
        return ", ".join(part for part in (self.done_text + units, self.use_text, remaining) if part)


def usage_texts(statuses: Sequence[TaskStatus]) -> Iterator[str]:
    """Yield the summed usage and errors of tasks: "152 requests", "3 infrastructure errors"."""
    yield plural(sum(status.requests for status in statuses), "request")
    if repeated := sum(status.repeated for status in statuses):
        yield f"{plural(repeated, 'reply', 'replies')} taken over"
    input_tokens = sum(status.input_tokens for status in statuses)
    output_tokens = sum(status.output_tokens for status in statuses)
    if input_tokens or output_tokens:
        yield f"{short_count(input_tokens)} input and {short_count(output_tokens)} output tokens"
    if costs := [status.cost for status in statuses if status.cost is not None]:
        yield f"{sum(costs):.2f} USD"
    if unreadable := sum(status.unreadable for status in statuses):
        replies = sum(status.action_replies for status in statuses)
        yield f"{100 * unreadable / replies:.0f} % of the replies unreadable"
    if retries := sum(status.retries for status in statuses):
        yield plural(retries, "retry", "retries")
    if errors := sum(status.errors for status in statuses):
        yield plural(errors, "infrastructure error")
    if defects := sum(status.defects for status in statuses):
        yield f"{plural(defects, 'episode')} ended by a defect of the environment"


def time_left_text(seconds: float, is_upper_bound: bool) -> str:
    """Return seconds left as text: "about 3 min 20 s left", "at most 2 h left"."""
    return f"{'at most' if is_upper_bound else 'about'} {duration_text(seconds)} left"


def run_seconds_left(statuses: Iterable[TaskStatus]) -> tuple[float | None, bool]:
    """Return the seconds until the last task is finished, and whether they are an upper bound.

    They are None if not known for some unfinished task, or if all are finished. Tasks run side by side, so the longest
    estimate counts.
    """
    going = [status for status in statuses if status.state != "finished"]
    estimates = [status.seconds_left for status in going if status.seconds_left is not None]
    if not going or len(estimates) < len(going):
        return None, False
    return max(estimates), any(status.is_upper_bound for status in going)
