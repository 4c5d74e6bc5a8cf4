"""From logs to rows to estimates with intervals.

The sub-packages have everything that the report is made of; here is what a program needs.
"""

from waybench.analysis._scores import score_frame
from waybench.analysis._tidy import episode_frame, tidy
from waybench.analysis.comparisons import compare_sides, comparisons_text
from waybench.analysis.estimates import Estimate, by_level, estimate, ledger_frame, overall
from waybench.analysis.horizons import horizon_frame
from waybench.analysis.logs import LoggedEpisode, NoEpisodesError, Skipped, read_logs
from waybench.analysis.results import Row, exclude, rows

__all__ = [
    "Estimate",
    "LoggedEpisode",
    "NoEpisodesError",
    "Row",
    "Skipped",
    "by_level",
    "compare_sides",
    "comparisons_text",
    "episode_frame",
    "estimate",
    "exclude",
    "horizon_frame",
    "ledger_frame",
    "overall",
    "read_logs",
    "rows",
    "score_frame",
    "tidy",
]
