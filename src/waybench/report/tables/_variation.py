"""The tables of how much scores move: between sets of items, repeats on the same items, and attempts at an item."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from waybench.analysis import Estimate, Margins, Repeats, differing, grouped, mean_text, measure, spread
from waybench.core import Environment, Metric, Presentation
from waybench.envs import registry


@dataclass(frozen=True, slots=True)
class SpreadLine:
    """How much a model's numbers differ between sets of items.

    Attributes:
        name: The model.
        differs: The settings in which it differs from other rows, in words.
        level: The level.
        guided: Whether a teacher played.
        sets: Number of sets.
        keys: Their keys.
        cells: Of each metric, average, lower and upper margin, as texts; None where it is not known.
    """

    name: str
    differs: list[str]
    level: int
    guided: bool
    sets: int
    keys: tuple[str, ...]
    cells: list[tuple[str, str, str] | None]


@dataclass(frozen=True, slots=True)
class RepeatLine:
    """How much a model's numbers move when the whole is repeated.

    Attributes:
        name: The model.
        differs: The settings in which it differs from other rows, in words.
        repeats: Number of repeats.
        cells: Of each metric, the mean and its standard error, as texts; None where it is not known.
    """

    name: str
    differs: list[str]
    repeats: int
    cells: list[tuple[str, str] | None]


@dataclass(frozen=True, slots=True)
class AttemptLine:
    """How much of a model's interval is due to attempts, and how much to items.

    Attributes:
        name: The model.
        differs: The settings in which it differs from other rows, in words.
        attempts: Attempts at an item, as text.
        share: Share of the mean's variance that is due to attempts, in per cent, as text.
        width: The interval's width, as text; "–" if it is not known.
        with_attempts: The width with twice as many attempts at each item, likewise.
        with_items: The width with twice as many items, likewise.
    """

    name: str
    differs: list[str]
    attempts: str
    share: str
    width: str
    with_attempts: str
    with_items: str


def attempt_lines(totals: Sequence[Estimate]) -> list[AttemptLine]:
    """Return the rows of the table of what intervals are due to, of models whose items were attempted several times."""
    found: list[AttemptLine] = []
    for total in totals:
        levels, mean = total.variance, total.single
        if levels is None or mean is None or total.group.embedded:
            continue
        metric = measure(registry.load(total.group.env), guided=False).metric
        wide = None if mean.low is None or mean.high is None else mean.high - mean.low
        widths = [
            mean_text(None if wide is None else wide * factor, metric)
            for factor in (1, levels.narrowed(attempts=2), levels.narrowed(items=2))
        ]
        found.append(
            AttemptLine(
                total.group.model,
                differing(total.group, [each.group for each in totals]),
                f"{levels.attempts:.3g}",
                f"{100 * levels.share:.0f}",
                *widths,
            )
        )
    return found


def spread_table(
    env: Environment[Any, Any, Any], presentation: Presentation, estimates: Sequence[Estimate]
) -> tuple[list[Metric], list[SpreadLine]]:
    """Return columns and rows of the table of several sets; what a teacher has done has a dash."""
    spreads = spread(estimates)
    guided = {each.group.without_key(): each.guided for each in estimates}
    names = presentation.metrics or (env.metrics[0].name,)
    free = [] if all(guided[each.group] for each in spreads) else [m for m in env.metrics if m.name in names]
    asked = [measure(env, guided=True)] if any(guided[each.group] for each in spreads) else []
    lines: list[SpreadLine] = []
    for group, some in grouped(spreads, lambda each: each.group).items():
        for each in some:
            cells = [None if guided[group] else _margins(each.metrics.get(metric.name), metric) for metric in free]
            cells += [
                _margins(each.curves.get(measured.series), measured.metric) if guided[group] else None
                for measured in asked
            ]
            differs = differing(group, [other.group for other in spreads])
            lines.append(SpreadLine(group.model, differs, each.level, guided[group], len(each.keys), each.keys, cells))
    return [*free, *(measured.metric for measured in asked)], lines


def _margins(found: Margins | None, metric: Metric) -> tuple[str, str, str] | None:
    if found is None:
        return None
    return mean_text(found.average, metric), mean_text(found.margin_min, metric), mean_text(found.margin_max, metric)


def repeat_table(
    env: Environment[Any, Any, Any], presentation: Presentation, repeated: Sequence[Repeats]
) -> tuple[list[Metric], list[RepeatLine]]:
    """Return columns and rows of the table of repeats, the best model first."""
    shown = [metric for metric in env.metrics if metric.name in (presentation.metrics or (env.metrics[0].name,))]
    sign = -1 if env.metrics[0].better == "higher" else 1
    lines: list[tuple[float, RepeatLine]] = []
    for each in repeated:
        found = [each.metrics.get(metric.name) for metric in shown]
        cells = [
            (mean_text(one.mean, metric), mean_text(one.error, metric)) if one else None
            for one, metric in zip(found, shown, strict=True)
        ]
        differs = differing(each.group, [other.group for other in repeated])
        count = max((one.repeats for one in found if one), default=0)
        head = each.metrics.get(env.metrics[0].name)
        line = RepeatLine(each.group.model, differs, count, cells)
        lines.append((sign * head.mean if head else 0.0, line))
    return shown, [line for _, line in sorted(lines, key=lambda pair: pair[0])]
