"""Episodes as a static site, which opens from a folder with no server and no network.

`_write` is the module to read first, then `_pages` and `_site`.
"""

from typing import TYPE_CHECKING

from waybench._late import late_names

if TYPE_CHECKING:
    from waybench.reporting._cache import ReportCache, inputs_key, open_cache
    from waybench.reporting._exports import SUMMARY_SCHEMA
    from waybench.reporting._files import slug
    from waybench.reporting._reading import ModelFacts, read_models
    from waybench.reporting._replays import Replays
    from waybench.reporting._write import (
        BoardSection,
        BoardTable,
        Progress,
        Report,
        model_page,
        no_progress,
        remove_report,
        report_matrix,
        unchanged_report,
        write_board,
        write_report,
    )

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
        "_cache": ("ReportCache", "inputs_key", "open_cache"),
        "_exports": ("SUMMARY_SCHEMA",),
        "_files": ("slug",),
        "_reading": ("ModelFacts", "read_models"),
        "_replays": ("Replays",),
        "_write": (
            *("BoardSection", "BoardTable", "Progress", "Report", "model_page", "no_progress", "remove_report"),
            *("report_matrix", "unchanged_report", "write_board", "write_report"),
        ),
    },
)
