"""From logs to rows to estimates with intervals.

This package exports what a program usually needs; everything else is in its sub-packages.
"""

from waybench.analysis._scores import score_frame
from waybench.analysis._tidy import episode_frame, tidy
from waybench.analysis.comparisons import compare_sides
from waybench.analysis.estimates import Estimate, by_level, estimate, overall
from waybench.analysis.horizons import horizon_frame
from waybench.analysis.logs import LoggedEpisode, read_logs
from waybench.analysis.results import Row, rows

__all__ = [
    "Estimate",
    "LoggedEpisode",
    "Row",
    "by_level",
    "compare_sides",
    "episode_frame",
    "estimate",
    "horizon_frame",
    "overall",
    "read_logs",
    "rows",
    "score_frame",
    "tidy",
]
