"""The power of paired tests: how many items a comparison needs."""

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, pvariance, variance
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from waybench._late import LateModule
from waybench.results.stats._intervals import variance_at_most, z_power
from waybench.results.stats._paired import ALPHA

if TYPE_CHECKING:
    from scipy import optimize, stats
else:
    optimize, stats = LateModule("scipy.optimize"), LateModule("scipy.stats")  # reports need no power

K = TypeVar("K")

POWER = 0.8
FEW = 30  # items of a pilot, of which little can be said
FEWEST_ITEMS = 5  # in a pilot
FEWEST_CLUSTERS = 6  # from fewer no test of signs at 5 % can show a difference


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerAssumptions:
    """Assumptions about two models' values at the same items, on a scale from 0 to 1.

    Attributes:
        name: What they are about; "" for none in particular.
        variance: A difference in means -> the variance of an item's difference between the models.
        apart: A difference in means -> the variance of one item's value, the mean of both models'.
        disagree: A difference in means -> the share of items of which exactly one model solves; None where values are
            not only solved and not.
        size: Items in a cluster.
        effect: The design effect: how many times as large clusters make the variance of a mean.
        description: Where they come from, in words.
    """

    name: str = ""
    variance: Callable[[float], float]
    apart: Callable[[float], float]
    disagree: Callable[[float], float] | None = None
    size: float = 1.0
    effect: float = 1.0
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemsNeeded:
    """The number of items for a comparison.

    Attributes:
        items: Items, each given to both models.
        clusters: Clusters that these come in.
        unpaired: Items for each model, if they were not the same ones; None where a pilot does not tell.
    """

    items: int
    clusters: int
    unpaired: int | None


def assume_shares(
    rate: float,
    *,
    correlation: float = 0.5,
    disagree: float | None = None,
    attempts: int = 1,
    repeat: float | None = None,
    size: float = 1.0,
    icc: float = 0.0,
) -> PowerAssumptions:
    """Return assumptions for shares of solved items.

    The better model solves more by the difference that is looked for, or the other one less where that is beyond 1.
    With K attempts at an item the variance of a model's value is p (1 - p) (1 + (K - 1) r) / K, with r the correlation
    of its attempts at one item; that is the split into an item's part and an attempt's part of Miller, "Adding Error
    Bars to Evals" (arXiv:2411.00640), section 5. The design effect of clusters is 1 + (m - 1) ICC (Kish, Survey
    Sampling, 1965).

    Args:
        rate: Share of items that the one model solves.
        correlation: Correlation between both models' outcomes of single attempts at the same item.
        disagree: Share of items of which exactly one model solves, in place of a correlation; for single attempts.
        attempts: Attempts at each item.
        repeat: Correlation between one model's attempts at the same item; by default halfway from `correlation` to 1.
        size: Items in a cluster.
        icc: Correlation between the differences at two items of one cluster.

    Raises:
        ValueError: If it cannot be.
    """
    if disagree is not None and attempts > 1:
        raise ValueError("--disagree applies to single attempts: use --correlation with several attempts")
    within = (1 + correlation) / 2 if repeat is None else repeat
    if within < correlation:
        raise ValueError(
            "attempts of one model on an item agree at least as much as those of two models: raise --repeat"
        )

    def alone(p: float) -> float:
        return p * (1 - p) * (1 + (attempts - 1) * within) / attempts

    def apart(delta: float) -> float:
        return (alone(rate) + alone(_second_rate(rate, delta))) / 2

    def spread(delta: float) -> float:
        second_rate = _second_rate(rate, delta)
        if disagree is not None:
            return _possible(rate, delta, disagree) - delta**2
        return alone(rate) + alone(second_rate) - 2 * _covariance(rate, second_rate, correlation)

    def differing(delta: float) -> float:
        return spread(delta) + delta**2

    return PowerAssumptions(
        variance=spread,
        apart=apart,
        disagree=differing if attempts == 1 else None,
        size=size,
        effect=1 + (size - 1) * icc,
        description=", ".join(
            [
                f"one model solves {rate:g} of the items",
                f"outcomes correlate by {correlation:g}, or as much as the two rates allow"
                if disagree is None
                else f"they disagree on {disagree:g}",
                *([f"{attempts} attempts, which correlate by {within:g}"] if attempts > 1 else ["one attempt at each"]),
                *([f"{size:g} items in a cluster, which correlate by {icc:g}"] if size > 1 else []),
            ]
        ),
    )


def _second_rate(rate: float, delta: float) -> float:
    second_rate = rate + delta if rate + delta <= 1 else rate - delta
    if second_rate < 0:
        raise ValueError(f"a difference of {delta:g} from a share of {rate:g} is beyond 0 and 1: choose another --rate")
    return second_rate


def _covariance(first: float, second: float, correlation: float) -> float:
    """Return the covariance of two models' outcomes, limited to what their rates allow.

    Both solve at least first + second - 1 of the items, and at most as many as the weaker one.
    """
    covariance = correlation * math.sqrt(first * (1 - first) * second * (1 - second))
    both = min(max(first * second + covariance, first + second - 1, 0.0), first, second)
    return both - first * second


def _possible(rate: float, delta: float, disagree: float) -> float:
    """Return a share of disagreement if it is possible: one model cannot alone solve more than it solves."""
    low, high = sorted((rate, _second_rate(rate, delta)))
    least, most = high - low, min(low + high, 2 - low - high)
    if not least - 1e-12 <= disagree <= most + 1e-12:
        raise ValueError(
            f"models that solve {low:g} and {high:g} disagree on {least:g} to {most:g} of the items, not {disagree:g}: "
            "change --rate or --disagree"
        )
    return disagree


def achieved_power(assumptions: PowerAssumptions, delta: float, items: float, *, alpha: float = ALPHA) -> float:
    """Return the power that so many items, given to both models, have for a difference.

    For items that are solved or not, in clusters of one item, it is the unconditional power of McNemar's exact test:
    the test's power given the number of items on which the models disagree (a binomial test of 1/2), averaged over
    that number, which is binomial too. Otherwise it is that of the test of graded values (`Pairs`), with the two pairs
    that it adds; and 0 for fewer than six clusters: so few cannot show a difference at 5 %.

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
    variance = max(0.0, assumptions.variance(delta)) * assumptions.effect / assumptions.size
    if assumptions.size == 1:
        return _graded_power(delta, variance, clusters, 1.0, alpha, single=True)
    added = min(assumptions.effect * variance_at_most(round(clusters)), assumptions.size) / assumptions.size
    return _graded_power(delta, variance, clusters, added, alpha, single=False)


def _graded_power(delta: float, variance: float, clusters: float, added: float, alpha: float, *, single: bool) -> float:
    """Return the power of the test of graded values (`Pairs`), for clusters of one size."""
    total = clusters + 2 * added
    mean = delta * clusters / total
    cluster_squares = (clusters - 1) * variance + clusters * (delta - mean) ** 2
    pairs = 2 * added**2 * (1 + mean**2)
    error = (
        math.sqrt(
            cluster_squares + pairs if single else cluster_squares / (1 - 1 / total) + pairs / (1 - added / total)
        )
        / total
    )
    # The added pairs are constant: the mean varies by less than its error says.
    true_error = math.sqrt(clusters * variance) / total
    quantile = float(stats.t.isf(alpha / 2, math.inf if single else clusters - 1))
    if mean > 20 * true_error:  # far out, where the noncentral t cannot be computed and is nearly normal
        return float(stats.norm.sf(quantile * error - mean, scale=max(true_error, 1e-12)))
    return float(stats.nct.sf(quantile * error / true_error, clusters - 1, mean / true_error))


def _mcnemar_power(disagree: float, delta: float, items: int, alpha: float) -> float:
    """Return the unconditional power of McNemar's exact test."""
    share = min(1.0, max(disagree, delta))
    if share <= 0:
        return 0.0
    # All numbers of items that matter: the rest has a probability below 1e-12.
    fewest, most = (int(stats.binom.ppf(end, items, share)) for end in (1e-12, 1 - 1e-12))
    differing = np.arange(fewest, most + 1)
    # p < alpha if the rarer of the two results occurs at most `rare` times.
    rare = stats.binom.ppf(alpha / 2, differing, 0.5) - 1
    better = min(1.0, (share + delta) / (2 * share))
    chance = stats.binom.cdf(rare, differing, 1 - better) + stats.binom.cdf(rare, differing, better)
    return float(np.sum(stats.binom.pmf(differing, items, share) * np.where(rare < 0, 0.0, chance)))


def items_needed(
    assumptions: PowerAssumptions, delta: float, *, alpha: float = ALPHA, power: float = POWER
) -> ItemsNeeded:
    """Return how many items it takes to detect a difference: the least with this power (`achieved_power`).

    With other items for each model it is that of a z test of two means; for items that are solved or not, with the
    correction by which it agrees with Fisher's exact test (Casagrande, Pike and Smith, Biometrics 34, 1978, 483-486).
    The arguments are those of `achieved_power`, with the wanted power.

    Raises:
        ValueError: If there can be no such difference.
    """
    clusters = _least(lambda n: achieved_power(assumptions, delta, n * assumptions.size, alpha=alpha), power)
    items = math.ceil(clusters * assumptions.size - 1e-9)
    error = math.sqrt(assumptions.apart(delta) * assumptions.effect)
    if not error:
        return ItemsNeeded(items=items, clusters=clusters, unpaired=None)
    alone = _least(lambda n: z_power(delta / error, n, alpha), power)
    if assumptions.disagree:
        alone = math.ceil(alone / 4 * (1 + math.sqrt(1 + 4 / (alone * delta))) ** 2)
    return ItemsNeeded(items=items, clusters=clusters, unpaired=alone)


def _least(power_of: Callable[[int], float], power: float) -> int:
    """Return the least number, from six, with a power, which grows with the number."""
    most = FEWEST_CLUSTERS
    while power_of(most) < power:
        most *= 2
    # Not statsmodels' own solver: with a high power and a strict level it returns numbers that are no solution.
    return bisect_left(range(most), power, lo=most // 2 if most > FEWEST_CLUSTERS else most, key=power_of)


def detectable_difference(
    assumptions: PowerAssumptions, items: int, *, alpha: float = ALPHA, power: float = POWER
) -> float | None:
    """Return the least difference that so many items, given to both models, detect; None if none is.

    The arguments are those of `achieved_power`, with the wanted power.
    """

    def short(delta: float) -> float:
        try:
            return power - achieved_power(assumptions, delta, items, alpha=alpha)
        except ValueError:  # there can be no such difference
            return power

    # Power grows with the difference, up to where it becomes impossible.
    grid = np.geomspace(1e-4, 1, 200).tolist()
    first = next((number for number, delta in enumerate(grid) if short(delta) <= 0), None)
    if not first:
        return None if first is None else grid[0]
    return float(optimize.bisect(short, grid[first - 1], grid[first], xtol=1e-5))


def pilot_assumptions(
    name: str,
    values: Sequence[Mapping[K, float]],
    cluster: Callable[[K], Hashable],
    correlation: float,
    *,
    single: bool,
) -> PowerAssumptions:
    """Return assumptions from a pilot: variances, disagreement and the design effect of clusters.

    Of several models these are means over all pairs at the items that both have. Of a single one there is its variance;
    the other model's is taken to be as large, and a correlation is assumed. A small pilot is wrong by chance: variances
    and disagreement are the upper ends of one-sided 80 % intervals (Browne, Statistics in Medicine 14, 1995, 1933).

    Args:
        name: What the pilot is about.
        values: Each model's values by item, from 0 to 1; one model at least has `FEWEST_ITEMS`.
        cluster: Item -> the cluster that it was drawn with.
        correlation: The correlation that is assumed if there is a single model.
        single: Whether there is at most one attempt at each item.
    """
    spreads = [(pvariance(scores.values()), len(scores)) for scores in values if len(scores) >= FEWEST_ITEMS]
    spread = fmean(value * variance_at_most(count) for value, count in spreads)
    two_valued = single and all(score in (0, 1) for scores in values for score in scores.values())
    pairs = [
        [(cluster(key), first[key] - second[key]) for key in first if key in second]
        for first, second in combinations(values, 2)
    ]
    pairs = [pair for pair in pairs if len(pair) >= FEWEST_ITEMS]
    if pairs:
        estimates = [_of_pair(pair) for pair in pairs]
        variance, disagree, effect, size = (fmean(numbers) for numbers in zip(*estimates, strict=True))
        description = f"{len(pairs)} pairs of models" if len(pairs) > 1 else "two models"
    else:
        most = max(values, key=len)
        _, _, effect, size = _of_pair([(cluster(key), value) for key, value in most.items()])
        variance = disagree = 2 * pvariance(most.values()) * (1 - correlation)
        description = f"one model, outcomes correlate by {correlation:g} (assumed)"
    items = round(fmean(map(len, pairs or values)))
    # Models that solve other items than each other: a negative correlation. `variance` has the factor n / (n - 1).
    negative = variance * (items - 1) / items > 2 * fmean(value for value, _ in spreads) + 1e-9
    variance *= variance_at_most(round(items / size))
    disagree = _share_at_most(disagree, round(items / size))

    def spread_of_difference(delta: float) -> float:
        return max(disagree, delta) - delta**2 if two_valued else variance

    differing = (
        f", disagreeing on at most {disagree:.3g} of them"
        if two_valued
        else f", differences with a variance of at most {variance:.3g}"
    )
    clusters = f", {size:.3g} in a cluster with a design effect of {effect:.3g}" if size > 1 else ""
    guess = ", a rough guess from few items" if items < FEW else ""
    return PowerAssumptions(
        name=name,
        variance=spread_of_difference,
        # Pairs that are correlated need no more items than different ones, however careful the guess is.
        apart=lambda delta: spread if negative else max(spread, spread_of_difference(delta) / 2),
        disagree=(lambda delta: max(disagree, delta)) if two_valued else None,
        size=size,
        effect=effect,
        description=f"{description}, {items:,} items{differing}{clusters}{guess}",
    )


def _share_at_most(share: float, count: int) -> float:
    """Return the upper end of a share's one-sided 80 % interval (Clopper and Pearson, Biometrika 26, 1934)."""
    least = stats.binomtest(min(count, round(share * count)), count, alternative="less")
    return float(least.proportion_ci(0.8, method="exact").high)


def _of_pair(pair: Sequence[tuple[Hashable, float]]) -> tuple[float, float, float, float]:
    """Return the variance of some values, the share that are not 0, their design effect and the size of a cluster.

    The design effect is how many times as large as for independent values the clustered variance of their mean is
    (Kish, Survey Sampling, 1965), at least 1: a pilot says too little for less.
    """
    numbers = [value for _, value in pair]
    clusters: defaultdict[Hashable, list[float]] = defaultdict(list)
    for cluster, value in pair:
        clusters[cluster].append(value)
    average, count, groups = fmean(numbers), len(numbers), len(clusters)
    spread = pvariance(numbers)
    effect = 1.0
    if 1 < groups < count and spread:
        residuals = math.fsum(
            math.fsum(value - average for value in differences) ** 2 for differences in clusters.values()
        )
        effect = max(1.0, groups / (groups - 1) * residuals / (count * spread))
    return variance(numbers), fmean(value != 0 for value in numbers), effect, count / groups
