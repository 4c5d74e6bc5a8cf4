"""Charts of the report."""

from waybench.reporting.charts._chart_files import ChartFiles
from waybench.reporting.charts._charts import (
    Chart,
    chart_name,
    curve_charts,
    level_charts,
    outcomes,
    step_charts,
    undrawn,
)
from waybench.reporting.charts._panels import ClusterValues, panel_charts, panel_values
from waybench.reporting.charts._radar import Web, radar_spec
from waybench.reporting.charts._scaling import scaling_charts
from waybench.reporting.charts._success import MOST_POINTS, NARROW, WIDE, Player, success_spec
from waybench.reporting.charts._svg import colour_number, colour_numbers, drawings_in, drawn, model_colours
from waybench.reporting.charts._twins import twin_charts

__all__ = [
    "MOST_POINTS",
    "NARROW",
    "WIDE",
    "Chart",
    "ChartFiles",
    "ClusterValues",
    "Player",
    "Web",
    "chart_name",
    "colour_number",
    "colour_numbers",
    "curve_charts",
    "drawings_in",
    "drawn",
    "level_charts",
    "model_colours",
    "outcomes",
    "panel_charts",
    "panel_values",
    "radar_spec",
    "scaling_charts",
    "step_charts",
    "success_spec",
    "twin_charts",
    "undrawn",
]
