"""The tables of what a set of episodes comes to, with all the means that it is made of."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from waybench.analysis import Estimate, Group, as_metric, differing, grouped, mean_text, ranked
from waybench.core import Aggregate, Environment, Metric, Presentation
from waybench.report._format import amount, interval_text, part, percent
from waybench.stats import Mean


@dataclass(frozen=True, slots=True)
class Column:
    """One set of episodes.

    Attributes:
        name: The model; on its own page the level, "" if there is one.
        page: File name of the model's page; "" on that page.
        differs: The settings in which the model differs from other columns, in words.
    """

    name: str
    page: str
    differs: list[str]


@dataclass(frozen=True, slots=True)
class Part:
    """One number.

    Attributes:
        value: As text.
        interval: Its interval, as text.
        part: How good it is between the metric's bounds, from 0 to 1; None if it has none.
    """

    value: str
    interval: str
    part: float | None


@dataclass(frozen=True, slots=True)
class Made:
    """A table of one aggregate.

    Attributes:
        aggregate: The aggregate.
        metric: The same as a metric.
        level: The level that all columns have, in words; "" if there is one level, or columns are levels.
        columns: Its columns.
        whole: The aggregate in each column.
        items: Number of items in each column.
        lines: The metrics that it is made of, each with its mean in each column; a share is in per cent.
    """

    aggregate: Aggregate
    metric: Metric
    level: str
    columns: list[Column]
    whole: list[Part]
    items: list[str]
    lines: list[tuple[Metric, list[Part]]]


def side_by_side(
    env: Environment[Any, Any, Any],
    presentation: Presentation,
    estimates: Sequence[Estimate],
    pages: Mapping[Group, str],
) -> list[Made]:
    """Return the tables of an environment's aggregates with models side by side, one for each level.

    Args:
        env: The environment.
        presentation: Its presentation.
        estimates: Its estimates by level, or if it is pooled those over all levels.
        pages: File names of the groups' pages.
    """
    free = [estimate for estimate in estimates if not estimate.guided]
    by_level = grouped(free, lambda each: each.level)
    found: list[Made] = []
    for aggregate in env.aggregates:
        for level, some in by_level.items():
            own = {estimate.group: estimate for estimate in some}
            # The best first, as in the other tables; totals are of no level, and keep their order.
            groups = list(ranked(some)) or list(own)
            columns = [Column(group.model, pages[group], differing(group, groups)) for group in groups]
            told = presentation.mode(env.id, level) if len(by_level) > 1 else ""
            found.append(_made(aggregate, told, columns, [own[group] for group in groups]))
    return found


def of_model(env: Environment[Any, Any, Any], presentation: Presentation, estimates: Sequence[Estimate]) -> list[Made]:
    """Return the tables of an environment's aggregates for one model, levels side by side.

    Args:
        env: The environment.
        presentation: Its presentation.
        estimates: The model's estimates by level, and over all levels if the environment is pooled.
    """
    free = [estimate for estimate in estimates if not estimate.guided]
    several = len(free) > 1
    columns = [Column(presentation.mode(env.id, estimate.level) if several else "", "", []) for estimate in free]
    return [_made(aggregate, "", columns, free) for aggregate in env.aggregates if free]


def _made(aggregate: Aggregate, level: str, columns: list[Column], estimates: Sequence[Estimate]) -> Made:
    metric = as_metric(aggregate)
    return Made(
        aggregate=aggregate,
        metric=metric,
        level=level,
        columns=columns,
        whole=list(_parts(metric, (estimate.number(aggregate.name) for estimate in estimates))),
        items=[amount(estimate.items) for estimate in estimates],
        lines=[
            (one, list(_parts(one, (estimate.number(one.name) for estimate in estimates)))) for one in aggregate.metrics
        ],
    )


def _parts(metric: Metric, numbers: Iterable[Mean | None]) -> Iterable[Part]:
    share = metric.bounds == (0, 1) and not metric.unit
    for number in numbers:
        value, known = (None, False) if number is None else (number.value, number.low is not None)
        if share:
            ends = f"{percent(number.low)} – {percent(number.high)}" if number and known else ""
            yield Part(percent(value), ends, part(value, metric))
        else:
            yield Part(mean_text(value, metric), interval_text(number, metric), part(value, metric))
