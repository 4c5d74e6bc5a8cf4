"""Reports with many models: how often equal ones are told apart."""

from itertools import combinations

import numpy as np
import pytest

from tests.analysis.test_contrasts import made
from waybench.results.comparisons._models import compare_pairs
from waybench.results.stats._verdicts import Verdict

BETTER = (Verdict.FIRST, Verdict.SECOND)


def shows_a_better_one(rng: np.random.Generator, models: int, items: int) -> bool:
    """Whether a report on equal models, to whom the same items are hard, shows one as better."""
    rates = rng.beta(2, 2, items)
    scores = [made((rng.random(items) < rates).astype(float).tolist(), f"m{number}") for number in range(models)]
    return any(one.verdict in BETTER for one in compare_pairs(combinations(scores, 2)))


@pytest.mark.slow
def test_of_twelve_equal_models_seldom_one_is_shown_as_better() -> None:
    rng, reports = np.random.default_rng([21, 5]), 60
    assert sum(shows_a_better_one(rng, 12, 60) for _ in range(reports)) <= 0.06 * reports


def test_reference_players_are_adjusted_by_themselves() -> None:
    good, bad = [1.0] * 12, [0.0] * 12
    scores = [made(good, "a"), made(bad, "b"), made(good, "waybench/oracle"), made(bad, "waybench/null")]
    found = compare_pairs(combinations(scores, 2))
    # Players that solve the same items differ at none: these two of the five could show nothing.
    assert [one.family_size for one in found] == [1, 3, 3, 3, 3, 3]
    assert [one.adjusted_p is None for one in found] == [False, True, False, False, True, False]
