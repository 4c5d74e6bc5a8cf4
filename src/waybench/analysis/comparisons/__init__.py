"""Comparisons of results on the same items."""

from waybench.analysis.comparisons._answers import Answers, answers
from waybench.analysis.comparisons._changes import Change, example_changes
from waybench.analysis.comparisons._comparison import mean_difference
from waybench.analysis.comparisons._contrast_text import (
    ContrastCells,
    comparison_json,
    contrast_cells,
    contrast_json,
    contrast_lines,
    contrast_text,
    verdict_sentence,
)
from waybench.analysis.comparisons._contrasts import Contrast, Unpaired, Verdict, bounded, contrasts, versus
from waybench.analysis.comparisons._effects import EFFECT, NO_EFFECT, UNCLEAR, Effect, effect_frame, effects
from waybench.analysis.comparisons._failures import (
    Failures,
    dominant,
    failure,
    failure_kinds,
    failures,
    has_fixed_length,
)
from waybench.analysis.comparisons._foreign import foreign_answers
from waybench.analysis.comparisons._pairs import Pair, comparable, pairs
from waybench.analysis.comparisons._wordings import (
    Worded,
    Wordings,
    difference_text,
    p_text,
    wording_frame,
    wording_table,
    wordings,
)

__all__ = [
    "EFFECT",
    "NO_EFFECT",
    "UNCLEAR",
    "Answers",
    "Change",
    "Contrast",
    "ContrastCells",
    "Effect",
    "Failures",
    "Pair",
    "Unpaired",
    "Verdict",
    "Worded",
    "Wordings",
    "answers",
    "bounded",
    "comparable",
    "comparison_json",
    "contrast_cells",
    "contrast_json",
    "contrast_lines",
    "contrast_text",
    "contrasts",
    "difference_text",
    "dominant",
    "effect_frame",
    "effects",
    "example_changes",
    "failure",
    "failure_kinds",
    "failures",
    "foreign_answers",
    "has_fixed_length",
    "mean_difference",
    "p_text",
    "pairs",
    "verdict_sentence",
    "versus",
    "wording_frame",
    "wording_table",
    "wordings",
]
