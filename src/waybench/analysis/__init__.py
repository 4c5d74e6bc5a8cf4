"""From logs to rows to estimates with intervals."""

from waybench.analysis._agents import Agent, agents
from waybench.analysis._anchors import Anchoring, Rescaled
from waybench.analysis._answers import Answers, answers
from waybench.analysis._changes import Change, example_changes
from waybench.analysis._clusters import Figure, figures
from waybench.analysis._contrast_text import (
    ContrastCells,
    comparison_json,
    contrast_cells,
    contrast_json,
    contrast_lines,
    contrast_text,
    verdict_sentence,
)
from waybench.analysis._contrasts import Contrast, Unpaired, Verdict, contrasts, versus
from waybench.analysis._curves import Curve, curve
from waybench.analysis._effects import EFFECT, NO_EFFECT, UNCLEAR, Effect, effect_frame, effects
from waybench.analysis._episodes import LoggedEpisode, is_embedded
from waybench.analysis._estimates import Estimate, by_cluster, by_level, estimate, overall
from waybench.analysis._explained import Explained, Explanations, Variables, explained, variables
from waybench.analysis._failures import Failures, dominant, failure, failure_kinds, failures, has_fixed_length
from waybench.analysis._foreign import foreign_answers
from waybench.analysis._frames import Column, Frame, Meaning, column_frame, group_id
from waybench.analysis._guard import Skipped, skipped
from waybench.analysis._horizon import (
    REACH_CONFIDENCE,
    SHARES,
    Expected,
    Horizon,
    Place,
    SuccessCurve,
    horizons,
    leading,
    success_curves,
)
from waybench.analysis._horizon_frame import horizon_frame
from waybench.analysis._horizon_text import difficulty_text, horizon_table, horizon_text, horizon_told, success_text
from waybench.analysis._intervals import CONFIDENCE, Mean, clustered_mean, jackknifed
from waybench.analysis._items import ItemKey, at_items, count_items, whole_items
from waybench.analysis._labels import asked, chosen, differing, labels, setting, setting_order, settings_order
from waybench.analysis._ledger import LedgerEntry, ledger, ledger_frame
from waybench.analysis._logs import NoEpisodesError, logged_models, read_logs
from waybench.analysis._measures import Measure, as_metric, measure, measures, merit
from waybench.analysis._numbers import NOTHING, better_text, change_text, mean_text
from waybench.analysis._paired import PairedTest, differ, difference, mean_difference
from waybench.analysis._pairs import Pair, comparable, pairs
from waybench.analysis._power import Needed, Plan, detectable, needed, pilots, reached, shares
from waybench.analysis._ranges import over
from waybench.analysis._regressions import FEWEST, Regression, Slope, regressions
from waybench.analysis._repeats import Repeat, Repeats, repeats
from waybench.analysis._rows import (
    EXAMPLES,
    UNCONFIRMED,
    Anchors,
    Cluster,
    Group,
    Row,
    grouped,
    is_perfect,
    row,
)
from waybench.analysis._scores import score_frame
from waybench.analysis._searches import Searched, search_text, searches
from waybench.analysis._set_aside import AFTER_PERFECT, REPEATED, measurable, rows, set_aside
from waybench.analysis._spread import Margins, Spread, margins, spread
from waybench.analysis._table import ranked, text_table
from waybench.analysis._text import one_line, visible
from waybench.analysis._tidy import episode_frame, tidy
from waybench.analysis._variance import Levels, levels_of_variance
from waybench.analysis._wordings import (
    Worded,
    Wordings,
    difference_text,
    p_text,
    wording_frame,
    wording_table,
    wordings,
)

__all__ = [
    "AFTER_PERFECT",
    "CONFIDENCE",
    "EFFECT",
    "EXAMPLES",
    "FEWEST",
    "NOTHING",
    "NO_EFFECT",
    "REACH_CONFIDENCE",
    "REPEATED",
    "SHARES",
    "UNCLEAR",
    "UNCONFIRMED",
    "Agent",
    "Anchoring",
    "Anchors",
    "Answers",
    "Change",
    "Cluster",
    "Column",
    "Contrast",
    "ContrastCells",
    "Curve",
    "Effect",
    "Estimate",
    "Expected",
    "Explained",
    "Explanations",
    "Failures",
    "Figure",
    "Frame",
    "Group",
    "Horizon",
    "ItemKey",
    "LedgerEntry",
    "Levels",
    "LoggedEpisode",
    "Margins",
    "Mean",
    "Meaning",
    "Measure",
    "Needed",
    "NoEpisodesError",
    "Pair",
    "PairedTest",
    "Place",
    "Plan",
    "Regression",
    "Repeat",
    "Repeats",
    "Rescaled",
    "Row",
    "Searched",
    "Skipped",
    "Slope",
    "Spread",
    "SuccessCurve",
    "Unpaired",
    "Variables",
    "Verdict",
    "Worded",
    "Wordings",
    "agents",
    "answers",
    "as_metric",
    "asked",
    "at_items",
    "better_text",
    "by_cluster",
    "by_level",
    "change_text",
    "chosen",
    "clustered_mean",
    "column_frame",
    "comparable",
    "comparison_json",
    "contrast_cells",
    "contrast_json",
    "contrast_lines",
    "contrast_text",
    "contrasts",
    "count_items",
    "curve",
    "detectable",
    "differ",
    "difference",
    "difference_text",
    "differing",
    "difficulty_text",
    "dominant",
    "effect_frame",
    "effects",
    "episode_frame",
    "estimate",
    "example_changes",
    "explained",
    "failure",
    "failure_kinds",
    "failures",
    "figures",
    "foreign_answers",
    "group_id",
    "grouped",
    "has_fixed_length",
    "horizon_frame",
    "horizon_table",
    "horizon_text",
    "horizon_told",
    "horizons",
    "is_embedded",
    "is_perfect",
    "jackknifed",
    "labels",
    "leading",
    "ledger",
    "ledger_frame",
    "levels_of_variance",
    "logged_models",
    "margins",
    "mean_difference",
    "mean_text",
    "measurable",
    "measure",
    "measures",
    "merit",
    "needed",
    "one_line",
    "over",
    "overall",
    "p_text",
    "pairs",
    "pilots",
    "ranked",
    "reached",
    "read_logs",
    "regressions",
    "repeats",
    "row",
    "rows",
    "score_frame",
    "search_text",
    "searches",
    "set_aside",
    "setting",
    "setting_order",
    "settings_order",
    "shares",
    "skipped",
    "spread",
    "success_curves",
    "success_text",
    "text_table",
    "tidy",
    "variables",
    "verdict_sentence",
    "versus",
    "visible",
    "whole_items",
    "wording_frame",
    "wording_table",
    "wordings",
]
