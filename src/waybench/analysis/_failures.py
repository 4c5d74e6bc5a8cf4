"""How episodes fail: the one kind of failure that stands for each."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from waybench.analysis._rows import Row
from waybench.core import End, Outcome


class Failure(StrEnum):
    """How an episode failed; each failed episode has exactly one."""

    REFUSED = "refused"
    TRUNCATED = "truncated"
    UNPARSED = "unparsed"
    ILLEGAL = "illegal"
    UNPRODUCTIVE = "unproductive"
    LIMIT = "turn_limit"
    LOST = "lost"
    WRONG = "wrong"

    @property
    def words(self) -> str:
        """What it fails by, in words."""
        return _WORDS[self]


_WORDS = {
    Failure.REFUSED: "refusals",
    Failure.TRUNCATED: "length",
    Failure.UNPARSED: "replies that could not be read",
    Failure.ILLEGAL: "illegal moves",
    Failure.UNPRODUCTIVE: "moves that lead nowhere",
    Failure.LIMIT: "the limit on turns",
    Failure.LOST: "losing the game",
    Failure.WRONG: "wrong answers",
}
# Replies that come to nothing; of equally many the first of these, which leaves least to the player, is named.
_NOTHING = (Outcome.REFUSED, Outcome.TRUNCATED, Outcome.UNPARSED, Outcome.ILLEGAL)


def failure(row: Row) -> Failure | None:
    """Return how an episode failed: the kind that dominates.

    * Where invalid replies ended it, or at least half of its replies came to nothing, it is the most frequent kind of
      these: refused, truncated, unparsed or illegal.
    * Otherwise, where it ran into a limit on its turns, tokens or messages: unproductive if at least half of its
      replies were, or else the limit.
    * Otherwise it was over and not won: a wrong answer, if there was a single reply, or else a lost game.

    Args:
        row: The episode.

    Returns:
        The kind; None if the episode was solved or does not count, and with a teacher, whose merit the end is.
    """
    if not row.counts or row.guided or row.end == End.SOLVED:
        return None
    replies = sum(row.outcomes.values())
    nothing = {outcome: row.outcomes.get(outcome, 0) for outcome in _NOTHING}
    lost = sum(nothing.values())
    if lost and (row.end == End.INVALID_LIMIT or 2 * lost >= replies):
        return Failure(max(nothing, key=lambda outcome: nothing[outcome]))
    if row.end == End.TURN_LIMIT:
        wandered = 2 * row.outcomes.get(Outcome.UNPRODUCTIVE, 0) >= replies > 0
        return Failure.UNPRODUCTIVE if wandered else Failure.LIMIT
    return Failure.WRONG if replies <= 1 else Failure.LOST


def dominant(kinds: Iterable[Failure]) -> tuple[Failure, int] | None:
    """Return the most frequent kind of some failures, with its number; None without any."""
    counted = Counter(kinds)
    order = list(Failure)
    return max(counted.items(), key=lambda one: (one[1], -order.index(one[0]))) if counted else None


@dataclass(frozen=True, slots=True)
class Failures:
    """How attempts failed.

    Attributes:
        attempts: Number of attempts that count, without those of a teacher.
        kinds: Of each kind the number of those that failed so; kinds that did not occur may be left out.
    """

    attempts: int
    kinds: Mapping[Failure, int]

    @property
    def failed(self) -> int:
        """Number of attempts that failed."""
        return sum(self.kinds.values())

    @property
    def at_its_end(self) -> bool:
        """Whether all ended at the limit on turns, as a game of a fixed length does, which is no failure then."""
        return self.kinds.get(Failure.LIMIT, 0) == self.attempts


def failures(some: Iterable[Row]) -> Failures:
    """Return how episodes failed."""
    counted = [row for row in some if row.counts and not row.guided]
    found = Counter(kind for row in counted if (kind := failure(row)))
    return Failures(len(counted), {kind: found[kind] for kind in Failure if found[kind]})
