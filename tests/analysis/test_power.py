"""How many items a comparison takes: published numbers, and simulations of the tests that are planned for."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.analysis.test_contrasts import SHARE, made
from waybench.results.comparisons._models import pilots
from waybench.results.stats import PowerAssumptions
from waybench.results.stats._paired import Pairs
from waybench.results.stats._power import achieved_power, assume_shares, detectable_difference, items_needed

SEED = 20


def of_variance(variance: float, **more: Any) -> PowerAssumptions:
    return PowerAssumptions(variance=lambda delta: variance, apart=lambda delta: variance / 2, **more)


def test_mcnemars_exact_test_by_hand() -> None:
    # One model solves half of the items and the other one all. The exact test shows that from six items on.
    binomial = sum(math.comb(20, k) for k in range(6, 21)) / 2**20
    assert binomial == pytest.approx(0.979, abs=0.0005)
    assert achieved_power(assume_shares(0.5), 0.5, 20) == pytest.approx(binomial, abs=1e-9)
    # One solves 0.9 and the other one all: the same, with a chance of 0.1 at each item.
    at_least_six = {n: 1 - sum(math.comb(n, k) * 0.1**k * 0.9 ** (n - k) for k in range(6)) for n in (77, 78)}
    assert at_least_six[77] < 0.8 < at_least_six[78]
    found = items_needed(assume_shares(0.9), 0.1)
    assert found.items == 78
    # Without pairs: the uncorrected number is 2 (1.96 + 0.8416)^2 0.045 / 0.01 = 70.6, so 71 before the correction.
    assert found.unpaired == math.ceil(71 / 4 * (1 + math.sqrt(1 + 4 / 7.1)) ** 2) == 90


@pytest.mark.parametrize("rate", [0.05, 0.2, 0.5, 0.7, 0.85, 0.9, 0.99])
def test_every_possible_difference_has_a_number(rate: float) -> None:
    for delta in (0.01, 0.05, 0.1, 0.15, 0.3, 0.5, 0.9):
        if rate + delta <= 1 or rate - delta >= 0:
            found = items_needed(assume_shares(rate), delta)
            assert found.items >= 6
            assert found.unpaired is None or delta > 0.3 or found.items <= found.unpaired


def test_fishers_exact_test_has_the_unpaired_power() -> None:
    found = items_needed(assume_shares(0.6), 0.2).unpaired
    assert found is not None
    ones = np.arange(found + 1)
    chance = np.outer(stats.binom.pmf(ones, found, 0.6), stats.binom.pmf(ones, found, 0.8))
    shown = [
        [
            stats.fisher_exact([[a, found - a], [b, found - b]]).pvalue < 0.05 if chance[a, b] > 1e-7 else False
            for b in ones
        ]
        for a in ones
    ]
    assert chance[np.array(shown)].sum() == pytest.approx(0.8, abs=0.02)


def test_millers_formula() -> None:
    # Miller, "Adding Error Bars to Evals" (arXiv:2411.00640), section 5: (z_a + z_b)^2 omega^2 / d^2 where sampling
    # adds nothing. With omega^2 = 1/9 and a difference of 0.03 it is 969. The two pairs that the test adds draw the
    # difference to 0 by 2 / n and make its error larger by 9 / n: 2 to 3 times (2 - 9 / 2) more items, and no less.
    normal = (stats.norm.isf(0.025) + stats.norm.isf(0.2)) ** 2 / 9 / 0.03**2
    assert round(normal) == 969
    assert 969 < items_needed(of_variance(1 / 9), 0.03).items < 1.03 * 969


def test_two_normal_means() -> None:
    # Half a standard deviation apart takes 63 in each group (Cohen, Statistical Power Analysis, 1988, table 2.3.5: 64
    # by Student's t).
    assert items_needed(of_variance(2.0), 0.5).unpaired == 63


@pytest.mark.parametrize(
    ("rate", "other", "correlation"), [(0.5, 0.6, 0.5), (0.5, 0.6, 0.0), (0.8, 0.9, 0.3), (0.95, 0.85, 0.2)]
)
def test_mcnemars_test_has_that_power(rate: float, other: float, correlation: float) -> None:
    delta = abs(other - rate)
    found = items_needed(assume_shares(rate, correlation=correlation), delta)
    together = correlation * math.sqrt(rate * (1 - rate) * other * (1 - other)) + rate * other
    rng = np.random.default_rng([SEED, int(100 * rate)])
    cells = rng.multinomial(
        found.items, [together, rate - together, other - together, 1 - rate - other + together], 100_000
    )
    fewer, differing = cells[:, 1:3].min(axis=1), cells[:, 1:3].sum(axis=1)
    p = np.minimum(1, 2 * stats.binom.cdf(fewer, differing, 0.5))
    # Within a point of what is promised: four standard errors are half a point.
    assert 0.795 < (p < 0.05).mean() < 0.81


@pytest.mark.slow
def test_clusters_have_that_power() -> None:
    size, icc = 8, 0.3
    plan = PowerAssumptions(variance=lambda delta: 1.0, apart=lambda delta: 1.0, size=size, effect=1 + (size - 1) * icc)
    found = items_needed(plan, 0.3)
    assert found.items == found.clusters * size
    rng = np.random.default_rng(SEED)
    runs, shown = 300, 0
    clusters = np.repeat(np.arange(found.clusters), size)
    for _ in range(runs):
        shared = rng.normal(0, math.sqrt(icc), found.clusters)[clusters]
        apart = 0.3 + shared + rng.normal(0, math.sqrt(1 - icc), found.items)
        shown += Pairs(apart.tolist(), [0.0] * found.items, clusters.tolist(), 0, 1).test.p < 0.05
    assert shown / runs == pytest.approx(0.8, abs=0.08)


@pytest.mark.parametrize(("delta", "spread"), [(0.3, 0.2), (0.1, 0.1), (0.15, 0.45)])
def test_graded_scores_have_that_power(delta: float, spread: float) -> None:
    found = items_needed(of_variance(spread**2), delta)
    rng = np.random.default_rng([SEED, int(100 * delta)])
    runs = 400
    shown = sum(
        Pairs(rng.normal(delta, spread, found.items).tolist(), [0.0] * found.items, range(found.items), 0, 1).test.p
        < 0.05
        for _ in range(runs)
    )
    # Numbers of items are whole, so that few of them have more power than is promised.
    assert 0.8 - 3 * (0.8 * 0.2 / runs) ** 0.5 < shown / runs < 0.8 + 3 * (0.8 * 0.2 / runs) ** 0.5 + 1 / found.items


def test_several_attempts_have_that_variance() -> None:
    # Four attempts at each item, which two models find hard alike.
    rng = np.random.default_rng(SEED)
    items, attempts = 40_000, 4
    hard = rng.beta(1, 1, items)  # correlates single attempts of one model, and of two, by 1/3
    mine, theirs = (rng.binomial(attempts, hard) / attempts for _ in range(2))
    plan = assume_shares(0.5, correlation=1 / 3, attempts=attempts, repeat=1 / 3)
    assert plan.variance(1e-9) == pytest.approx(np.var(mine - theirs), rel=0.03)
    assert plan.apart(1e-9) == pytest.approx(np.var(mine), rel=0.03)


def test_more_is_needed_for_less() -> None:
    plan = assume_shares(0.5)
    items = [items_needed(plan, delta).items for delta in (0.02, 0.05, 0.1, 0.2)]
    assert items == sorted(items, reverse=True)
    assert items_needed(plan, 0.05, power=0.9).items > items[1]
    # Holm over ten families, at worst.
    assert items_needed(plan, 0.05, alpha=0.005).items > items[1]
    assert (
        items_needed(assume_shares(0.5, correlation=0.8), 0.05).items
        < items[1]
        < items_needed(assume_shares(0.5, correlation=0.2), 0.05).items
    )
    assert items_needed(assume_shares(0.5, attempts=5), 0.05).items < items[1]
    clustered = items_needed(assume_shares(0.5, size=10, icc=0.1), 0.05)
    assert clustered.items > items[1]
    assert clustered.clusters == math.ceil(clustered.items / 10)
    assert items[1] < items_needed(plan, 0.05).unpaired


@pytest.mark.parametrize(
    "plan", [assume_shares(0.5), assume_shares(0.9, disagree=0.12), assume_shares(0.5, size=5), of_variance(0.2)]
)
def test_there_and_back(plan: PowerAssumptions) -> None:
    items = items_needed(plan, 0.07).items
    found = detectable_difference(plan, items)
    assert found is not None
    assert found == pytest.approx(0.07, rel=0.02)
    assert achieved_power(plan, 0.07, items) >= 0.8 > achieved_power(plan, 0.07, items - plan.size)


def test_too_few_for_anything() -> None:
    assert detectable_difference(assume_shares(0.5), 5) is None
    assert items_needed(of_variance(1e-12), 0.9).items == 6
    # However alike differences of a half are: in few items a rare great one can be missing.
    assert items_needed(of_variance(1e-12), 0.5).items == 7


@pytest.mark.parametrize(
    ("made_of", "message"),
    [
        (lambda: items_needed(assume_shares(0.5), 0.8), "beyond 0 and 1: choose another --rate"),
        (lambda: items_needed(assume_shares(0.5, disagree=0.1), 0.2), "disagree on 0.2 to 0.8 of the items, not 0.1"),
        (lambda: assume_shares(0.5, disagree=0.1, attempts=2), "use --correlation with several attempts"),
        (lambda: assume_shares(0.5, correlation=0.6, attempts=2, repeat=0.3), "raise --repeat"),
    ],
)
def test_what_cannot_be(made_of: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        made_of()


def test_a_pilot_of_two_models() -> None:
    first = made([1.0] * 25 + [0.0] * 25, "a")
    second = made([1.0] * 20 + [0.0] * 25 + [1.0] * 5, "b")
    ((plan,), problems) = pilots([first, second], 0.5)
    assert problems == []
    assert plan.disagree is not None
    # They disagree on 10 of 50; 80 % sure it is at most 0.263 (Clopper and Pearson).
    assert plan.disagree(0.05) == pytest.approx(stats.beta.ppf(0.8, 11, 40))
    assert "two models, 50 items, disagreeing on at most 0.263 of them" in plan.description


def test_a_pilot_of_one_model_and_of_one_without_bounds() -> None:
    rng = np.random.default_rng(SEED)
    graded = made(rng.random(40).tolist(), "a")
    endless = made([3.0] * 40, "a", test="u", metric=SHARE.__class__(name="u", of=SHARE.of, title="U", doc=""))
    ((plan,), (problem,)) = pilots([graded, endless], 0.25)
    spread = float(np.var(list(graded.values.values())))
    upper = 39 / float(stats.chi2.ppf(0.2, 39))
    assert plan.disagree is None
    assert plan.apart(0.1) == pytest.approx(spread * upper)
    assert plan.variance(0.1) == pytest.approx(2 * spread * upper * 0.75, rel=0.03)
    assert "correlate by 0.25 (assumed)" in plan.description
    assert problem.startswith("u: U: its values are unbounded")


def test_a_pilots_clusters() -> None:
    rng = np.random.default_rng(SEED)
    clusters = [number // 10 for number in range(2000)]
    shared = rng.random(200)[clusters]
    values = (shared > 0.5).astype(float)  # all alike within a cluster
    first, second = made(values.tolist(), "a", clusters=clusters), made([0.0] * 2000, "b", clusters=clusters)
    ((plan,), _) = pilots([first, second], 0.5)
    assert plan.size == 10
    assert plan.effect == pytest.approx(10, rel=0.02)
    assert items_needed(plan, 0.2).clusters == pytest.approx(
        items_needed(of_variance(plan.variance(0.2)), 0.2).items, rel=0.1
    )


def test_a_small_pilot_says_so() -> None:
    ((plan,), _) = pilots([made([1.0, 0.0] * 4, "a"), made([1.0] * 8, "b")], 0.5)
    assert plan.description.endswith("a rough guess from few items")
    assert pilots([made([1.0] * 4, "a")], 0.5)[1] == ["t: Share: too few items (at least 5 are needed)"]
