"""Quantiles that intervals need, kept: SciPy takes ten times as long for one as for the rest of an interval."""

from functools import lru_cache

from scipy import stats


@lru_cache(maxsize=4096)
def t_quantile(tail: float, freedom: float) -> float:
    """Return the value that Student's t exceeds with a probability.

    Args:
        tail: The probability.
        freedom: Degrees of freedom.
    """
    return float(stats.t.isf(tail, freedom))


@lru_cache(maxsize=64)
def normal_quantile(tail: float) -> float:
    """Return the value that a standard normal variable exceeds with a probability."""
    return float(stats.norm.isf(tail))
