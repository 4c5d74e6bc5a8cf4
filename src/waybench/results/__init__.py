"""From logs to rows to estimates with intervals.

This package exports what a program usually needs; everything else is in its sub-packages.
"""

from typing import TYPE_CHECKING

from waybench._late import late_names

if TYPE_CHECKING:
    from waybench.results._tables import episode_frame, score_frame, tidy
    from waybench.results.comparisons import compare_sides
    from waybench.results.estimates import Estimate, by_level, estimate, overall
    from waybench.results.horizons import horizon_frame
    from waybench.results.logs import LoggedEpisode, read_logs
    from waybench.results.results import Row, rows

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

__getattr__ = late_names(
    __name__,
    {
        "_tables": ("episode_frame", "score_frame", "tidy"),
        "comparisons": ("compare_sides",),
        "estimates": ("Estimate", "by_level", "estimate", "overall"),
        "horizons": ("horizon_frame",),
        "logs": ("LoggedEpisode", "read_logs"),
        "results": ("Row", "rows"),
    },
)
