"""The tables of a family: models against environments, as benchmarks print them."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from waybench.core import Environment, Metric, Presentation
from waybench.envs import registry
from waybench.reporting._files import task_page
from waybench.reporting._format import in_words, interval_text, mean_part, part
from waybench.reporting.tables import (
    Cell,
    Column,
    HeaderGroup,
    Note,
    Table,
    TableRow,
    by_player,
    lost_mark,
    metric_column,
    model_cell,
    notes,
)
from waybench.results import Estimate
from waybench.results.comparisons import ExamplesEffect
from waybench.results.estimates import as_metric, measure
from waybench.results.formatting import LOST, better_text, change_text, lost_text, mean_text
from waybench.results.results import Group, differing, grouped, setting_names, settings_order
from waybench.results.stats import CONFIDENCE, Mean

_TASK = "task"  # the same run has a task of its own for each environment
_OWN = {_TASK, "version"}


Cells = Mapping[str, Estimate]  # environment -> estimate


def overviews(
    presentation: Presentation,
    estimates: Sequence[Estimate],
    changes: Iterable[ExamplesEffect],
    pages: Mapping[Group, str],
    name: str,
) -> list[Table]:
    """Return the tables of a family, in the order of its modes and parts; those with a teacher are apart.

    Args:
        presentation: The family's presentation.
        estimates: Its estimates by level.
        changes: What in-context examples change.
        pages: File names of the groups' pages.
        name: What the tables' ids begin with.
    """
    changed = {(change.group, change.level): change for change in changes}
    modes = grouped(estimates, lambda each: presentation.mode(each.group.env, each.level))
    named = [mode for mode in presentation.modes if mode in modes]
    listed: list[tuple[str, list[Estimate]]] = []
    for mode in [*named, *(mode for mode in modes if mode not in named)]:
        free = [each for each in modes[mode] if not each.guided]
        guided = [each for each in modes[mode] if each.guided]
        listed += [(f"{title}, {mode}", some) for title, some in _parts(presentation, free)]
        if guided:
            listed.append((f"With a teacher, {mode}", guided))
    return [
        _table(f"{name}-{number}", title, presentation, some, changed, pages)
        for number, (title, some) in enumerate(listed, start=1)
    ]


def _parts(presentation: Presentation, estimates: Sequence[Estimate]) -> list[tuple[str, list[Estimate]]]:
    placed = {env: title for title, envs in presentation.parts.items() for env in envs}
    by_part = grouped(estimates, lambda each: placed.get(each.group.env, presentation.title))
    return [(title, by_part[title]) for title in [*presentation.parts, presentation.title] if title in by_part]


def in_order(presentation: Presentation, envs: Iterable[str]) -> list[str]:
    """Return environments as the family lists them, those that it does not list last."""
    listed = [env for part_ in presentation.parts.values() for env in part_]
    return sorted(envs, key=lambda env: listed.index(env) if env in listed else len(listed))


def _table(
    name: str,
    title: str,
    presentation: Presentation,
    estimates: Sequence[Estimate],
    changes: Mapping[tuple[Group, int], ExamplesEffect],
    pages: Mapping[Group, str],
) -> Table:
    guided = estimates[0].guided
    heads: list[tuple[Environment[Any, Any, Any], list[Metric]]] = []
    for env in map(registry.load, in_order(presentation, dict.fromkeys(each.group.env for each in estimates))):
        by_name = {metric.name: metric for metric in (*env.scoring.metrics, *map(as_metric, env.scoring.aggregates))}
        own = [by_name[each] for each in presentation.metrics if each in by_name]
        heads.append((env, [measure(env, guided=True).metric] if guided else own))
    columns = [Column(heading="Model")]
    for env, metrics in heads:
        page = task_page(env.id, estimates[0].group.apart)
        group = HeaderGroup(env.id.partition("/")[2], f"tasks/{page}.html", "first")
        columns += [
            metric_column(metric, "" if number else "first", group=group) for number, metric in enumerate(metrics)
        ]
    rows = _rows(estimates)
    shown: list[tuple[bool, TableRow]] = []
    for cells in rows:
        first = next(iter(cells.values())).group
        entries = [
            _entry(cells.get(env.id), metric, changes, pages, first=not number)
            for env, metrics in heads
            for number, metric in enumerate(metrics)
        ]
        shown.append((first.embedded, TableRow(model_cell(first.model, _differs(cells, rows)), entries)))
    all_cells = [cell for _, row in shown for cell in row.cells]
    undefined = any(
        _mean(cells[env.id], metric) is None and cells[env.id].attempts
        for cells in rows
        for env, metrics in heads
        if env.id in cells
        for metric in metrics
    )
    return Table(
        id=name,
        title=title,
        caption=_caption(presentation, heads[0][1][0], guided, all_cells, undefined),
        columns=columns,
        groups=by_player(shown),
        kind="scores overview",
    )


def _caption(
    presentation: Presentation, metric: Metric, guided: bool, cells: Sequence[Cell], undefined: bool
) -> list[Note]:
    caption_text = f"Means over {presentation.items}."
    if guided:
        caption_text = (
            f"The mean of the curve of {in_words(metric)} over its steps. At every step the teacher's action was "
            "carried out in place of the reply, so success is the teacher's and is not shown."
        )
    caption_text += (
        f" Small: {100 * CONFIDENCE:.0f} % interval{f' over {presentation.clusters}' if presentation.clusters else ''}."
    )
    if any(note.spoken for cell in cells for note in cell.notes):
        caption_text += (
            " Numbers with a sign: the change due to the in-context examples against the same model without any, "
            f"over the same {presentation.items}; bold where the interval excludes 0."
        )
    caption = [Note(f"{caption_text} Blank: not run.")]
    if any(cell.mark for cell in cells):
        caption += [Note("*", "flag"), Note(LOST)]
    return [*caption, Note(presentation.undefined)] if undefined and presentation.undefined else caption


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
    merits: dict[tuple[bool, str], tuple[bool, float]] = {}
    for row in sorted(rows, key=_examples):
        # A row that lacks the results of attempts has no rank.
        merits.setdefault(_model(row), (any(estimate.lost for estimate in row.values()), -_merit(row.values())))
    names = setting_names(each.group for each in estimates)

    def rank(row: Cells) -> tuple[bool, tuple[bool, float], str, tuple[tuple[int, float, str], ...]]:
        embedded, model = _model(row)
        return embedded, merits[_model(row)], model, settings_order(next(iter(row.values())).group, names)

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
        for text in differing(estimate.group, rivals):
            if not text.startswith(f"{_TASK}: ") or len(tasks) > 1:
                found[text] = None
    return list(found)


def _alike(group: Group) -> Group:
    return replace(group, task="")


def _mean(estimate: Estimate, metric: Metric) -> Mean | None:
    measured = measure(registry.load(estimate.group.env), estimate.guided)
    return measured.mean(estimate) if measured.series else estimate.number(metric.name)


def _entry(
    estimate: Estimate | None,
    metric: Metric,
    changes: Mapping[tuple[Group, int], ExamplesEffect],
    pages: Mapping[Group, str],
    *,
    first: bool,
) -> Cell:
    """Return a number; blank where it was not run.

    Args:
        estimate: The estimate of its row and environment.
        metric: The metric.
        changes: What in-context examples change.
        pages: File names of the groups' pages.
        first: Whether it is the environment's first column.
    """
    kind = " first" if first else ""
    if estimate is None:
        return Cell(kind=f"blank{kind}")
    group, change = estimate.group, changes.get((estimate.group, estimate.level or 0))
    series = measure(registry.load(group.env), estimate.guided).series
    moved = None if change is None else change.curves.get(series) if series else change.metrics.get(metric.name)
    mean = _mean(estimate, metric)
    lost = estimate.lost if series or metric.name == estimate.headline else None
    lines = notes([interval_text(mean, metric) if mean else lost_text(lost, metric)], "interval")
    if moved:
        certain = moved.low is not None and (moved.low > 0 or (moved.high or 0) < 0)
        shown = change_text(moved.value, metric)
        lines = (Note(shown, "change certain" if certain else "change", spoken=_words(moved, metric)), *lines)
    return Cell(
        text=mean_text(mean.value if mean else None, metric),
        bold=True,
        link=f"results/{pages[group]}",
        mark=lost_mark(estimate.lost),
        notes=lines,
        part=mean_part(mean, metric),
        kind=f"score{kind}",
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
    return f"change due to the examples: {shown}{way}{ends}"
