"""Sequential comparisons by betting: evidence that is valid at any stop, and races that end as soon as it is enough.

Each of a few bets l has a wealth that grows by the factor (1 - l) + l (1 + D) / (1 + mu) with each unit of the stream,
where D is the difference of two scores from 0 to 1. If the mean of D is mu or less, the mean wealth ever reaches
1 / alpha with a probability of at most alpha (Waudby-Smith and Ramdas, "Estimating means of bounded random variables by
betting", arXiv:2010.09686).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

SEQUENTIAL_REVISION = 1  # raised whenever the same scores make another decision
_ALPHA = 0.05  # of the statement that one is better, two-sided, and of each other statement
_ITEM_BETS, _CLUSTER_BETS = 8, 4  # numbers of bets
_LEAST_CLUSTER_BET, _GREATEST_BET = 0.5, 0.98
MOST_MARGIN = 0.4  # twice the margin is the least bet
MOST_UNITS = 2_000  # of a stream without an end
_BISECTIONS = 60

Matrices = npt.NDArray[np.float64]
"""Of each ordered pair (i, j) a number about i over j; shape (..., k, k)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRule:
    """When a comparison ends; fixed before the first result.

    Attributes:
        models: Number of models.
        margin: The greatest difference in a tie, on a scale from 0 to 1.
        tasks: Number of tasks whose decisions belong together.
        clusters: Whether a unit is a cluster of items.
    """

    models: int = 2
    margin: float = 0.05
    tasks: int = 1
    clusters: bool = False

    @property
    def bets(self) -> tuple[float, ...]:
        """The bets: shares of the wealth that are put at risk."""
        count = _CLUSTER_BETS if self.clusters else _ITEM_BETS
        least = _LEAST_CLUSTER_BET if self.clusters else 2 * self.margin
        return tuple(least * (_GREATEST_BET / least) ** (number / (count - 1)) for number in range(count))

    @property
    def better_threshold(self) -> float:
        """The evidence at which a model is shown to be worse than another one: 40 for two models."""
        return self.models / _ALPHA * self.tasks

    @property
    def tie_threshold(self) -> float:
        """The evidence at which a model is shown not to be worse by more than the margin: 20 for two models."""
        return (self.models - 1) / _ALPHA * self.tasks


class ConfidenceLimits(NamedTuple):
    """The ends of a confidence sequence at one of its looks.

    Attributes:
        low: Lower end, on the scale from -1 to 1.
        high: Upper end.
    """

    low: float
    high: float


def score_differences(scores: npt.ArrayLike) -> Matrices:
    """Return by how much each model's mean score in a unit is above that of each other one.

    Args:
        scores: Of each model its scores, from 0 to 1, at the items of the unit; NaN for one that is lost. Shape
            (..., k, items).

    Returns:
        The mean over items, where an item that either of two has lost counts as -1 for both. Shape (..., k, k).
    """
    values = np.asarray(scores, dtype=np.float64)
    differences = values[..., :, None, :] - values[..., None, :, :]
    differences = np.where(np.isnan(differences), -1.0, differences)
    total = np.zeros(differences.shape[:-1])
    for item in range(differences.shape[-1]):  # in order, for the same bits everywhere
        total += differences[..., item]
    return total / differences.shape[-1]


class Race:
    """A comparison of two or more models, unit by unit; or several at once, for simulations.

    Attributes:
        rule: When it ends.
        units: Number of units so far.
        better: Evidence that model i is better than j, as of the last look at which both were live.
        not_worse: The most evidence at any look that i is not worse than j by more than the margin.
        live: The models that have not been dropped.
        dropped_at: The unit at which each model was dropped, from 1; 0 for those that were not.
        ended_at: The unit at which the race ended, from 1; 0 before.
    """

    def __init__(self, rule: DecisionRule, shape: tuple[int, ...] = ()) -> None:
        """Begin a race without units.

        Args:
            rule: When it ends.
            shape: How many races there are at once; () for one.
        """
        size = rule.models
        self.rule, self.units = rule, 0
        self._bets = np.array(rule.bets).reshape(-1, *(1 for _ in shape), 1, 1)
        self._wealth = {mu: np.ones((len(rule.bets), *shape, size, size)) for mu in (0.0, -rule.margin)}
        self._are_different = ~np.eye(size, dtype=np.bool_)
        self.better = np.ones((*shape, size, size))
        self.not_worse = np.ones((*shape, size, size))
        self.live = np.ones((*shape, size), dtype=np.bool_)
        self.dropped_at = np.zeros((*shape, size), dtype=np.int64)
        self.ended_at = np.zeros(shape, dtype=np.int64)

    def add_unit(self, ahead: Matrices) -> None:
        """Add the results of the next unit, and drop models or end races where that is certain.

        Args:
            ahead: How much each model is ahead (`score_differences`); those of dropped models are not used.
        """
        self.units += 1
        open_races = self.ended_at == 0
        are_live = self.live[..., :, None] & self.live[..., None, :] & open_races[..., None, None]
        self.better = np.where(are_live, self._update_wealth(0.0, ahead), self.better)
        not_worse_now = self._update_wealth(-self.rule.margin, ahead)
        self.not_worse = np.where(are_live, np.maximum(self.not_worse, not_worse_now), self.not_worse)
        # A model is dropped by the mean evidence that the others are better.
        evidence_against = np.where(self._are_different, self.better, 0.0).sum(axis=-2) / (self.rule.models - 1)
        is_loser = self.live & (evidence_against >= self.rule.better_threshold) & open_races[..., None]
        self.live = self.live & ~is_loser
        self.dropped_at = np.where(is_loser, self.units, self.dropped_at)
        is_over = (self.live.sum(axis=-1) <= 1) | self._is_tied()
        self.ended_at = np.where(open_races & is_over, self.units, self.ended_at)

    def _update_wealth(self, mu: float, ahead: Matrices) -> Matrices:
        """Multiply the wealth of the bets against a mean of mu by a unit's factors; return the mean wealth."""
        wealth = self._wealth[mu]
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            wealth *= (1 - self._bets) + self._bets * (1 + ahead) / (1 + mu)
        total = np.zeros(wealth.shape[1:])
        for wealth_of_bet in wealth:  # in order, for the same bits everywhere
            total += wealth_of_bet
        return total / len(wealth)

    @property
    def unbeaten(self) -> npt.NDArray[np.bool_]:
        """Mask of the live models that are shown to be best or within the margin of the best; shape (..., k)."""
        is_not_worse = self.not_worse >= self.rule.tie_threshold
        are_rivals = self._are_different & self.live[..., None, :]
        return np.asarray(self.live & (is_not_worse | ~are_rivals).all(axis=-1))

    def _is_tied(self) -> npt.NDArray[np.bool_]:
        """Return which races end with a tie."""
        # Two models are tied when neither is worse; among several, one that is not worse than all others is enough.
        all_or_any = np.all if self.rule.models == 2 else np.any
        return np.asarray(all_or_any(self.unbeaten, axis=-1))


def evidence(ahead: npt.ArrayLike, mu: float, bets: Sequence[float]) -> float:
    """Return the evidence that the mean difference is above a hypothetical one.

    Args:
        ahead: The differences, in the order of the stream.
        mu: The hypothetical mean, above -1.
        bets: The bets.
    """
    gains = 1 + np.asarray(ahead, dtype=np.float64)
    total = 0.0
    with np.errstate(over="ignore", under="ignore"):
        for bet in bets:
            # Unlike a product, a cumulative one has the order of the stream on every machine.
            wealth = np.cumprod((1 - bet) + bet * gains / (1 + mu))
            total += float(wealth[-1]) if len(wealth) else 1.0
    return total / len(bets)


def confidence_sequence(
    ahead: npt.ArrayLike, behind: npt.ArrayLike, bets: Sequence[float], threshold: float
) -> ConfidenceLimits:
    """Return the ends of the confidence sequence: the means with less evidence against them than a threshold.

    At all looks together, the true mean is within with a probability of 1 - 2 / threshold.

    Args:
        ahead: How much the first model is ahead in each unit, in order; an item that is lost counts as -1.
        behind: How much the second model is ahead, likewise: minus `ahead` where nothing is lost.
        bets: The bets.
        threshold: The evidence that excludes a mean.
    """
    return ConfidenceLimits(_lower_limit(ahead, bets, threshold), -_lower_limit(behind, bets, threshold))


def _lower_limit(ahead: npt.ArrayLike, bets: Sequence[float], threshold: float) -> float:
    """Return the greatest mean that the evidence excludes from below, by bisection."""
    low, high = -1.0, 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if evidence(ahead, middle, bets) >= threshold:
            low = middle
        else:
            high = middle
    return low


_STREAMS = 400  # simulated for a forecast


class DecisionForecast(NamedTuple):
    """The length of comparisons until their decision, in simulated streams.

    Attributes:
        units: Mean number of units.
        most: Number of units that nine streams of ten do not exceed.
        right: Share of the streams that end with the right decision.
    """

    units: float
    most: int
    right: float


def forecast_decisions(
    rule: DecisionRule, disagree: float, difference: float, most_units: int, *, size: int = 1, icc: float = 0.0
) -> DecisionForecast:
    """Return how many units a comparison of two models takes until it is decided, from simulated streams.

    Args:
        rule: When it ends.
        disagree: Share of items that exactly one of them solves, at least the difference.
        difference: The true difference; 0 for a tie.
        most_units: The number of units at which an undecided comparison ends.
        size: Items in a unit.
        icc: Correlation of differences within a unit.
    """
    rng = np.random.default_rng(0)
    race = Race(rule, (_STREAMS,))
    probabilities = np.array([(disagree + difference) / 2, (disagree - difference) / 2, 1 - disagree])
    # Each item has the common result of its unit with this probability, so two items have it with the correlation.
    common_probability = math.sqrt(icc)
    while race.units < most_units and not race.ended_at.all():
        results = rng.choice([1.0, -1.0, 0.0], size=(_STREAMS, size), p=probabilities)
        if common_probability:
            common_results = rng.choice([1.0, -1.0, 0.0], size=(_STREAMS, 1), p=probabilities)
            results = np.where(rng.random((_STREAMS, size)) < common_probability, common_results, results)
        ahead = results.mean(axis=1)
        matrices = np.zeros((_STREAMS, 2, 2))
        matrices[:, 0, 1], matrices[:, 1, 0] = ahead, -ahead
        race.add_unit(matrices)
    n_units = np.where(race.ended_at == 0, most_units, race.ended_at)
    is_tied = race.live.all(axis=-1)
    if difference > rule.margin:
        has_right_verdict = ~is_tied & race.live[:, 0]
    elif difference > 0:  # within the margin both conclusions are right
        has_right_verdict = is_tied | race.live[:, 0]
    else:
        has_right_verdict = is_tied
    is_right = (race.ended_at > 0) & has_right_verdict
    return DecisionForecast(float(n_units.mean()), int(np.quantile(n_units, 0.9)), float(is_right.mean()))
