"""What the first page shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from waybench.analysis import Estimate, Group, differing, grouped, is_perfect, ranked, setting
from waybench.core import Environment, Metric
from waybench.envs import registry
from waybench.report._chart import NARROW, WIDE, chart
from waybench.report._families import Family, family
from waybench.report._format import interval_text, mean_text, part, plural


@dataclass(frozen=True, slots=True)
class Cell:
    """The scores of one model at one level.

    Attributes:
        best: Mean of the best attempts, as text.
        single: What a single attempt gives on average, as text.
        interval: Its interval, as text.
        part: Where `best` lies between the metric's bounds, from 0 to 1; None if it has none.
        note: The numbers behind it.
        flagged: Whether infrastructure errors left something out.
    """

    best: str
    single: str
    interval: str
    part: float | None
    note: str
    flagged: bool


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the first page's tables.

    Attributes:
        name: The model.
        page: File name of its page.
        differs: The settings in which it differs from other rows, in words.
        cells: A cell for each level; None where it was not run.
        total: The estimate over all levels.
    """

    name: str
    page: str
    differs: list[str]
    cells: list[Cell | None]
    total: Estimate


@dataclass(frozen=True, slots=True)
class Section:
    """One environment on the first page.

    Attributes:
        env: The environment.
        family: What is known of its family.
        metric: Its headline metric.
        about: What was measured, in two sentences.
        common: The settings that all rows share, in words.
        levels: All levels that were run.
        models: Rows of models.
        references: Rows of the embedded players.
        wide: The chart for wide pages; None if there is nothing to draw.
        narrow: The chart for narrow ones.
        most_attempts: The highest number of an attempt.
        flagged: Whether a cell is flagged.
        unconfirmed: Models' rows with episodes that do not replay.
    """

    env: Environment[Any, Any, Any]
    family: Family
    metric: Metric
    about: tuple[str, str]
    common: list[str]
    levels: list[int]
    models: list[Line]
    references: list[Line]
    wide: Markup | None
    narrow: Markup | None
    most_attempts: int
    flagged: bool
    unconfirmed: list[Line]


def sections(estimates: Sequence[Estimate], totals: Sequence[Estimate], pages: Mapping[Group, str]) -> list[Section]:
    """Return the sections of the first page, one for each environment."""
    total_of = {total.group: total for total in totals}
    by_env = grouped(estimates, lambda estimate: estimate.group.env)
    return [_section(registry.load(env), some, total_of, pages) for env, some in by_env.items()]


def _section(
    env: Environment[Any, Any, Any],
    estimates: Sequence[Estimate],
    total_of: Mapping[Group, Estimate],
    pages: Mapping[Group, str],
) -> Section:
    groups = ranked(estimates)
    levels = sorted({level for cells in groups.values() for level in cells})
    metric, words = env.metrics[0], family(env.id)
    lines = [
        Line(
            name=group.model,
            page=pages[group],
            differs=differing(group, groups),
            cells=[_cell(cells.get(level), metric, words) for level in levels],
            total=total_of[group],
        )
        for group, cells in groups.items()
    ]
    first = next(iter(groups))
    varied = set(differing(first, groups))
    label = f"{metric.title} by {words.level} for each model; the table below has the same numbers"
    drawn = any(estimate.best for estimate in estimates)
    most = max(estimate.most_attempts for estimate in estimates)
    return Section(
        env=env,
        family=words,
        metric=metric,
        about=(_first_sentence(env.about), _second_sentence(estimates, metric, words, levels, most)),
        common=[told for name, value in first.settings.items() if (told := setting(name, value)) not in varied],
        levels=levels,
        models=[line for line, group in zip(lines, groups, strict=True) if not group.embedded],
        references=[line for line, group in zip(lines, groups, strict=True) if group.embedded],
        wide=chart(estimates, metric, words.level, WIDE, label) if drawn else None,
        narrow=chart(estimates, metric, words.level, NARROW, label) if drawn else None,
        most_attempts=most,
        flagged=any(cell.flagged for line in lines for cell in line.cells if cell),
        unconfirmed=[line for line in lines if line.total.unconfirmed],
    )


def _cell(estimate: Estimate | None, metric: Metric, words: Family) -> Cell | None:
    if estimate is None:
        return None
    note = f"{plural(estimate.items, words.item, words.items)}, {plural(estimate.attempts, 'attempt')}"
    if estimate.missing:
        note += f", {estimate.missing} missing"
    if estimate.incomplete:
        note += f", {estimate.incomplete} incomplete"
    if estimate.best is not None and (ends := interval_text(estimate.best, metric)):
        note += f"; best of attempts {ends}"
    return Cell(
        best=mean_text(estimate.best.value if estimate.best else None, metric),
        single=mean_text(estimate.single.value if estimate.single else None, metric),
        interval=interval_text(estimate.single, metric),
        part=part(estimate.best.value if estimate.best else None, metric),
        note=note,
        flagged=bool(estimate.missing or estimate.incomplete),
    )


def _first_sentence(about: str) -> str:
    text = " ".join(about.split())
    end = text.find(". ")
    return text if end < 0 else text[: end + 1]


def _second_sentence(
    estimates: Sequence[Estimate], metric: Metric, words: Family, levels: Sequence[int], most: int
) -> str:
    items = {estimate.items + estimate.missing for estimate in estimates}
    count = plural(max(items), words.item, words.items)
    up_to = "" if len(items) == 1 else "up to "
    span = f"{words.level} {levels[0]}" if len(levels) == 1 else f"{words.level}s {levels[0]} to {levels[-1]}"
    each = f"{up_to}{count}" if len(levels) == 1 else f"{up_to}{count} each"
    bounded = is_perfect(metric.high, metric) or is_perfect(metric.low, metric)
    # How many were allowed is not in the records: where each first one was perfect, no other was made.
    ended = ", and none counts after a perfect one" if bounded else ""
    tries = "one attempt was" if most == 1 else f"{most} attempts were"
    return f"{span.capitalize()}, {each}; at most {tries} made at a {words.item}{ended}."
