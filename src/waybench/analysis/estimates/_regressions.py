"""Regressions of a model's results in each cluster on variables of the clusters, one variable at a time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from waybench.analysis.estimates._estimates import by_cluster
from waybench.analysis.estimates._explanatory import Variables
from waybench.analysis.results import Cluster, Group, Row, grouped
from waybench.core import Json
from waybench.envs import registry
from waybench.stats import regression_line


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
        declared = registry.load(group.env).difficulty.explanatory_variables
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
    found = regression_line([value for value, _ in both], [rate for _, rate in both])
    if isinstance(found, str):
        return Slope(variable=variable, clusters=len(both), why=found)
    beta, low, high, p = found
    return Slope(variable=variable, clusters=len(both), beta=beta, low=low, high=high, p=p)
