"""Comparisons of groups of results on the same items."""

from waybench.results.comparisons._belief_pairs import compare_beliefs
from waybench.results.comparisons._beliefs import (
    BeliefCounts,
    belief_counts,
    belief_text,
    beliefs_by_group,
    knew_at_first_error,
)
from waybench.results.comparisons._comparison import Comparison, Verdict, compare
from waybench.results.comparisons._effect import Effect, effect_frame
from waybench.results.comparisons._examples import ExamplesEffect, examples_effects
from waybench.results.comparisons._failures import Failures, failure, failure_kinds, failures, has_fixed_length
from waybench.results.comparisons._first_errors import FirstErrorCounts, first_error_kinds, first_errors
from waybench.results.comparisons._foreign import foreign_scores
from waybench.results.comparisons._groups import MODEL, matched
from waybench.results.comparisons._harness import AgentEffect, agent_effects, agent_table
from waybench.results.comparisons._isomorphs import (
    AGREEMENT,
    IsomorphEffect,
    compare_isomorphs,
    invariance_text,
    isomorph_effects,
)
from waybench.results.comparisons._item_scores import ItemScores, item_scores, values_of
from waybench.results.comparisons._models import compare_pairs, compare_sides, pairs
from waybench.results.comparisons._power import pilots
from waybench.results.comparisons._setting_effects import EFFECT, NO_EFFECT, UNCLEAR, SettingEffect, setting_effects
from waybench.results.comparisons._text import (
    comparison_cells,
    comparison_json,
    comparison_lines,
    comparisons_json,
    comparisons_text,
    difference_text,
    p_text,
)
from waybench.results.comparisons._twins import TwinEffect, compare_twins, twin_effects
from waybench.results.comparisons._wordings import (
    WordingEffect,
    compare_wordings,
    wording_effects,
    wording_frame,
    wording_table,
)

__all__ = [
    "AGREEMENT",
    "EFFECT",
    "MODEL",
    "NO_EFFECT",
    "UNCLEAR",
    "AgentEffect",
    "BeliefCounts",
    "Comparison",
    "Effect",
    "ExamplesEffect",
    "Failures",
    "FirstErrorCounts",
    "IsomorphEffect",
    "ItemScores",
    "SettingEffect",
    "TwinEffect",
    "Verdict",
    "WordingEffect",
    "agent_effects",
    "agent_table",
    "belief_counts",
    "belief_text",
    "beliefs_by_group",
    "compare",
    "compare_beliefs",
    "compare_isomorphs",
    "compare_pairs",
    "compare_sides",
    "compare_twins",
    "compare_wordings",
    "comparison_cells",
    "comparison_json",
    "comparison_lines",
    "comparisons_json",
    "comparisons_text",
    "difference_text",
    "effect_frame",
    "examples_effects",
    "failure",
    "failure_kinds",
    "failures",
    "first_error_kinds",
    "first_errors",
    "foreign_scores",
    "has_fixed_length",
    "invariance_text",
    "isomorph_effects",
    "item_scores",
    "knew_at_first_error",
    "matched",
    "p_text",
    "pairs",
    "pilots",
    "setting_effects",
    "twin_effects",
    "values_of",
    "wording_effects",
    "wording_frame",
    "wording_table",
]
