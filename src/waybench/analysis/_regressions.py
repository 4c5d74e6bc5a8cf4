"""Regressions of what a model comes to in each cluster on variables of the clusters, one variable at a time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from scipy import stats

from waybench.analysis._estimates import by_cluster
from waybench.analysis._explanatory import Variables
from waybench.analysis._rows import Cluster, Group, Row, grouped
from waybench.core import Json
from waybench.envs import registry
from waybench.stats import CONFIDENCE

FEWEST = 5  # clusters, below which a line says nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Slope:
    """A line through the figures of some clusters, by one variable.

    Attributes:
        variable: The variable's name.
        clusters: Number of clusters in which both the figure and the variable are defined.
        beta: By how much the figure changes with one standard deviation of the variable; None if there is no line.
        low: Lower end of its 95 % confidence interval; None without a line.
        high: Upper end, likewise.
        p: Two-sided p-value of the hypothesis that there is no change; None without a line.
        why: Why there is no line; "" if there is one.
    """

    variable: str
    clusters: int
    beta: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Regression:
    """A metric's figures in the clusters of one group, on each variable by itself (MANGO, section C.3 and Table 10).

    Attributes:
        group: The group.
        metric: The metric's name.
        clusters: Number of clusters in which it is defined.
        slopes: A line for each variable.
    """

    group: Group
    metric: str
    clusters: int
    slopes: tuple[Slope, ...]

    def to_json(self) -> dict[str, Json]:
        """Return the regression as JSON values."""
        return {**asdict(self), "group": self.group.to_json()}


def regressions(all_rows: Iterable[Row], of_clusters: Mapping[Group, Mapping[Cluster, Variables]]) -> list[Regression]:
    """Return the regressions of every group whose environment declares explanatory variables.

    Args:
        all_rows: The rows.
        of_clusters: The clusters' variables, see `variables`.
    """
    found: list[Regression] = []
    for group, own in grouped(all_rows, lambda row: row.group).items():
        declared = registry.load(group.env).explanatory_variables
        if declared is None:
            continue
        for name, rates in by_cluster(own, declared.by_metric).items():
            known = of_clusters.get(group, {})
            slopes = tuple(
                _slope(
                    variable, [(known.get(cluster, {}).get(variable), rate.value) for cluster, rate in rates.items()]
                )
                for variable in declared.by_metric[name]
            )
            found.append(Regression(group=group, metric=name, clusters=len(rates), slopes=slopes))
    return found


def _slope(variable: str, pairs: Sequence[tuple[float | None, float]]) -> Slope:
    both = [(value, rate) for value, rate in pairs if value is not None]
    found = line([value for value, _ in both], [rate for _, rate in both])
    if isinstance(found, str):
        return Slope(variable=variable, clusters=len(both), why=found)
    beta, low, high, p = found
    return Slope(variable=variable, clusters=len(both), beta=beta, low=low, high=high, p=p)


def line(variable: Sequence[float], rates: Sequence[float]) -> tuple[float, float, float, float] | str:
    """Return the slope of a least-squares line, its 95 % confidence interval and its p-value, or why there is none.

    The variable is standardised: less its mean, by its sample standard deviation (n - 1). So slopes of different
    variables can be compared. Interval and p-value are those of Student's t with n - 2 degrees of freedom
    (`scipy.stats.linregress`), each cluster being one observation, however many items it has.

    Args:
        variable: The variable's values.
        rates: The figures.
    """
    if len(rates) < FEWEST:
        return f"fewer than {FEWEST}"
    x, y = np.asarray(variable, dtype=np.float64), np.asarray(rates, dtype=np.float64)
    if np.allclose(x, x[0], rtol=1e-12, atol=1e-12):
        return "the variable is the same for all"
    if np.allclose(y, y[0], rtol=1e-12, atol=1e-12):
        return "the score is the same for all"
    fitted = stats.linregress((x - x.mean()) / x.std(ddof=1), y)
    reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(y) - 2)) * float(fitted.stderr)
    beta = float(fitted.slope)
    return beta, beta - reach, beta + reach, float(fitted.pvalue)
