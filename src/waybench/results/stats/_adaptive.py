"""Adaptive search for a horizon with the fewest tokens: the next trials, and when to stop."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from waybench._late import LazyModule
from waybench.results.stats._curves import Array, CurvePrior, Curves, Indices, Trials
from waybench.results.stats._fit import HORIZON_CONFIDENCE, MAYBE_UNREACHED, NEVER_REACHED, Fit

if TYPE_CHECKING:
    from scipy import special
else:
    special = LazyModule("scipy.special")  # training does without it

SEARCH_REVISION = 2  # raised whenever the same results make a search try something else
FEWEST = 12  # trials before precision can be reached, for the first few can agree by chance
_BINS = 20  # to a doubling, or another unit of the curves' scale: horizons of one bin count as equal for a choice
_SURE = 0.95  # probability with which the horizon is beyond the range, or below it, for the search to end
_LEAST_RATE = 1e-9  # of success and of failure
_LEAST_WEIGHT = 1e-6  # curves that are less probable, compared with the most probable one, decide nothing
_EQUAL = 1e-9  # relative: gains that differ by less are the same, whatever the order of sums
_PRIOR_TRIALS = 2.0  # weight, in trials, of the prior that trials cost what was expected

STOPS = {
    "precision": "the precision is reached",
    "beyond": "the horizon is above the hardest items",
    "below": "the horizon is below the easiest items",
    NEVER_REACHED: "the success rate is below the share even at the easiest items",
    "budget": "the rest of the budget is too small for another round",
    "cap": "the maximum number of episodes was played",
    "supply": "no items are left",
}
_PLAYERS = 7  # that a forecast simulates
_SLOPE = 3.0  # success falls from 90 to 10 % within one and a half doublings of the difficulty


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppingRule:
    """The precision of a horizon, and the highest cost.

    Attributes:
        share: The share of items that is still solved at the horizon.
        precision: Half the width of the horizon's 90 % interval, as a part of the horizon.
        most: Most trials.
        budget: Most cost of all trials; None for no limit.
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
        at: Their difficulty.
        cost: The expected cost of a trial, in the unit of the budget; above 0.
        left: Number of items that were not tried yet; None for an unlimited number.
    """

    at: float
    cost: float
    left: int | None = None


class Trial(NamedTuple):
    """An item that was tried.

    Attributes:
        at: Its difficulty.
        cost: What it cost; None if that is not known.
        expected_cost: What it was expected to cost.
    """

    at: float
    solved: bool
    cost: float | None
    expected_cost: float


class Decision(NamedTuple):
    """The next step of a search.

    Attributes:
        candidates: Indices of the candidates of which an item each is to be tried, in any order; none at the end.
        stop: At the end why, a key of `STOPS`; otherwise "".
    """

    candidates: tuple[int, ...] = ()
    stop: str = ""


class HorizonEstimate(NamedTuple):
    """A horizon.

    Attributes:
        value: The posterior median.
        low: Lower end of its 90 % interval.
    """

    value: float
    low: float
    high: float

    @property
    def precision(self) -> float:
        """Half the width of the interval, divided by the value."""
        return (self.high - self.low) / (2 * self.value)


class Seeker:
    """Chooses the trials with the most information about a horizon for their cost.

    The next trial is the one whose result has the greatest mutual information with the horizon, for each unit of
    expected cost (Prins, "The psi-marginal adaptive method", Journal of Vision 13(7), 2013: slope and lapse rate are
    nuisance parameters). How far outside the range a horizon is does not count. Trials of one batch are chosen one
    after the other, each taken for solved in part, as the curves expect.

    What is chosen is a function of the trials that have ended, in whatever order they did.
    """

    def __init__(self, rule: StoppingRule, lowest: float, highest: float, prior: CurvePrior | None = None) -> None:
        """Lay out the grid of curves.

        Args:
            rule: When the search stops.
            lowest: The least difficulty that can be tried.
            highest: The greatest one.
            prior: The prior assumptions about curves; the defaults of `CurvePrior` if None.
        """
        self.rule = rule
        self._ends = lowest, highest
        self._curves = Curves(prior or CurvePrior(), lowest, highest)
        low, high = (float(end) for end in self._curves.shape.to_scale(np.array([lowest, highest])))
        edges = np.linspace(low, high, max(round((high - low) * _BINS), 1) + 1)
        bins = np.searchsorted(edges, self._curves.horizons(rule.share))
        # Curves with their horizons in one bin lie beside each other.
        self._order = np.argsort(bins, kind="stable")
        self._bins = bins[self._order]

    def state(self, trials: Sequence[Trial]) -> "State":
        """Return the posterior distribution after some trials."""
        return State(self._curves, self.rule, tuple(trials))

    def next(self, trials: Sequence[Trial], candidates: Sequence[Candidate], budget: float | None = None) -> Decision:
        """Return the candidates to try next, or the reason to stop.

        Args:
            trials: What has been tried.
            candidates: The candidates, with the numbers of items left.
            budget: Most cost of all trials; None for no limit.
        """
        state, rule = self.state(trials), self.rule
        stop = state.stop_reason(*self._ends)
        if stop:
            return Decision(stop=stop)
        most = min(rule.batch, rule.most - len(trials))
        costs = [candidate.cost * state.cost_ratio for candidate in candidates]
        chosen = self._choose_candidates(state, candidates, costs, most)
        if not chosen:
            return Decision(stop="supply")
        if budget is not None:
            spent = np.cumsum([state.spent, *(costs[index] for index in chosen)])[1:]
            chosen = [index for index, spent_then in zip(chosen, spent, strict=True) if spent_then <= budget]
        return Decision(tuple(chosen)) if chosen else Decision(stop="budget")

    def _choose_candidates(
        self, state: "State", candidates: Sequence[Candidate], costs: Sequence[float], most: int
    ) -> list[int]:
        """Return the indices, which can repeat, of up to `most` candidates, greedily by information per cost."""
        weights = state.weights[self._order]
        probable = np.flatnonzero(weights > _LEAST_WEIGHT * weights.max())
        weights, bins = weights[probable], self._bins[probable]
        bin_starts = np.flatnonzero(np.diff(bins, prepend=-1))
        at = np.array([candidate.at for candidate in candidates], dtype=np.float64)
        rates = np.clip(self._curves.rates(at, self._order[probable]).T, _LEAST_RATE, 1 - _LEAST_RATE).copy()
        n_left = [most if candidate.left is None else candidate.left for candidate in candidates]
        chosen: list[int] = []
        while len(chosen) < most and any(n_left):
            weights = weights / weights.sum()
            expected_rates, information = _expected_rates_and_information(weights, rates, bin_starts)
            gains = information / np.array(costs)
            gains[[not n for n in n_left]] = -np.inf
            best = int(np.flatnonzero(gains >= gains.max() - abs(gains.max()) * _EQUAL)[0])  # the first of equal ones
            chosen.append(best)
            n_left[best] -= 1
            # Until the trial has ended, it counts as solved in part.
            rate = float(expected_rates[best])
            weights = weights * np.exp(rate * np.log(rates[best]) + (1 - rate) * np.log1p(-rates[best]))
        return chosen


def _expected_rates_and_information(weights: Array, rates: Array, starts: Indices) -> tuple[Array, Array]:
    """Return each candidate's expected success rate, and its mutual information with the horizon's bin.

    Returns:
        The rates, and the mutual information in nats.
    """
    bins = np.add.reduceat(weights, starts)
    solved = np.add.reduceat(weights * rates, starts, axis=1)
    failed = np.maximum(bins - solved, 0)
    success = solved.sum(axis=1)
    gains = special.rel_entr(solved, success[:, None] * bins) + special.rel_entr(failed, (1 - success)[:, None] * bins)
    return success, np.asarray(gains.sum(axis=1), dtype=np.float64)


@dataclass(frozen=True)
class State:
    """The state of a search after some trials: the posterior distribution, and whether to stop."""

    curves: Curves
    rule: StoppingRule
    trials: tuple[Trial, ...]

    @cached_property
    def fit(self) -> Fit:
        """The posterior distribution of curves, with each trial at another item."""
        at = np.array([trial.at for trial in self.trials], dtype=np.float64)
        solved = np.array([trial.solved for trial in self.trials], dtype=np.float64)
        difficulties, index = np.unique(at, return_inverse=True)
        n_difficulties = len(difficulties)
        counts = [np.bincount(index, weights, n_difficulties).astype(np.float64) for weights in (solved, None)]
        return Fit(self.curves, Trials(difficulties, *counts), is_adaptive=True)

    @property
    def weights(self) -> Array:
        """The posterior probability of each curve."""
        return self.fit.weights

    @cached_property
    def horizon(self) -> HorizonEstimate:
        """The horizon by the posterior distribution of curves."""
        return HorizonEstimate(*self.fit.horizon(self.rule.share, HORIZON_CONFIDENCE))

    @cached_property
    def reported_horizon(self) -> HorizonEstimate:
        """The horizon as it is reported, with a wider interval where a plateau may be below the share."""
        return HorizonEstimate(*self.fit.widened_horizon(self.rule.share, HORIZON_CONFIDENCE))

    @cached_property
    def plateau_side(self) -> str:
        """The horizon's side (`HorizonPosition`) where a plateau may be below the share; otherwise ""."""
        if not self.trials or not self.fit.plateau_side(self.rule.share):
            return ""
        return self.fit.horizon_position(self.rule.share, HORIZON_CONFIDENCE).side

    @cached_property
    def cost_ratio(self) -> float:
        """The ratio of actual to expected costs of trials."""
        costs = [(trial.cost, trial.expected_cost) for trial in self.trials if trial.cost is not None]
        prior = _PRIOR_TRIALS * (np.mean([expected for _, expected in costs]) if costs else 1.0)
        return float((fsum(cost for cost, _ in costs) + prior) / (fsum(expected for _, expected in costs) + prior))

    @property
    def spent(self) -> float:
        """The cost of all trials, the expected one where it is not known."""
        return fsum(
            trial.expected_cost * self.cost_ratio if trial.cost is None else trial.cost for trial in self.trials
        )

    def stop_reason(self, lowest: float, highest: float) -> str:
        """Return the reason to stop, a key of `STOPS`; "" to go on."""
        if len(self.trials) >= FEWEST:
            if (
                lowest <= self.horizon.low
                and self.horizon.high <= highest
                and self.horizon.precision <= self.rule.precision
                and not self.plateau_side
            ):
                return "precision"
            if self.plateau_side == NEVER_REACHED:
                return NEVER_REACHED
            low, high = (float(end) for end in self.curves.shape.to_scale(np.array([lowest, highest])))
            horizons = self.curves.horizons(self.rule.share)
            for stop, is_outside in (("beyond", horizons > high), ("below", horizons < low)):
                if float(self.weights[is_outside].sum()) >= _SURE and self.plateau_side != MAYBE_UNREACHED:
                    return stop
        return "cap" if len(self.trials) >= self.rule.most else ""


class Forecast(NamedTuple):
    """The trials and cost of a search of one player.

    Attributes:
        trials: Number of trials, which are episodes.
        cost: Their cost, in the unit of the candidates' costs.
    """

    trials: int
    cost: float


def forecast_searches(rule: StoppingRule, candidates: Sequence[Candidate]) -> list[Forecast]:
    """Return number and cost of the trials in searches of simulated players, the cheapest first.

    The players' curves have one usual shape, episodes cost what was expected, and there is no budget.

    Args:
        rule: When the search stops.
        candidates: What can be tried, easiest first.
    """
    low, high = (math.log2(candidates[end].at) for end in (0, -1))
    seeker = Seeker(rule, candidates[0].at, candidates[-1].at)
    forecasts: list[Forecast] = []
    for number in range(_PLAYERS):
        middle = low + (high - low) * (number + 0.5) / _PLAYERS
        rates = 1 / (1 + np.exp(_SLOPE * (np.log2([candidate.at for candidate in candidates]) - middle)))
        trials, _ = simulate_search(seeker, candidates, rates.tolist(), np.random.default_rng(number))
        forecasts.append(Forecast(len(trials), sum(trial.expected_cost for trial in trials)))
    return sorted(forecasts, key=lambda forecast: forecast.cost)


def simulate_search(
    seeker: Seeker, candidates: Sequence[Candidate], rates: Sequence[float], rng: np.random.Generator
) -> tuple[list[Trial], str]:
    """Search for a simulated player's horizon; return the trials, at expected costs, and the reason for the end."""
    trials: list[Trial] = []
    remaining = list(candidates)
    while not (decision := seeker.next(trials, remaining)).stop:
        for number in decision.candidates:
            candidate = remaining[number]
            remaining[number] = candidate._replace(left=None if candidate.left is None else candidate.left - 1)
            trials.append(Trial(candidate.at, bool(rng.random() < rates[number]), candidate.cost, candidate.cost))
    return trials, decision.stop
