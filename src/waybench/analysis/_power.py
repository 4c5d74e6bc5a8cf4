"""How many items a comparison takes: the power of paired tests, before money is spent."""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, pvariance, variance

import numpy as np
from scipy import optimize, stats

from waybench.analysis._items import ItemKey
from waybench.analysis._rows import grouped
from waybench.analysis.comparisons import ALPHA, Answers, bounded
from waybench.core import UsageError, plural
from waybench.stats import t_power, z_power

POWER = 0.8
FEW = 30  # items of a pilot, of which little can be said
FEWEST_ITEMS = 5  # in a pilot
FEWEST_CLUSTERS = 6  # from fewer no test of signs at 5 % can show a difference


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is assumed of two models' values at the same items, on a scale from 0 to 1.

    Attributes:
        name: Of what it is; "" for assumptions.
        variance: A difference in means -> the variance of an item's difference between the models.
        apart: A difference in means -> the variance of one item's value, the mean of both models'.
        disagree: A difference in means -> the share of items of which exactly one model solves; None where values are
            not only solved and not.
        size: Items in a cluster.
        effect: The design effect: how many times as large clusters make the variance of a mean.
        told: Where this is from, in words.
    """

    name: str = ""
    variance: Callable[[float], float]
    apart: Callable[[float], float]
    disagree: Callable[[float], float] | None = None
    size: float = 1.0
    effect: float = 1.0
    told: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """How many items a comparison takes.

    Attributes:
        items: Items, each given to both models.
        clusters: Clusters that these come in.
        unpaired: Items for each model, if they were not the same ones; None where a pilot does not tell.
    """

    items: int
    clusters: int
    unpaired: int | None


def shares(
    rate: float,
    *,
    correlation: float = 0.5,
    disagree: float | None = None,
    attempts: int = 1,
    repeat: float | None = None,
    size: float = 1.0,
    icc: float = 0.0,
) -> Plan:
    """Return a plan for shares of solved items.

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
        UsageError: If it cannot be.
    """
    if disagree is not None and attempts > 1:
        raise UsageError("a share of disagreement is that of single attempts: give a correlation with several attempts")
    within = (1 + correlation) / 2 if repeat is None else repeat
    if within < correlation:
        raise UsageError("attempts of one model at an item agree at least as much as those of two: raise --repeat")

    def alone(p: float) -> float:
        return p * (1 - p) * (1 + (attempts - 1) * within) / attempts

    def apart(delta: float) -> float:
        return (alone(rate) + alone(_other(rate, delta))) / 2

    def spread(delta: float) -> float:
        if disagree is not None:
            return disagree - delta**2
        other = _other(rate, delta)
        together = correlation * math.sqrt(rate * (1 - rate) * other * (1 - other))
        return alone(rate) + alone(other) - 2 * together

    def differing(delta: float) -> float:
        return _possible(rate, delta, spread(delta) + delta**2)

    return Plan(
        variance=spread,
        apart=apart,
        disagree=differing if attempts == 1 else None,
        size=size,
        effect=1 + (size - 1) * icc,
        told=", ".join(
            [
                f"one model solves {rate:g} of the items",
                f"outcomes correlate by {correlation:g}" if disagree is None else f"they disagree on {disagree:g}",
                *([f"{attempts} attempts, which correlate by {within:g}"] if attempts > 1 else ["one attempt at each"]),
                *([f"{size:g} items in a cluster, which correlate by {icc:g}"] if size > 1 else []),
            ]
        ),
    )


def _other(rate: float, delta: float) -> float:
    other = rate + delta if rate + delta <= 1 else rate - delta
    if other < 0:
        raise UsageError(f"a difference of {delta:g} from a share of {rate:g} is beyond 0 and 1: choose another --rate")
    return other


def _possible(rate: float, delta: float, disagree: float) -> float:
    """Return a share of disagreement if there can be such: of both who is right alone is a share of who is right."""
    low, high = sorted((rate, _other(rate, delta)))
    least, most = high - low, min(low + high, 2 - low - high)
    if not least <= disagree <= most + 1e-12:
        raise UsageError(
            f"models that solve {low:g} and {high:g} disagree on {least:g} to {most:g} of the items, not {disagree:g}: "
            "change --rate, --disagree or --correlation"
        )
    return disagree


def reached(plan: Plan, delta: float, items: float, *, alpha: float = ALPHA) -> float:
    """Return the power that so many items, given to both models, have for a difference.

    Of what is solved or not, in clusters of one item, it is that of McNemar's test (Connor, Biometrics 43, 1987,
    207-211): z_b = (d sqrt(n) - z_a sqrt(D)) / sqrt(D - d^2), with D the share of items on which the models disagree.
    Otherwise it is that of a t test of the clusters' mean differences. It is 0 for fewer than six clusters, of which
    no test of signs at 5 % shows a difference.

    Args:
        plan: What is assumed.
        delta: The difference, on the scale from 0 to 1.
        items: Number of items.
        alpha: The level of the two-sided test.

    Raises:
        UsageError: If there can be no such difference.
    """
    clusters = items / plan.size
    if clusters < FEWEST_CLUSTERS:
        return 0.0
    if plan.disagree and plan.size == 1:
        share = plan.disagree(delta)
        spare = delta * math.sqrt(items) - float(stats.norm.isf(alpha / 2)) * math.sqrt(share)
        error = math.sqrt(max(0.0, share - delta**2))
        return float(stats.norm.cdf(spare / error)) if error > 1e-9 else float(spare >= 0)
    error = math.sqrt(max(0.0, plan.variance(delta)) * plan.effect / plan.size)
    return t_power(delta / error, clusters, alpha) if error > 1e-9 else 1.0


def needed(plan: Plan, delta: float, *, alpha: float = ALPHA, power: float = POWER) -> Needed:
    """Return how many items it takes to detect a difference: the least with this power (`reached`).

    Unpaired it is that of a z test of two means.

    Args:
        plan: What is assumed.
        delta: The difference, on the scale from 0 to 1.
        alpha: The level of the two-sided test.
        power: The chance of showing the difference.

    Raises:
        UsageError: If there can be no such difference.
    """
    clusters = _least(lambda n: reached(plan, delta, n * plan.size, alpha=alpha), FEWEST_CLUSTERS, power)
    error = math.sqrt(plan.apart(delta) * plan.effect)
    alone = _least(lambda n: z_power(delta / error, n, alpha), FEWEST_CLUSTERS, power) if error else None
    return Needed(items=math.ceil(clusters * plan.size - 1e-9), clusters=clusters, unpaired=alone)


def _least(power_of: Callable[[float], float], fewest: int, power: float) -> int:
    """Return the least number from some on with a power, which grows with the number."""
    most = fewest
    while power_of(most) < power:
        most *= 2
    if most == fewest:
        return fewest
    # Not statsmodels' own solver: with a high power and a strict level it returns numbers that are no solution.
    return math.ceil(float(optimize.brentq(lambda n: power_of(n) - power, most / 2, most)) - 1e-6)


def detectable(plan: Plan, items: int, *, alpha: float = ALPHA, power: float = POWER) -> float | None:
    """Return the least difference that so many items, given to both models, detect; None if none is.

    Args:
        plan: What is assumed.
        items: Number of items.
        alpha: The level of the two-sided test.
        power: The chance of showing the difference.
    """

    def short(delta: float) -> float:
        try:
            return power - reached(plan, delta, items, alpha=alpha)
        except UsageError:  # there can be no such difference
            return power

    # Power grows with the difference, up to where it becomes impossible.
    grid = np.geomspace(1e-4, 1, 200).tolist()
    first = next((number for number, delta in enumerate(grid) if short(delta) <= 0), None)
    if not first:
        return None if first is None else grid[0]
    return float(optimize.bisect(short, grid[first - 1], grid[first], xtol=1e-5))


def pilots(answers: Sequence[Answers], correlation: float) -> tuple[list[Plan], list[str]]:
    """Return plans from what models came to in a pilot, one for each test: variances, disagreement, design effects.

    Of several models these are means over all pairs at the items that both have. Of a single one there is its variance;
    the other model's is taken to be as large, and a correlation is assumed. A small pilot is wrong by chance: variances
    and disagreement are the upper ends of one-sided 80 % intervals (Browne, Statistics in Medicine 14, 1995, 1933).

    Args:
        answers: What they came to.
        correlation: The correlation for tests that a single model was given.

    Returns:
        The plans, and lines on what cannot be planned for.
    """
    plans: list[Plan] = []
    problems: list[str] = []
    for some in grouped(answers, lambda one: one.test).values():
        name = f"{some[0].name}: {some[0].metric.title}"
        values, size = _scaled(some)
        if not size:
            problems.append(f"{name}: its values have no bounds to take a share of; give another --metric, as solved")
        elif max(map(len, values)) < FEWEST_ITEMS:
            problems.append(f"{name}: fewer than {FEWEST_ITEMS} items say too little")
        else:
            single = all(count <= 1 for one in some for count in one.attempts.values())
            plans.append(_pilot(name, values, correlation, single))
    return plans, problems


def _scaled(some: Sequence[Answers]) -> tuple[list[dict[ItemKey, float]], float]:
    """Return the values of some answers to one test on a scale from 0 to 1, and their range; 0 if it has no bounds."""
    metric = bounded(some)
    if metric.low is None or metric.high is None:
        return [], 0.0
    low, size = metric.low, metric.high - metric.low
    return [{key: (value - low) / size for key, value in one.values.items()} for one in some], size


def _pilot(name: str, values: Sequence[Mapping[ItemKey, float]], correlation: float, single: bool) -> Plan:
    spread = fmean(_at_most(pvariance(one.values()), len(one)) for one in values if len(one) >= FEWEST_ITEMS)
    two_valued = single and all(value in (0, 1) for one in values for value in one.values())
    pairs = [
        [(key.cluster, one[key] - other[key]) for key in one if key in other] for one, other in combinations(values, 2)
    ]
    pairs = [pair for pair in pairs if len(pair) >= FEWEST_ITEMS]
    if pairs:
        each = [_of_pair(pair) for pair in pairs]
        variance, disagree, effect, size = (fmean(numbers) for numbers in zip(*each, strict=True))
        told = f"{len(pairs)} pairs of models" if len(pairs) > 1 else "two models"
    else:
        most = max(values, key=len)
        _, _, effect, size = _of_pair([(key.cluster, value) for key, value in most.items()])
        variance = disagree = 2 * pvariance(most.values()) * (1 - correlation)
        told = f"one model, outcomes correlate by {correlation:g} (assumed)"
    items = round(fmean(map(len, pairs or values)))
    variance = _at_most(variance, round(items / size))
    disagree = _share_at_most(disagree, round(items / size))
    differing = (
        f", disagreeing on at most {disagree:.3g} of them"
        if two_valued
        else f", differences with a variance of at most {variance:.3g}"
    )
    clusters = f", {size:.3g} in a cluster with a design effect of {effect:.3g}" if size > 1 else ""
    guess = ", a rough guess from so few" if items < FEW else ""
    return Plan(
        name=name,
        variance=lambda delta: max(disagree, delta) - delta**2 if two_valued else variance,
        apart=lambda delta: spread,
        disagree=(lambda delta: max(disagree, delta)) if two_valued else None,
        size=size,
        effect=effect,
        told=f"{told}, {plural(items, 'item')}{differing}{clusters}{guess}",
    )


def _at_most(spread: float, count: int) -> float:
    """Return the upper end of a variance's one-sided 80 % interval."""
    return spread * (count - 1) / float(stats.chi2.isf(0.8, count - 1)) if count > 1 else spread


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
    clusters = grouped(pair, lambda one: one[0])
    average, count, groups = fmean(numbers), len(numbers), len(clusters)
    spread = pvariance(numbers)
    effect = 1.0
    if 1 < groups < count and spread:
        residuals = math.fsum(math.fsum(value - average for _, value in some) ** 2 for some in clusters.values())
        effect = max(1.0, groups / (groups - 1) * residuals / (count * spread))
    return variance(numbers), fmean(value != 0 for value in numbers), effect, count / groups
