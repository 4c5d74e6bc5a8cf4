"""Cells of results as contributions of independent clusters, and what is computed from them: means and differences.

A *cell* is one model's values in one task with its settings. Every number of several cells is a weighted mean of them,
so its error is one sum over the clusters (maps, instances). A cluster that cells share, because two tasks ask about the
same map or two wordings give the same item, is one cluster in the sum.
"""

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from waybench.results.stats._cells import ALIKE, Cell, wilson_interval
from waybench.results.stats._intervals import (
    ALPHA,
    CONFIDENCE,
    FEWEST_CLUSTERS,
    IntervalEstimate,
    Numbers,
    mcnemar_mid_p,
    t_quantile,
    t_tail,
)

_MANY_CLUSTERS = 50  # from which on a rare extreme value would have occurred, or moves the mean by little


class Functional:
    """A weighted mean of cells.

    Args:
        cells: The cells, at least one.
        weights: The weight of each, 0 or more; they sum to 1.
    """

    def __init__(self, cells: Sequence[Cell], weights: Sequence[float]) -> None:
        self.cells, self.weights = list(cells), np.asarray(weights, dtype=np.float64)
        self.clusters = sorted({name for cell in cells for name in cell.clusters}, key=repr)
        column = {name: index for index, name in enumerate(self.clusters)}
        self._columns = [np.array([column[name] for name in cell.clusters], dtype=np.intp) for cell in cells]

    def _cluster_table(self, cell_rows: Sequence[Numbers]) -> Numbers:
        """Return one row of numbers for each cell by all clusters (columns); 0 where a cell lacks a cluster."""
        table = np.zeros((len(self.cells), len(self.clusters)))
        for number, (columns, row) in enumerate(zip(self._columns, cell_rows, strict=True)):
            table[number, columns] = row
        return table

    @cached_property
    def value(self) -> float:
        """The weighted mean."""
        return float(np.dot(self.weights, [cell.value for cell in self.cells]))

    @cached_property
    def contributions(self) -> Numbers:
        """The CR2-adjusted residual of each cluster in each cell; shape (cells, clusters)."""
        return self._cluster_table([cell.residuals for cell in self.cells])

    @cached_property
    def shares(self) -> Numbers:
        """Each cluster's share of each cell's size; shape (cells, clusters)."""
        return self._cluster_table([cell.shares for cell in self.cells])

    @cached_property
    def weight_by_cluster(self) -> Numbers:
        """The weight of each cluster in the weighted mean; they sum to 1."""
        return self.weights @ self.shares

    def cluster_means(self, cells: Sequence[Cell]) -> Numbers:
        """Return the weighted mean of each cluster in other cells; NaN where a cluster has no size.

        Args:
            cells: Cells with the clusters and sizes of this mean's cells.
        """
        pairs = zip(self.cells, cells, strict=True)
        totals = [other.totals_of(cell.clusters) / cell.sizes.sum() for cell, other in pairs]
        means = self.weights @ self._cluster_table(totals)
        unknown = np.full(len(means), np.nan)
        return np.divide(means, self.weight_by_cluster, out=unknown, where=self.weight_by_cluster > 0)

    @cached_property
    def greatest_even_weight(self) -> float:
        """The greatest weight of a cluster if all clusters of each cell had one size."""
        even = self._cluster_table([np.full(len(cell.totals), 1 / len(cell.totals)) for cell in self.cells])
        return float((self.weights @ even).max())

    @cached_property
    def variance(self) -> float:
        """The variance of the weighted mean."""
        return float(np.square(self.weights @ self.contributions).sum())

    @cached_property
    def freedom(self) -> float:
        """Satterthwaite's degrees of freedom of the variance, for independent values; see `satterthwaite_freedom`."""
        shares = self.shares
        scale = 1 / np.sqrt(np.maximum(1 - shares, 1e-12))
        roots = self._cluster_table([np.sqrt(cell.sizes) / cell.sizes.sum() for cell in self.cells])
        diagonal = self.weights @ (scale * roots)
        left = (self.weights[:, None] * scale * shares).T
        # tr(B) and tr(B^2) of B = M M', M = diag(diagonal) - left right', without a matrix of clusters by clusters.
        factors = np.hstack([diagonal[:, None] * left, roots.T])
        count = len(self.cells)
        middle = np.zeros((2 * count, 2 * count))
        middle[:count, count:] = middle[count:, :count] = -np.eye(count)
        middle[count:, count:] = left.T @ left
        product = middle @ (factors.T @ factors)
        squares = np.square(diagonal)
        trace = squares.sum() + np.trace(product)
        of_square = (
            np.square(squares).sum()
            + 2 * np.trace(middle @ (factors.T @ (squares[:, None] * factors)))
            + np.trace(product @ product)
        )
        return float(max(1.0, trace**2 / of_square)) if of_square > 0 else 1.0

    @cached_property
    def correlations(self) -> Numbers:
        """Correlations of the cells, from shared clusters; from the clusters' overlap for cells without variance."""
        products = self.contributions @ self.contributions.T
        overlap = self.shares @ self.shares.T
        errors, norms = np.sqrt(np.diag(products)), np.sqrt(np.diag(overlap))
        has_variance = errors > ALIKE
        divisors = np.where(has_variance, errors, 1.0)
        return np.where(
            has_variance[:, None] & has_variance[None, :],
            products / np.outer(divisors, divisors),
            overlap / np.outer(norms, norms),
        )

    def interval(self, confidence: float = CONFIDENCE) -> tuple[float, float] | None:
        """Return the ends of the confidence interval.

        Each end is the weighted mean of the cells' own ends, each as far as that cell moves with the mean: one cell
        has its own interval, and copies of a cell have its interval, too. Cells of two to five clusters enter it;
        what counts is that there are six in all.

        Returns:
            The ends; None below six clusters in all, and where a cell has a single one or no spread that could be seen.
        """
        if len(self.clusters) < FEWEST_CLUSTERS:
            return None
        tail, freedom = (1 - confidence) / 2, self.freedom
        ends = [cell.interval_ends(freedom, tail) for cell in self.cells]
        if None in ends:
            return None
        values = np.array([cell.value for cell in self.cells])
        ends_of_cells = np.array(ends, dtype=np.float64)
        combined = [0.0, 0.0]
        for side in (0, 1):  # the lower end, the upper end
            reaches = self.weights * np.abs(values - ends_of_cells[:, side])
            covariances = self.correlations @ reaches
            variance = max(float(reaches @ covariances), 0.0)
            # How far each cell moves with the mean, as a part of its own reach; below 0 it moves the other way.
            ratios = np.clip(covariances / variance**0.5, -1.0, 1.0) if variance > 0 else np.zeros(len(reaches))
            moved_ends: list[float] = []
            for cell, ratio in zip(self.cells, ratios.tolist(), strict=True):
                interval = cell.interval_ends(freedom, tail, abs(ratio)) or (cell.value, cell.value)
                moved_ends.append(interval[side if ratio >= 0 else 1 - side])
            combined[side] = float(self.weights @ moved_ends)
        return min(combined[0], self.value), max(combined[1], self.value)


class DifferenceTest(NamedTuple):
    """A two-sided test of paired values.

    Attributes:
        p: The two-sided p value.
        method: "mcnemar", or "t" for the test that belongs to the interval.
        least_p: The least p value that was possible: with McNemar's test, where all pairs that differ do so in one
            direction, and otherwise that of a sign test where all clusters do.
    """

    p: float
    method: str
    least_p: float


class Difference:
    """The difference of two models: the weighted mean of cells of differences at common items.

    Test and interval come from the same numbers, so they agree: an interval contains 0 where, and only where, the p
    value is not below its level.

    **Values between two bounds.** With delta = (L + 1) / 2, L being the difference in units of the range, the interval
    is Wilson's of delta, with the variance and the degrees of freedom of the weighted mean, and the test is the score
    test of delta = 1 / 2 that belongs to it. The variance allows for differences at the bounds that did not occur: a
    value at a bound in some clusters says that it can be there in others. Where no value is at a bound, nothing says
    so, and rare extreme values that did not occur are in neither (`omits_rare_extremes`).

    Where every cluster of both models is at a bound, and all weigh the same, the test is McNemar's with the mid-p value
    (Fagerland, Lydersen and Laake, BMC Medical Research Methodology 13, 2013, 91), and the interval is moved to agree.

    **Values without two bounds**, or beyond them. Student's t.

    P values are at least 2 ^ (1 - G), the least of a sign test of G clusters; those of McNemar's test only where that
    is above 5 %, so that fewer than six clusters show no difference.

    Args:
        first: The cells of the one model.
        second: Those of the other, with the same clusters, sizes and bounds.
        weights: The weight of each cell, 0 or more; they sum to 1.
    """

    def __init__(self, first: Sequence[Cell], second: Sequence[Cell], weights: Sequence[float]) -> None:
        self._first, self._second, self._weights = list(first), list(second), list(weights)
        self.value = float(
            np.dot(self._weights, [one.value - other.value for one, other in zip(first, second, strict=True)])
        )
        self._bounded = all(_is_between_bounds(cell) for cell in (*first, *second))
        scaled_weights = np.asarray(weights, dtype=np.float64)
        if self._bounded:
            scaled_weights = scaled_weights * [(cell.high or 0.0) - (cell.low or 0.0) for cell in first]
            first, second = [cell.unit_scaled for cell in first], [cell.unit_scaled for cell in second]
        self._scale = float(scaled_weights.sum())
        cells = [
            Cell(one.clusters, one.totals - other.totals_of(one.clusters), one.sizes, None, None, one.n)
            for one, other in zip(first, second, strict=True)
        ]
        self._mean = Functional(cells, (scaled_weights / self._scale).tolist())
        self.groups = len(self._mean.clusters)
        self._sides = [self._mean.cluster_means(side) for side in (first, second)] if self._bounded else []
        # Smaller differences are rounding; without bounds, in comparison with the values themselves.
        largest = max(float(np.abs(cell.totals / cell.sizes.sum()).max()) for cell in (*first, *second))
        self._tiny = ALIKE if self._bounded else ALIKE * min(1.0, largest)

    @classmethod
    def from_values(
        cls,
        first: Sequence[float],
        second: Sequence[float],
        clusters: Sequence[Hashable],
        low: float | None = None,
        high: float | None = None,
    ) -> "Difference":
        """Return the difference of the means of two models' values, the first minus the second.

        Args:
            first: The first model's values, at least one.
            second: The second model's, in the same order.
            clusters: The cluster of each pair.
            low: The least value possible; None if unbounded.
            high: The greatest value possible; None if unbounded.

        Raises:
            ValueError: If there are not as many values and clusters, or none.
        """
        first_cell, second_cell = (Cell.from_values(values, clusters, low, high) for values in (first, second))
        return cls([first_cell], [second_cell], [1.0])

    @property
    def swapped(self) -> "Difference":
        """The second model minus the first."""
        return Difference(self._second, self._first, self._weights)

    @property
    def range(self) -> float | None:
        """The greatest difference possible; None without two bounds."""
        return self._scale if self._bounded else None

    @cached_property
    def _is_binary(self) -> bool:
        """Whether every cluster of both models is at a bound, and all have the same weight."""
        weights = self._mean.weight_by_cluster
        return (
            bool(self._sides)
            and all(_is_at_bound(side).all() for side in self._sides)
            and float(np.ptp(weights)) <= ALIKE
        )

    @cached_property
    def _weight_at_bound(self) -> float:
        """The total weight of clusters in which either model's value is at a bound."""
        is_at_bound = _is_at_bound(self._sides[0]) | _is_at_bound(self._sides[1])
        return float(self._mean.weight_by_cluster[is_at_bound].sum())

    @property
    def omits_rare_extremes(self) -> bool:
        """Whether values at the bounds may exist that did not occur: then the test does not allow for them.

        That is where no cluster is at a bound, and there are fewer than 50, so that one at a bound would move the mean.
        """
        return self._bounded and self.groups < _MANY_CLUSTERS and self._weight_at_bound == 0

    @property
    def _delta(self) -> float:
        """The difference scaled to 0 (the least possible) to 1 (the greatest possible)."""
        return min(1.0, max(0.0, (self._mean.value + 1) / 2))

    @cached_property
    def _variance(self) -> float:
        """The variance of delta, raised for unseen values; without bounds, the variance of the difference."""
        if not self._bounded:
            return self._mean.variance
        delta, variance, weight_at_bound = self._delta, self._mean.variance / 4, self._weight_at_bound
        if any((side <= ALIKE).all() or (side >= 1 - ALIKE).all() for side in self._sides):
            weight_at_bound *= 2  # the values of that model say nothing of how others would differ
        added = weight_at_bound / 2 * (delta**2 + (1 - delta) ** 2) * self._mean.greatest_even_weight**2
        greatest = delta * (1 - delta) * float(np.square(self._mean.weight_by_cluster).sum())  # all at the bounds
        return max(variance, min(variance + added, greatest))

    @cached_property
    def test(self) -> DifferenceTest:
        """The test of whether the difference is 0."""
        least = 2.0 ** (1 - self.groups)
        if self._is_binary:
            won, lost = (int((sign * (self._sides[0] - self._sides[1]) > 0.5).sum()) for sign in (1, -1))
            fewest = least if least >= ALPHA else 0.0
            return DifferenceTest(max(fewest, mcnemar_mid_p(won, lost)), "mcnemar", max(fewest, 2.0 ** -(won + lost)))
        if self.groups < 2 or abs(self._mean.value) <= self._tiny:
            return DifferenceTest(1.0, "t", least)
        if self._variance <= self._tiny**2:
            return DifferenceTest(least, "t", least)
        return DifferenceTest(max(least, 2 * t_tail(self._statistic, self._mean.freedom)), "t", least)

    @property
    def _statistic(self) -> float:
        """The absolute value of the statistic that is compared with Student's t."""
        if self._bounded:
            return abs(self._delta - 0.5) * (4 * (self._effective_trials or 0.0)) ** 0.5
        return abs(self._mean.value) / self._variance**0.5

    @property
    def _effective_trials(self) -> float | None:
        """Number of independent trials that give delta this variance; None if it has no variance.

        Where all differences are the greatest possible, the limit: the effective number of clusters.
        """
        delta = self._delta
        if delta <= ALIKE or delta >= 1 - ALIKE:
            return 1 / float(np.square(self._mean.weight_by_cluster).sum())
        return delta * (1 - delta) / self._variance if self._variance > self._tiny**2 else None

    def interval(self, confidence: float = CONFIDENCE) -> tuple[float, float] | None:
        """Return the ends of the confidence interval; None for one cluster, and where all differences are the same."""
        if self.groups < 2:
            return None
        value, quantile = self._mean.value, t_quantile((1 - confidence) / 2, self._mean.freedom)
        if self._bounded:
            trials = self._effective_trials
            if trials is None:
                return None
            low, high = wilson_interval(self._delta, trials, quantile, -1.0, 1.0)
        else:
            if self._variance <= self._tiny**2:
                return None
            low, high = value - quantile * self._variance**0.5, value + quantile * self._variance**0.5
        # The interval contains 0 where, and only where, the test shows no difference, also with McNemar's test.
        if self.test.p >= 1 - confidence:
            low, high = min(low, 0.0), max(high, 0.0)
        elif low <= 0 <= high:
            low, high = (self._tiny, high) if value > 0 else (low, -self._tiny)
        return min(low * self._scale, self.value), max(high * self._scale, self.value)

    def mean(self, confidence: float = CONFIDENCE) -> IntervalEstimate:
        """Return the difference with its interval, without ends where they are not known."""
        low, high = self.interval(confidence) or (None, None)
        return IntervalEstimate(self.value, low, high, sum(cell.n for cell in self._first), self.groups)


def _is_between_bounds(cell: Cell) -> bool:
    """Return whether a cell has two bounds, and all clusters are within them.

    Not so where items have ranges of their own: the bounds of a normalised score are then those of their mean.
    """
    if cell.low is None or cell.high is None or cell.low >= cell.high:
        return False
    totals = cell.unit_scaled.totals
    return bool((totals >= -ALIKE * cell.sizes).all() and (totals <= (1 + ALIKE) * cell.sizes).all())


def _is_at_bound(values: Numbers) -> NDArray[np.bool_]:
    """Return which values are 0 or 1."""
    return (np.abs(values) <= ALIKE) | (np.abs(values - 1) <= ALIKE)
