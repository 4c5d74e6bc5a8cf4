"""The power of paired tests: how many items a comparison needs to show a difference, or a tie."""

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from statistics import fmean, pvariance, variance
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from waybench._late import LazyModule
from waybench.results.stats._cells import ALIKE
from waybench.results.stats._intervals import ALPHA, FEWEST_CLUSTERS, Numbers, variance_upper_factor, z_test_power
from waybench.results.stats._verdicts import min_clusters_for_tie

if TYPE_CHECKING:
    from scipy import optimize, special, stats
else:  # reports need no power
    optimize, special, stats = (LazyModule(f"scipy.{name}") for name in ("optimize", "special", "stats"))


K = TypeVar("K")

POWER = 0.8
FEW = 30  # items of a pilot, of which little can be said
FEWEST_ITEMS = 5  # in a pilot
_NODES = 256  # of the distribution of a sample's variance


def no_unseen_share(delta: float) -> float:
    """Return 0 for any difference: no cluster is at a bound."""
    return 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerAssumptions:
    """Assumptions about two models' values at the same items, on a scale from 0 to 1.

    Attributes:
        name: What they are about; "" for none in particular.
        variance: A difference in means -> the variance of an item's difference between the models.
        apart: A difference in means -> the variance of one item's value, the mean of both models'.
        disagree: A difference in means -> the share of items that exactly one model solves; None where values are
            graded.
        unseen_share: A difference in means -> the share of clusters at a bound, from which the test allows for rare
            values at the bounds (`Difference`).
        size: Items in a cluster.
        effect: The design effect: how many times as large clusters make the variance of a mean.
        description: Where they come from, in words.
    """

    name: str = ""
    variance: Callable[[float], float]
    unpaired_variance: Callable[[float], float]
    disagree: Callable[[float], float] | None = None
    unseen_share: Callable[[float], float] = no_unseen_share
    size: float = 1.0
    effect: float = 1.0
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemsNeeded:
    """The number of items for a comparison.

    Attributes:
        items: Items, each given to both models.
        clusters: Clusters that these come in.
        unpaired: Items for each model if both had different items; None where a pilot does not tell.
    """

    items: int
    clusters: int
    unpaired: int | None


def achieved_power(assumptions: PowerAssumptions, delta: float, items: float, *, alpha: float = ALPHA) -> float:
    """Return the power to detect a difference with a number of items that both models are given.

    For items that are solved or not, in clusters of one item, it is the unconditional power of McNemar's test with the
    mid-p value: the test's power given the number of items on which the models disagree (a binomial test of 1/2),
    averaged over that number, which is binomial too. Otherwise it is that of the test of graded values (`Difference`),
    with its allowance for unseen values at the bounds; and 0 for fewer than six clusters: so few cannot show a
    difference at 5 %.

    Args:
        assumptions: What is assumed.
        delta: The difference, on the scale from 0 to 1.
        items: Number of items.
        alpha: The level of the two-sided test.

    Raises:
        ValueError: If there can be no such difference.
    """
    clusters = items / assumptions.size
    if clusters < FEWEST_CLUSTERS:
        return 0.0
    if assumptions.disagree and assumptions.size == 1:
        return _mcnemar_power(assumptions.disagree(delta), delta, math.floor(items), alpha)
    if 2 ** (1 - clusters) >= alpha:  # the least p value
        return 0.0
    planned = planned_errors(assumptions, delta, clusters)
    least_significant = planned.test * float(stats.t.isf(alpha / 2, clusters - 1))
    return float(planned.weights @ stats.norm.sf((least_significant - delta) / planned.true))


class PlannedErrors(NamedTuple):
    """The standard errors of a mean difference in a planned run.

    Attributes:
        true: How much the difference varies from sample to sample.
        test: The errors by which `Difference` judges it, over the distribution of the sample's variance.
        weights: The probability of each of these.
    """

    true: float
    test: Numbers
    weights: Numbers


def planned_errors(assumptions: PowerAssumptions, delta: float, clusters: float) -> PlannedErrors:
    """Return the standard errors of a difference in a planned number of clusters.

    With V / 4 the variance of (difference + 1) / 2, the error is 2 sqrt(V_d / (1 - difference ^ 2)), where V_d is that
    variance and what unseen values at the bounds add (`Difference`). The sample's variance has G - 1 degrees of
    freedom: where no value is at a bound, the statistic has a noncentral t distribution.

    Args:
        assumptions: What is assumed.
        delta: The difference, on the scale from 0 to 1.
        clusters: Number of clusters, more than 1.
    """
    cluster_variance = max(0.0, assumptions.variance(delta)) * assumptions.effect / assumptions.size
    tails, weights = _gauss_legendre_nodes()
    sample_variances = cluster_variance / clusters * special.chdtri(clusters - 1, tails) / (clusters - 1)
    unseen_variance = assumptions.unseen_share(delta) * 2 * (1 + delta**2) / clusters**2
    scale = max(1 - delta**2, 1e-12)
    with_unseen = np.minimum((sample_variances + unseen_variance) / scale, 1 / clusters)
    errors = np.sqrt(np.maximum(sample_variances / scale, with_unseen))
    return PlannedErrors(max(math.sqrt(cluster_variance / clusters), 1e-12), errors, weights)


@cache
def _gauss_legendre_nodes() -> tuple[Numbers, Numbers]:
    """Return nodes and weights of Gauss-Legendre quadrature on the unit interval."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return np.asarray((nodes + 1) / 2, dtype=np.float64), np.asarray(weights / 2, dtype=np.float64)


def _mcnemar_power(disagree: float, delta: float, items: int, alpha: float) -> float:
    """Return the unconditional power of McNemar's test with the mid-p value (`mcnemar_mid_p`)."""
    share = min(1.0, max(disagree, delta))
    if share <= 0:
        return 0.0
    # All numbers of items that matter: the others have a probability below 1e-12.
    fewest, most = (int(stats.binom.ppf(tail, items, share)) for tail in (1e-12, 1 - 1e-12))
    n_differing = np.arange(fewest, most + 1)
    # p < alpha if the rarer of the two results occurs at most `n_rarer` times; p is cdf(k) + cdf(k - 1).
    middle = stats.binom.ppf(alpha / 2, n_differing, 0.5)
    p = stats.binom.cdf(middle, n_differing, 0.5) + stats.binom.cdf(middle - 1, n_differing, 0.5)
    n_rarer = np.where(p < alpha, middle, middle - 1)
    better_wins = min(1.0, (share + delta) / (2 * share))  # the better model's share of the items that differ
    power = stats.binom.cdf(n_rarer, n_differing, 1 - better_wins) + stats.binom.cdf(n_rarer, n_differing, better_wins)
    return float(np.sum(stats.binom.pmf(n_differing, items, share) * np.where(n_rarer < 0, 0.0, power)))


def items_needed(
    assumptions: PowerAssumptions, delta: float, *, alpha: float = ALPHA, power: float = POWER
) -> ItemsNeeded:
    """Return the least number of items that detects a difference with a power (`achieved_power`).

    With other items for each model it is that of a z test of two means; for items that are solved or not, with the
    correction by which it agrees with Fisher's exact test (Casagrande, Pike and Smith, Biometrics 34, 1978, 483-486).
    The arguments are those of `achieved_power`, with the wanted power.

    Raises:
        ValueError: If there can be no such difference.
    """
    clusters = least_number(lambda n: achieved_power(assumptions, delta, n * assumptions.size, alpha=alpha), power)
    items = math.ceil(clusters * assumptions.size - 1e-9)
    error = math.sqrt(assumptions.unpaired_variance(delta) * assumptions.effect)
    if not error:
        return ItemsNeeded(items=items, clusters=clusters, unpaired=None)
    unpaired = least_number(lambda n: z_test_power(delta / error, n, alpha), power)
    if assumptions.disagree:  # the correction for items that are solved or not
        unpaired = math.ceil(unpaired / 4 * (1 + math.sqrt(1 + 4 / (unpaired * delta))) ** 2)
    return ItemsNeeded(items=items, clusters=clusters, unpaired=unpaired)


def least_number(power_of: Callable[[int], float], power: float, fewest: int = FEWEST_CLUSTERS) -> int:
    """Return the least number that has a power, which grows with the number.

    Args:
        power_of: A number -> its power.
        power: The wanted power.
        fewest: The least number that is tried, by default six.
    """
    most = fewest
    while power_of(most) < power:
        most *= 2
    return bisect_left(range(most), power, lo=most // 2 if most > fewest else most, key=power_of)


def detectable_difference(
    assumptions: PowerAssumptions, items: int, *, alpha: float = ALPHA, power: float = POWER
) -> float | None:
    """Return the least difference that a number of items, given to both models, detects; None if none is.

    The arguments are those of `achieved_power`, with the wanted power.
    """

    def missing_power(delta: float) -> float:
        """Return by how much the power for a difference is below the wanted one."""
        try:
            return power - achieved_power(assumptions, delta, items, alpha=alpha)
        except ValueError:  # there can be no such difference
            return power

    # Power grows with the difference, up to where it becomes impossible.
    grid = np.geomspace(1e-4, 1, 200).tolist()
    index = next((index for index, delta in enumerate(grid) if missing_power(delta) <= 0), None)
    if index is None:
        return None
    return grid[0] if index == 0 else float(optimize.bisect(missing_power, grid[index - 1], grid[index], xtol=1e-5))


def pilot_assumptions(
    name: str,
    values: Sequence[Mapping[K, float]],
    cluster_of: Callable[[K], Hashable],
    correlation: float,
    *,
    single: bool,
) -> PowerAssumptions:
    """Return power assumptions from a pilot: variances, disagreement and the design effect of clusters.

    Of several models these are means over all pairs at the items that both have. Of a single one there is its variance;
    the other model's is taken to be as large, and a correlation is assumed. A small pilot is wrong by chance: variances
    and disagreement are the upper ends of one-sided 80 % intervals (Browne, Statistics in Medicine 14, 1995, 1933).

    Args:
        name: What the pilot is about.
        values: Each model's values by item, from 0 to 1; one model at least has `FEWEST_ITEMS`.
        cluster_of: Item -> the cluster that it was drawn with.
        correlation: The correlation that is assumed if there is a single model.
        single: Whether there is at most one attempt at each item.
    """
    variances = [(pvariance(scores.values()), len(scores)) for scores in values if len(scores) >= FEWEST_ITEMS]
    value_variance = fmean(value * variance_upper_factor(count) for value, count in variances)
    is_two_valued = single and all(score in (0, 1) for scores in values for score in scores.values())
    pairs = [pair for pair in combinations(values, 2) if len(pair[0].keys() & pair[1].keys()) >= FEWEST_ITEMS]
    differences_of_pairs = [
        [(cluster_of(key), first[key] - second[key]) for key in first if key in second] for first, second in pairs
    ]
    if pairs:
        estimates = [_difference_statistics(differences) for differences in differences_of_pairs]
        variance, disagree, effect, size = (fmean(numbers) for numbers in zip(*estimates, strict=True))
        share_at_bounds = fmean(_share_at_bounds(pair, cluster_of) for pair in pairs)
        description = f"{len(pairs)} pairs of models" if len(pairs) > 1 else "two models"
    else:
        scores = max(values, key=len)
        _, _, effect, size = _difference_statistics([(cluster_of(key), value) for key, value in scores.items()])
        variance = disagree = 2 * pvariance(scores.values()) * (1 - correlation)
        share_at_bounds = 1 - (1 - _share_at_bounds([scores], cluster_of)) ** 2  # of either of two such models
        description = f"one model, outcomes correlate by {correlation:g} (assumed)"
    items = round(fmean(map(len, differences_of_pairs or values)))
    # Models that solve other items than each other: a negative correlation. `variance` has the factor n / (n - 1).
    is_negative = variance * (items - 1) / items > 2 * fmean(value for value, _ in variances) + 1e-9
    variance *= variance_upper_factor(round(items / size))
    disagree = _share_upper_limit(disagree, round(items / size))

    def difference_variance(delta: float) -> float:
        """Return the variance of an item's difference for a difference in means."""
        return max(disagree, delta) - delta**2 if is_two_valued else variance

    differing = (
        f", disagreeing on at most {disagree:.3g} of them"
        if is_two_valued
        else f", differences with a variance of at most {variance:.3g}"
    )
    clusters = f", {size:.3g} in a cluster with a design effect of {effect:.3g}" if size > 1 else ""
    guess = ", a rough guess from few items" if items < FEW else ""
    return PowerAssumptions(
        name=name,
        variance=difference_variance,
        # Pairs that are correlated need no more items than different ones, however careful the guess is.
        unpaired_variance=lambda delta: (
            value_variance if is_negative else max(value_variance, difference_variance(delta) / 2)
        ),
        disagree=(lambda delta: max(disagree, delta)) if is_two_valued else None,
        unseen_share=lambda delta: share_at_bounds / 2,
        size=size,
        effect=effect,
        description=f"{description}, {items:,} items{differing}{clusters}{guess}",
    )


def _share_upper_limit(share: float, count: int) -> float:
    """Return the upper end of a share's one-sided 80 % interval (Clopper and Pearson, Biometrika 26, 1934)."""
    test = stats.binomtest(min(count, round(share * count)), count, alternative="less")
    return float(test.proportion_ci(0.8, method="exact").high)


def _share_at_bounds(sides: Sequence[Mapping[K, float]], cluster_of: Callable[[K], Hashable]) -> float:
    """Return the share of clusters in which some model's mean at the common items is 0 or 1."""
    clusters: defaultdict[Hashable, list[K]] = defaultdict(list)
    for key in sides[0]:
        if all(key in side for side in sides):
            clusters[cluster_of(key)].append(key)
    means_by_cluster = ([fmean(side[key] for key in keys) for side in sides] for keys in clusters.values())
    return fmean(any(not ALIKE < mean < 1 - ALIKE for mean in means) for means in means_by_cluster)


def _difference_statistics(differences: Sequence[tuple[Hashable, float]]) -> tuple[float, float, float, float]:
    """Return variance, share of nonzero values, design effect and mean cluster size of (cluster, value) pairs.

    The design effect is how many times as large as for independent values the clustered variance of their mean is
    (Kish, Survey Sampling, 1965), at least 1: a pilot says too little for less.
    """
    values = [value for _, value in differences]
    by_cluster: defaultdict[Hashable, list[float]] = defaultdict(list)
    for cluster, value in differences:
        by_cluster[cluster].append(value)
    mean, n_values, n_clusters = fmean(values), len(values), len(by_cluster)
    independent_variance = pvariance(values)
    effect = 1.0
    if 1 < n_clusters < n_values and independent_variance:
        residuals = (math.fsum(value - mean for value in cluster_values) for cluster_values in by_cluster.values())
        squares = math.fsum(residual**2 for residual in residuals)
        effect = max(1.0, n_clusters / (n_clusters - 1) * squares / (n_values * independent_variance))
    return variance(values), fmean(value != 0 for value in values), effect, n_values / n_clusters


def tie_power(assumptions: PowerAssumptions, margin: float, items: float, *, alpha: float = ALPHA) -> float:
    """Return the probability that two equal models are shown to be tied.

    That takes a difference that is not shown, an interval of the difference within the margin, which is two one-sided
    tests (Schuirmann, J. Pharmacokinetics and Biopharmaceutics 15, 1987), and enough clusters
    (`min_clusters_for_tie`). Both tests are those of `Difference`, with a normal mean and an independent variance.

    Args:
        assumptions: What is assumed.
        margin: The greatest difference in a tie, on the scale from 0 to 1.
        items: Number of items, given to both.
        alpha: The level of each one-sided test, and of the test of a difference.
    """
    clusters = items / assumptions.size
    if clusters < max(FEWEST_CLUSTERS, min_clusters_for_tie(margin)):
        return 0.0
    planned = planned_errors(assumptions, 0.0, clusters)
    one_sided, two_sided = (float(stats.t.isf(tail, clusters - 1)) for tail in (alpha, alpha / 2))
    # Wilson's interval ends at the margin where the score test of the margin rejects, with the margin's own variance.
    greatest_within_margin = margin - one_sided * planned.test * math.sqrt(1 - margin**2)
    greatest_tied = greatest_within_margin.clip(0.0, two_sided * planned.test)
    return float(planned.weights @ (1 - 2 * stats.norm.sf(greatest_tied / planned.true)))


def items_for_tie(
    assumptions: PowerAssumptions, margin: float, *, alpha: float = ALPHA, power: float = POWER
) -> ItemsNeeded:
    """Return the least number of items that shows two equal models to be tied with a power (`tie_power`).

    Raises:
        ValueError: If no number of items has this power: a share of alpha of equal models are shown to differ.
    """
    if power >= 1 - alpha:
        raise ValueError(
            f"equal models are shown to differ with a probability of {alpha:g}, so that no number of items has a power "
            f"of {power:g} for a tie: lower --power or --alpha"
        )
    fewest = max(FEWEST_CLUSTERS, min_clusters_for_tie(margin))
    clusters = least_number(lambda n: tie_power(assumptions, margin, n * assumptions.size, alpha=alpha), power, fewest)
    return ItemsNeeded(items=math.ceil(clusters * assumptions.size - 1e-9), clusters=clusters, unpaired=None)
