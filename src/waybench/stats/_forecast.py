"""Forecasts of the cost of a search for a horizon."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from waybench.stats._adaptive import Candidate, Seeker, StoppingRule, Trial

_PLAYERS = 7
_SLOPE = 3.0  # success falls from 90 to 10 % within one and a half doublings of the difficulty


class Forecast(NamedTuple):
    """The trials and cost of a search of one player.

    Attributes:
        trials: Episodes.
        cost: Their cost, in the unit of the candidates'.
    """

    trials: int
    cost: float


def forecast(rule: StoppingRule, candidates: Sequence[Candidate]) -> list[Forecast]:
    """Return what searches of simulated players take, of horizons all over the range, the cheapest first.

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
        trials, _ = simulated(seeker, candidates, rates.tolist(), np.random.default_rng(number))
        forecasts.append(Forecast(len(trials), sum(trial.expected_cost for trial in trials)))
    return sorted(forecasts, key=lambda forecast_: forecast_.cost)


def simulated(
    seeker: Seeker, candidates: Sequence[Candidate], rates: Sequence[float], rng: np.random.Generator
) -> tuple[list[Trial], str]:
    """Run a search on a simulated player; return its trials, at the expected costs, and the reason why it stopped.

    Args:
        seeker: The search.
        candidates: What can be tried.
        rates: Of each candidate, the share of its items that the player solves.
        rng: The player's chance.
    """
    trials: list[Trial] = []
    left = list(candidates)
    while not (decision := seeker.next(trials, left)).stop:
        for number in decision.candidates:
            candidate = left[number]
            left[number] = candidate._replace(left=None if candidate.left is None else candidate.left - 1)
            trials.append(Trial(candidate.at, bool(rng.random() < rates[number]), candidate.cost, candidate.cost))
    return trials, decision.stop
