"""From logs to rows to estimates with intervals.

This package exports what a program usually needs; everything else is in its sub-packages.
"""

from typing import TYPE_CHECKING

from waybench._late import lazy_names

if TYPE_CHECKING:
    from waybench.results._tables import episode_frame, score_frame
    from waybench.results.estimates import Estimate, by_level, overall
    from waybench.results.horizons._frame import horizon_frame
    from waybench.results.logs import LoggedEpisode, read_logs
    from waybench.results.results import Row, rows

__all__ = [
    "Estimate",
    "LoggedEpisode",
    "Row",
    "by_level",
    "episode_frame",
    "horizon_frame",
    "overall",
    "read_logs",
    "rows",
    "score_frame",
]

__getattr__ = lazy_names(
    __name__,
    {
        "_tables": ("episode_frame", "score_frame"),
        "estimates._estimates": ("Estimate", "by_level", "overall"),
        "horizons._frame": ("horizon_frame",),
        "logs._settings": ("LoggedEpisode",),
        "logs._logs": ("read_logs",),
        "results._rows": ("Row",),
        "results._measured_row": ("rows",),
    },
)
