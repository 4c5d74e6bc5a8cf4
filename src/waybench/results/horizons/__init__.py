"""Horizons: the difficulty at which a player's success rate falls to 50 % or 80 %."""

from waybench.results.horizons._horizons import horizons
from waybench.results.horizons._references import SHARES, Horizon
from waybench.results.horizons._text import reference_text

__all__ = ["SHARES", "Horizon", "horizons", "reference_text"]
