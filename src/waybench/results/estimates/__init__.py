"""Estimates: means over items with their intervals, and what else is computed from rows."""

from waybench.results.estimates._bounds import lost_rows
from waybench.results.estimates._difficulty import item_difficulties
from waybench.results.estimates._estimates import Estimate, by_level, overall
from waybench.results.estimates._ledger import total_if_known
from waybench.results.estimates._matrix import Matrix, matrix
from waybench.results.estimates._measures import as_metric, headline_spec

__all__ = [
    "Estimate",
    "Matrix",
    "as_metric",
    "by_level",
    "headline_spec",
    "item_difficulties",
    "lost_rows",
    "matrix",
    "overall",
    "total_if_known",
]
