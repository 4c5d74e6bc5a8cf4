"""Components of variance of repeated attempts, and the level of tests of paired values."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from statistics import fmean

ALPHA = 0.05  # level of a test; a p value that is adjusted for several tests is compared with it, too


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """Components of variance of a headline metric, where items were attempted several times.

    Attributes:
        attempts: Harmonic mean of their numbers of attempts.
        between: Variance between items, of what attempts at each give on average.
        within: Variance between attempts at an item.
        share: Share of the variance of the mean over items that is due to attempts, from 0 to 1.
    """

    items: int
    attempts: float
    between: float
    within: float
    share: float

    def width_ratio(self, *, items: float = 1, attempts: float = 1) -> float:
        """Return the interval's width with more items or attempts, divided by its present width.

        Args:
            items: How many times as many items, drawn as these were.
            attempts: How many times as many attempts at each item.
        """
        return sqrt((1 - self.share + self.share / attempts) / items)


def variance_components(values: Sequence[Sequence[float]]) -> VarianceComponents | None:
    """Return the components of variance of values in groups, by the one-way analysis of variance.

    The variance between attempts is the mean square within items; that between items is what is left of the mean square
    between them, over the average number of attempts, and 0 where that is below 0 (Searle, Casella and McCulloch,
    Variance Components, 1992, section 3.6). Restricted maximum likelihood gives the same where all items have as many
    attempts and neither is 0; this has no iteration that may not end with few items.

    Args:
        values: Of each item the values of its attempts.

    Returns:
        The components; None with fewer than two items, with no item that was attempted twice, or if all is the same.
    """
    sizes = [len(item) for item in values]
    total, groups = sum(sizes), len(sizes)
    if groups < 2 or total == groups:
        return None
    means = [fmean(item) for item in values]
    grand = fmean(value for item in values for value in item)
    within = fsum((value - mean) ** 2 for item, mean in zip(values, means, strict=True) for value in item)
    within /= total - groups
    between = fsum(size * (mean - grand) ** 2 for size, mean in zip(sizes, means, strict=True)) / (groups - 1)
    average = (total - sum(size**2 for size in sizes) / total) / (groups - 1)
    between = max(0.0, (between - within) / average)
    attempts = 1 / fmean(1 / size for size in sizes)
    variance = between + within / attempts
    return VarianceComponents(groups, attempts, between, within, within / attempts / variance) if variance > 0 else None
