"""Tables that compare: models two by two, and scores with what may explain them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from waybench.analysis import (
    FEWEST,
    Group,
    Pair,
    Regression,
    Slope,
    change_text,
    comparable,
    differing,
    grouped,
    labels,
    mean_text,
    setting,
)
from waybench.core import Environment, Metric, Presentation

FOLDED = 12  # rows, above which a table is folded


@dataclass(frozen=True, slots=True)
class PairCell:
    """Two models at what both answered.

    Attributes:
        rates: The row's and the column's, as text: "0.86 | 0.57".
        items: Number of items.
        difference: The row's minus the column's, as text.
        interval: Its interval, as text.
        certain: Whether that is all on one side of 0.
    """

    rates: str
    items: int
    difference: str
    interval: str
    certain: bool


@dataclass(frozen=True, slots=True)
class PairLine:
    """One row.

    Attributes:
        name: The model.
        page: File name of its page.
        differs: The settings in which it differs from other rows, in words.
        cells: For each column; None on the diagonal and where there is nothing that both answered.
    """

    name: str
    page: str
    differs: list[str]
    cells: list[PairCell | None]


@dataclass(frozen=True, slots=True)
class PairTable:
    """Models in pairs, as MANGO prints them (Tables 1, 9, 11 and 12).

    Attributes:
        title: What is compared.
        settings: What tells this table's models from those of others, in words.
        below: The metric below the diagonal.
        above: The metric above it.
        columns: The columns' names.
        lines: The rows, in the same order.
        folded: Whether it is folded at first.
    """

    title: str
    settings: list[str]
    below: Metric
    above: Metric
    columns: list[str]
    lines: list[PairLine]
    folded: bool


@dataclass(frozen=True, slots=True)
class SlopeCell:
    """The change of a score with one standard deviation of a variable.

    Attributes:
        beta: As text; "" if there is no line.
        p: Its p-value, as text.
        note: Its interval and number of clusters, or why there is no line, in words.
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
        differs: The settings in which it differs from other rows, in words.
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


def pair_tables(
    env: Environment[Any, Any, Any],
    presentation: Presentation,
    ordered: Sequence[Group],
    pairs: Iterable[Pair],
    pages: Mapping[Group, str],
) -> list[PairTable]:
    """Return the tables of an environment's models in pairs.

    Args:
        env: The environment.
        presentation: Its presentation.
        ordered: Its groups, the best one first.
        pairs: The pairs.
        pages: File names of the groups' pages.
    """
    cells: dict[tuple[str, Group, Group], PairCell] = {}
    metrics = {metric.name: metric for metric in env.metrics}
    for pair in pairs:
        for turned in (False, True):
            one, other = (pair.second, pair.first) if turned else (pair.first, pair.second)
            cells[pair.metric, one, other] = _pair_cell(pair, metrics[pair.metric], turned)
    together = [some for some in comparable(ordered) if len(some) > 1]
    found: list[PairTable] = []
    for some in together:
        told = _telling(env, some[0], [other[0] for other in together])
        for title, (below, above) in presentation.pairs.items():
            if not {below, above} <= metrics.keys():
                continue
            lines = [
                PairLine(
                    group.model, pages[group], differing(group, some), _pair_row(number, some, below, above, cells)
                )
                for number, group in enumerate(some)
            ]
            if any(cell for line in lines for cell in line.cells):
                columns = list(labels(some).values())
                folded = len(some) > FOLDED
                found.append(PairTable(title, told, metrics[below], metrics[above], columns, lines, folded))
    return found


def _pair_row(
    number: int, some: Sequence[Group], below: str, above: str, cells: Mapping[tuple[str, Group, Group], PairCell]
) -> list[PairCell | None]:
    """Return the cells of a row: left of the diagonal those of the metric below it."""
    return [cells.get((below if column < number else above, some[number], other)) for column, other in enumerate(some)]


def _telling(env: Environment[Any, Any, Any], group: Group, among: Sequence[Group]) -> list[str]:
    """Return the settings of what was asked that are not the same in all tables, in words."""
    names = {option.name for option in (*env.options, *env.source_options)} | {"version", "key"}
    return [
        setting(name, value)
        for name, value in group.settings.items()
        if name in names and any(repr(other.settings.get(name)) != repr(value) for other in among)
    ]


def _pair_cell(pair: Pair, metric: Metric, turned: bool) -> PairCell:
    first, second = (pair.second_mean, pair.first_mean) if turned else (pair.first_mean, pair.second_mean)
    sign = -1 if turned else 1
    low, high = pair.difference.low, pair.difference.high
    ends = [] if low is None or high is None else sorted((sign * low, sign * high))
    return PairCell(
        rates=f"{mean_text(first.value, metric)} | {mean_text(second.value, metric)}",
        items=pair.items,
        difference=change_text(sign * pair.difference.value, metric),
        interval=" to ".join(change_text(end, metric) for end in ends),
        certain=bool(ends) and (ends[0] > 0 or ends[1] < 0),
    )


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
        presentation: Its presentation.
        ordered: Its groups, the best one first.
        regressions: The regressions.
        pages: File names of the groups' pages.
    """
    declared = env.explanatory_variables
    metrics = {metric.name: metric for metric in env.metrics}
    found: list[SlopeTable] = []
    for name, some in grouped(regressions, lambda each: each.metric).items():
        own = {each.group: each for each in some}
        lines = [(group, _slope_line(own[group], presentation, ordered, pages)) for group in ordered if group in own]
        if declared is not None and lines:
            found.append(
                SlopeTable(
                    metric=metrics[name],
                    variables=[declared.titles[variable] for variable in declared.by_metric[name]],
                    note=declared.note,
                    fewest=FEWEST,
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
