"""Means and differences of cells that share clusters."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from waybench.results.stats import clustered_mean
from waybench.results.stats._cells import Cell
from waybench.results.stats._contributions import Difference, Functional
from waybench.results.stats._intervals import mcnemar_mid_p


def cell(values: np.ndarray, clusters: list[object] | None = None) -> Cell:
    flat = np.asarray(values, dtype=float).ravel().tolist()
    return Cell.from_values(flat, list(range(len(flat))) if clusters is None else clusters, 0, 1)


def some_cells(rng: np.random.Generator, count: int) -> list[Cell]:
    """Return cells of 0 to 1 that share some of 12 clusters, of several kinds of values."""
    cells: list[Cell] = []
    for kind in range(count):
        groups = rng.integers(2, 12)
        clusters = (rng.permutation(12)[:groups])[rng.integers(0, groups, 30)].tolist()
        values = [rng.random(30), (rng.random(30) < 0.8).astype(float), np.round(3 * rng.random(30)) / 3][kind % 3]
        cells.append(cell(values, clusters))
    return cells


def test_one_cell_has_the_interval_of_its_own_mean() -> None:
    rng = np.random.default_rng(3)
    for one in some_cells(rng, 60):
        alone = Functional([one], [1.0])
        values = (one.totals / one.sizes).repeat(one.sizes.astype(int)).tolist()
        clusters = [name for name, size in zip(one.clusters, one.sizes, strict=True) for _ in range(int(size))]
        mean = clustered_mean(values, clusters, 0, 1)
        assert mean is not None
        if len(one.clusters) < 6:
            assert alone.interval() is None and mean.low is None
            continue
        assert alone.interval() == pytest.approx((mean.low, mean.high), abs=1e-12)


def test_copies_of_a_cell_change_nothing() -> None:
    rng = np.random.default_rng(4)
    for one in [*some_cells(rng, 30), cell(np.ones(7))]:
        copies = Functional([one] * 4, [0.1, 0.2, 0.3, 0.4])
        assert copies.interval() == pytest.approx(Functional([one], [1.0]).interval(), abs=1e-12)
        assert copies.freedom == pytest.approx(Functional([one], [1.0]).freedom)


def test_the_order_of_values_changes_no_bit() -> None:
    rng = np.random.default_rng(5)
    values, clusters = rng.random(40), rng.integers(0, 9, 40)
    order = rng.permutation(40)
    first, second = (
        Functional([cell(values[index], clusters[index].tolist()), cell(values[index] ** 2)], [0.5, 0.5])
        for index in (np.arange(40), np.arange(40))
    )
    shuffled = Functional(
        [cell(values[order], clusters[order].tolist()), cell(values[order] ** 2, order.tolist())], [0.5, 0.5]
    )
    assert first.interval() == second.interval() == shuffled.interval()


def test_degrees_of_freedom_are_those_of_the_whole_matrix() -> None:
    """Satterthwaite's by the definition: B is the covariance's quadratic form in independent values."""
    rng = np.random.default_rng(6)
    for _ in range(20):
        cells, weights = some_cells(rng, 4), rng.dirichlet(np.ones(4))
        functional = Functional(cells, weights.tolist())
        count = len(functional.clusters)
        # Row g: how the weighted residual of cluster g depends on the values of independent clusters of unit variance.
        matrix = np.zeros((count, count))
        for one, weight in zip(cells, weights, strict=True):
            where = [functional.clusters.index(name) for name in one.clusters]
            whole = one.sizes.sum()
            scale = 1 / np.sqrt(1 - one.shares)
            roots = np.sqrt(one.sizes)
            residual = np.diag(roots) - np.outer(one.sizes, roots) / whole
            matrix[np.ix_(where, where)] += weight * (scale / whole)[:, None] * residual
        form = matrix @ matrix.T
        assert functional.freedom == pytest.approx(max(1.0, np.trace(form) ** 2 / np.trace(form @ form)))


def covered(make: Callable[[], tuple[list[Cell], list[float]]], truth: float, runs: int) -> float:
    ends = [Functional(*make()).interval() for _ in range(runs)]
    known = [end for end in ends if end]
    return sum(low - 1e-12 <= truth <= high + 1e-12 for low, high in known) / len(known)


@pytest.mark.parametrize(("maps", "tasks"), [(10, 2), (30, 3)])
def test_two_tasks_on_the_same_maps_are_no_more_maps(maps: int, tasks: int) -> None:
    rng = np.random.default_rng(7)
    log_odds = rng.normal(size=200_000)
    truth = float((1 / (1 + np.exp(-log_odds - 0.5))).mean())
    owners: list[object] = np.repeat(np.arange(maps), 10).tolist()

    def make() -> tuple[list[Cell], list[float]]:
        rates = 1 / (1 + np.exp(-rng.normal(size=maps) - 0.5))
        return [cell(rng.random((maps, 10)) < rates[:, None], owners) for _ in range(tasks)], [1 / tasks] * tasks

    assert 0.92 < covered(make, truth, 400) < 0.985


def test_tasks_with_items_of_their_own_are_independent() -> None:
    rng = np.random.default_rng(8)

    def make() -> tuple[list[Cell], list[float]]:
        return [cell(rng.random(20) < 0.6, [(task, n) for n in range(20)]) for task in range(6)], [1 / 6] * 6

    assert 0.92 < covered(make, 0.6, 400) < 0.985


def test_mid_p_counts_half_of_what_was_seen() -> None:
    for won, lost in itertools.product(range(8), range(8)):
        least, pairs = min(won, lost), won + lost
        seen = stats.binom.pmf(least, pairs, 0.5)
        expected = min(1.0, 2 * (stats.binom.cdf(least, pairs, 0.5) - seen) + seen)
        assert mcnemar_mid_p(won, lost) == pytest.approx(expected)


def difference(first: np.ndarray, second: np.ndarray, clusters: list[object] | None = None) -> Difference:
    return Difference([cell(first, clusters)], [cell(second, clusters)], [1.0])


def test_the_test_and_the_interval_agree() -> None:
    rng = np.random.default_rng(9)
    for number in range(300):
        size = int(rng.integers(2, 40))
        clusters: list[object] | None = rng.integers(0, 8, size).tolist() if number % 2 else None
        kinds = [rng.random(size), (rng.random(size) < 0.7).astype(float), np.clip(rng.normal(0.8, 0.3, size), 0, 1)]
        pair = difference(kinds[number % 3], kinds[(number + number // 3) % 3] * (rng.random(size) < 0.9), clusters)
        ends = pair.interval()
        if ends is not None:
            assert (ends[0] <= 0 <= ends[1]) == (pair.test.p >= 0.05)
            assert ends[0] <= pair.value <= ends[1]


@pytest.mark.parametrize("items", [10, 20, 50])
def test_equal_players_are_seldom_apart(items: int) -> None:
    """Graded scores with noise, and one player of 0 or 1 against a steady one of the same mean."""
    rng = np.random.default_rng(10)
    base = rng.uniform(0.2, 0.8, (400, items))
    noisy = [difference(np.clip(row + rng.normal(0, 0.1, items), 0, 1), row).test.p < 0.05 for row in base]
    steady = [difference(rng.random(items) < 0.2, np.full(items, 0.2)).test.p < 0.05 for _ in range(400)]
    assert np.mean(noisy) < 0.09
    assert np.mean(steady) < 0.09


def test_a_small_steady_difference_is_found() -> None:
    rng = np.random.default_rng(11)
    found = [
        difference(np.clip(row + 0.1 + rng.normal(0, 0.1, 20), 0, 1), row).test.p < 0.05
        for row in rng.uniform(0.2, 0.8, (300, 20))
    ]
    assert np.mean(found) > 0.8


def test_copies_of_a_pair_change_nothing() -> None:
    rng = np.random.default_rng(12)
    first, second = cell(rng.random(15)), cell(rng.random(15))
    one, four = Difference([first], [second], [1.0]), Difference([first] * 4, [second] * 4, [0.25] * 4)
    assert four.test.p == pytest.approx(one.test.p)
    assert four.interval() == pytest.approx(one.interval())
