import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from waybench.core import Metric
from waybench.reporting._format import interval_text, percent_interval_text
from waybench.results.formatting import difference_text, known_ends
from waybench.results.stats import IntervalEstimate, clustered_mean


def test_known_answer_worked_by_hand() -> None:
    # Clusters (10, 20), (30), (40, 50, 60): mean 210 / 6 = 35; residuals of the totals 30 - 70, 30 - 35, 150 - 105
    # are -40, -5, 45. With shares h of 1/3, 1/6, 1/2 their squares over 1 - h are 2400, 30, 4050, which sum to 6480.
    # h² sums to 7/18; h² / (1 - h) is 1/6, 1/30, 1/2, with the sum 7/10 and squares that sum to 251/900; so the degrees
    # of freedom are 1 / (350/900 + 441/900 - 251/900) = 5/3.
    found = clustered_mean([10, 20, 30, 40, 50, 60], ["a", "a", "b", "c", "c", "c"], fewest=2)
    assert found is not None
    half = stats.t.ppf(0.975, 5 / 3) * math.sqrt(6480) / 6
    assert (found.value, found.n, found.clusters) == (35, 6, 3)
    assert (found.low, found.high) == (pytest.approx(35 - half), pytest.approx(35 + half))


def test_agrees_with_the_clustered_error_of_miller() -> None:
    # The double sum over pairs of one cluster, written out, with the factor G / (G - 1) of Liang and Zeger, which
    # is the correction where all clusters are of one size.
    rng = np.random.default_rng(7)
    clusters = [str(n % 10) for n in range(60)]
    values = [float(v) + 20 * int(c) for v, c in zip(rng.normal(0, 5, 60), clusters, strict=True)]
    mean, groups = sum(values) / 60, len(set(clusters))
    pairs = sum(
        (a - mean) * (b - mean)
        for a, where_a in zip(values, clusters, strict=True)
        for b, where_b in zip(values, clusters, strict=True)
        if where_a == where_b
    )
    half = stats.t.ppf(0.975, groups - 1) * math.sqrt(pairs * groups / (groups - 1)) / 60
    found = clustered_mean(values, clusters)
    assert found is not None
    assert (found.low, found.high) == (pytest.approx(mean - half), pytest.approx(mean + half))


def test_one_value_a_cluster_is_the_interval_of_a_plain_mean() -> None:
    values = [3.0, 5.0, 4.0, 9.0, 1.0]
    found, plain = clustered_mean(values, range(5), fewest=2), stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert found is not None
    assert (found.low, found.high) == (pytest.approx(plain.low), pytest.approx(plain.high))


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        ([100.0] * 10, 72.2467, 100.0),  # Wilson, 10 of 10
        ([0.0] * 10, 0.0, 27.7533),
        ([100.0] * 7 + [0.0] * 3, 39.6779, 89.2209),  # 7 of 10
        ([100.0] * 2, 34.2372, 100.0),
    ],
)
def test_all_or_nothing_gives_wilson(values: list[float], low: float, high: float) -> None:
    found = clustered_mean(values, range(len(values)), 0, 100, fewest=2)
    assert found is not None
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-3), pytest.approx(high, abs=1e-3))


def test_wilson_counts_clusters_and_not_values() -> None:
    found = clustered_mean([1.0] * 30, [number // 3 for number in range(30)], 0, 1)
    assert found is not None
    assert (found.n, found.clusters) == (30, 10)
    assert found.low == pytest.approx(0.722467, abs=1e-5)


def test_clusters_of_several_sizes_are_no_binomial_sample() -> None:
    # Five clusters of three failures and five of one success: the mean is 25 %, which no share of ten can be.
    found = clustered_mean([0.0] * 15 + [1.0] * 5, [*(n // 3 for n in range(15)), 5, 6, 7, 8, 9], 0, 1)
    assert found is not None
    assert found.value == 0.25
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low < 0.25 < found.high < 0.6


@pytest.mark.parametrize("values", [[1.0] * 5, [1.0, 0.0, 1.0, 0.0, 1.0], [0.2, 0.4, 0.9, 0.3, 0.7]])
def test_five_clusters_give_no_interval_and_six_do(values: list[float]) -> None:
    five, many = clustered_mean(values, range(5), 0, 1), clustered_mean(values * 5, [n % 5 for n in range(25)], 0, 1)
    assert (five, many) == (
        IntervalEstimate(sum(values) / 5, None, None, 5, 5),
        IntervalEstimate(sum(values) / 5, None, None, 25, 5),
    )
    six = clustered_mean([*values, 1.0], range(6), 0, 1)
    assert six is not None and six.low is not None and not six.is_few and five is not None and five.is_few


def test_what_cannot_be_known_is_none() -> None:
    assert clustered_mean([], []) is None
    assert clustered_mean([5.0, 9.0], ["a", "a"], 0, 100) == IntervalEstimate(7.0, None, None, 2, 1)
    assert clustered_mean([50.0] * 4, range(4), 0, 100) == IntervalEstimate(50.0, None, None, 4, 4)
    with pytest.raises(ValueError, match="one cluster for each value"):
        clustered_mean([1.0], [])


def test_nearly_full_marks_are_no_more_certain_than_full_ones() -> None:
    # By hand, for nine of 1 and one of 0.95: p = 0.995, and p (1 - p) / 10 = 0.0004975 is less than the variance of the
    # sample with 0.9 halves of a value at either bound, 0.000025 + 0.45 (0.995² + 0.005²) / 100. So it is Wilson's for
    # ten trials, with Student's t: 2.262157² / 10 = 0.511735.
    found, full = (clustered_mean([1.0] * 9 + [last], range(10), 0, 1) for last in (0.95, 1.0))
    assert found is not None
    assert full is not None
    assert found.low is not None
    assert full.low is not None
    middle, half = 0.995 + 0.511735 / 2, math.sqrt(0.511735 * (0.995 * 0.005 + 0.511735 / 4))
    assert found.low == pytest.approx((middle - half) / 1.511735, abs=1e-5)
    assert found.low < full.low
    # None at a bound: nothing says that such values are common, and the interval is narrow.
    between = clustered_mean([0.99] * 9 + [0.95], range(10), 0, 1)
    assert between is not None
    assert between.low is not None
    assert between.low > 0.97


def test_stays_within_the_bounds() -> None:
    found = clustered_mean([100.0, 100.0, 100.0, 60.0], range(4), 0, 100, fewest=2)
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < 90 < found.high < 100


def test_below_a_bound_is_cut_and_not_reflected() -> None:
    found = clustered_mean([1.0, 0.0, 0.0, 7.0], range(4), low=0, fewest=2)
    assert found is not None
    assert found.low == 0


def test_a_textbook_clustered_error() -> None:
    # Lohr, Sampling: Design and Analysis, the example of chapter 5: grade point averages in 5 of 100 suites of four,
    # mean 2.826 with a standard error of 0.164, of which the correction for 5 suites of 100 is no part of ours.
    suites = [
        [3.08, 2.60, 3.44, 3.04],
        [2.36, 3.04, 3.28, 2.68],
        [2.00, 2.56, 2.52, 1.88],
        [3.00, 2.88, 3.44, 3.64],
        [2.68, 1.92, 3.28, 3.20],
    ]
    found = clustered_mean([grade for suite in suites for grade in suite], [n // 4 for n in range(20)], fewest=2)
    assert found is not None
    assert found.high is not None
    assert found.value == pytest.approx(2.826)
    error = (found.high - found.value) / stats.t.ppf(0.975, 4)
    assert error * math.sqrt(1 - 5 / 100) == pytest.approx(0.164, abs=5e-4)


def test_agrees_with_the_clustered_error_of_statsmodels() -> None:
    linear_model = pytest.importorskip("statsmodels.regression.linear_model")
    rng = np.random.default_rng(13)
    clusters = rng.permutation(90) % 15  # of one size: for others it has no correction
    values = rng.normal(0, 1, 90) + clusters / 3
    # Its small-sample factor is G / (G - 1) times (n - 1) / (n - 1) for a constant alone.
    fit = linear_model.OLS(values, np.ones(90)).fit(
        cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": True}, use_t=True
    )
    found = clustered_mean(values.tolist(), clusters.tolist())
    assert found is not None
    assert (found.low, found.high) == (pytest.approx(fit.conf_int()[0][0]), pytest.approx(fit.conf_int()[0][1]))


def test_between_two_bounds_it_is_wilsons_for_the_effective_number_of_trials() -> None:
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    # Six maps of four questions: totals 4, 4, 0, 2, 4, 1 of 24, so that the mean is 62.5 %.
    totals = [4, 4, 0, 2, 4, 1]
    values = [float(question < total) for total in totals for question in range(4)]
    found = clustered_mean(values, [number // 4 for number in range(24)], 0, 1)
    assert found is not None
    variance = sum((total / 4 - 0.625) ** 2 for total in totals) / 5 / 6
    trials = 0.625 * 0.375 / variance
    alpha = 2 * stats.norm.sf(stats.t.ppf(0.975, 5))  # Student's quantile, asked for as a normal one
    low, high = proportion.proportion_confint(0.625 * trials, trials, alpha=alpha, method="wilson")
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))


def test_shares_of_nothing_say_nothing() -> None:
    assert clustered_mean([0.0, 0.0], ["a", "b"], 0, 1, sizes=[0, 0]) is None
    found = clustered_mean([1.0, 0.0, -1.0, 1.0], range(4), None, 1, sizes=[1, 1, 0, 1], fewest=2)
    assert found is not None
    assert found.value == pytest.approx(1 / 3)
    assert found.low is not None
    assert found.low < 0


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_coverage_of_clustered_attempts(share: float) -> None:
    # 40 mazes of differing difficulty, three attempts each: a nominal 95 % interval covers 95 %, give or take.
    rng = np.random.default_rng(11)
    covered = 0
    for _ in range(400):
        each = np.clip(rng.normal(share, 0.15, 40), 0, 1)
        values = (rng.random((40, 3)) < each[:, None]).astype(float).ravel()
        found = clustered_mean([float(v) for v in values], [n // 3 for n in range(120)], 0, 1)
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= share <= found.high
    assert 0.92 <= covered / 400 <= 0.98


def test_a_mean_at_a_bound_is_within_its_interval() -> None:
    for count in range(6, 100):
        for low, high in ((0.0, 1.0), (0.0, 100.0), (-100.0, 7.0)):
            for end in (low, high):
                found = clustered_mean([end] * count, range(count), low, high)
                assert found is not None and found.low is not None and found.high is not None
                assert found.low <= found.value <= found.high


def test_the_order_of_the_values_makes_no_difference() -> None:
    rng = np.random.default_rng(3)
    values, clusters = rng.normal(95, 7, 60).tolist(), rng.integers(0, 12, 60).tolist()
    sizes = rng.integers(1, 9, 60).astype(float).tolist()
    for given in (None, sizes):
        found = set[IntervalEstimate | None]()
        for _ in range(50):
            order = rng.permutation(60)
            mixed = None if given is None else [given[number] for number in order]
            found.add(
                clustered_mean([values[n] for n in order], [clusters[n] for n in order], None, None, mixed),
            )
        assert len(found) == 1


def test_an_interval_that_says_nothing_is_not_printed() -> None:
    score = Metric(name="score", of=lambda _: None, title="Score", doc="", unit="%", low=0, high=100)
    every_value = IntervalEstimate(50.0, 0.0, 100.0, 12, 7)
    every_change = IntervalEstimate(10.0, -100.0, 100.0, 12, 7)
    one_cluster = IntervalEstimate(50.0, 40.0, 60.0, 12, 1)
    known = IntervalEstimate(50.0, 0.0, 99.0, 12, 7)
    assert known_ends(known, score) == (0.0, 99.0)
    assert [known_ends(every_value, score), known_ends(one_cluster, score)] == [None, None]
    # As a difference it leaves the other half open.
    assert known_ends(every_value, score, is_change=True) == (0.0, 100.0)
    assert interval_text(every_value, score) == "n = 12 in 7 clusters"
    assert interval_text(one_cluster, score) == "n = 12 in 1 cluster"
    assert interval_text(known, score) == "0.0 – 99.0"
    assert percent_interval_text(replace(every_value, low=0.0, high=1.0)) == "n = 12 in 7 clusters"
    assert difference_text(every_change, score) == "+10.0"
    assert difference_text(known, score) == "+50.0 (±0.0 to +99.0)"
