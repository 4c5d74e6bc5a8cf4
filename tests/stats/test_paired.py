"""The paired test: no wrong differences between players that are not exchangeable, and intervals that agree with it."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from benchmarks.graded_scores import BETTER, MIXED, RATES, exact_error, shown_share
from waybench.results.stats._paired import Pairs


@pytest.mark.parametrize("items", [10, 20, 50, 200])
@pytest.mark.parametrize("rate", RATES)
def test_an_all_or_nothing_player_is_not_told_apart_from_a_steady_one(rate: float, items: int) -> None:
    assert exact_error(rate, items) <= 0.07


@pytest.mark.parametrize("items", [10, 20, 50, 200])
@pytest.mark.parametrize("name", MIXED)
def test_nor_where_items_or_the_steady_player_vary(name: str, items: int) -> None:
    runs = 250
    assert shown_share(MIXED[name], items, runs) <= 0.05 + 2.5 * (0.05 * 0.95 / runs) ** 0.5


@pytest.mark.parametrize("items", [10, 20, 50, 200])
def test_at_no_rate_at_all(items: int) -> None:
    for rate in (0.01, 0.0145, 0.02, 0.03, 0.05, 0.06, 0.12, 0.15, 0.35):
        assert exact_error(rate, items) <= 0.07, rate


def test_real_differences_are_found() -> None:
    found = {name: [shown_share(draw, items, 150) for items in (10, 50)] for name, draw in BETTER.items()}
    assert [few for few, _ in found.values()] < [many for _, many in found.values()]
    assert min(many for _, many in found.values()) >= 0.7


def test_the_least_number_of_items_is_that_of_the_rule_of_three() -> None:
    # A difference of 0.1 at all of n items: the two pairs that are added have a variance of nearly 2, so that it is
    # shown from 0.1 n > 1.97 * 2 ** 0.5 on, where a difference of the other sign may still occur in 3 / n of all items.
    p = {items: Pairs([0.0] * items, [0.1] * items, range(items), 0, 1).test.p for items in (10, 20, 27, 32, 40)}
    assert all(first > second for first, second in pairwise(p.values()))
    assert p[27] > 0.05 > p[32]


def holds(pairs: Pairs, confidence: float) -> bool:
    found = pairs.difference(confidence)
    assert found is not None and found.low is not None and found.high is not None
    assert found.low <= found.value <= found.high
    return found.low <= 0 <= found.high


@pytest.mark.parametrize("items", [6, 9, 14, 25, 60])
def test_the_interval_contains_0_where_the_exact_test_shows_nothing(items: int) -> None:
    for first in range(items + 1):
        for second in range(0, items + 1 - first, 1 + items // 10):
            mine = [1.0] * first + [0.0] * (items - first)
            theirs = [0.0] * first + [1.0] * second + [0.0] * (items - first - second)
            pairs = Pairs(mine, theirs, range(items), 0, 1)
            assert pairs.test.method == "mcnemar"
            assert holds(pairs, 0.95) == (pairs.test.p >= 0.05), (first, second)


@pytest.mark.parametrize("bounds", [(0, 1), (None, None), (0, None)])
@pytest.mark.parametrize("groups", [3, 5, 6, 8, 15])
def test_the_interval_contains_0_where_the_graded_test_shows_nothing(
    groups: int, bounds: tuple[float | None, float | None]
) -> None:
    rng = np.random.default_rng([groups, bounds[1] is None])
    shown = 0
    for _ in range(60):
        clusters = [*range(groups), *rng.integers(0, groups, 20).tolist()]
        mine, theirs = rng.beta(2, 1, len(clusters)), rng.beta(1, 1 + 3 * rng.random(), len(clusters))
        pairs = Pairs(mine.tolist(), theirs.tolist(), clusters, *bounds)
        for confidence in (0.9, 0.95, 0.999):
            assert holds(pairs, confidence) == (pairs.test.p >= 1 - confidence)
        shown += pairs.test.p < 0.05
    # From fewer than six clusters no difference is shown.
    assert shown == 0 if groups < 6 else shown > 0


def test_equal_players_with_clustered_questions() -> None:
    # Ten maps of six questions, on which success rates of maps differ between the models by chance.
    rng, runs = np.random.default_rng(11), 300
    clusters = np.repeat(np.arange(10), 6)
    wrong = 0
    for _ in range(runs):
        sides = [(rng.random(60) < rng.beta(1.2, 1.2, 10)[clusters]).astype(float).tolist() for _ in range(2)]
        wrong += Pairs(sides[0], sides[1], clusters.tolist(), 0, 1).test.p < 0.05
    assert wrong / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5


def test_without_bounds_it_is_students_t() -> None:
    mine, theirs = np.random.default_rng(5).normal([[0.3], [0.0]], 1, (2, 60)).tolist()
    wanted = stats.ttest_rel(mine, theirs)
    found = Pairs(mine, theirs, range(60)).difference()
    assert Pairs(mine, theirs, range(60)).test.p == pytest.approx(wanted.pvalue)
    assert found is not None
    assert (found.low, found.high) == pytest.approx(tuple(wanted.confidence_interval()))


def test_what_is_all_the_same() -> None:
    assert Pairs([3.0] * 8, [1.0] * 8, range(8)).test.p == 2.0**-7  # a sign test: nothing is known of the size
    assert Pairs([3.0] * 8, [3.0] * 8, range(8)).test.p == 1
    assert Pairs([3.0] * 8, [1.0] * 8, ["one"] * 8).test.p == 1
    assert Pairs([], [], []).difference() is None
    with pytest.raises(ValueError, match="give pairs"):
        Pairs([1.0], [], [])
