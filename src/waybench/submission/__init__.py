"""Submissions: the records of a model's runs as one file, and their verification without a model."""

from waybench.submission._signatures import check_signature
from waybench.submission._verify import verdict_page, verify

__all__ = ["check_signature", "verdict_page", "verify"]
