"""Tables of the report."""

from waybench.reporting.tables._aggregates import of_model, side_by_side
from waybench.reporting.tables._belief_table import belief_table, models_belief_table
from waybench.reporting.tables._cluster_tables import averages, clusters, prompt
from waybench.reporting.tables._comparisons import effect_table, model_table, pair_tables, setting_table, wording_table
from waybench.reporting.tables._difficulty_tables import difficulty_table
from waybench.reporting.tables._failed import Failed
from waybench.reporting.tables._horizon_tables import HorizonTables, horizon_table_of_model, horizon_tables, leading_of
from waybench.reporting.tables._leaders import Leaders, leader_tables, leaders
from waybench.reporting.tables._levels import LoggedError, error_table, level_table
from waybench.reporting.tables._markdown import markdown, readme_table
from waybench.reporting.tables._matrix_tables import horizon_matrix, matrix_table
from waybench.reporting.tables._published import published_tables
from waybench.reporting.tables._scores import conduct_table, score_table
from waybench.reporting.tables._slopes import slope_tables
from waybench.reporting.tables._table import (
    BLANK,
    Cell,
    Column,
    HeaderGroup,
    Note,
    RowGroup,
    Table,
    TableRow,
    by_player,
    columns_of,
    lost_mark,
    mean_cell,
    metric_column,
    model_cell,
    name_of,
    notes,
    number_cell,
    parts,
    rows_of,
)
from waybench.reporting.tables._tables import files
from waybench.reporting.tables._task_view import TaskView
from waybench.reporting.tables._variation import attempt_spread_table, attempt_table, repeat_table, spread_table

__all__ = [
    "BLANK",
    "Cell",
    "Column",
    "Failed",
    "HeaderGroup",
    "HorizonTables",
    "Leaders",
    "LoggedError",
    "Note",
    "RowGroup",
    "Table",
    "TableRow",
    "TaskView",
    "attempt_spread_table",
    "attempt_table",
    "averages",
    "belief_table",
    "by_player",
    "clusters",
    "columns_of",
    "conduct_table",
    "difficulty_table",
    "effect_table",
    "error_table",
    "files",
    "horizon_matrix",
    "horizon_table_of_model",
    "horizon_tables",
    "leader_tables",
    "leaders",
    "leading_of",
    "level_table",
    "lost_mark",
    "markdown",
    "matrix_table",
    "mean_cell",
    "metric_column",
    "model_cell",
    "model_table",
    "models_belief_table",
    "name_of",
    "notes",
    "number_cell",
    "of_model",
    "pair_tables",
    "parts",
    "prompt",
    "published_tables",
    "readme_table",
    "repeat_table",
    "rows_of",
    "score_table",
    "setting_table",
    "side_by_side",
    "slope_tables",
    "spread_table",
    "wording_table",
]
