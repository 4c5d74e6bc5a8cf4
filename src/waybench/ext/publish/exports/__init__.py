"""Results in the formats of others: Every Eval Ever, Hugging Face, Inspect's catalogue of evaluations, citations."""

from waybench.ext.publish.exports._every_eval_ever import every_eval_ever
from waybench.ext.publish.exports._formats import (
    FileText,
    benchmark_file,
    catalogue_entries,
    citations,
    eval_results,
    read_results,
    write_files,
)

__all__ = [
    "FileText",
    "benchmark_file",
    "catalogue_entries",
    "citations",
    "eval_results",
    "every_eval_ever",
    "read_results",
    "write_files",
]
