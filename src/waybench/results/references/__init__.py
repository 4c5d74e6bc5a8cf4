"""Reference scores: floors and ceilings, measured by players that need no model. Begin with `_measure`."""

from waybench.results.references._measure import Budget, measure
from waybench.results.references._stored import setting_of

__all__ = ["Budget", "measure", "setting_of"]
