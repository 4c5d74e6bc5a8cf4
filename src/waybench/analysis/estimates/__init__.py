"""Estimates: means over items with their intervals, and what else is computed from rows."""

from waybench.analysis.estimates._agents import Agent, agents
from waybench.analysis.estimates._bounds import Items, LostRows, lost_rows
from waybench.analysis.estimates._clusters import ClusterValue
from waybench.analysis.estimates._curves import contributions
from waybench.analysis.estimates._difficulty import ItemDifficulty, difficulty_text, item_difficulties
from waybench.analysis.estimates._estimates import Estimate, KnownEstimates, by_cluster, by_level, estimate, overall
from waybench.analysis.estimates._explanatory import ClusterVariables, Variables
from waybench.analysis.estimates._ledger import LedgerEntry, ledger, ledger_frame, whole
from waybench.analysis.estimates._matrix import FamilyScore, Matrix, MatrixRow, Score, ladder_ended, matrix
from waybench.analysis.estimates._matrix_text import NO_INTERVAL, SCALE, matrix_text, number, short_title
from waybench.analysis.estimates._measures import Measure, as_metric, measure
from waybench.analysis.estimates._profile_text import profiles_text
from waybench.analysis.estimates._profiles import profiles
from waybench.analysis.estimates._regressions import Regression, Slope, regressions
from waybench.analysis.estimates._repeats import Repeats, repeats
from waybench.analysis.estimates._set_spread import SetSpread, Spread, attempt_spread, spread
from waybench.analysis.estimates._summary import summary_table, unreadable_replies
from waybench.analysis.estimates._table import aligned, ranked, text_table

__all__ = [
    "NO_INTERVAL",
    "SCALE",
    "Agent",
    "ClusterValue",
    "ClusterVariables",
    "Estimate",
    "FamilyScore",
    "ItemDifficulty",
    "Items",
    "KnownEstimates",
    "LedgerEntry",
    "LostRows",
    "Matrix",
    "MatrixRow",
    "Measure",
    "Regression",
    "Repeats",
    "Score",
    "SetSpread",
    "Slope",
    "Spread",
    "Variables",
    "agents",
    "aligned",
    "as_metric",
    "attempt_spread",
    "by_cluster",
    "by_level",
    "contributions",
    "difficulty_text",
    "estimate",
    "item_difficulties",
    "ladder_ended",
    "ledger",
    "ledger_frame",
    "lost_rows",
    "matrix",
    "matrix_text",
    "measure",
    "number",
    "overall",
    "profiles",
    "profiles_text",
    "ranked",
    "regressions",
    "repeats",
    "short_title",
    "spread",
    "summary_table",
    "text_table",
    "unreadable_replies",
    "whole",
]
