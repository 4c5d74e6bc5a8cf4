"""Estimates: means over items with their intervals, and what else is computed from rows."""

from waybench.results.estimates._agents import Agent, agents
from waybench.results.estimates._bounds import (
    ClusterValue,
    ClusterVariables,
    Items,
    LostRows,
    Repeats,
    Variables,
    contributions,
    lost_rows,
    repeats,
)
from waybench.results.estimates._difficulty import (
    ItemDifficulty,
    Regression,
    SetSpread,
    Slope,
    Spread,
    attempt_spread,
    difficulty_text,
    item_difficulties,
    regressions,
    spread,
)
from waybench.results.estimates._estimates import Estimate, KnownEstimates, by_cluster, by_level, estimate, overall
from waybench.results.estimates._ledger import LedgerEntry, ledger, ledger_frame, whole
from waybench.results.estimates._matrix import FamilyScore, Matrix, MatrixRow, Score, ladder_ended, matrix
from waybench.results.estimates._measures import Measure, aligned, as_metric, measure, ranked, text_table
from waybench.results.estimates._profile_text import NO_INTERVAL, SCALE, matrix_text, number, profiles_text, short_title
from waybench.results.estimates._profiles import profiles
from waybench.results.estimates._summary import summary_table, unreadable_replies

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
