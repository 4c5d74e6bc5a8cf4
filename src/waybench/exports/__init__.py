"""Results in the formats of others: Every Eval Ever, Hugging Face, Inspect's catalogue of evaluations, citations."""

from waybench.exports._catalogue import catalogue_entries
from waybench.exports._citation import citations
from waybench.exports._every_eval_ever import every_eval_ever
from waybench.exports._files import FileText, write_files
from waybench.exports._hugging_face import benchmark_file, eval_results
from waybench.exports._results import read_results

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
