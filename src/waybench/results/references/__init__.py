"""Reference scores: floors and ceilings, measured by players that need no model. Begin with `_measure`."""

from waybench.results.references._measure import Budget, measure_reference_scores
from waybench.results.references._stored import reference_setting

__all__ = ["Budget", "measure_reference_scores", "reference_setting"]
