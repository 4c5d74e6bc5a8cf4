"""How success falls with difficulty: curves, how far a player reaches, and what to try next."""

from waybench.psychometric._curves import Array, Curves, Fit, Shape, Tried, fitted, quantiles
from waybench.psychometric._forecast import Forecast, forecast, simulated
from waybench.psychometric._seek import REACH_CONFIDENCE, STOPS, Decision, Goal, Offer, Reach, Seeker, State, Trial

__all__ = [
    "REACH_CONFIDENCE",
    "STOPS",
    "Array",
    "Curves",
    "Decision",
    "Fit",
    "Forecast",
    "Goal",
    "Offer",
    "Reach",
    "Seeker",
    "Shape",
    "State",
    "Trial",
    "Tried",
    "fitted",
    "forecast",
    "quantiles",
    "simulated",
]
