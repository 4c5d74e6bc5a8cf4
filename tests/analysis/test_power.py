"""How many items a comparison takes: published numbers, and simulations of the tests that are planned for."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

from tests.analysis.test_contrasts import SHARE, made
from waybench.results.comparisons._comparison import compare
from waybench.results.comparisons._item_scores import MODEL
from waybench.results.comparisons._models import assumptions_from_pilot
from waybench.results.stats import PowerAssumptions
from waybench.results.stats._assumed_shares import assume_shares
from waybench.results.stats._cells import Cell
from waybench.results.stats._contributions import Difference
from waybench.results.stats._intervals import mcnemar_mid_p, z_test_power
from waybench.results.stats._power import (
    achieved_power,
    detectable_difference,
    items_for_tie,
    items_needed,
    min_clusters_for_tie,
    planned_errors,
    tie_power,
)

SEED = 20
Draw = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]


def of_variance(variance: float, **more: Any) -> PowerAssumptions:
    return PowerAssumptions(variance=lambda delta: variance, unpaired_variance=lambda delta: variance / 2, **more)


def difference(first: np.ndarray, second: np.ndarray, clusters: np.ndarray | None = None) -> Difference:
    names = (np.arange(len(first)) if clusters is None else clusters).tolist()
    sides = [Cell.from_values(values.tolist(), names, 0.0, 1.0) for values in (first, second)]
    return Difference(sides[:1], sides[1:], [1.0])


def graded(delta: float, noise: float) -> Draw:
    """Return a law of two graded players at items of different difficulty, each with its own noise."""

    def draw(rng: np.random.Generator, items: int) -> tuple[np.ndarray, np.ndarray]:
        hard = rng.uniform(0.2, 0.8, items)
        first, second = (np.clip(hard + shift + rng.normal(0, noise, items), 0, 1) for shift in (delta / 2, -delta / 2))
        return first, second

    return draw


def assumed_of(draw: Draw) -> tuple[PowerAssumptions, float]:
    """Return what a law says, from a great sample of it: the assumptions, and the mean difference."""
    first, second = draw(np.random.default_rng(SEED), 200_000)
    at_bound = float(np.mean((first == 0) | (first == 1) | (second == 0) | (second == 1)))
    spread = float(np.var(first - second))
    plan = PowerAssumptions(
        variance=lambda delta: spread,
        unpaired_variance=lambda delta: spread / 2,
        unseen_share=lambda delta: at_bound / 2,
    )
    return plan, float(np.mean(first - second))


def test_mcnemars_mid_p_test_by_hand() -> None:
    # One model solves half of the items and the other one all. Five items show that: p is 1 / 32.
    binomial = sum(math.comb(20, k) for k in range(5, 21)) / 2**20
    assert binomial == pytest.approx(0.994, abs=0.0005)
    assert achieved_power(assume_shares(0.5), 0.5, 20) == pytest.approx(binomial, abs=1e-9)
    # One solves 0.9 and the other one all: the same, with a chance of 0.1 at each item.
    at_least_five = {n: 1 - sum(math.comb(n, k) * 0.1**k * 0.9 ** (n - k) for k in range(5)) for n in (65, 66)}
    assert at_least_five[65] < 0.8 < at_least_five[66]
    found = items_needed(assume_shares(0.9), 0.1)
    assert found.items == 66
    # Without pairs: the uncorrected number is 2 (1.96 + 0.8416)^2 0.045 / 0.01 = 70.6, so 71 before the correction.
    assert found.unpaired == math.ceil(71 / 4 * (1 + math.sqrt(1 + 4 / 7.1)) ** 2) == 90


@pytest.mark.parametrize(("items", "power"), [(10, 0.19), (20, 0.47), (40, 0.80)])
def test_power_of_mid_p_in_the_specification(items: int, power: float) -> None:
    # The rates of wins and losses are 0.4 and 0.1.
    plan = of_variance(0.5 - 0.09, disagree=lambda delta: 0.5)
    assert achieved_power(plan, 0.3, items) == pytest.approx(power, abs=0.005)


def test_power_of_mid_p_is_counted() -> None:
    plan = of_variance(0.5 - 0.04, disagree=lambda delta: 0.5)
    won, lost, items, alpha = 0.35, 0.15, 13, 0.01
    power = sum(
        stats.multinomial.pmf([wins, losses, items - wins - losses], items, [won, lost, 1 - won - lost])
        for wins in range(items + 1)
        for losses in range(items + 1 - wins)
        if mcnemar_mid_p(wins, losses) < alpha
    )
    assert achieved_power(plan, 0.2, items, alpha=alpha) == pytest.approx(power)


@pytest.mark.parametrize(
    ("delta", "noise", "powers"),
    [(0.1, 0.1, {10: 0.50, 20: 0.85, 50: 1.0}), (0.2, 0.3, {10: 0.17, 20: 0.45, 50: 0.89})],
)
def test_power_of_graded_scores_in_the_specification(delta: float, noise: float, powers: dict[int, float]) -> None:
    draw = graded(delta, noise)
    plan, mean = assumed_of(draw)
    rng = np.random.default_rng([SEED, int(100 * delta)])
    runs = 400
    for items, power in powers.items():
        planned = achieved_power(plan, mean, items)
        assert planned == pytest.approx(power, abs=0.02)
        shown = np.mean([difference(*draw(rng, items)).test.p < 0.05 for _ in range(runs)])
        assert shown == pytest.approx(planned, abs=3 * (planned * (1 - planned) / runs) ** 0.5 + 0.01)


def test_the_planned_error_is_that_of_the_test() -> None:
    """Of values with the planned variance, `Difference` has the planned error, what it did not see included."""
    first = np.array([0.0, 0.2, 0.5, 0.7, 0.9, 1.0, 0.4, 0.8])
    second = np.array([0.1, 0.0, 0.5, 0.6, 0.4, 1.0, 0.3, 0.5])
    pair, spread = difference(first, second), float(np.var(first - second, ddof=1))
    plan = PowerAssumptions(
        variance=lambda delta: spread, unpaired_variance=lambda delta: 1.0, unseen_share=lambda delta: 3 / 8 / 2
    )
    planned = planned_errors(plan, pair.value, 8)
    error = pair.value / float(stats.t.isf(pair.test.p / 2, 7))
    # The error has the distribution of the sample's variance, whose mean is as planned.
    assert float(planned.weights @ np.square(planned.test)) == pytest.approx(error**2, rel=1e-3)


@pytest.mark.parametrize("rate", [0.05, 0.2, 0.5, 0.7, 0.85, 0.9, 0.99])
def test_every_possible_difference_has_a_number(rate: float) -> None:
    for delta in (0.01, 0.05, 0.1, 0.15, 0.3, 0.5, 0.9):
        if rate + delta <= 1 or rate - delta >= 0:
            found = items_needed(assume_shares(rate), delta)
            assert found.items >= 6
            assert found.unpaired is None or delta > 0.3 or found.items <= found.unpaired


def test_the_power_of_two_samples_agrees_with_statsmodels() -> None:
    normal = pytest.importorskip("statsmodels.stats.power").NormalIndPower()
    for effect in (0.01, 0.2, 0.8, 3.0):
        for n in (6, 100, 12_345):
            for alpha in (0.05, 0.001):
                assert z_test_power(effect, n, alpha) == pytest.approx(normal.power(effect, n, alpha), abs=1e-12)


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
    # adds nothing. With omega^2 = 1/9 and a difference of 0.03 it is 969. Student's t takes two items more (Guenther,
    # The American Statistician 35, 1981: half of the squared quantile), Wilson's interval 0.03^2 of them.
    normal = (stats.norm.isf(0.025) + stats.norm.isf(0.2)) ** 2 / 9 / 0.03**2
    assert round(normal) == 969
    assert items_needed(of_variance(1 / 9), 0.03).items == pytest.approx(normal + 1.96**2 / 2 + 0.0009 * normal, abs=1)


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
    p = stats.binom.cdf(fewer, differing, 0.5) + stats.binom.cdf(fewer - 1, differing, 0.5)
    # Within a point of what is promised: four standard errors are half a point.
    assert 0.795 < (p < 0.05).mean() < 0.81


@pytest.mark.parametrize("alike", [0.1, 0.5])
def test_clusters_have_that_power(alike: float) -> None:
    """Two models that solve 0.5 and 0.3 of the questions about maps, whose results are alike within a map."""
    size, maps, runs = 5, 30, 400
    plan = assume_shares(0.5, correlation=0.0, size=size, icc=alike)
    rng = np.random.default_rng([SEED, int(10 * alike)])
    total, shown, where = 1 / alike - 1, 0, np.repeat(np.arange(maps), size)
    for _ in range(runs):
        first, second = (
            (rng.random((maps, size)) < rng.beta(rate * total, (1 - rate) * total, maps)[:, None]).astype(float).ravel()
            for rate in (0.5, 0.3)
        )
        shown += difference(first, second, where).test.p < 0.05
    planned = achieved_power(plan, 0.2, size * maps, alpha=0.05)
    # The planned difference is upwards, from 0.5 to 0.7, which is the same here.
    assert shown / runs == pytest.approx(planned, abs=3 * (planned * (1 - planned) / runs) ** 0.5 + 0.02)


@pytest.mark.parametrize(("attempts", "forms"), [(3, 0), (1, 3)])
def test_attempts_and_forms_have_that_power(attempts: int, forms: int) -> None:
    items, runs, repeat = 30, 600, 0.4
    plan = assume_shares(0.5, correlation=repeat, attempts=attempts, repeat=repeat, forms=forms)
    rng = np.random.default_rng([SEED, attempts])
    total, draws = 1 / repeat - 1, attempts * max(forms, 1)
    first, second = rng.beta(0.5 * total, 0.5 * total, (2, 100_000))
    # Items are as hard for both where these are the same; of two independent ones, values at the bounds are as planned.
    alike = rng.binomial(attempts, first) % attempts == 0, rng.binomial(draws, second) % draws == 0
    assert plan.unseen_share(1e-9) == pytest.approx(np.mean(alike[0] | alike[1]) / 2, abs=0.005)
    shown = 0
    for _ in range(runs):
        # What is hard for one is hard for the other.
        place = rng.random(items)
        hard, easy = (special.betaincinv(rate * total, (1 - rate) * total, place) for rate in (0.5, 0.7))
        values = rng.binomial(attempts, hard) / attempts, rng.binomial(draws, easy) / draws
        shown += difference(*values).test.p < 0.05
    assert shown / runs == pytest.approx(achieved_power(plan, 0.2, items), abs=0.07)


@pytest.mark.parametrize(
    ("draw", "margin", "items"), [(graded(0, 0.1), 0.05, 60), (graded(0, 0.1), 0.05, 90), (graded(0, 0.3), 0.1, 100)]
)
def test_ties_have_that_power(draw: Draw, margin: float, items: int) -> None:
    plan, _ = assumed_of(draw)
    rng = np.random.default_rng([SEED, items])
    runs, tied = 400, 0
    for _ in range(runs):
        pair = difference(*draw(rng, items))
        low, high = pair.interval(0.9) or (-1.0, 1.0)
        tied += pair.test.p >= 0.05 and -margin <= low and high <= margin
    planned = tie_power(plan, margin, items)
    assert tied / runs == pytest.approx(planned, abs=3 * (planned * (1 - planned) / runs) ** 0.5 + 0.01)


def test_a_tie_takes_clusters_however_small_the_differences_are() -> None:
    side = made([0.5] * 60, "a")
    compared = compare(side, made([0.5] * 60, "b"), MODEL, margin=0.05)
    assert compared is not None
    assert min_clusters_for_tie(0.05) == compared.min_clusters_for_tie == 60
    found = items_for_tie(of_variance(1e-6, size=4), 0.05)
    assert (found.items, found.clusters) == (240, 60)
    assert tie_power(of_variance(1e-6), 0.05, 59) == 0
    # As many as for two one-sided z tests: (1.645 + 1.2816)^2 variance / margin^2 for a power of 0.8 (Schuirmann).
    normal = (stats.norm.isf(0.05) + stats.norm.isf(0.1)) ** 2 * 0.2 / 0.05**2
    assert items_for_tie(of_variance(0.2), 0.05).items == pytest.approx(normal, rel=0.01)
    with pytest.raises(ValueError, match="lower --power or --alpha"):
        items_for_tie(of_variance(0.2), 0.05, power=0.95)


def test_several_attempts_have_that_variance() -> None:
    # Four attempts at each item, which two models find hard alike.
    rng = np.random.default_rng(SEED)
    items, attempts = 40_000, 4
    hard = rng.beta(1, 1, items)  # correlates single attempts of one model, and of two, by 1/3
    mine, theirs = (rng.binomial(attempts, hard) / attempts for _ in range(2))
    plan = assume_shares(0.5, correlation=1 / 3, attempts=attempts, repeat=1 / 3)
    assert plan.variance(1e-9) == pytest.approx(np.var(mine - theirs), rel=0.03)
    assert plan.unpaired_variance(1e-9) == pytest.approx(np.var(mine), rel=0.03)


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
    # However alike differences are: at 1 % no sign test of seven shows one.
    assert items_needed(of_variance(1e-12), 0.9, alpha=0.01).items == 8


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
    ((plan,), problems) = assumptions_from_pilot([first, second], 0.5)
    assert problems == []
    assert plan.disagree is not None
    # They disagree on 10 of 50; 80 % sure it is at most 0.263 (Clopper and Pearson).
    assert plan.disagree(0.05) == pytest.approx(stats.beta.ppf(0.8, 11, 40))
    assert "two models, 50 items, disagreeing on at most 0.263 of them" in plan.description
    assert plan.unseen_share(0.1) == 0.5


def test_a_pilot_says_how_common_values_at_the_bounds_are() -> None:
    first, second = made([0.0, 1.0, 0.5, 0.4, 0.3, 1.0], "a"), made([0.2, 1.0, 0.0, 0.4, 0.6, 0.9], "b")
    ((plan,), _) = assumptions_from_pilot([first, second], 0.5)
    assert plan.unseen_share(0.1) == pytest.approx(4 / 6 / 2)
    # Of one model, the other one's are as common, at other items.
    ((plan,), _) = assumptions_from_pilot([first], 0.5)
    assert plan.unseen_share(0.1) == pytest.approx((1 - (1 - 3 / 6) ** 2) / 2)
    # Two items are a map, of which both must be at the same bound.
    maps = [number // 2 for number in range(12)]
    both = made([1.0, 1.0, 1.0, 0.0, *[0.5] * 8], "a", clusters=maps), made([0.5] * 12, "b", clusters=maps)
    ((plan,), _) = assumptions_from_pilot(both, 0.5)
    assert plan.unseen_share(0.1) == pytest.approx(1 / 6 / 2)


def test_a_pilot_of_one_model_and_of_one_without_bounds() -> None:
    rng = np.random.default_rng(SEED)
    graded = made(rng.random(40).tolist(), "a")
    endless = made([3.0] * 40, "a", test="u", metric=SHARE.__class__(name="u", of=SHARE.of, title="U", doc=""))
    ((plan,), (problem,)) = assumptions_from_pilot([graded, endless], 0.25)
    spread = float(np.var(list(graded.values.values())))
    upper = 39 / float(stats.chi2.ppf(0.2, 39))
    assert plan.disagree is None
    assert plan.unpaired_variance(0.1) == pytest.approx(spread * upper)
    assert plan.variance(0.1) == pytest.approx(2 * spread * upper * 0.75, rel=0.03)
    assert "correlate by 0.25 (assumed)" in plan.description
    assert problem.startswith("u: U: its values are unbounded")


def test_a_pilots_clusters() -> None:
    rng = np.random.default_rng(SEED)
    clusters = [number // 10 for number in range(2000)]
    shared = rng.random(200)[clusters]
    values = (shared > 0.5).astype(float)  # all alike within a cluster
    first, second = made(values.tolist(), "a", clusters=clusters), made([0.0] * 2000, "b", clusters=clusters)
    ((plan,), _) = assumptions_from_pilot([first, second], 0.5)
    assert plan.size == 10
    assert plan.effect == pytest.approx(10, rel=0.02)
    assert items_needed(plan, 0.2).clusters == pytest.approx(
        items_needed(of_variance(plan.variance(0.2)), 0.2).items, rel=0.1
    )


def test_a_small_pilot_says_so() -> None:
    ((plan,), _) = assumptions_from_pilot([made([1.0, 0.0] * 4, "a"), made([1.0] * 8, "b")], 0.5)
    assert plan.description.endswith("a rough guess from few items")
    assert assumptions_from_pilot([made([1.0] * 4, "a")], 0.5)[1] == ["t: Share: too few items (at least 5 are needed)"]
