"""Episodes as a static site, which opens from a folder with no server and no network."""

from typing import TYPE_CHECKING

from waybench._late import late_names

if TYPE_CHECKING:
    from waybench.reporting._board import (
        BoardSection,
        BoardTable,
        model_page,
        remove_report,
        report_matrix,
        write_board,
    )
    from waybench.reporting._cache import ReportCache, open_cache
    from waybench.reporting._files import slug
    from waybench.reporting._model_facts import ModelFacts, read_models
    from waybench.reporting._progress import Progress, no_progress
    from waybench.reporting._replays import Replays
    from waybench.reporting._summary import SUMMARY_SCHEMA
    from waybench.reporting._unchanged import inputs_key
    from waybench.reporting._write import Report, unchanged_report, write_report

__all__ = [
    "SUMMARY_SCHEMA",
    "BoardSection",
    "BoardTable",
    "ModelFacts",
    "Progress",
    "Replays",
    "Report",
    "ReportCache",
    "inputs_key",
    "model_page",
    "no_progress",
    "open_cache",
    "read_models",
    "remove_report",
    "report_matrix",
    "slug",
    "unchanged_report",
    "write_board",
    "write_report",
]

__getattr__ = late_names(
    __name__,
    {
        "_board": (
            "BoardSection",
            "BoardTable",
            "model_page",
            "remove_report",
            "report_matrix",
            "write_board",
        ),
        "_cache": (
            "ReportCache",
            "open_cache",
        ),
        "_files": ("slug",),
        "_model_facts": (
            "ModelFacts",
            "read_models",
        ),
        "_progress": (
            "Progress",
            "no_progress",
        ),
        "_replays": ("Replays",),
        "_summary": ("SUMMARY_SCHEMA",),
        "_unchanged": ("inputs_key",),
        "_write": (
            "Report",
            "unchanged_report",
            "write_report",
        ),
    },
)
