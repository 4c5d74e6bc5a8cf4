"""Ranks and pairs: equal models are rarely apart, both say the same, and a third model changes nothing."""

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from tests.gate._bank import bank
from tests.gate._designs import (
    LEVEL,
    agreement,
    equal_at_one_task,
    equal_in_wordings,
    equal_on_ladders,
    equal_on_same_maps,
    is_apart,
    pairs_of_table,
    power_of_graded,
    ranks,
    ranks_of_pairs,
    third_models,
)
from tests.gate._rate import Rate
from tests.gate._tables import LADDER, Rng, at_one_task, graded, in_wordings, ladder, names, on_same_maps
from waybench.results import Row
from waybench.results.estimates import matrix

pytestmark = pytest.mark.slow
POWER = 0.75  # of a difference of .1 with noise of .1 at 20 items


@pytest.mark.parametrize(
    "simulate",
    [
        pytest.param(lambda: equal_at_one_task(runs=30), id="one task"),
        pytest.param(lambda: equal_in_wordings(runs=24), id="four wordings"),
        pytest.param(lambda: equal_on_same_maps(runs=18), id="two tasks on the same maps"),
        pytest.param(lambda: equal_on_ladders(runs=70), id="ladders"),
    ],
)
def test_equal_models_are_rarely_apart(simulate: Callable[[], Mapping[int, Rate]]) -> None:
    """Fails without Holm's procedure (one task, 6 and 12 models: .29 and .83 were apart).

    It also fails if pairs do not share clusters (wordings: .38 to .80; maps: .15 to .30), and if levels beyond a
    ladder's end are 0 in pairs (ladders: .18).
    """
    rates = simulate()
    assert all(rate.at_most(LEVEL) for rate in rates.values()), {count: str(rate) for count, rate in rates.items()}


ONE_TASK: dict[str, Callable[[Rng], list[Row]]] = {
    "solved or not": lambda rng: at_one_task(rng, names(4), 40, rng.uniform(0.2, 0.9, 4).tolist()),
    "all or nothing": lambda rng: at_one_task(rng, names(3), 10, [0.05, 0.95, 0.5]),
    "graded": lambda rng: graded(rng, names(4), 20, rng.uniform(0.45, 0.7, 4).tolist(), 0.1),
    "one wording": lambda rng: in_wordings(rng, names(4), 1, 20, 0.5, 0.5),
}


@pytest.mark.parametrize("table", ONE_TASK)
def test_ranks_agree_with_pairs(table: str) -> None:
    """Fails if ranks come from intervals of means, from p values that are not adjusted, or from another test."""
    rng = np.random.default_rng(len(table))
    result = agreement(lambda: ONE_TASK[table](rng), runs=30)
    assert result.agree.share == 1, str(result.agree)


SEVERAL_TASKS: dict[str, Callable[[Rng], list[Row]]] = {
    "wordings": lambda rng: [
        row
        for model, share in zip(names(4), (0.2, 0.5, 0.6, 0.9), strict=True)
        for row in in_wordings(rng, [model], 2, 20, share, 0.5)
    ],
    "same maps": lambda rng: [
        row
        for model, share in zip(names(4), (0.2, 0.5, 0.6, 0.9), strict=True)
        for row in on_same_maps(rng, [model], 12, 3, share, 0.3)
    ],
    "ladders": lambda rng: [
        row
        for model, middle in zip(names(4), (6, 9, 10, 20), strict=True)
        for row in ladder(rng, model, LADDER, 10, middle, 2)
    ],
}


@pytest.mark.parametrize("table", SEVERAL_TASKS)
def test_ranks_agree_with_the_pairs_of_their_table(table: str) -> None:
    """Fails if ranks come from intervals of means, or from p values that are not adjusted."""
    rng, shown = np.random.default_rng(len(table)), 0
    for _ in range(8):
        result = matrix(SEVERAL_TASKS[table](rng))
        assert ranks(result) == ranks_of_pairs(pairs_of_table(result))
        shown += is_apart(result)
    assert shown


def test_a_graded_difference_is_shown_by_ranks_and_verdicts_alike() -> None:
    """Fails if the variance of pairs is that of all-or-nothing scores, or if ranks are from intervals of means.

    The power by ranks was .00 and .33 then.
    """
    power = power_of_graded(runs=200)
    assert power.by_rank.at_least(POWER), str(power.by_rank)
    assert power.by_verdict.at_least(POWER), str(power.by_verdict)
    assert power.agree.share == 1, str(power.agree)


def test_levels_that_one_model_did_not_reach_are_in_no_pair() -> None:
    """Fails if levels beyond a ladder's end are 0 in pairs."""
    first, second, third = names(3)
    half, none = [0, 1] * 5, [0] * 10
    reached = {first: [half, half, none], second: [half, half, [1] + [0] * 9, half, half, half], third: [[1] * 10] * 6}
    rows = [
        row
        for model, by_level in reached.items()
        for level, results in zip(LADDER, by_level, strict=False)
        for row in bank("maze/alicia", level, 10).rows_of(model, results)
    ]
    assert ranks(matrix(rows)) == {third: (1, 1), first: (2, 3), second: (2, 3)}


def test_a_third_model_changes_no_order_of_two() -> None:
    """Fails if levels beyond a ladder's end count as 0 up to where another model went, not to where it may go."""
    changed = third_models(runs=80)
    assert changed.apart.share > 0.2, "hardly any two models differ, so the others show nothing"
    assert (changed.ranks.hits, changed.pairs.hits, changed.means.hits) == (0, 0, 0), changed
