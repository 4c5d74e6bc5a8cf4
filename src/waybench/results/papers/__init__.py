"""The papers of the published benchmarks as data: their tables, the commands that make them, and published numbers."""

from waybench.results.papers._papers import (
    MEAN,
    PAPERS,
    Command,
    Embedded,
    Numbers,
    Paper,
    PaperTable,
    PublishedBlock,
    PublishedRow,
    PublishedValue,
    find_paper,
    find_table,
    papers,
    read_paper,
)

__all__ = [
    "MEAN",
    "PAPERS",
    "Command",
    "Embedded",
    "Numbers",
    "Paper",
    "PaperTable",
    "PublishedBlock",
    "PublishedRow",
    "PublishedValue",
    "find_paper",
    "find_table",
    "papers",
    "read_paper",
]
