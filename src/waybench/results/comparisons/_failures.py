"""How episodes failed: each under its main cause, by the kinds that its environment declares."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from waybench.core import TURN_LIMIT, End, FailureKind
from waybench.envs import registry
from waybench.results.results import Row


def failure_kinds(env: str) -> tuple[FailureKind, ...]:
    """Return all kinds in which an episode of an environment can fail, in the order of columns."""
    return tuple(_by_name(env).values())


@cache  # every row asks for them
def _by_name(env: str) -> Mapping[str, FailureKind]:
    return {kind.name: kind for kind in registry.load(env).scoring.failure_kinds}


def failure(row: Row) -> FailureKind | None:
    """Return how an episode failed: its main cause, by its environment.

    Args:
        row: The episode.

    Returns:
        The kind; None if the episode was solved or does not count, where a game of a fixed length came to its end, and
        with a teacher, who caused the end.
    """
    if not row.is_included or row.guided or not row.failure:
        return None
    return _by_name(row.group.env)[row.failure]


def dominant(kinds: Iterable[FailureKind], order: Sequence[FailureKind]) -> tuple[FailureKind, int] | None:
    """Return the most frequent kind of some failures, with its number; None without any.

    Args:
        kinds: The failures.
        order: All kinds; of equally frequent ones the first of these is returned.
    """
    counted = Counter(kinds)
    return max(counted.items(), key=lambda one: (one[1], -order.index(one[0]))) if counted else None


@dataclass(frozen=True, slots=True)
class Failures:
    """How attempts failed.

    Attributes:
        attempts: Number of attempts that count, without those of a teacher.
        kinds: Of each kind the number of those that failed so; kinds that did not occur may be left out.
    """

    attempts: int
    kinds: Mapping[FailureKind, int]

    @property
    def failed(self) -> int:
        """Number of attempts that failed."""
        return sum(self.kinds.values())

    @property
    def at_its_end(self) -> bool:
        """Whether all ended at the limit on turns, as a game of a fixed length does, which is no failure then.

        An environment that gives the limit a title of its own means it as a failure.
        """
        return self.kinds.get(TURN_LIMIT, 0) == self.attempts


def failures(some: Iterable[Row]) -> Failures:
    """Return how episodes of one environment failed."""
    counted = [row for row in some if row.is_included and not row.guided]
    found = Counter(kind for row in counted if (kind := failure(row)))
    order = failure_kinds(counted[0].group.env) if counted else ()
    return Failures(len(counted), {kind: found[kind] for kind in order if found[kind]})


def has_fixed_length(some: Sequence[Row]) -> bool:
    """Return whether all episodes that count went on to their limit on turns, which says nothing of the player.

    Args:
        some: The episodes of one environment.
    """
    counted = [row for row in some if row.is_included and not row.guided]
    return all(row.end == End.TURN_LIMIT and failure(row) in (None, TURN_LIMIT) for row in counted)
