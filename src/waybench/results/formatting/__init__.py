"""Numbers and text as reports and terminals show them."""

from waybench.results.formatting._text import (
    LOST,
    NO_RANK,
    NOTHING,
    better_text,
    bounds_text,
    change_text,
    lost_text,
    mean_text,
    one_line,
    stored_lost_text,
    too_few_note,
    too_few_text,
    visible,
    width,
)

__all__ = [
    "LOST",
    "NOTHING",
    "NO_RANK",
    "better_text",
    "bounds_text",
    "change_text",
    "lost_text",
    "mean_text",
    "one_line",
    "stored_lost_text",
    "too_few_note",
    "too_few_text",
    "visible",
    "width",
]
