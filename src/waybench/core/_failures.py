"""Why an episode failed: the kinds of failure, the main cause, and the first error."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from waybench.core._game import End, Outcome
from waybench.core._record import EpisodeRecord, TurnRecord, own_turns


@dataclass(frozen=True, slots=True)
class FailureKind:
    """A way in which an episode fails.

    Attributes:
        name: Its key in every output.
        title: What completes the sentence "A fails by ...": "illegal moves".
        doc: Which episodes fail in this way.
    """

    name: str
    title: str
    doc: str


REFUSED = FailureKind("refused", "refusals", "Most replies without effect were refusals.")
TRUNCATED = FailureKind(
    "truncated", "truncated replies", "Most replies without effect were cut off at the output limit."
)
OVERFLOW = FailureKind(
    "overflow", "context overflow", "Most replies without effect were due to a conversation longer than the context."
)
UNPARSED = FailureKind("unparsed", "unreadable replies", "Most replies without effect could not be read.")
ILLEGAL = FailureKind("illegal", "illegal moves", "Most replies without effect were illegal actions.")
UNPRODUCTIVE = FailureKind(
    "unproductive", "moves without effect", "The turns ran out, and at least half of them changed nothing."
)
TURN_LIMIT = FailureKind("turn_limit", "the turn limit", "The turns, tokens or messages ran out.")
LOST = FailureKind("lost", "losing the game", "The game ended before it was solved.")
WRONG = FailureKind("wrong", "wrong answers", "The single answer was wrong.")

GENERAL_FAILURES = (REFUSED, TRUNCATED, OVERFLOW, UNPARSED, ILLEGAL, UNPRODUCTIVE, TURN_LIMIT, LOST, WRONG)
"""The kinds that every environment has, in the order in which they are named where several are equally frequent."""

NO_ANSWER = (REFUSED, TRUNCATED, OVERFLOW, UNPARSED)
"""Those of them in which there was no answer to judge."""

_NOTHING = {
    Outcome.REFUSED: REFUSED,
    Outcome.TRUNCATED: TRUNCATED,
    Outcome.OVERFLOW: OVERFLOW,
    Outcome.UNPARSED: UNPARSED,
    Outcome.ILLEGAL: ILLEGAL,
}


def general_failure(record: EpisodeRecord, turns: Sequence[TurnRecord] | None = None) -> FailureKind:
    """Return how an episode that was not solved failed, as far as its outcomes and its end say.

    * Where invalid replies ended it, or at least half of its replies had no effect, it is the most frequent kind of
      these: refused, truncated, overflow, unparsed or illegal.
    * Otherwise, where it ran into a limit on its turns, tokens or messages: unproductive if at least half of its
      replies were, or else the limit.
    * Otherwise it was over and not won: a wrong answer, if there was a single reply, or else a lost game.

    Args:
        record: The record of a finished episode.
        turns: The turns that are counted, where others are no attempts at anything, such as thoughts; all if None.
            Those of a prefix are never counted.
    """
    counts = Counter(turn.outcome for turn in own_turns(record.turns if turns is None else turns))
    replies = counts.total()
    nothing = sum(counts[outcome] for outcome in _NOTHING)
    if nothing and (record.end is End.INVALID_LIMIT or 2 * nothing >= replies):
        return _NOTHING[max(_NOTHING, key=lambda outcome: counts[outcome])]
    if record.end is End.TURN_LIMIT:
        return UNPRODUCTIVE if 2 * counts[Outcome.UNPRODUCTIVE] >= replies > 0 else TURN_LIMIT
    return WRONG if replies <= 1 else LOST


def main_cause(causes: Iterable[FailureKind], kinds: Sequence[FailureKind]) -> FailureKind | None:
    """Return the most frequent of several causes; None without any.

    Args:
        causes: The causes, one for each thing that went wrong.
        kinds: All kinds; of equally frequent ones the first of these is returned.
    """
    counts = Counter(causes)
    return max(counts, key=lambda kind: (counts[kind], -kinds.index(kind))) if counts else None


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
