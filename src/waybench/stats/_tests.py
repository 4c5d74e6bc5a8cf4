"""Exact tests, p values adjusted for their number, and the power of a test of two means."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from scipy import special


def mcnemar(won: int, lost: int) -> float:
    """Return the two-sided p value of McNemar's exact test.

    Args:
        won: Number of pairs in which only the first is one.
        lost: Number of pairs in which only the second is.
    """
    return min(1.0, 2 * float(special.bdtr(min(won, lost), won + lost, 0.5)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values adjusted for their number (Holm, Scandinavian Journal of Statistics 6, 1979, 65-70)."""
    # Not statsmodels' own function, which has the garbage collected at every call.
    adjusted, greatest = [0.0] * len(p_values), 0.0
    for rank, position in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        greatest = max(greatest, p_values[position] * (len(p_values) - rank))
        adjusted[position] = min(greatest, 1.0)
    return adjusted


def z_power(effect: float, n: float, alpha: float) -> float:
    """Return the power of a two-sided z test of the means of two samples (`NormalIndPower`).

    Args:
        effect: The difference of the means by the standard deviation, above 0.
        n: Number of values of each sample.
        alpha: The level of the test.
    """
    # It takes a second to import, and has no types.
    statistics: Any = import_module("statsmodels.stats.power")
    return float(statistics.NormalIndPower().power(effect, n, alpha))
