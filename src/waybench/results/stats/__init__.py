"""Statistics on plain numbers: intervals, paired tests, power, regression lines, psychometric curves."""

from typing import TYPE_CHECKING

from waybench._late import late_names
from waybench.results.stats._adaptive import (
    SEARCH_REVISION,
    STOPS,
    Candidate,
    Decision,
    Seeker,
    StoppingRule,
    Trial,
    forecast,
    simulated,
)
from waybench.results.stats._curves import FIXED_DESIGN, Array, Curves, Shape, Trials, quantiles
from waybench.results.stats._fit import HORIZON_CONFIDENCE, Fit, HorizonRatio, fitted, horizon_ratio

if TYPE_CHECKING:
    from waybench.results.stats._abilities import (
        PROFILE_CONFIDENCE,
        Abilities,
        FamilyResults,
        Interval,
        joint_abilities,
    )
    from waybench.results.stats._difficulty import IndexGain, index_gain, logistic
    from waybench.results.stats._intervals import (
        CONFIDENCE,
        FEWEST_POINTS,
        LostAttempts,
        Mean,
        RobustMean,
        clustered_error,
        clustered_mean,
        holm,
        jackknifed,
        mcnemar,
        normal_quantile,
        regression_line,
        t_interval,
        t_quantile,
    )
    from waybench.results.stats._paired import (
        ALPHA,
        PairedTest,
        Pairs,
        VarianceComponents,
        paired_difference,
        paired_test,
        variance_components,
    )
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
        "_abilities": ("PROFILE_CONFIDENCE", "Abilities", "FamilyResults", "Interval", "joint_abilities"),
        "_difficulty": ("IndexGain", "index_gain", "logistic"),
        "_intervals": (
            *("CONFIDENCE", "FEWEST_POINTS", "LostAttempts", "Mean", "RobustMean", "clustered_error", "clustered_mean"),
            *("holm", "jackknifed", "mcnemar", "normal_quantile", "regression_line", "t_interval", "t_quantile"),
        ),
        "_paired": (
            *("ALPHA", "PairedTest", "Pairs", "VarianceComponents"),
            *("paired_difference", "paired_test", "variance_components"),
        ),
        "_power": (
            *("FEWEST_ITEMS", "PowerAssumptions", "achieved_power", "assume_shares"),
            *("detectable_difference", "items_needed", "pilot_assumptions"),
        ),
    },
)
