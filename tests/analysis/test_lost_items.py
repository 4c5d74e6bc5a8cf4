"""Items that infrastructure errors lost: verdicts hold whatever their scores were, or they depend on them."""

from dataclasses import replace

import numpy as np
import pytest

from tests.analysis.test_contrasts import made
from waybench.results.comparisons import ItemScores
from waybench.results.comparisons._comparison import Comparison
from waybench.results.comparisons._models import compare_sides
from waybench.results.stats._verdicts import Verdict


def lose(scores: ItemScores, numbers: set[int]) -> ItemScores:
    keys = sorted(scores.values)
    lost = {keys[number] for number in numbers}
    kept = {key: value for key, value in scores.values.items() if key not in lost}
    return replace(scores, values=kept, missing=frozenset(lost))


def compared(first: ItemScores, second: ItemScores) -> Comparison:
    ((found,), _) = compare_sides([first], [second])
    return found


@pytest.mark.slow
def test_equal_models_are_not_told_apart_by_failures_that_were_lost() -> None:
    rng, told_apart, depends = np.random.default_rng([21, 6]), 0, 0
    for _ in range(60):
        rates = rng.beta(2, 2, 400)
        values = [(rng.random(400) < rates).astype(float) for _ in range(2)]
        lost = {number for number in range(400) if values[0][number] == 0 and rng.random() < 0.3}
        found = compared(lose(made(values[0].tolist(), "a"), lost), made(values[1].tolist(), "b"))
        told_apart += found.verdict in (Verdict.FIRST, Verdict.SECOND)
        depends += found.verdict is Verdict.DEPENDS
    assert told_apart == 0
    assert depends > 20, "without the bounds, these would be told apart"


def test_a_lost_item_does_not_change_what_many_others_show() -> None:
    good, bad = made([1.0] * 40, "a"), made([0.0] * 40, "b")
    assert compared(lose(good, {0}), bad).verdict is Verdict.FIRST
    assert compared(bad, lose(good, {0, 1})).verdict is Verdict.SECOND


def test_what_depends_says_so_and_is_turned_round() -> None:
    first, second = made([1.0] * 10 + [0.0] * 10, "a"), made([0.0] * 20, "b")
    assert compared(first, second).verdict is Verdict.FIRST
    found = compared(first, lose(second, set(range(10, 20))))
    assert found.verdict is Verdict.DEPENDS
    assert found.bounds == (Verdict.TOO_FEW, Verdict.FIRST)
    assert found.swapped.bounds == (Verdict.SECOND, Verdict.TOO_FEW)


def test_too_few_items_stay_too_few() -> None:
    first, second = made([1.0, 0.0, 1.0, 0.0, 1.0], "a"), made([0.0, 1.0, 0.0, 1.0, 0.0], "b")
    assert compared(lose(first, {0}), second).verdict is Verdict.TOO_FEW
