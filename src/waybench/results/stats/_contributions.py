"""Cells of results as contributions of independent clusters, and what is computed from them: means and differences.

A *cell* is one model's values in one task with its settings. Every number of several cells is a weighted mean of them,
so its error is one sum over the clusters (maps, instances). A cluster that cells share, because two tasks ask about the
same map or two wordings give the same item, is one cluster in the sum.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from waybench.results.stats._cells import ALIKE, Cell, wilson
from waybench.results.stats._intervals import CONFIDENCE, FEWEST_CLUSTERS, Numbers, holm, mid_p, t_quantile, t_tail


class Functional:
    """A weighted mean of cells.

    Args:
        cells: The cells, at least one.
        weights: The weight of each, 0 or more; they sum to 1.
    """

    def __init__(self, cells: Sequence[Cell], weights: Sequence[float]) -> None:
        """See the class."""
        self.cells, self.weights = list(cells), np.asarray(weights, dtype=np.float64)
        self.clusters = sorted({name for cell in cells for name in cell.clusters}, key=repr)
        position = {name: index for index, name in enumerate(self.clusters)}
        self._where = [np.array([position[name] for name in cell.clusters], dtype=np.intp) for cell in cells]

    def _table(self, rows: Sequence[Numbers]) -> Numbers:
        """Return a matrix of cells by clusters, 0 where a cell has no such cluster."""
        table = np.zeros((len(self.cells), len(self.clusters)))
        for number, (where, row) in enumerate(zip(self._where, rows, strict=True)):
            table[number, where] = row
        return table

    @cached_property
    def value(self) -> float:
        """The weighted mean."""
        return float(np.dot(self.weights, [cell.value for cell in self.cells]))

    @cached_property
    def contributions(self) -> Numbers:
        """The CR2-adjusted residual of each cluster in each cell, cells by clusters."""
        return self._table([cell.residuals for cell in self.cells])

    @cached_property
    def shares(self) -> Numbers:
        """Each cluster's share of each cell."""
        return self._table([cell.shares for cell in self.cells])

    @cached_property
    def weight_by_cluster(self) -> Numbers:
        """The weight of each cluster in the weighted mean; they sum to 1."""
        return self.weights @ self.shares

    def by_cluster(self, cells: Sequence[Cell]) -> Numbers:
        """Return the weighted mean of each cluster alone in other cells; not a number where it has no size.

        Args:
            cells: Cells with the clusters and sizes of these.
        """
        pairs = zip(self.cells, cells, strict=True)
        totals = [other.totals_of(cell.clusters) / cell.sizes.sum() for cell, other in pairs]
        means = self.weights @ self._table(totals)
        unknown = np.full(len(means), np.nan)
        return np.divide(means, self.weight_by_cluster, out=unknown, where=self.weight_by_cluster > 0)

    @cached_property
    def weight_of_one(self) -> float:
        """The greatest weight of a cluster, had each cell clusters of one size."""
        even = self._table([np.full(len(cell.totals), 1 / len(cell.totals)) for cell in self.cells])
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
        roots = self._table([np.sqrt(cell.sizes) / cell.sizes.sum() for cell in self.cells])
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
        """Correlations of the cells: from shared clusters, and where a cell has no spread from their overlap."""
        products = self.contributions @ self.contributions.T
        overlap = self.shares @ self.shares.T
        spread, norm = np.sqrt(np.diag(products)), np.sqrt(np.diag(overlap))
        known = spread > ALIKE
        both = known[:, None] & known[None, :]
        safe = np.where(known, spread, 1.0)
        return np.where(both, products / np.outer(safe, safe), overlap / np.outer(norm, norm))

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
        ends = [cell.limits(freedom, tail) for cell in self.cells]
        if None in ends:
            return None
        values = np.array([cell.value for cell in self.cells])
        limits = np.array(ends, dtype=np.float64)
        combined = [0.0, 0.0]
        for side in (0, 1):
            reach = self.weights * np.abs(values - limits[:, side])
            moved = self.correlations @ reach
            square = max(float(reach @ moved), 0.0)
            ratios = np.clip(moved / square**0.5, -1.0, 1.0) if square > 0 else np.zeros(len(reach))
            moved_ends = [
                (cell.limits(freedom, tail, abs(ratio)) or (cell.value, cell.value))[side if ratio >= 0 else 1 - side]
                for cell, ratio in zip(self.cells, ratios.tolist(), strict=True)
            ]
            combined[side] = float(self.weights @ moved_ends)
        return min(combined[0], self.value), max(combined[1], self.value)


class DifferenceTest(NamedTuple):
    """A two-sided test of paired values.

    Attributes:
        p: The two-sided p value.
        method: "mcnemar", or "t" for the test that belongs to the interval.
    """

    p: float
    method: str


class Difference:
    """The difference of two models: the weighted mean of cells of differences at common items.

    Test and interval come from the same numbers, so they agree: an interval contains 0 where, and only where, the p
    value is not below its level.

    **Values between two bounds.** With delta = (L + 1) / 2, L being the difference in units of the range, the interval
    is Wilson's of delta, with the variance and the degrees of freedom of the weighted mean, and the test is the score
    test of delta = 1 / 2 that belongs to it. The variance allows for differences at the bounds that did not occur: a
    value at a bound in some clusters says that it can be there in others. Where no value is at a bound, nothing says
    so, and rare extreme values that did not occur are in neither.

    Where every cluster of both models is at a bound, and all weigh the same, the test is McNemar's with the mid-p value
    (Fagerland, Lydersen and Laake, BMC Medical Research Methodology 13, 2013, 91), and the interval is moved to agree.

    **Values without two bounds.** Student's t.

    Other p values are at least 2 ^ (1 - G), the least of a sign test of G clusters.

    Args:
        first: The cells of the one model.
        second: Those of the other, with the same clusters, sizes and bounds.
        weights: The weight of each cell, 0 or more; they sum to 1.
    """

    def __init__(self, first: Sequence[Cell], second: Sequence[Cell], weights: Sequence[float]) -> None:
        """See the class."""
        self._bounded = all(cell.low is not None and cell.high is not None for cell in first)
        shares = np.asarray(weights, dtype=np.float64)
        if self._bounded:
            shares = shares * [(cell.high or 0.0) - (cell.low or 0.0) for cell in first]
            first, second = [cell.unit for cell in first], [cell.unit for cell in second]
        self._scale = float(shares.sum())
        cells = [
            Cell(one.clusters, one.totals - other.totals_of(one.clusters), one.sizes, None, None, one.n)
            for one, other in zip(first, second, strict=True)
        ]
        self._mean = Functional(cells, (shares / self._scale).tolist())
        self.groups = len(self._mean.clusters)
        self._sides = [self._mean.by_cluster(side) for side in (first, second)] if self._bounded else []

    @property
    def value(self) -> float:
        """The difference, in the cells' units."""
        return self._mean.value * self._scale

    @cached_property
    def _is_binary(self) -> bool:
        """Whether every cluster of both is at a bound, and all weigh the same."""
        weights = self._mean.weight_by_cluster
        return (
            bool(self._sides) and all(_at_bound(side).all() for side in self._sides) and float(np.ptp(weights)) <= ALIKE
        )

    @cached_property
    def _variance(self) -> float:
        """The variance of delta, with what was not seen; without bounds that of the difference."""
        if not self._bounded:
            return self._mean.variance
        weights, delta = self._mean.weight_by_cluster, (self._mean.value + 1) / 2
        variance = self._mean.variance / 4
        unseen = float(weights[_at_bound(self._sides[0]) | _at_bound(self._sides[1])].sum())
        if any((side <= ALIKE).all() or (side >= 1 - ALIKE).all() for side in self._sides):
            unseen *= 2
        added = unseen / 2 * (delta**2 + (1 - delta) ** 2) * self._mean.weight_of_one**2
        return max(variance, min(variance + added, delta * (1 - delta) * float(np.square(weights).sum())))

    @cached_property
    def test(self) -> DifferenceTest:
        """The test of whether the difference is 0."""
        if self._is_binary:
            won, lost = (int((sign * (self._sides[0] - self._sides[1]) > 0.5).sum()) for sign in (1, -1))
            return DifferenceTest(mid_p(won, lost), "mcnemar")
        least = 2.0 ** (1 - self.groups)
        if self.groups < 2 or abs(self._mean.value) <= ALIKE:
            return DifferenceTest(1.0, "t")
        if self._variance <= ALIKE**2:
            return DifferenceTest(least, "t")
        return DifferenceTest(max(least, 2 * t_tail(self._statistic, self._mean.freedom)), "t")

    @property
    def _statistic(self) -> float:
        value, variance = self._mean.value, self._variance
        if not self._bounded:
            return abs(value) / variance**0.5
        delta = (value + 1) / 2
        return abs(delta - 0.5) * (4 * delta * (1 - delta) / variance) ** 0.5

    def interval(self, confidence: float = CONFIDENCE) -> tuple[float, float] | None:
        """Return the ends of the confidence interval; None for one cluster, and where all differences are the same."""
        value, variance = self._mean.value, self._variance
        if self.groups < 2 or variance <= ALIKE**2:
            return None
        quantile = t_quantile((1 - confidence) / 2, self._mean.freedom)
        if self._bounded:
            delta = (value + 1) / 2
            low, high = wilson(delta, delta * (1 - delta) / variance, quantile, -1.0, 1.0)
        else:
            low, high = value - quantile * variance**0.5, value + quantile * variance**0.5
        low, high = min(low, value), max(high, value)
        if self.test.p >= 1 - confidence:
            low, high = min(low, 0.0), max(high, 0.0)
        elif low <= 0 <= high:
            low, high = (0.0, high) if value > 0 else (low, 0.0)
        return low * self._scale, high * self._scale


def adjusted_p_values(differences: Sequence[Difference | None]) -> list[float]:
    """Return the p values of differences, adjusted by Holm's procedure over all of them; 1 where there is none."""
    return holm([1.0 if difference is None else difference.test.p for difference in differences])


def _at_bound(values: Numbers) -> NDArray[np.bool_]:
    return (np.abs(values) <= ALIKE) | (np.abs(values - 1) <= ALIKE)
