"""From logs to rows to estimates with intervals."""

from waybench.analysis._episodes import LoggedEpisode
from waybench.analysis._estimates import Estimate, by_level, estimate, overall
from waybench.analysis._intervals import CONFIDENCE, Mean, clustered_mean
from waybench.analysis._labels import differing, labels, setting
from waybench.analysis._logs import read_logs
from waybench.analysis._rows import AFTER_PERFECT, REPEATED, UNCONFIRMED, Group, Row, grouped, is_perfect, rows, tidy
from waybench.analysis._table import ranked, text_table
from waybench.analysis._text import one_line, visible

__all__ = [
    "AFTER_PERFECT",
    "CONFIDENCE",
    "REPEATED",
    "UNCONFIRMED",
    "Estimate",
    "Group",
    "LoggedEpisode",
    "Mean",
    "Row",
    "by_level",
    "clustered_mean",
    "differing",
    "estimate",
    "grouped",
    "is_perfect",
    "labels",
    "one_line",
    "overall",
    "ranked",
    "read_logs",
    "rows",
    "setting",
    "text_table",
    "tidy",
    "visible",
]
