"""Reference scores: floors and ceilings, measured by players that need no model. Begin with `_measure`."""

from waybench.results.references._measure import Budget, ConstantPolicy, Reference, ReferenceScores, measure
from waybench.results.references._stored import Setting, setting_of, stored_scores

__all__ = [
    "Budget",
    "ConstantPolicy",
    "Reference",
    "ReferenceScores",
    "Setting",
    "measure",
    "setting_of",
    "stored_scores",
]
