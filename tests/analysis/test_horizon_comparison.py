"""Horizons of two models: over families, and searches whose items are not compared one by one."""

import math

import pytest

from waybench.results.horizons._text import HorizonComparison, ratio_over_families
from waybench.results.results import RunKey
from waybench.results.stats._horizon_ratios import HorizonRatio


def compared(env: str, value: float | None) -> HorizonComparison:
    group = RunKey(model="a", task=env, env=env, version=1, options=(), key="k")
    return HorizonComparison(first=group, second=group, axis="x", ratio=HorizonRatio(value, None, None, 0))


def test_families_are_the_clusters_of_a_ratio() -> None:
    found = [compared(env, value) for env, value in (("a/x", 2.0), ("a/y", 8.0), ("b/x", 2.0), ("c/x", 1.0))]
    over = ratio_over_families([*found, compared("d/x", None)])
    assert over is not None
    assert over.families == 3
    assert over.ratio == pytest.approx((4 * 2 * 1) ** (1 / 3))  # of the geometric mean in each family
    logs = [math.log(4), math.log(2), 0.0]
    mean = sum(logs) / 3
    error = math.sqrt(sum((each - mean) ** 2 for each in logs) / 2 / 3)
    assert math.log(over.high) == pytest.approx(mean + 2.9199856 * error)  # Student's t of two degrees of freedom
    assert ratio_over_families(found[:3]) is None, "two families are too few"
