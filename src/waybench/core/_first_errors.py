"""The first error of an episode that failed: its first step that no best play makes."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from waybench.core._failures import OVERFLOW, REFUSED, TRUNCATED, UNPARSED, FailureKind
from waybench.core._game import Outcome
from waybench.core._record import EpisodeRecord, TurnRecord

_UNREAD = {
    Outcome.REFUSED: REFUSED,
    Outcome.TRUNCATED: TRUNCATED,
    Outcome.OVERFLOW: OVERFLOW,
    Outcome.UNPARSED: UNPARSED,
}


class Step(NamedTuple):
    """One elementary step: a move of a plan, an action, or a reply that names none.

    Attributes:
        turn: The number of its turn, from 0.
        error: What is wrong with it; None if a best play can begin with all steps up to this one.
    """

    turn: int
    error: FailureKind | None = None


class FirstError(NamedTuple):
    """The first error of an episode.

    Attributes:
        step: The number of the step, from 1; all steps before it are those of a best play.
        turn: The number of its turn, from 0.
        kind: What is wrong with it.
    """

    step: int
    turn: int
    kind: FailureKind


@dataclass(frozen=True, slots=True)
class FirstErrors:
    """How an environment finds the first error of an episode.

    Attributes:
        kinds: Its own kinds of errors, in the order of tables; replies that cannot be read have the general ones.
        steps: EpisodeRecord -> the steps, at least up to the first error. A best play is one that is as good as the
            oracle's. If all steps are those of a best play and the episode ends too early, the last step is the error.
    """

    kinds: tuple[FailureKind, ...]
    steps: Callable[[EpisodeRecord], Iterable[Step]]

    @property
    def all_kinds(self) -> tuple[FailureKind, ...]:
        """All kinds, in the order of tables."""
        return (*self.kinds, *_UNREAD.values())

    def find(self, record: EpisodeRecord) -> FirstError | None:
        """Return the first error of an episode; None if each step is one of a best play.

        Args:
            record: The record of a finished episode.
        """
        for number, step in enumerate(self.steps(record), start=1):
            if step.error is not None:
                return FirstError(number, step.turn, step.error)
        return None


def unread(turn: TurnRecord) -> FailureKind:
    """Return what is wrong with a reply that names no action."""
    return _UNREAD.get(turn.outcome, UNPARSED)
