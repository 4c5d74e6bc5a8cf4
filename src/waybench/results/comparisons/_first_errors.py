"""Where episodes went wrong: the first errors of those that failed."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median

from waybench.core import FailureKind
from waybench.envs import registry
from waybench.results.comparisons._failures import failure
from waybench.results.results import Row


@dataclass(frozen=True, slots=True)
class FirstErrorCounts:
    """The first errors of the attempts that failed.

    Attributes:
        failed: Number of attempts that failed.
        kinds: Of each kind the number of attempts whose first error it is, in the order of the environment; kinds that
            did not occur are left out.
        median_step: Median number of the step that is the first error, from 1; None without errors.
    """

    failed: int
    kinds: Mapping[FailureKind, int]
    median_step: float | None

    @property
    def found(self) -> int:
        """Number of attempts with a first error; in the others each step is one of a best play."""
        return sum(self.kinds.values())


def first_error_kinds(env: str) -> tuple[FailureKind, ...]:
    """Return the kinds of first errors of an environment, in the order of columns; none where they are not defined."""
    declared = registry.load(env).scoring.first_errors
    return () if declared is None else declared.all_kinds


def first_errors(some: Iterable[Row]) -> FirstErrorCounts | None:
    """Return the first errors of episodes of one environment; None where they are not defined.

    Args:
        some: The episodes; those that did not fail, do not count, or have a teacher are left out.
    """
    rows = list(some)
    kinds = first_error_kinds(rows[0].group.env) if rows else ()
    if not kinds:
        return None
    failed = [row for row in rows if failure(row)]
    errors = [row.first_error for row in failed if row.first_error is not None]
    counts = Counter(error.kind for error in errors)
    steps = [error.step for error in errors]
    return FirstErrorCounts(
        len(failed), {kind: counts[kind] for kind in kinds if counts[kind]}, float(median(steps)) if steps else None
    )
