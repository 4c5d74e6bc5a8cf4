"""The tables of a family: models against environments, as benchmarks print them."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from waybench.analysis import (
    Estimate,
    ExamplesEffect,
    Group,
    as_metric,
    better_text,
    change_text,
    differing,
    grouped,
    mean_text,
    measure,
    settings_order,
)
from waybench.core import Environment, Metric
from waybench.envs import registry
from waybench.report._families import Family
from waybench.report._format import interval_text, part
from waybench.stats import Mean

_TASK = "task"  # the same run has a task of its own for each environment
_OWN = {_TASK, "version"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One number.

    Attributes:
        page: File name of the group's page.
        value: As text.
        interval: Its interval, as text.
        part: How good it is between the metric's bounds, from 0 to 1; None if it has none.
        change: What the in-context examples change it by, as text; "" if that is not known.
        change_words: The same in words.
        certain: Whether the change's interval is all on one side of 0.
        flagged: Whether infrastructure errors left something out.
        undefined: Whether there is no value although some attempts ended without an infrastructure error.
    """

    page: str
    value: str
    interval: str
    part: float | None
    change: str
    change_words: str
    certain: bool
    flagged: bool
    undefined: bool


@dataclass(frozen=True, slots=True)
class Lineup:
    """One row: a model with the same settings in several environments.

    Attributes:
        name: The model.
        differs: The settings in which it differs from other rows, in words.
        entries: For each environment a number in each of its columns; None where it was not run.
    """

    name: str
    differs: list[str]
    entries: list[list[Entry | None]]


@dataclass(frozen=True, slots=True)
class Overview:
    """One table.

    Attributes:
        title: What part of the family it is, and at what levels.
        guided: Whether it is of episodes with a teacher.
        heads: The environments, each with the metrics of its columns.
        models: Rows of models.
        references: Rows of the embedded players.
        changed: Whether it has a change.
        flagged: Whether an entry is flagged.
        undefined: Whether some entry has no value though nothing went wrong.
    """

    title: str
    guided: bool
    heads: list[tuple[Environment[Any, Any, Any], list[Metric]]]
    models: list[Lineup]
    references: list[Lineup]
    changed: bool
    flagged: bool
    undefined: bool

    @property
    def columns(self) -> int:
        """Number of columns with numbers."""
        return sum(len(metrics) for _, metrics in self.heads)


Cells = Mapping[str, Estimate]  # environment -> estimate


def overviews(
    words: Family, estimates: Sequence[Estimate], changes: Iterable[ExamplesEffect], pages: Mapping[Group, str]
) -> list[Overview]:
    """Return the tables of a family, in the order of its modes and parts; those with a teacher are apart.

    Args:
        words: The family.
        estimates: Its estimates by level.
        changes: What in-context examples change.
        pages: File names of the groups' pages.
    """
    changed = {(change.group, change.level): change for change in changes}
    modes = grouped(estimates, lambda each: words.mode(each.group.env, each.level))
    named = [name for name in words.modes if name in modes]
    found: list[Overview] = []
    for mode in [*named, *(name for name in modes if name not in named)]:
        free = [each for each in modes[mode] if not each.guided]
        guided = [each for each in modes[mode] if each.guided]
        found += [_table(f"{title}, {mode}", words, some, changed, pages) for title, some in _parts(words, free)]
        if guided:
            found.append(_table(f"With a teacher, {mode}", words, guided, changed, pages))
    return found


def _parts(words: Family, estimates: Sequence[Estimate]) -> list[tuple[str, list[Estimate]]]:
    placed = {env: title for title, envs in words.parts.items() for env in envs}
    by_part = grouped(estimates, lambda each: placed.get(each.group.env, words.title))
    return [(title, by_part[title]) for title in [*words.parts, words.title] if title in by_part]


def in_order(words: Family, envs: Iterable[str]) -> list[str]:
    """Return environments as the family lists them, those that it does not list last."""
    listed = [env for part_ in words.parts.values() for env in part_]
    return sorted(envs, key=lambda env: listed.index(env) if env in listed else len(listed))


def _table(
    title: str,
    words: Family,
    estimates: Sequence[Estimate],
    changes: Mapping[tuple[Group, int], ExamplesEffect],
    pages: Mapping[Group, str],
) -> Overview:
    guided = estimates[0].guided
    heads: list[tuple[Environment[Any, Any, Any], list[Metric]]] = []
    for env in map(registry.load, in_order(words, dict.fromkeys(each.group.env for each in estimates))):
        by_name = {metric.name: metric for metric in (*env.metrics, *map(as_metric, env.aggregates))}
        own = [by_name[name] for name in words.metrics if name in by_name]
        heads.append((env, [measure(env, guided=True).metric] if guided else own))
    rows = _rows(estimates)
    lines: list[tuple[bool, Lineup]] = []
    for cells in rows:
        entries = [
            [_entry(cells[env.id], metric, changes, pages) if env.id in cells else None for metric in metrics]
            for env, metrics in heads
        ]
        first = next(iter(cells.values())).group
        lines.append((first.embedded, Lineup(first.model, _differs(cells, rows), entries)))
    shown = [entry for _, line in lines for some in line.entries for entry in some if entry]
    return Overview(
        title=title,
        guided=guided,
        heads=heads,
        models=[line for embedded, line in lines if not embedded],
        references=[line for embedded, line in lines if embedded],
        changed=any(entry.change for entry in shown),
        flagged=any(entry.flagged for entry in shown),
        undefined=any(entry.undefined for entry in shown),
    )


def _rows(estimates: Sequence[Estimate]) -> list[Cells]:
    """Put the estimates of one model and settings in several environments into one row; the best model comes first.

    A row's settings are those that all environments have. Where groups of one environment differ in others only, each
    has a row of its own. Rows of one model follow each other, in the order of their settings.
    """
    names = set[str].intersection(*(set(each.group.settings) for each in estimates)) - _OWN

    def shared(estimate: Estimate) -> Hashable:
        group = estimate.group
        # The number of examples is a setting of those groups only that have any.
        kept = tuple((name, value) for name, value in group.settings.items() if name in names)
        return group.model, group.embedded, group.examples, tuple(sorted(kept))

    rows: list[dict[str, Estimate]] = []
    for some in grouped(estimates, shared).values():
        own: list[dict[str, Estimate]] = []
        for estimate in some:
            free = next((row for row in own if estimate.group.env not in row), None)
            if free is None:
                own.append(free := {})
            free[estimate.group.env] = estimate
        rows += own
    merits: dict[tuple[bool, str], float] = {}
    for row in sorted(rows, key=_examples):
        merits.setdefault(_model(row), _merit(row.values()))
    groups = [each.group for each in estimates]

    def rank(row: Cells) -> tuple[bool, float, str, tuple[tuple[int, float, str], ...]]:
        embedded, model = _model(row)
        return embedded, -merits[_model(row)], model, settings_order(next(iter(row.values())).group, groups)

    return sorted(rows, key=rank)


def _model(row: Cells) -> tuple[bool, str]:
    group = next(iter(row.values())).group
    return group.embedded, group.model


def _examples(row: Cells) -> int:
    return next(iter(row.values())).group.examples


def _merit(cells: Iterable[Estimate]) -> float:
    """Return the sum over environments of how good a row is; what was not run adds nothing."""
    total = 0.0
    for estimate in cells:
        measured = measure(registry.load(estimate.group.env), estimate.guided)
        mean = measured.mean(estimate)
        if mean:
            share = part(mean.value, measured.metric)
            # A number without bounds is no share; within one environment it ranks as well.
            total += share if share is not None else -mean.value if measured.metric.better == "lower" else mean.value
    return total


def _differs(cells: Cells, rows: Sequence[Cells]) -> list[str]:
    """Return the settings that tell a row from the others, in words, each once."""
    found: dict[str, None] = {}
    for env, estimate in cells.items():
        rivals = [row[env].group for row in rows if env in row]
        tasks = {rival.task for rival in rivals if _alike(rival) == _alike(estimate.group)}
        for told in differing(estimate.group, rivals):
            if not told.startswith(f"{_TASK}: ") or len(tasks) > 1:
                found[told] = None
    return list(found)


def _alike(group: Group) -> Group:
    return replace(group, task="")


def _entry(
    estimate: Estimate, metric: Metric, changes: Mapping[tuple[Group, int], ExamplesEffect], pages: Mapping[Group, str]
) -> Entry:
    group, change = estimate.group, changes.get((estimate.group, estimate.level or 0))
    measured = measure(registry.load(group.env), estimate.guided)
    if measured.series:
        mean, moved = measured.mean(estimate), change.curves.get(measured.series) if change else None
    else:
        mean, moved = estimate.number(metric.name), change.metrics.get(metric.name) if change else None
    return Entry(
        page=pages[group],
        value=mean_text(mean.value if mean else None, metric),
        interval=interval_text(mean, metric),
        part=part(mean.value if mean else None, metric),
        change=change_text(moved.value, metric) if moved else "",
        change_words=_words(moved, metric) if moved else "",
        certain=moved is not None and moved.low is not None and (moved.low > 0 or (moved.high or 0) < 0),
        flagged=bool(estimate.missing or estimate.incomplete),
        undefined=mean is None and estimate.attempts > 0,
    )


def _words(change: Mean, metric: Metric) -> str:
    shown = change_text(change.value, metric)
    if shown[0] == "±" or not better_text(metric):
        way = ""
    else:
        way = ", better" if (change.value > 0) == (metric.better == "higher") else ", worse"
    ends = ""
    if change.low is not None and change.high is not None:
        ends = f" (interval {change_text(change.low, metric)} to {change_text(change.high, metric)})"
    return f"changed by the examples: {shown}{way}{ends}"
