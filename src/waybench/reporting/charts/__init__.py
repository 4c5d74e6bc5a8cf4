"""Charts of the report."""

from waybench.reporting.charts._chart_files import ChartFiles
from waybench.reporting.charts._figures import Figure, chart_name, curve_figures, level_figures, step_figures, undrawn
from waybench.reporting.charts._outcomes import outcomes
from waybench.reporting.charts._points import short_labels
from waybench.reporting.charts._radar import Web, radar_spec
from waybench.reporting.charts._success import MOST_POINTS, NARROW, WIDE, Player, success_spec
from waybench.reporting.charts._svg import drawn

__all__ = [
    "MOST_POINTS",
    "NARROW",
    "WIDE",
    "ChartFiles",
    "Figure",
    "Player",
    "Web",
    "chart_name",
    "curve_figures",
    "drawn",
    "level_figures",
    "outcomes",
    "radar_spec",
    "short_labels",
    "step_figures",
    "success_spec",
    "undrawn",
]
