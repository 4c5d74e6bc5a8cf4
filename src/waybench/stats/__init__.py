"""How success falls with difficulty: curves, how far a player reaches, and what to try next."""

from typing import TYPE_CHECKING

from waybench._late import late_names
from waybench.stats._adaptive import REACH_CONFIDENCE, STOPS, Decision, Goal, Offer, Reach, Seeker, State, Trial
from waybench.stats._curves import Array, Curves, Fit, Shape, Tried, fitted, quantiles
from waybench.stats._forecast import Forecast, forecast, simulated
from waybench.stats._variance import Levels, levels_of_variance

if TYPE_CHECKING:
    from waybench.stats._intervals import CONFIDENCE, Mean, clustered_mean, jackknifed
    from waybench.stats._permuted import EXACT_CLUSTERS, LEAST, cluster_sums, sign_flipped
    from waybench.stats._statsmodels import holm, mcnemar, t_power, z_power

__all__ = [
    "CONFIDENCE",
    "EXACT_CLUSTERS",
    "LEAST",
    "REACH_CONFIDENCE",
    "STOPS",
    "Array",
    "Curves",
    "Decision",
    "Fit",
    "Forecast",
    "Goal",
    "Levels",
    "Mean",
    "Offer",
    "Reach",
    "Seeker",
    "Shape",
    "State",
    "Trial",
    "Tried",
    "cluster_sums",
    "clustered_mean",
    "fitted",
    "forecast",
    "holm",
    "jackknifed",
    "levels_of_variance",
    "mcnemar",
    "quantiles",
    "sign_flipped",
    "simulated",
    "t_power",
    "z_power",
]

# They need scipy.stats, which takes a while to load.
__getattr__ = late_names(
    __name__,
    {
        "_intervals": ("CONFIDENCE", "Mean", "clustered_mean", "jackknifed"),
        "_permuted": ("EXACT_CLUSTERS", "LEAST", "cluster_sums", "sign_flipped"),
        "_statsmodels": ("holm", "mcnemar", "t_power", "z_power"),
    },
)
