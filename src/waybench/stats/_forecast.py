"""What a search for a horizon may take, before it begins."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from waybench.stats._adaptive import Goal, Offer, Seeker, Trial

_PLAYERS = 7
_SLOPE = 3.0  # success falls from 90 to 10 % within one and a half doublings of the difficulty


class Forecast(NamedTuple):
    """What a search of one player takes.

    Attributes:
        trials: Episodes.
        cost: Their cost, in the unit of the offers'.
    """

    trials: int
    cost: float


def forecast(goal: Goal, offers: Sequence[Offer]) -> list[Forecast]:
    """Return what searches of simulated players take, of horizons all over the range, the cheapest first.

    They are of one usual shape, and episodes cost what is told of them; there is no budget.

    Args:
        goal: What is to be found out.
        offers: What can be tried, easiest first.
    """
    low, high = (math.log2(offers[end].at) for end in (0, -1))
    seeker = Seeker(goal, offers[0].at, offers[-1].at)
    found: list[Forecast] = []
    for number in range(_PLAYERS):
        middle = low + (high - low) * (number + 0.5) / _PLAYERS
        rates = 1 / (1 + np.exp(_SLOPE * (np.log2([offer.at for offer in offers]) - middle)))
        trials, _ = simulated(seeker, offers, rates.tolist(), np.random.default_rng(number))
        found.append(Forecast(len(trials), sum(trial.told for trial in trials)))
    return sorted(found, key=lambda each: each.cost)


def simulated(
    seeker: Seeker, offers: Sequence[Offer], rates: Sequence[float], rng: np.random.Generator
) -> tuple[list[Trial], str]:
    """Let a simulated player be searched; return its trials, which cost what is told of them, and why it stopped.

    Args:
        seeker: The search.
        offers: What can be tried.
        rates: Of each offer, the share of its items that the player solves.
        rng: The player's chance.
    """
    trials: list[Trial] = []
    left = list(offers)
    while not (decision := seeker.next(trials, left)).stop:
        for number in decision.offers:
            offer = left[number]
            left[number] = offer._replace(left=None if offer.left is None else offer.left - 1)
            trials.append(Trial(offer.at, bool(rng.random() < rates[number]), offer.cost, offer.cost))
    return trials, decision.stop
