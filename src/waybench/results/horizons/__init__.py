"""Horizons: the difficulty at which a player's success rate falls to 50 % or 80 %."""

from waybench.results.horizons._horizons import horizons
from waybench.results.horizons._references import SHARES, Horizon

__all__ = ["SHARES", "Horizon", "horizons"]
