"""Numbers and text as reports and terminals show them."""

from waybench.analysis.formatting._numbers import (
    NOTHING,
    better_text,
    change_text,
    mean_text,
    too_few_note,
    too_few_text,
)
from waybench.analysis.formatting._text import one_line, visible, width

__all__ = [
    "NOTHING",
    "better_text",
    "change_text",
    "mean_text",
    "one_line",
    "too_few_note",
    "too_few_text",
    "visible",
    "width",
]
