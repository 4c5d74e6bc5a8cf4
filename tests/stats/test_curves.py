"""Curves of success against difficulty: sums over all of them."""

import numpy as np
import pytest

from waybench.stats import Shape
from waybench.stats._curves import Curves


@pytest.mark.parametrize("shape", [Shape(), Shape(guess=0.25, lapse={0.02: 1.0}), Shape(links=("normal",), log=False)])
def test_sums_are_those_of_the_rates(shape: Shape) -> None:
    curves, rng = Curves(shape, 5, 101), np.random.default_rng(1)
    for at in (np.array([5.0, 21.0, 101.0]), np.array([9.0, 49.0, 57.0]), np.array([7.0])):
        weights = rng.random((2, len(curves.middle))) - 0.2
        assert curves.sums(at, weights) == pytest.approx(weights @ curves.rates(at), rel=1e-9, abs=1e-9)


def test_where_a_share_is_reached_is_worked_out_once_and_stays() -> None:
    curves = Curves(Shape(), 5, 101)
    first = curves.reaches(0.5)
    assert first.tolist() == Curves(Shape(), 5, 101).reaches(0.5).tolist()
    assert curves.reaches(0.5) is first
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 0.0
    assert curves.reaches(0.9).tolist() != first.tolist()
