"""Tables of regressions: scores on what may explain them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from waybench.analysis.estimates import Regression, Slope
from waybench.analysis.results import Group, differing, grouped
from waybench.core import Environment, Metric, Presentation
from waybench.reporting.tables._comparisons import FOLDED
from waybench.stats import FEWEST_POINTS


@dataclass(frozen=True, slots=True)
class SlopeCell:
    """The change of a score with one standard deviation of a variable.

    Attributes:
        beta: As text; "" if there is no line.
        p: Its p-value, as text.
        note: Its interval and number of clusters, or why there is no line, in presentation.
        certain: Whether its interval is all on one side of 0.
    """

    beta: str
    p: str
    note: str
    certain: bool


@dataclass(frozen=True, slots=True)
class SlopeLine:
    """One row.

    Attributes:
        name: The model.
        page: File name of its page.
        differs: The settings in which it differs from other rows, in presentation.
        clusters: Number of clusters.
        why: Why there is no line by any variable; "" if there is one.
        cells: For each variable.
    """

    name: str
    page: str
    differs: list[str]
    clusters: int
    why: str
    cells: list[SlopeCell]


@dataclass(frozen=True, slots=True)
class SlopeTable:
    """Regressions of one metric, as MANGO prints them (Table 10).

    Attributes:
        metric: The metric.
        variables: The columns' names.
        note: What has to be said of the variables.
        fewest: How many clusters it takes for a line.
        models: Rows of models.
        references: Rows of the embedded players.
        folded: Whether it is folded at first.
    """

    metric: Metric
    variables: list[str]
    note: str
    fewest: int
    models: list[SlopeLine]
    references: list[SlopeLine]
    folded: bool


def slope_tables(
    env: Environment[Any, Any, Any],
    presentation: Presentation,
    ordered: Sequence[Group],
    regressions: Iterable[Regression],
    pages: Mapping[Group, str],
) -> list[SlopeTable]:
    """Return the tables of regressions of an environment, one for each metric.

    Args:
        env: The environment.
        presentation: What is known of its family.
        ordered: Its groups, the best one first.
        regressions: The regressions.
        pages: File names of the groups' pages.
    """
    source = env.explanatory_variables
    metrics = {metric.name: metric for metric in env.metrics}
    found: list[SlopeTable] = []
    for name, some in grouped(regressions, lambda each: each.metric).items():
        own = {each.group: each for each in some}
        lines = [(group, _slope_line(own[group], presentation, ordered, pages)) for group in ordered if group in own]
        if source is not None and lines:
            found.append(
                SlopeTable(
                    metric=metrics[name],
                    variables=[source.titles[variable] for variable in source.by_metric[name]],
                    note=source.note,
                    fewest=FEWEST_POINTS,
                    models=[line for group, line in lines if not group.embedded],
                    references=[line for group, line in lines if group.embedded],
                    folded=len(lines) > FOLDED,
                )
            )
    return found


def _slope_line(
    each: Regression, presentation: Presentation, ordered: Sequence[Group], pages: Mapping[Group, str]
) -> SlopeLine:
    reasons = {slope.why for slope in each.slopes}
    why = _reason(reasons.pop(), presentation) if len(reasons) == 1 else ""
    cells = [_slope_cell(slope, presentation) for slope in each.slopes]
    name, differs = each.group.model, differing(each.group, ordered)
    return SlopeLine(name, pages[each.group], differs, each.clusters, why, cells)


def _slope_cell(slope: Slope, presentation: Presentation) -> SlopeCell:
    if slope.beta is None or slope.p is None or slope.low is None or slope.high is None:
        return SlopeCell("", "", _reason(slope.why, presentation), certain=False)
    p = "p < 0.001" if slope.p < 0.001 else f"p {slope.p:.3f}"
    note = f"{_slope(slope.low)} to {_slope(slope.high)}, {slope.clusters} {presentation.clusters}"
    return SlopeCell(_slope(slope.beta), p, note, certain=slope.low > 0 or slope.high < 0)


def _slope(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")


def _reason(why: str, presentation: Presentation) -> str:
    return f"{why} {presentation.clusters}" if why else ""
