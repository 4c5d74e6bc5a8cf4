"""What sequential comparisons take, by simulated streams."""

import math
from typing import NamedTuple

import numpy as np

from waybench.results.stats._sequential import DecisionRule, Race

_STREAMS = 400


class DecisionForecast(NamedTuple):
    """What decisions take, by simulated streams.

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
    chances = np.array([(disagree + difference) / 2, (disagree - difference) / 2, 1 - disagree])
    shared = math.sqrt(icc)  # a pair of items has the common result of their unit with this probability, squared
    while race.units < most_units and not race.ended_at.all():
        drawn = rng.choice([1.0, -1.0, 0.0], size=(_STREAMS, size), p=chances)
        if shared:
            common = rng.choice([1.0, -1.0, 0.0], size=(_STREAMS, 1), p=chances)
            drawn = np.where(rng.random((_STREAMS, size)) < shared, common, drawn)
        ahead = drawn.mean(axis=1)
        matrices = np.zeros((_STREAMS, 2, 2))
        matrices[:, 0, 1], matrices[:, 1, 0] = ahead, -ahead
        race.add_unit(matrices)
    decided = np.where(race.ended_at == 0, most_units, race.ended_at)
    tied = race.live.all(axis=-1)
    right = (race.ended_at > 0) & (tied | race.live[:, 0] if 0 < difference <= rule.margin else tied)
    if difference > rule.margin:
        right = (race.ended_at > 0) & ~tied & race.live[:, 0]
    return DecisionForecast(float(decided.mean()), int(np.quantile(decided, 0.9)), float(right.mean()))
