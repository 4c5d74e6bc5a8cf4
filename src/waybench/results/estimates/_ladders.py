"""Levels of ladders: where one ended, and which levels a mean counts as 0."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from waybench.core._designs import has_ladder_ended
from waybench.results.estimates._estimates import Estimate


class LevelCoverage(NamedTuple):
    """The levels that a mean over a model's levels stands for.

    Attributes:
        levels: These levels, rising: the model's own, and where its ladder ended, all that it declares.
        share: The model's own levels' share of them; the others count as 0.
        is_partial: Whether the task has further levels, which the model did not run by choice.
    """

    levels: Sequence[int]
    share: float
    is_partial: bool


def task_levels(estimates: Iterable[Estimate]) -> list[int]:
    """Return all levels of a task, rising: those that some model ran or its ladder declares."""
    return sorted({level for one in estimates for level in (one.level, *one.declared_levels) if level is not None})


def level_coverage(estimates: Sequence[Estimate], all_levels: Sequence[int]) -> LevelCoverage:
    """Return the levels that a model's mean covers, and the share of them that it ran.

    Where its ladder ended, these are all levels that its own run declares, so that no other model changes the mean.
    Logs of older versions declare none: then they are those of the task, as other models ran or declare them.

    Args:
        estimates: The model's estimates by level, with one settings.
        all_levels: All levels of the task (`task_levels`).
    """
    by_level = {estimate.level: estimate for estimate in estimates if estimate.level is not None}
    levels = sorted(by_level)
    declared = sorted({level for estimate in estimates for level in estimate.declared_levels}) or list(all_levels)
    is_beginning = levels == declared[: len(levels)]
    # Each level has as many items as another.
    ended = len(levels) < len(declared) and is_beginning and ladder_ended([by_level[level] for level in levels])
    covered, share = (declared, len(levels) / len(declared)) if ended else (levels, 1.0)
    return LevelCoverage(covered, share, covered != list(all_levels))


def ladder_ended(estimates: Sequence[Estimate]) -> bool:
    """Return whether a ladder ended at the last of some levels, since nothing was solved there.

    It did where nothing was reached at this level, nor at the levels before it as far as its patience goes. After
    something was, the next level was not requested, or is still to come; and nothing follows from an infrastructure
    error, nor from what does not replay.

    Args:
        estimates: Those of the levels, easiest first.
    """
    last = estimates[-1]
    best_of = last.group.environment.scoring.best_of
    if last.guided or not (best_of or last.declared_levels):
        return False
    return has_ladder_ended([not (estimate.solved_items or estimate.lost) for estimate in estimates], best_of)
