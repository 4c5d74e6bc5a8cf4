"""Normalised scores in per cent, their means over tasks and families, and the levels of ladders that count as 0."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import NamedTuple

from waybench.core import Json
from waybench.core._designs import has_ladder_ended
from waybench.results.estimates._estimates import Estimate
from waybench.results.formatting import NOTHING, ItemCounts, known_ends
from waybench.results.results._normalized import NormalizedScore, cut_end, widen_interval
from waybench.results.stats import IntervalEstimate, LostAttempts
from waybench.results.stats._cells import Cell
from waybench.results.stats._contributions import Functional

CEILING = 100.0
_ALIKE = 1e-9 * CEILING  # smaller errors are rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A normalised score in per cent: 0 is the floor, 100 the ceiling.

    Attributes:
        low: Lower end of its 95 % confidence interval; None if it is not known.
        high: Upper end, None where `low` is.
        lost: The attempts that the score lacks, with its bounds; None if it lacks none.
        cells: The cells of which the score is a weighted mean, with their weights.
        counts: Its items, attempts and solved items.
        errors: The standard errors of floors and ceilings, by what was measured (`NormalizedScore.errors`).
    """

    value: float
    low: float | None
    high: float | None
    lost: LostAttempts | None = None
    cells: tuple[tuple[Cell, float], ...] = field(default=(), repr=False, compare=False)
    counts: ItemCounts = field(default=ItemCounts(), compare=False)
    errors: Mapping[str, float] = field(default_factory=dict[str, float], repr=False, compare=False)

    def few_items(self, *, solved: bool = True) -> str:
        """Return the text in place of an interval below six clusters, such as "3 items: 2 solved"."""
        return self.counts.few_text(self._n_clusters, solved=solved)

    @property
    def _n_clusters(self) -> int:
        """Number of independent clusters in all cells."""
        return len({cluster for cell, _ in self.cells for cluster in cell.clusters})

    def to_json(self) -> dict[str, Json]:
        """Return the score with its interval."""
        return {"value": self.value, "low": self.low, "high": self.high, "lost": self.lost and asdict(self.lost)}

    @property
    def standard_error(self) -> float | None:
        """The standard error of the score, with those of floors and ceilings; None where its items show no spread."""
        if not self.cells:
            return None
        error = math.sqrt(Functional(*zip(*self.cells, strict=True)).variance)
        return math.hypot(error, *self.errors.values()) if error > _ALIKE else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval; None if it is not known."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def shown_interval(self) -> tuple[float, float] | None:
        """The interval as it is printed, cut at floor and ceiling; None where there is none to print."""
        low, high = (cut_end(end, self.value, CEILING) for end in (self.low, self.high))
        mean = IntervalEstimate(self.value, low, high, self.counts.items, self._n_clusters)
        return known_ends(mean, bounds=(0, CEILING))

    def interval_text(self, separator: str) -> str:
        """Return the interval as it is printed, or the text in its place.

        Args:
            separator: The text between the ends, such as " to ".
        """
        ends = self.shown_interval
        if ends is None:
            return self.few_items() or ("" if self.low is None else NOTHING)
        return separator.join(map(score_text, ends))


def score_text(value: float) -> str:
    """Return a normalised score as text, without decimals."""
    return f"{value:.0f}".replace("-0", "0").replace("-", "−")


def percent_score(normalized: NormalizedScore, counts: ItemCounts, score_at_ceiling: float = CEILING) -> Score:
    """Return a normalised score in per cent; 0 if its whole interval is below the floor.

    Args:
        normalized: The score, 1 at the ceiling.
        counts: What it comes from.
        score_at_ceiling: The score that the ceiling stands for, less than 100 where harder levels count as 0.
    """
    mean = normalized.mean
    # A score below the floor is shifted to 0, with its interval.
    shift = mean.value if normalized.is_below_floor else 0.0
    low, high = (None if end is None else score_at_ceiling * (end - shift) for end in (mean.low, mean.high))
    return Score(
        value=score_at_ceiling * (mean.value - shift),
        low=low,
        high=high,
        lost=mean.lost and mean.lost.scaled(score_at_ceiling),
        cells=((normalized.cell.shifted(-shift).scaled(score_at_ceiling), 1.0),),
        counts=counts,
        errors={name: score_at_ceiling * error for name, error in normalized.errors.items()},
    )


def mean_score(scores: Sequence[Score]) -> Score | None:
    """Return the mean of scores, with the interval of all their cells (`Functional`); None without scores."""
    if not scores:
        return None
    value = math.fsum(score.value for score in scores) / len(scores)
    lost = _lost_attempts_of_mean(scores)
    weighted = [(cell, weight / len(scores)) for score in scores for cell, weight in score.cells]
    # Sums have the same bits for any order of the tasks.
    cells = tuple(sorted(weighted, key=lambda pair: (pair[1], pair[0].totals.tolist(), pair[0].sizes.tolist())))
    counts = ItemCounts.total([score.counts for score in scores])
    names = sorted({name for score in scores for name in score.errors})
    errors = {name: math.fsum(score.errors.get(name, 0.0) for score in scores) / len(scores) for name in names}
    interval = Functional(*zip(*cells, strict=True)).interval()
    low, high = widen_interval(interval[0], value, interval[1], errors.values()) if interval else (None, None)
    return Score(value=value, low=low, high=high, lost=lost, cells=cells, counts=counts, errors=errors)


def _lost_attempts_of_mean(scores: Sequence[Score]) -> LostAttempts | None:
    """Return the lost attempts of a mean of scores, with its bounds; None without any."""
    all_lost = [score.lost for score in scores if score.lost]
    if not all_lost:
        return None
    means_of_bounds: list[float | None] = []
    for name in ("lowest", "highest"):
        values = [score.value if score.lost is None else getattr(score.lost, name) for score in scores]
        means_of_bounds.append(None if None in values else math.fsum(values) / len(values))
    return LostAttempts(sum(lost.lost for lost in all_lost), sum(lost.planned for lost in all_lost), *means_of_bounds)


class LevelCoverage(NamedTuple):
    """The levels that a mean over a model's levels stands for.

    Attributes:
        levels: These levels, rising: those that the model ran or, where its ladder ended, all that it declares.
        share: Share of these levels that the model ran; the others count as 0.
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
    is_beginning = len(levels) < len(declared) and levels == declared[: len(levels)]
    has_ended = is_beginning and ladder_ended([by_level[level] for level in levels])
    # All levels have the same number of items, so the levels' share is that of the items.
    covered_levels, share = (declared, len(levels) / len(declared)) if has_ended else (levels, 1.0)
    return LevelCoverage(covered_levels, share, covered_levels != list(all_levels))


def ladder_ended(estimates: Sequence[Estimate]) -> bool:
    """Return whether a ladder ended at the last of some levels, since nothing was solved there.

    A ladder ends where nothing was solved at this level, nor at the levels before it as far as its patience goes. If
    something was solved, the next level was not requested, or is still to come. An infrastructure error, or a record
    that does not replay, ends no ladder.

    Args:
        estimates: The estimates of the levels, easiest first.
    """
    last = estimates[-1]
    best_of = last.group.environment.scoring.best_of
    if last.guided or not (best_of or last.declared_levels):
        return False
    return has_ladder_ended([not (estimate.solved_items or estimate.lost) for estimate in estimates], best_of)
