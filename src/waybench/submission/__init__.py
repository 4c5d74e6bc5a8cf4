"""Submissions: the records of a model's runs as one file, and their verification without a model."""

from waybench.submission._archive import NotASubmission
from waybench.submission._logs import verify_logs
from waybench.submission._pack import pack
from waybench.submission._records import episodes
from waybench.submission._verdict import Verdict, with_commitments
from waybench.submission._verify import check_signature, verdict_page, verify
from waybench.submission._verify import sign as sign_verdict

__all__ = [
    "NotASubmission",
    "Verdict",
    "check_signature",
    "episodes",
    "pack",
    "sign_verdict",
    "verdict_page",
    "verify",
    "verify_logs",
    "with_commitments",
]
