"""Tables of regressions: scores on what may explain them."""

from collections.abc import Iterable, Sequence

from waybench.core import with_article
from waybench.reporting.tables._comparisons import FOLDED
from waybench.reporting.tables._table import (
    Cell,
    Note,
    Table,
    TableRow,
    by_player,
    columns_of,
    count_cell,
    model_cell,
)
from waybench.reporting.tables._task_view import TaskView
from waybench.results.estimates import Regression, Slope
from waybench.results.formatting import NOTHING
from waybench.results.results import Group, differing, grouped
from waybench.results.stats import CONFIDENCE, FEWEST_POINTS


def slope_tables(view: TaskView, ordered: Sequence[Group], regressions: Iterable[Regression]) -> list[Table]:
    """Return the tables of regressions of an environment, one for each metric, as MANGO prints them (Table 10).

    Args:
        view: The task.
        ordered: Its groups, the best one first.
        regressions: The regressions.
    """
    source = view.env.difficulty.explanatory_variables
    if source is None:
        return []
    cluster, clusters = view.presentation.cluster, view.presentation.clusters
    titles = {metric.name: metric.title for metric in view.env.scoring.metrics}
    found: list[Table] = []
    for name, some in grouped(regressions, lambda each: each.metric).items():
        own = {each.group: each for each in some}
        rows = [
            (group.embedded, _row(own[group], view, ordered, view.pages[group])) for group in ordered if group in own
        ]
        if not rows:
            continue
        caption = (
            f"β, the change with one standard deviation of the variable in a linear regression over {clusters}, and "
            f"its p-value; bold where its {100 * CONFIDENCE:.0f} % interval excludes 0, which happens by chance to "
            f"one number in twenty. {source.note} A dash: the variable or the "
            f"score is the same for all {clusters}, or fewer than {FEWEST_POINTS} have both."
        )
        variables = (source.titles[variable] for variable in source.by_metric[name])
        found.append(
            Table(
                id=f"task-slopes-{len(found) + 1}",
                title=f"{titles[name]} by {cluster}, on one variable at a time",
                caption=(Note(caption),),
                columns=columns_of("Model", clusters.capitalize(), *variables),
                groups=by_player(rows),
                kind="scores slopes",
                summary=f"What makes {with_article(cluster)} hard: {titles[name]}",
                folded=len(rows) > FOLDED,
            )
        )
    return found


def _row(each: Regression, view: TaskView, ordered: Sequence[Group], page: str) -> TableRow:
    reasons = {slope.why for slope in each.slopes}
    why = _reason(reasons.pop(), view) if len(reasons) == 1 else ""
    cells = (
        [Cell(text=f"{NOTHING} {why}", kind="score why", columns=len(each.slopes))]
        if why
        else [_slope_cell(slope, view) for slope in each.slopes]
    )
    return TableRow(
        model_cell(each.group.model, differing(each.group, ordered), page), [count_cell(each.clusters), *cells]
    )


def _slope_cell(slope: Slope, view: TaskView) -> Cell:
    """Return the change of a score with one standard deviation of a variable, in bold where it is certain."""
    if slope.beta is None or slope.p is None or slope.low is None or slope.high is None:
        return Cell(text=NOTHING, title=_reason(slope.why, view), kind="score")
    p = "p < 0.001" if slope.p < 0.001 else f"p {slope.p:.3f}"
    interval = f"{_slope(slope.low)} to {_slope(slope.high)}, {slope.clusters} {view.presentation.clusters}"
    certain = slope.low > 0 or slope.high < 0
    return Cell(text=_slope(slope.beta), bold=certain, notes=(Note(p),), title=interval, kind="score")


def _slope(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")


def _reason(why: str, view: TaskView) -> str:
    return f"{why} {view.presentation.clusters}" if why else ""
