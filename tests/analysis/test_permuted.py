"""Permutation tests against p values that are counted by hand, and by other ways of counting."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from waybench.stats._permuted import sign_flipped
from waybench.stats._statsmodels import holm


def counted(differences: list[float]) -> float:
    """Return the p value by going through all signs."""
    sums = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    return sum(each >= abs(sum(differences)) - 1e-9 for each in sums) / len(sums)


@pytest.mark.parametrize(
    "differences", [[1.0, 2, 3], [1.0, -1, 2, 5], [0.0, 0, 3, 1, -2], [5.0] * 8, [1.5, -0.5, 2, 2, -1, 3, 0.25]]
)
def test_exact_at_small_n(differences: list[float]) -> None:
    assert sign_flipped(differences, range(len(differences))) == pytest.approx(counted(differences))


def test_darwins_maize() -> None:
    # Fisher, The Design of Experiments, section 21: heights of crossed less self-fertilised plants, in eighths of an
    # inch. Of 32,768 ways to choose signs 1,726 (twice 863) have a sum as far from 0 as 314.
    heights = [49.0, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    assert counted(heights) == 1726 / 32768
    assert sign_flipped(heights, range(15)) == pytest.approx(1726 / 32768)


def test_what_was_drawn_together_is_flipped_together() -> None:
    differences, maps = [1.0, 1, 1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1, 1, 1]
    assert sign_flipped(differences, range(8)) == pytest.approx(2 / 256)
    assert sign_flipped(differences, maps) == pytest.approx(2 / 4)
    assert sign_flipped(differences, [0] * 8) == 1.0


def test_no_difference_is_no_evidence() -> None:
    assert sign_flipped([], []) == 1.0
    assert sign_flipped([0.0, 0.0], "ab") == 1.0
    assert sign_flipped([0.0, 7.0], "ab") == 1.0
    with pytest.raises(ValueError, match="zip"):
        sign_flipped([1.0], [])


def test_p_values_are_uniform_where_signs_are_tossed() -> None:
    rng = np.random.default_rng(4)
    found = [sign_flipped(list(rng.normal(size=10) ** 3), range(10)) for _ in range(400)]
    assert stats.kstest(found, "uniform").pvalue > 0.01
    assert 0.02 < np.mean([p < 0.05 for p in found]) < 0.08


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []
