"""Tables of the report."""

from waybench.report.tables._aggregates import Made, of_model, side_by_side
from waybench.report.tables._cluster_tables import Averages, Prompt, averages, clusters, prompt
from waybench.report.tables._comparisons import (
    ComparisonTable,
    model_table,
    pair_tables,
    setting_table,
    wording_table,
)
from waybench.report.tables._failed import Failed, FailureTable
from waybench.report.tables._horizon_tables import Reach, ReachLine, leading_of, reaches, reaches_of_model
from waybench.report.tables._leaders import OUTCOMES, Leaders, Number, leaders
from waybench.report.tables._markdown import markdown
from waybench.report.tables._slopes import SlopeTable, slope_tables
from waybench.report.tables._tables import files
from waybench.report.tables._variation import (
    AttemptLine,
    RepeatLine,
    SpreadLine,
    attempt_lines,
    repeat_table,
    spread_table,
)

__all__ = [
    "OUTCOMES",
    "AttemptLine",
    "Averages",
    "ComparisonTable",
    "Failed",
    "FailureTable",
    "Leaders",
    "Made",
    "Number",
    "Prompt",
    "Reach",
    "ReachLine",
    "RepeatLine",
    "SlopeTable",
    "SpreadLine",
    "attempt_lines",
    "averages",
    "clusters",
    "files",
    "leaders",
    "leading_of",
    "markdown",
    "model_table",
    "of_model",
    "pair_tables",
    "prompt",
    "reaches",
    "reaches_of_model",
    "repeat_table",
    "setting_table",
    "side_by_side",
    "slope_tables",
    "spread_table",
    "wording_table",
]
