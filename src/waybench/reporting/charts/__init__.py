"""Charts of the report."""

from waybench.reporting.charts._bars import outcomes, twin_charts
from waybench.reporting.charts._charts import chart_name, curve_charts, level_charts, step_charts, undrawn
from waybench.reporting.charts._panels import ClusterValues, panel_charts, panel_values
from waybench.reporting.charts._radar import Overlay, agent_chart, degree_charts, overlays
from waybench.reporting.charts._scaling import scaling_charts
from waybench.reporting.charts._success import MOST_POINTS, NARROW, WIDE, Player, success_spec
from waybench.reporting.charts._svg import (
    Chart,
    ChartFiles,
    colour_number,
    colour_numbers,
    drawings_in,
    model_colours,
)

__all__ = [
    "MOST_POINTS",
    "NARROW",
    "WIDE",
    "Chart",
    "ChartFiles",
    "ClusterValues",
    "Overlay",
    "Player",
    "agent_chart",
    "chart_name",
    "colour_number",
    "colour_numbers",
    "curve_charts",
    "degree_charts",
    "drawings_in",
    "level_charts",
    "model_colours",
    "outcomes",
    "overlays",
    "panel_charts",
    "panel_values",
    "scaling_charts",
    "step_charts",
    "success_spec",
    "twin_charts",
    "undrawn",
]
