"""How success falls with difficulty: curves, how far a player reaches, and what to try next."""

from waybench.psychometric._curves import Array, Curves, Fit, Shape, Tried, fitted, quantiles

__all__ = ["Array", "Curves", "Fit", "Shape", "Tried", "fitted", "quantiles"]
