"""Statistics on plain numbers: intervals, paired tests, power, regression lines, psychometric curves."""

from waybench.results.stats._adaptive import Seeker, StoppingRule, Trial
from waybench.results.stats._cells import clustered_mean
from waybench.results.stats._curves import FIXED_DESIGN, Array
from waybench.results.stats._fit import Fit
from waybench.results.stats._intervals import CONFIDENCE, IntervalEstimate, LostAttempts, VarianceComponents
from waybench.results.stats._power import PowerAssumptions

__all__ = [
    "CONFIDENCE",
    "FIXED_DESIGN",
    "Array",
    "Fit",
    "IntervalEstimate",
    "LostAttempts",
    "PowerAssumptions",
    "Seeker",
    "StoppingRule",
    "Trial",
    "VarianceComponents",
    "clustered_mean",
]
