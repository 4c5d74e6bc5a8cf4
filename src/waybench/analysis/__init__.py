"""From logs to rows to estimates with intervals."""

from waybench.analysis._changes import Change, example_changes
from waybench.analysis._curves import Curve, curve
from waybench.analysis._episodes import LoggedEpisode
from waybench.analysis._estimates import Estimate, by_level, estimate, overall
from waybench.analysis._intervals import CONFIDENCE, Mean, clustered_mean
from waybench.analysis._labels import differing, labels, setting
from waybench.analysis._logs import read_logs
from waybench.analysis._measures import Measure, as_metric, measure, merit
from waybench.analysis._numbers import NOTHING, better_text, change_text, mean_text
from waybench.analysis._repeats import Repeat, Repeats, repeats
from waybench.analysis._rows import (
    AFTER_PERFECT,
    EXAMPLES,
    REPEATED,
    UNCONFIRMED,
    Group,
    Row,
    grouped,
    is_perfect,
    rows,
    tidy,
)
from waybench.analysis._spread import Margins, Spread, margins, spread
from waybench.analysis._table import ranked, text_table
from waybench.analysis._text import one_line, visible

__all__ = [
    "AFTER_PERFECT",
    "CONFIDENCE",
    "EXAMPLES",
    "NOTHING",
    "REPEATED",
    "UNCONFIRMED",
    "Change",
    "Curve",
    "Estimate",
    "Group",
    "LoggedEpisode",
    "Margins",
    "Mean",
    "Measure",
    "Repeat",
    "Repeats",
    "Row",
    "Spread",
    "as_metric",
    "better_text",
    "by_level",
    "change_text",
    "clustered_mean",
    "curve",
    "differing",
    "estimate",
    "example_changes",
    "grouped",
    "is_perfect",
    "labels",
    "margins",
    "mean_text",
    "measure",
    "merit",
    "one_line",
    "overall",
    "ranked",
    "read_logs",
    "repeats",
    "rows",
    "setting",
    "spread",
    "text_table",
    "tidy",
    "visible",
]
