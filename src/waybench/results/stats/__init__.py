"""Statistics on plain numbers: intervals, paired tests, power, regression lines, psychometric curves."""

from typing import TYPE_CHECKING

from waybench._late import late_names
from waybench.results.stats._adaptive import (
    HORIZON_CONFIDENCE,
    SEARCH_REVISION,
    STOPS,
    Candidate,
    Decision,
    Seeker,
    StoppingRule,
    Trial,
)
from waybench.results.stats._curves import FIXED_DESIGN, Curves, Shape, quantiles
from waybench.results.stats._fit import Fit, fitted
from waybench.results.stats._horizons import HorizonRatio, forecast, horizon_ratio, simulated
from waybench.results.stats._trials import Array, Trials
from waybench.results.stats._variance import VarianceComponents, variance_components

if TYPE_CHECKING:
    from waybench.results.stats._abilities import (
        PROFILE_CONFIDENCE,
        Abilities,
        FamilyResults,
        Interval,
        joint_abilities,
    )
    from waybench.results.stats._clusters import RobustMean, clustered_error, holm, mcnemar, normal_quantile, t_quantile
    from waybench.results.stats._difficulty import IndexGain, index_gain, logistic
    from waybench.results.stats._intervals import (
        CONFIDENCE,
        FEWEST_POINTS,
        LostAttempts,
        Mean,
        clustered_mean,
        jackknifed,
        regression_line,
        t_interval,
    )
    from waybench.results.stats._paired import ALPHA, PairedTest, Pairs, paired_difference, paired_test
    from waybench.results.stats._power import (
        FEWEST_ITEMS,
        PowerAssumptions,
        achieved_power,
        assume_shares,
        detectable_difference,
        items_needed,
        pilot_assumptions,
    )

__all__ = [
    "ALPHA",
    "CONFIDENCE",
    "FEWEST_ITEMS",
    "FEWEST_POINTS",
    "FIXED_DESIGN",
    "HORIZON_CONFIDENCE",
    "PROFILE_CONFIDENCE",
    "SEARCH_REVISION",
    "STOPS",
    "Abilities",
    "Array",
    "Candidate",
    "Curves",
    "Decision",
    "FamilyResults",
    "Fit",
    "HorizonRatio",
    "IndexGain",
    "Interval",
    "LostAttempts",
    "Mean",
    "PairedTest",
    "Pairs",
    "PowerAssumptions",
    "RobustMean",
    "Seeker",
    "Shape",
    "StoppingRule",
    "Trial",
    "Trials",
    "VarianceComponents",
    "achieved_power",
    "assume_shares",
    "clustered_error",
    "clustered_mean",
    "detectable_difference",
    "fitted",
    "forecast",
    "holm",
    "horizon_ratio",
    "index_gain",
    "items_needed",
    "jackknifed",
    "joint_abilities",
    "logistic",
    "mcnemar",
    "normal_quantile",
    "paired_difference",
    "paired_test",
    "pilot_assumptions",
    "quantiles",
    "regression_line",
    "simulated",
    "t_interval",
    "t_quantile",
    "variance_components",
]

# They need SciPy, which takes a while to load.
__getattr__ = late_names(
    __name__,
    {
        "_abilities": (
            "PROFILE_CONFIDENCE",
            "Abilities",
            "FamilyResults",
            "Interval",
            "joint_abilities",
        ),
        "_clusters": (
            "RobustMean",
            "clustered_error",
            "normal_quantile",
            "t_quantile",
            "holm",
            "mcnemar",
        ),
        "_difficulty": (
            "IndexGain",
            "index_gain",
            "logistic",
        ),
        "_intervals": (
            "CONFIDENCE",
            "LostAttempts",
            "Mean",
            "clustered_mean",
            "jackknifed",
            "t_interval",
            "FEWEST_POINTS",
            "regression_line",
        ),
        "_paired": (
            "ALPHA",
            "PairedTest",
            "Pairs",
            "paired_difference",
            "paired_test",
        ),
        "_power": (
            "FEWEST_ITEMS",
            "PowerAssumptions",
            "achieved_power",
            "assume_shares",
            "detectable_difference",
            "items_needed",
            "pilot_assumptions",
        ),
    },
)
