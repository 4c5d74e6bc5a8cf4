"""The paired test: no wrong differences between players that are not exchangeable, and intervals that agree with it."""

from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from benchmarks.graded_scores import BETTER, MIXED, RATES, exact_error, shown_share
from waybench.results.stats._contributions import Difference


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
        # The one that is too often wrong: nearly always 0, at 200 items of which four or so are solved.
        assert exact_error(rate, items) <= (0.1 if (rate, items) == (0.02, 200) else 0.07), rate


def test_real_differences_are_found() -> None:
    found = {name: [shown_share(draw, items, 150) for items in (10, 50)] for name, draw in BETTER.items()}
    assert [few for few, _ in found.values()] < [many for _, many in found.values()]
    assert min(many for _, many in found.values()) >= 0.7


def from_values(
    first: Sequence[float], second: Sequence[float], clusters: Sequence[object] | None = None, *bounds: float | None
) -> Difference:
    """Return the difference of values at items 0, 1, ..., from 0 to 1 if nothing else is said."""
    low, high = bounds or (0, 1)
    return Difference.from_values(first, second, clusters or list(range(len(first))), low, high)


def test_graded_scores_at_no_bound_by_hand() -> None:
    # Nothing is at a bound, so the variance is that of the differences: s^2 / (4 n) for delta = 1/2 + mean / 2.
    first, second = [0.5, 0.7, 0.6, 0.8, 0.55, 0.65], [0.4, 0.75, 0.5, 0.6, 0.6, 0.5]
    apart = np.subtract(first, second)
    delta, variance = (apart.mean() + 1) / 2, apart.var(ddof=1) / 6 / 4
    score = (delta - 0.5) * 2 * (delta * (1 - delta) / variance) ** 0.5
    difference = from_values(first, second)
    assert difference.test.p == pytest.approx(2 * stats.t.sf(score, 5))
    assert (difference.test.method, difference.test.least_p) == ("t", 2.0**-5)
    # The ends are where a score test of their value, with the variance that goes with it, has p = 5 %.
    trials, quantile = delta * (1 - delta) / variance, stats.t.ppf(0.975, 5)
    for end in difference.interval() or ():
        null = (end + 1) / 2
        assert abs(delta - null) / (null * (1 - null) / trials) ** 0.5 == pytest.approx(quantile)


def test_values_at_a_bound_say_that_others_can_be_there() -> None:
    # At three of ten items the first model has 0 or 1, so that half of 3 / 10 of a pair at either bound is added.
    first = [0.0, 1.0, 1.0, *np.linspace(0.3, 0.7, 7)]
    second = [0.4, 0.4, 0.4, *np.linspace(0.25, 0.62, 7)]
    apart = np.subtract(first, second)
    delta = (apart.mean() + 1) / 2
    variance = apart.var(ddof=1) / 40 + 0.3 / 2 * (delta**2 + (1 - delta) ** 2) / 100
    assert variance < delta * (1 - delta) / 10
    score = abs(delta - 0.5) * 2 * (delta * (1 - delta) / variance) ** 0.5
    assert from_values(first, second).test.p == pytest.approx(2 * stats.t.sf(score, 9))


@pytest.mark.parametrize(("won", "lost", "neither"), [(9, 1, 8), (3, 2, 10), (6, 0, 1), (0, 12, 30)])
def test_all_or_nothing_is_mcnemars_test_with_the_mid_p_value(won: int, lost: int, neither: int) -> None:
    first = [1.0] * won + [0.0] * (lost + neither)
    second = [0.0] * won + [1.0] * lost + [0.0] * neither
    test = from_values(first, second).test
    exact = stats.binomtest(won, won + lost).pvalue
    assert test.p == pytest.approx(exact - stats.binom.pmf(won, won + lost, 0.5))
    assert (test.method, test.least_p) == ("mcnemar", pytest.approx(2.0 ** -(won + lost)))


def test_where_all_differ_as_much_as_possible_the_interval_is_that_of_a_share() -> None:
    difference = from_values([1.0] * 12, [0.0] * 12)
    square = stats.t.ppf(0.975, 11) ** 2  # Wilson's lower end of 12 of 12 is 12 / (12 + t^2)
    assert difference.interval() == pytest.approx((2 * 12 / (12 + square) - 1, 1.0))
    assert difference.swapped.interval() == pytest.approx((-1.0, 1 - 2 * 12 / (12 + square)))


def test_rare_extremes_that_nothing_tells_of_are_named() -> None:
    rng = np.random.default_rng(1)
    middle, other = rng.uniform(0.3, 0.6, (2, 60)).tolist()
    assert from_values(middle[:49], other[:49]).omits_rare_extremes
    assert not from_values(middle, other).omits_rare_extremes  # sixty
    assert not from_values([0.0, *middle[:30]], [0.5, *other[:30]]).omits_rare_extremes
    assert not from_values(middle[:49], other[:49], None, None, None).omits_rare_extremes


def test_intervals_are_in_the_range() -> None:
    rng = np.random.default_rng(2)
    for _ in range(100):
        size = int(rng.integers(2, 12))
        first, second = (rng.choice([0.0, 0.1, 0.9, 1.0], size, p=rng.dirichlet(np.ones(4) / 3)) for _ in range(2))
        difference = Difference.from_values(
            (300 * first).tolist(), (300 * second).tolist(), list(range(size)), 0.0, 300.0
        )
        for confidence in (0.9, 0.95, 0.999):
            ends = difference.interval(confidence) or (difference.value, difference.value)
            assert -300 <= ends[0] <= difference.value <= ends[1] <= 300


@pytest.mark.parametrize("beyond", [0.3, 2.0, 50.0])
def test_values_beyond_their_bounds_do_no_harm(beyond: float) -> None:
    """Records of other programs, and normalised scores of items with ranges of their own, can have some."""
    for first in ([beyond] * 8, [beyond * number for number in range(8)]):
        difference = from_values(first, [0.1] * 8)
        low, high = difference.interval() or (difference.value, difference.value)
        assert low <= difference.value <= high
        assert 0 <= difference.test.p <= 1
        assert difference.swapped.test.p == pytest.approx(difference.test.p)
    first, second = [0.1, 0.7, 0.2, 0.4, 0.9, 0.6, 1 + beyond], [0.2, 0.5, 0.2, 0.1, 0.5, 0.5, 0.4]
    assert from_values(first, second).test.p == pytest.approx(float(stats.ttest_rel(first, second).pvalue))


def holds(difference: Difference, confidence: float) -> bool:
    ends = difference.interval(confidence)
    assert ends is not None
    assert ends[0] <= difference.value <= ends[1]
    return ends[0] <= 0 <= ends[1]


@pytest.mark.parametrize("items", [6, 9, 14, 25, 60])
def test_the_interval_contains_0_where_the_exact_test_shows_nothing(items: int) -> None:
    for first in range(items + 1):
        for second in range(0, items + 1 - first, 1 + items // 10):
            mine = [1.0] * first + [0.0] * (items - first)
            theirs = [0.0] * first + [1.0] * second + [0.0] * (items - first - second)
            pairs = from_values(mine, theirs)
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
        pairs = from_values(mine.tolist(), theirs.tolist(), clusters, *bounds)
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
        wrong += from_values(sides[0], sides[1], clusters.tolist()).test.p < 0.05
    assert wrong / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5


def test_without_bounds_it_is_students_t() -> None:
    mine, theirs = np.random.default_rng(5).normal([[0.3], [0.0]], 1, (2, 60)).tolist()
    wanted = stats.ttest_rel(mine, theirs)
    difference = from_values(mine, theirs, None, None, None)
    assert difference.test.p == pytest.approx(wanted.pvalue)
    assert difference.interval() == pytest.approx(tuple(wanted.confidence_interval()))


def test_what_is_all_the_same() -> None:
    # A sign test: nothing is known of the size.
    same = from_values([3.0] * 8, [1.0] * 8, None, None, None)
    assert (same.test.p, same.interval()) == (2.0**-7, None)
    assert from_values([0.5] * 8, [0.3] * 8).test.p == 2.0**-7
    assert from_values([3.0] * 8, [3.0] * 8, None, None, None).test.p == 1
    assert from_values([3.0] * 8, [1.0] * 8, ["one"] * 8, None, None).test.p == 1
    with pytest.raises(ValueError, match="give one cluster for each value"):
        Difference.from_values([1.0], [1.0], [])
    with pytest.raises(ValueError, match="no values"):
        Difference.from_values([], [], [])
