"""Page's test: against scipy where there are no ties, by hand with ties, and its level when nothing differs."""

import numpy as np
import pytest
from scipy.stats import page_trend_test

from waybench.results.stats._verdicts import trend_test


@pytest.mark.parametrize(("blocks", "treatments"), [(6, 3), (9, 4), (20, 6)])
def test_without_ties_it_is_scipy_s(blocks: int, treatments: int) -> None:
    rng = np.random.default_rng(blocks)
    values = rng.normal(size=(blocks, treatments)) + 0.2 * np.arange(treatments)
    found = trend_test(values.tolist(), [float(10**size) for size in range(treatments)])
    one_sided = page_trend_test(values, method="asymptotic").pvalue
    assert found.test.p == pytest.approx(2 * min(one_sided, 1 - one_sided))
    assert (found.statistic > 0) == (one_sided < 0.5)


def test_ties_by_hand() -> None:
    """Six blocks 0, 0, 1 of three models have centred ranks -1/2, -1/2, 1: L is 1.5 in each, its variance 1.5."""
    found = trend_test([[0, 0, 1]] * 6, [1, 7, 70])
    assert found.statistic == pytest.approx(6 * 1.5 / (6 * 1.5) ** 0.5)
    assert found.test.least_p == pytest.approx(found.test.p)  # all blocks rise as far as their ties allow
    assert trend_test([[1, 0, 0]] * 6, [1, 7, 70]).statistic == pytest.approx(-found.statistic)
    assert trend_test([[0, 0, 1]] * 6, [70, 7, 1]).statistic == pytest.approx(-found.statistic)


def test_nothing_to_rank_and_few_blocks_show_nothing() -> None:
    assert trend_test([[1, 1, 1]] * 20, [1, 2, 3]).test.least_p == 1
    assert trend_test([[0, 1, 2]] * 5, [1, 2, 3]).test.least_p == 1


def test_its_level_where_models_are_equal() -> None:
    """Solved or not at 12 items, as hard as they may be: about one p value in twenty is below 5 %."""
    rng = np.random.default_rng(7)
    chances = rng.beta(0.7, 0.7, size=(600, 12, 1))
    solved = rng.random((600, 12, 4)) < chances
    shown = sum(trend_test(sample.astype(float).tolist(), [1, 3, 7, 70]).test.p < 0.05 for sample in solved)
    assert 0.02 < shown / 600 < 0.075
