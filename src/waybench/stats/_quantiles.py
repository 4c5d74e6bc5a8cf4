"""Quantiles and tails that intervals and tests need, without `scipy.stats`, which takes most of a second to import."""

from functools import lru_cache

from scipy import special


@lru_cache(maxsize=4096)
def t_quantile(tail: float, freedom: float) -> float:
    """Return the value that Student's t exceeds with a probability.

    Args:
        tail: The probability.
        freedom: Degrees of freedom.
    """
    return -float(special.stdtrit(freedom, tail))


@lru_cache(maxsize=64)
def normal_quantile(tail: float) -> float:
    """Return the value that a standard normal variable exceeds with a probability."""
    return -float(special.ndtri(tail))


def t_tail(value: float, freedom: float) -> float:
    """Return the probability that Student's t exceeds a value.

    Args:
        value: The value.
        freedom: Degrees of freedom.
    """
    return float(special.stdtr(freedom, -value))
