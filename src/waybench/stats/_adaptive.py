"""Adaptive search for a horizon with the fewest tokens: the next trials, and when to stop."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import NamedTuple

import numpy as np

from waybench.stats._curves import Curves, Fit, Shape
from waybench.stats._trials import Array, Trials

HORIZON_CONFIDENCE = 0.9  # of the intervals of horizons
FEWEST = 12  # trials before precision can be reached, for the first few can agree by chance
_FAR = 1.0  # how far beyond the range a horizon counts as far, on the curves' scale: it is no use to know it better
_SURE = 0.95  # probability with which the horizon is beyond the range, or below it, for the search to end
_WORTH = 1e-6  # curves that are less probable, compared with the most probable one, decide nothing
_EQUAL = 1e-9  # relative: gains that differ by less are the same, whatever the order of sums
_PRIOR_TRIALS = 2.0  # weight, in trials, of the prior that trials cost what was expected

STOPS = {
    "precision": "the precision is reached",
    "beyond": "the horizon is above the hardest items",
    "below": "the horizon is below the easiest items",
    "budget": "the rest of the budget is too small for another round",
    "cap": "the maximum number of episodes was played",
    "supply": "no items are left",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppingRule:
    """The precision of a horizon, and the highest cost.

    Attributes:
        share: The share of items that is still solved at the horizon.
        precision: Half the width of the horizon's 90 % interval, as a part of the horizon.
        most: Most trials.
        budget: Most cost; None for no limit.
        batch: Trials that are begun together: the next ones are chosen when all of them have ended.
    """

    share: float = 0.5
    precision: float = 0.1
    most: int = 200
    budget: float | None = None
    batch: int = 4


class Candidate(NamedTuple):
    """Items of about the same difficulty.

    Attributes:
        at: The difficulty.
        cost: What a trial of them is thought to cost, in the unit of the budget; above 0.
        left: Number of items; None for as many as one likes.
    """

    at: float
    cost: float
    left: int | None = None


class Trial(NamedTuple):
    """An item that was tried.

    Attributes:
        at: Its difficulty.
        solved: Whether it was solved.
        cost: What it cost; None if that is not known.
        expected_cost: What it was thought to cost.
    """

    at: float
    solved: bool
    cost: float | None
    expected_cost: float


class Decision(NamedTuple):
    """The next step of a search.

    Attributes:
        candidates: Numbers of the candidates of which an item each is to be tried, in any order; none at the end.
        stop: At the end why, a key of `STOPS`; otherwise "".
    """

    candidates: tuple[int, ...] = ()
    stop: str = ""


class HorizonEstimate(NamedTuple):
    """A horizon.

    Attributes:
        value: The median of what it may be.
        low: Lower end of its 90 % interval.
        high: Upper end.
    """

    value: float
    low: float
    high: float

    @property
    def precision(self) -> float:
        """Half the interval's width, as a part of the value."""
        return (self.high - self.low) / (2 * self.value)


class Seeker:
    """Chooses the trials with the most information about a horizon for their cost.

    The next trial is the one after which the posterior variance of the horizon's logarithm is expected to be least
    (van der Linden, "Bayesian item selection criteria for adaptive testing", Psychometrika 63, 1998: minimum expected
    posterior variance), by how much it is less for each unit of expected cost. Trials of one batch are chosen one after
    the other, each taken for solved in part, as the curves expect.

    What is chosen is a function of the trials that have ended, in whatever order they did.
    """

    def __init__(self, rule: StoppingRule, lowest: float, highest: float, shape: Shape | None = None) -> None:
        """Lay out the curves.

        Args:
            rule: When the search stops.
            lowest: The least difficulty that can be tried.
            highest: The greatest one.
            shape: What is taken for granted of curves.
        """
        self.rule = rule
        self._ends = lowest, highest
        self._curves = Curves(shape or Shape(), lowest, highest)
        low, high = (float(end) for end in self._curves.shape.scale(np.array([lowest, highest])))
        self._places = np.clip(self._curves.reaches(rule.share), low - _FAR, high + _FAR)

    def state(self, trials: Sequence[Trial]) -> "State":
        """Return what is known after some trials."""
        return State(self._curves, self.rule, tuple(trials))

    def next(self, trials: Sequence[Trial], candidates: Sequence[Candidate], budget: float | None = None) -> Decision:
        """Decide what to try next, or that it is enough.

        Args:
            trials: What has been tried.
            candidates: What can be tried; `left` without those that have been.
            budget: Most cost of all trials; None for no limit.
        """
        state, rule = self.state(trials), self.rule
        stop = state.stop(*self._ends)
        if stop:
            return Decision(stop=stop)
        room = min(rule.batch, rule.most - len(trials))
        expected = [candidate.cost * state.dearer for candidate in candidates]
        numbers = self._choose(state, candidates, expected, room)
        if not numbers:
            return Decision(stop="supply")
        if budget is not None:
            spent = np.cumsum([state.spent, *(expected[number] for number in numbers)])[1:]
            numbers = [number for number, sum_ in zip(numbers, spent, strict=True) if sum_ <= budget]
        return Decision(tuple(numbers)) if numbers else Decision(stop="budget")

    def _choose(self, state: "State", candidates: Sequence[Candidate], costs: Sequence[float], room: int) -> list[int]:
        weights = np.where(state.weights > _WORTH * state.weights.max(), state.weights, 0.0)
        at = np.array([candidate.at for candidate in candidates], dtype=np.float64)
        left = [room if candidate.left is None else candidate.left for candidate in candidates]
        numbers: list[int] = []
        while len(numbers) < room and any(left):
            weights = weights / weights.sum()
            expected, gains = self._gains(weights, at)
            gains = gains / np.array(costs)
            gains[[not remaining for remaining in left]] = -np.inf
            best = int(np.flatnonzero(gains >= gains.max() - abs(gains.max()) * _EQUAL)[0])
            numbers.append(best)
            left[best] -= 1
            rate, (success, failure) = float(expected[best]), self._curves.logs(candidates[best].at)
            weights = weights * np.exp(rate * success + (1 - rate) * failure)
        return numbers

    def _gains(self, weights: Array, at: Array) -> tuple[Array, Array]:
        """Return the expected success rate of a trial at each difficulty, and by how much the variance may then fall.

        Args:
            weights: The posterior probability of each curve.
            at: The difficulties.
        """
        off = self._places - float(weights @ self._places)
        solved, moved = self._curves.sums(at, np.stack([weights, weights * off]))
        # The variance falls by what the two possible means vary: the mean of `off` is `moved / solved` after a success
        # and `-moved / (1 - solved)` after a failure.
        return solved, moved**2 / np.clip(solved * (1 - solved), 1e-12, None)


@dataclass(frozen=True)
class State:
    """The posterior distribution after trials.

    Attributes:
        curves: The curves.
        rule: When the search stops.
        trials: The trials.
    """

    curves: Curves
    rule: StoppingRule
    trials: tuple[Trial, ...]

    @cached_property
    def fit(self) -> Fit:
        """The curves after the trials, each of another item."""
        at = np.array([trial.at for trial in self.trials], dtype=np.float64)
        solved = np.array([trial.solved for trial in self.trials], dtype=np.float64)
        places, number = np.unique(at, return_inverse=True)
        size = len(places)
        counts = [np.bincount(number, weights, size).astype(np.float64) for weights in (solved, None)]
        return Fit(self.curves, Trials(places, *counts))

    @property
    def weights(self) -> Array:
        """The posterior probability of each curve."""
        return self.fit.weights

    @cached_property
    def horizon(self) -> HorizonEstimate:
        """The horizon."""
        return HorizonEstimate(*self.fit.horizon(self.rule.share, HORIZON_CONFIDENCE))

    @cached_property
    def dearer(self) -> float:
        """The ratio of actual to expected costs of trials."""
        costs = [(trial.cost, trial.expected_cost) for trial in self.trials if trial.cost is not None]
        first = _PRIOR_TRIALS * (np.mean([expected for _, expected in costs]) if costs else 1.0)
        return float((fsum(cost for cost, _ in costs) + first) / (fsum(expected for _, expected in costs) + first))

    @property
    def spent(self) -> float:
        """The cost of the trials; where it is not known, the expected cost."""
        return fsum(trial.expected_cost * self.dearer if trial.cost is None else trial.cost for trial in self.trials)

    def stop(self, lowest: float, highest: float) -> str:
        """Return why to stop, a key of `STOPS`; "" to go on.

        Args:
            lowest: The least difficulty that can be tried.
            highest: The greatest one.
        """
        if len(self.trials) >= FEWEST:
            if (
                lowest <= self.horizon.low
                and self.horizon.high <= highest
                and self.horizon.precision <= self.rule.precision
            ):
                return "precision"
            low, high = (float(end) for end in self.curves.shape.scale(np.array([lowest, highest])))
            places = self.curves.reaches(self.rule.share)
            for stop, outside in (("beyond", places > high), ("below", places < low)):
                if float(self.weights[outside].sum()) >= _SURE:
                    return stop
        return "cap" if len(self.trials) >= self.rule.most else ""
