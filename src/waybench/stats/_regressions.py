"""Regression lines of one variable."""

from collections.abc import Sequence
from typing import cast

import numpy as np

from waybench.stats._intervals import CONFIDENCE
from waybench.stats._quantiles import t_quantile, t_tail
from waybench.stats._trials import Array

FEWEST_POINTS = 5  # below which a line says nothing


def regression_line(variable: Sequence[float], rates: Sequence[float]) -> tuple[float, float, float, float] | str:
    """Return the slope of a least-squares line, its 95 % confidence interval and its p-value, or why there is none.

    The variable is standardised: less its mean, by its sample standard deviation (n - 1). So slopes of different
    variables can be compared. Interval and p-value are those of Student's t with n - 2 degrees of freedom.

    Args:
        variable: The variable's values, one for each independent observation.
        rates: The values that it is to explain, in the same order.
    """
    if len(rates) < FEWEST_POINTS:
        return f"fewer than {FEWEST_POINTS}"
    x, y = np.asarray(variable, dtype=np.float64), np.asarray(rates, dtype=np.float64)
    if np.allclose(x, x[0], rtol=1e-12, atol=1e-12):
        return "the variable is the same for all"
    if np.allclose(y, y[0], rtol=1e-12, atol=1e-12):
        return "the score is the same for all"
    coefficients, covariance = cast(tuple[Array, Array], np.polyfit((x - x.mean()) / x.std(ddof=1), y, 1, cov=True))
    beta, error = float(coefficients[0]), float(covariance[0, 0]) ** 0.5
    reach = t_quantile((1 - CONFIDENCE) / 2, len(y) - 2) * error
    p = 2 * t_tail(abs(beta) / error, len(y) - 2) if error > 0 else 0.0
    return beta, beta - reach, beta + reach, p
