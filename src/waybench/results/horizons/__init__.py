"""Horizons: the difficulty at which a player's success rate falls to 50 % or 80 %."""

from waybench.results.horizons._horizons import horizon_frame, horizons, leading, success_curves
from waybench.results.horizons._references import SHARES, DifficultyBin, Horizon, SuccessCurve, axis_named
from waybench.results.horizons._searches import search_text, searches
from waybench.results.horizons._text import (
    compare_horizons,
    difficulty_text,
    horizon_context,
    horizon_parts,
    horizon_table,
    horizon_text,
    ratio_over_families,
    reference_lines,
    reference_text,
    success_text,
)

__all__ = [
    "SHARES",
    "DifficultyBin",
    "Horizon",
    "SuccessCurve",
    "axis_named",
    "compare_horizons",
    "difficulty_text",
    "horizon_context",
    "horizon_frame",
    "horizon_parts",
    "horizon_table",
    "horizon_text",
    "horizons",
    "leading",
    "ratio_over_families",
    "reference_lines",
    "reference_text",
    "search_text",
    "searches",
    "success_curves",
    "success_text",
]
