"""Assumptions about two models' shares of solved items, from a few numbers that a user gives."""

import math
from typing import TYPE_CHECKING

from waybench._late import LazyModule
from waybench.results.stats._power import PowerAssumptions

if TYPE_CHECKING:
    from scipy import special
else:
    special = LazyModule("scipy.special")


def assume_shares(
    rate: float,
    *,
    correlation: float = 0.5,
    disagree: float | None = None,
    attempts: int = 1,
    repeat: float | None = None,
    size: float = 1.0,
    icc: float = 0.0,
    forms: int = 0,
) -> PowerAssumptions:
    """Return power assumptions for comparing two models' shares of solved items.

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
        forms: Number of isomorphic forms of each item, whose mean is the second side of a comparison of one model with
            itself; 0 for two models at the same items. `correlation` is then that of single attempts at two forms.

    Raises:
        ValueError: If it cannot be.
    """
    if disagree is not None and (attempts > 1 or forms > 1):
        raise ValueError("--disagree applies to single attempts: use --correlation with several attempts or forms")
    within = (1 + correlation) / 2 if repeat is None else repeat
    if within < correlation:
        raise ValueError(
            "attempts of one model on an item agree at least as much as those of two models: raise --repeat"
        )
    second_forms = max(forms, 1)
    # An item's variance, as a part of that of a single attempt.
    first_part = (1 + (attempts - 1) * within) / attempts
    second_part = (first_part + (second_forms - 1) * correlation) / second_forms
    effect = 1 + (size - 1) * icc

    def value_variances(delta: float) -> tuple[float, float]:
        """Return the variance of an item's value for each of two models that differ by delta."""
        second_rate = _second_rate(rate, delta)
        return rate * (1 - rate) * first_part, second_rate * (1 - second_rate) * second_part

    def unpaired_variance(delta: float) -> float:
        """Return the mean of both variances of an item's value."""
        return sum(value_variances(delta)) / 2

    def difference_variance(delta: float) -> float:
        """Return the variance of an item's difference between the models."""
        if disagree is not None:
            return _checked_disagreement(rate, delta, disagree) - delta**2
        return sum(value_variances(delta)) - 2 * _covariance(rate, _second_rate(rate, delta), correlation)

    def disagreement(delta: float) -> float:
        """Return the share of items that exactly one model solves."""
        return difference_variance(delta) + delta**2

    def unseen_share(delta: float) -> float:
        """Return the share of clusters that are at a bound, from which rare values are allowed for."""
        second_rate, draws = _second_rate(rate, delta), size * attempts
        first = _probability_all_alike(rate, draws, first_part * effect / size)
        second = _probability_all_alike(second_rate, draws * second_forms, second_part * effect / size)
        always = rate in (0, 1) or second_rate in (0, 1)
        return (1 - (1 - first) * (1 - second)) / (1 if always else 2)

    solves = "the model solves" if forms else "one model solves"
    return PowerAssumptions(
        variance=difference_variance,
        unpaired_variance=unpaired_variance,
        disagree=disagreement if attempts == second_forms == 1 else None,
        unseen_share=unseen_share,
        size=size,
        effect=effect,
        description=", ".join(
            [
                f"{solves} {rate:g} of the items",
                *([f"{forms} isomorphic form{'s' if forms > 1 else ''} of each"] if forms else []),
                f"outcomes correlate by {correlation:g}, or as much as the two rates allow"
                if disagree is None
                else f"they disagree on {disagree:g}",
                *([f"{attempts} attempts, which correlate by {within:g}"] if attempts > 1 else ["one attempt at each"]),
                *([f"{size:g} items in a cluster, which correlate by {icc:g}"] if size > 1 else []),
            ]
        ),
    )


def _probability_all_alike(rate: float, n_results: float, variance_ratio: float) -> float:
    """Return the probability that all results of a cluster are alike: all solved, or none.

    Results are beta-binomial, with the correlation that gives their mean its variance. Two models are taken for
    independent, which makes values at a bound more common than they are where models agree.

    Args:
        rate: Share of results that are solved.
        n_results: Number of results.
        variance_ratio: The variance of their mean divided by that of a single one.
    """
    correlation = (variance_ratio * n_results - 1) / (n_results - 1) if n_results > 1 else 1.0
    if correlation >= 1 or rate in (0, 1):
        return 1.0
    if correlation <= 0:
        return rate**n_results + (1 - rate) ** n_results
    total = 1 / correlation - 1
    return sum(
        math.exp(special.betaln(p * total + n_results, (1 - p) * total) - special.betaln(p * total, (1 - p) * total))
        for p in (rate, 1 - rate)
    )


def _second_rate(rate: float, delta: float) -> float:
    """Return the other model's share of solved items, at a difference from the first one's."""
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


def _checked_disagreement(rate: float, delta: float, disagree: float) -> float:
    """Return a share of disagreement; ValueError unless it is possible with these rates."""
    low, high = sorted((rate, _second_rate(rate, delta)))
    least, most = high - low, min(low + high, 2 - low - high)
    if not least - 1e-12 <= disagree <= most + 1e-12:
        raise ValueError(
            f"models that solve {low:g} and {high:g} disagree on {least:g} to {most:g} of the items, not {disagree:g}: "
            "change --rate or --disagree"
        )
    return disagree
