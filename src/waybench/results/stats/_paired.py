"""Paired values: the mean difference with its interval and its test; and components of variance."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum, sqrt
from statistics import fmean
from typing import NamedTuple

import numpy as np

from waybench.results.stats._intervals import (
    CONFIDENCE,
    Mean,
    Numbers,
    RobustMean,
    cluster_numbers,
    cluster_totals,
    mcnemar,
    robust_mean,
    satterthwaite_freedom,
    t_quantile,
    t_tail,
    variance_at_most,
)

ALPHA = 0.05  # level of a test; a p value that is adjusted for several tests is compared with it, too


class PairedTest(NamedTuple):
    """A two-sided test of paired values.

    Attributes:
        method: "mcnemar", or "t" for the test that belongs to the interval.
    """

    p: float
    method: str
    exact: bool


class Pairs:
    """Values of two sides at the same items. Test and intervals come from the same numbers, so that they always agree.

    An interval contains 0 where, and only where, the test does not reject at its level.

    **Values between two bounds.** The interval is that of Bonett and Price (J. Educational and Behavioral Statistics
    37, 2012, 479-488): Wald's, after two pairs were added, one with the greatest possible difference and one with the
    least. They have it for values at the bounds, such as solved or not. For graded values, the added pairs stand for
    rare great differences that have not occurred yet: against a player that always scores 0.1, one that scores 1 at
    every tenth item and otherwise 0 has nothing but differences of -0.1 at ten items in 35 % of samples. No test can
    exclude that such a difference occurs in 3 / n of all items, n being their number.

    Where all values are at the bounds and each pair was drawn by itself, the test is McNemar's in its exact form
    (Psychometrika 12, 1947), and the interval is extended to 0 where this stricter test does not reject. Otherwise it
    is the test that belongs to the interval.

    Pairs in clusters have the error and the degrees of freedom of `robust_mean`. Each added pair weighs as many items
    as one independent item stands for, the design effect (Kish, Survey Sampling, 1965), at the upper end of its
    one-sided 80 % interval: at least one item, and a whole cluster where all differences are the same.

    **Values without two bounds.** Student's t of the differences, over clusters.

    No p value is below 2 ^ (1 - G), the least of a sign test of G clusters: fewer than six show no difference at 5 %.

    Args:
        new: Values.
        old: The others, in the same order.
        clusters: The cluster that each pair was drawn with.
        low: The least value possible, None if unbounded.
        high: The greatest value possible, None if unbounded.
    """

    def __init__(
        self,
        new: Sequence[float],
        old: Sequence[float],
        clusters: Sequence[Hashable],
        low: float | None = None,
        high: float | None = None,
    ) -> None:
        """See the class."""
        if not len(new) == len(old) == len(clusters):
            raise ValueError(
                f"{len(new)} and {len(old)} values and {len(clusters)} clusters: give pairs, each with one"
            )
        self._differences: Numbers = np.asarray(new, dtype=np.float64) - np.asarray(old, dtype=np.float64)
        self._where, self._groups = cluster_numbers(clusters)
        self.range = None if low is None or high is None else high - low
        self._all_or_nothing = (
            self.range is not None and self._groups == len(self._differences) and {*new, *old} <= {low, high}
        )

    @cached_property
    def test(self) -> PairedTest:
        """The test of whether the mean difference is 0."""
        if self._all_or_nothing:
            won, lost = int((self._differences > 0).sum()), int((self._differences < 0).sum())
            return PairedTest(mcnemar(won, lost), "mcnemar", True)
        if self._groups < 2:
            return PairedTest(1.0, "t", False)
        least = 2.0 ** (1 - self._groups)
        if self._mean is None:  # differences without bounds, or in clusters, that are all the same
            return PairedTest(least if np.any(self._differences) else 1.0, "t", False)
        value, error, freedom = self._mean
        return PairedTest(max(least, 2 * t_tail(abs(value) / error, freedom)), "t", False)

    def difference(self, confidence: float = CONFIDENCE) -> Mean | None:
        """Return the mean difference with its interval; None without values."""
        if not len(self._differences):
            return None
        value = float(self._differences.mean())
        ends = self._ends(confidence)
        if ends is None:
            return Mean(value, None, None, len(self._differences), self._groups)
        # An added pair of each kind draws the interval to 0, but never beyond the mean.
        low, high = min(ends[0], value), max(ends[1], value)
        if self.test.p >= 1 - confidence:
            low, high = min(low, 0.0), max(high, 0.0)
        elif low <= 0 <= high:  # at strict levels, where the normal quantile is the less careful one
            low, high = (0.0, high) if value > 0 else (low, 0.0)
        if self.range is not None:
            low, high = max(low, -self.range), min(high, self.range)
        return Mean(value, low, high, len(self._differences), self._groups)

    def _ends(self, confidence: float) -> tuple[float, float] | None:
        if self._groups < 2 or self._mean is None:
            return None
        value, error, freedom = self._mean
        reach = t_quantile((1 - confidence) / 2, freedom) * error
        return value - reach, value + reach

    @cached_property
    def _mean(self) -> RobustMean | None:
        """The mean difference with its error, after the two pairs were added if there are bounds."""
        totals, sizes = cluster_totals(self._where, self._differences), cluster_totals(self._where, None)
        if self.range is None:
            return robust_mean(totals, sizes)
        weight = 1.0 if self._groups == len(self._differences) else self._items_per_independent_item(totals, sizes)
        added = np.array([weight, -weight]) * self.range
        totals, all_sizes = np.concatenate([totals, added]), np.concatenate([sizes, [weight, weight]])
        if self._groups == len(self._differences):
            return RobustMean(float(totals.mean()), float(totals.std()) / len(totals) ** 0.5, math.inf)
        mean = robust_mean(totals, all_sizes)
        # The added pairs are no evidence, and add no degrees of freedom.
        return mean and mean._replace(freedom=satterthwaite_freedom(sizes))

    def _items_per_independent_item(self, totals: Numbers, sizes: Numbers) -> float:
        plain, spread = robust_mean(totals, sizes), float(self._differences.var(ddof=1))
        if plain is None or spread <= (1e-9 * (self.range or 1.0)) ** 2:
            return float(sizes.mean())
        effect = plain.error**2 / (spread / len(self._differences)) * variance_at_most(self._groups)
        return float(np.clip(effect, 1.0, sizes.max()))


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

    def narrowed(self, *, items: float = 1, attempts: float = 1) -> float:
        """Return what the interval's width would be multiplied by.

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
