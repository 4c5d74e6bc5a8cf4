"""Families of tests, and the conclusion from a difference."""

import numpy as np
import pytest
from scipy import stats

from waybench.results.stats._contributions import Difference, DifferenceTest
from waybench.results.stats._verdicts import Verdict, adjust_p_values, conclude


def test(p: float, least: float) -> DifferenceTest:
    return DifferenceTest(p, "t", least)


test.__test__ = False  # pyright: ignore[reportFunctionMemberAccess]


def test_tests_that_could_show_nothing_leave_the_family() -> None:
    # Tarone: of 16 tests, 13 of five clusters have 1 / 16 at least. K = 3: three tests can reach 5 % / 3.
    small, large = [test(1 / 16, 1 / 16)] * 13, [test(p, 2.0**-19) for p in (0.01, 0.04, 0.02)]
    adjusted = adjust_p_values([*small[:6], *large, *small[6:]])
    assert [each.p for each in adjusted[6:9]] == pytest.approx([0.03, 0.04, 0.04])  # Holm over the three
    assert [each.p for each in (*adjusted[:6], *adjusted[9:])] == [None] * 13
    assert {each.family for each in adjusted} == {3}


def test_a_test_that_could_be_significant_alone_may_not_be_in_a_large_family() -> None:
    # 1 / 64 is below 5 % / 3 and above 5 % / 4: with three others that can reach anything it takes no part.
    large = [test(0.02, 1e-9)] * 3
    assert [each.p for each in adjust_p_values([*large[:2], test(1 / 64, 1 / 64)])] == pytest.approx([3 / 64] * 3)
    assert [each.p for each in adjust_p_values([*large, test(1 / 64, 1 / 64)])] == [*[pytest.approx(0.06)] * 3, None]


def test_families_of_one_and_of_none() -> None:
    assert adjust_p_values([]) == []
    assert adjust_p_values([test(0.03, 1 / 32)]) == [(0.03, 1)]
    assert adjust_p_values([test(1 / 16, 1 / 16)]) == [(None, 0)]


@pytest.mark.parametrize("few", [8, 40])
def test_of_equal_models_in_tests_of_many_sizes_seldom_one_is_shown(few: int) -> None:
    rng, runs, shown = np.random.default_rng([3, few]), 400, 0
    for _ in range(runs):
        sizes = [few] * 9 + [60] * 3
        sides = [(rng.random((2, size)) < 0.3).astype(float).tolist() for size in sizes]
        differences = [Difference.from_values(*side, list(range(len(side[0]))), 0, 1) for side in sides]
        shown += any(p is not None and p < 0.05 for p, _ in adjust_p_values([each.test for each in differences]))
    assert shown / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5


def test_the_least_p_value_of_mcnemars_test_is_that_of_pairs_that_differ() -> None:
    difference = Difference.from_values([1.0] * 4 + [0.0] * 20, [0.0] * 4 + [0.0] * 20, list(range(24)), 0, 1)
    # 4 pairs that differ in one direction: the probability of both extremes, half of which counts.
    assert difference.test.p == difference.test.least_p == pytest.approx(stats.binom.pmf(4, 4, 0.5))
    ((p, _),) = adjust_p_values([difference.test])
    assert p is None
    assert conclude(difference, p, 0.05) is Verdict.TOO_FEW


def test_a_tie_is_shown_where_no_difference_could_be() -> None:
    alike = Difference.from_values([1.0] * 60, [1.0] * 60, list(range(60)), 0, 1)
    assert adjust_p_values([alike.test]) == [(None, 0)]
    assert conclude(alike, None, 0.05) is Verdict.TIED
    assert conclude(alike, None, None) is Verdict.TOO_FEW
