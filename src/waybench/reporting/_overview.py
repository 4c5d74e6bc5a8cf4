"""The tables of a family: models against environments, as benchmarks print them."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace

from waybench.core import Metric, Presentation
from waybench.envs import registry
from waybench.reporting._files import task_page_name
from waybench.reporting._format import interval_text, mean_quality, metric_in_sentence, quality_between_bounds
from waybench.reporting.tables import Note, Table, TableCell, TableColumn
from waybench.reporting.tables._table import BLANK, HeaderGroup, lost_mark, metric_column, model_cell, value_notes
from waybench.results import Estimate
from waybench.results.comparisons._prompts import ExamplesEffect
from waybench.results.estimates import as_metric, headline_spec
from waybench.results.formatting import LOST, better_text, change_text, known_ends, lost_text, mean_text
from waybench.results.results import RunKey, group_by, setting_names, settings_sort_key
from waybench.results.results._groups import distinguishing_settings
from waybench.results.stats import CONFIDENCE, IntervalEstimate

_TASK = "task"  # the setting with the task's name, which differs between environments in the same run
_SETTINGS_OF_AN_ENVIRONMENT = {_TASK, "version"}

EnvEstimates = Mapping[str, Estimate]  # a row: environment -> estimate


def overview_tables(
    presentation: Presentation,
    estimates: Sequence[Estimate],
    effects: Iterable[ExamplesEffect],
    pages: Mapping[RunKey, str],
    id_prefix: str,
) -> list[Table]:
    """Return the tables of a family, in the order of its modes and parts; groups with a teacher have their own tables.

    `effects` are those of in-context examples, and `id_prefix` begins the tables' ids.
    """
    effect_of = {(effect.group, effect.level): effect for effect in effects}
    by_mode = group_by(estimates, lambda estimate: presentation.level_title(estimate.group.env, estimate.level))
    part_of_env = {env: title for title, envs in presentation.parts.items() for env in envs}
    titles_and_estimates: list[tuple[str, list[Estimate]]] = []
    for mode in sorted(by_mode, key=lambda mode: _position_or_last(mode, presentation.modes)):
        guided = [estimate for estimate in by_mode[mode] if estimate.guided]
        without_teacher = [estimate for estimate in by_mode[mode] if not estimate.guided]
        by_part = group_by(without_teacher, lambda estimate: part_of_env.get(estimate.group.env, presentation.title))
        # The title of the family stands for the environments in no part.
        parts = [title for title in (*presentation.parts, presentation.title) if title in by_part]
        titles_and_estimates += [(f"{title}, {mode}", by_part[title]) for title in parts]
        if guided:
            titles_and_estimates.append((f"With a teacher, {mode}", guided))
    return [
        _overview_table(f"{id_prefix}-{number}", title, presentation, table_estimates, effect_of, pages)
        for number, (title, table_estimates) in enumerate(titles_and_estimates, start=1)
    ]


def _position_or_last(name: str, names: Iterable[str]) -> int:
    """Return the index of a name in a list; the list's length for a name that is not in the list."""
    names = list(names)
    return names.index(name) if name in names else len(names)


def order_environments(presentation: Presentation, envs: Iterable[str]) -> list[str]:
    """Return environments in the order in which the family's presentation lists them; other environments come last."""
    names = [env for envs in presentation.parts.values() for env in envs]
    return sorted(envs, key=lambda env: _position_or_last(env, names))


def _overview_table(
    table_id: str,
    title: str,
    presentation: Presentation,
    estimates: Sequence[Estimate],
    effect_of: Mapping[tuple[RunKey, int], ExamplesEffect],
    pages: Mapping[RunKey, str],
) -> Table:
    """Return the table of models against environments, with a column for each metric of each environment."""
    guided = estimates[0].guided
    metrics_of_env: dict[str, list[Metric]] = {}
    for env in order_environments(presentation, dict.fromkeys(estimate.group.env for estimate in estimates)):
        scoring = registry.load(env).scoring
        by_name = {metric.name: metric for metric in (*scoring.metrics, *map(as_metric, scoring.aggregates))}
        metrics = [by_name[name] for name in presentation.metrics if name in by_name]
        metrics_of_env[env] = [headline_spec(registry.load(env), guided=True).metric] if guided else metrics
    rows = _rows_of_settings(estimates)

    def model_header(row: EnvEstimates) -> TableCell:
        return model_cell(next(iter(row.values())).group.model, _distinguishing_settings(row, rows))

    def environment_column(env: str, metric: Metric, group: HeaderGroup | None, kind: str) -> TableColumn[EnvEstimates]:
        def environment_cell(row: EnvEstimates) -> TableCell:
            cell = _mean_with_effect_cell(row[env], metric, effect_of, pages) if env in row else BLANK
            return replace(cell, kind=f"{cell.kind} {kind}".strip())

        return metric_column(metric, environment_cell, kind, group)

    columns: list[TableColumn[EnvEstimates]] = [TableColumn("Model", model_header)]
    for env, metrics in metrics_of_env.items():
        page = task_page_name(env, estimates[0].group.separate_by)
        name = registry.load(env).title.partition(" (")[0]
        group = HeaderGroup(name, f"tasks/{page}.html", "first") if len(metrics_of_env) > 1 else None
        columns += [
            environment_column(env, metric, group, "" if number else "first") for number, metric in enumerate(metrics)
        ]
    table = Table.from_columns(
        columns,
        rows,
        is_reference=lambda row: next(iter(row.values())).group.embedded,
        id=table_id,
        title=title,
        kind="scores overview",
    )
    has_undefined = any(
        _metric_mean(estimate, metric) is None and estimate.attempts
        for row in rows
        for env, estimate in row.items()
        for metric in metrics_of_env[env]
    )
    headline = next(metric for metrics in metrics_of_env.values() for metric in metrics)
    cells = [cell for row in table.rows for cell in row.cells]
    return replace(table, caption=_overview_caption(presentation, headline, guided, cells, has_undefined))


def _overview_caption(
    presentation: Presentation, metric: Metric, guided: bool, cells: Sequence[TableCell], has_undefined: bool
) -> list[Note]:
    """Return the caption of a table with these cells; `metric` is the curve's in a table with a teacher."""
    caption_text = f"Means over {presentation.items}."
    if guided:
        caption_text = (
            f"The mean of the curve of {metric_in_sentence(metric)} over its steps. At every step the teacher's action "
            "was carried out in place of the reply, so success is the teacher's and is not shown."
        )
    caption_text += (
        f" Small: {100 * CONFIDENCE:.0f} % interval{f' over {presentation.clusters}' if presentation.clusters else ''}"
        ", or n, the number of values, where they are too few for one."
    )
    if any(note.spoken for cell in cells for note in cell.notes):
        caption_text += (
            " Numbers with a sign: the change due to the in-context examples against the same model without any, "
            f"over the same {presentation.items}; bold where the interval excludes 0."
        )
    caption = [Note(f"{caption_text} Blank: not run.")]
    if any(cell.mark for cell in cells):
        caption += [Note("*", "flag"), Note(LOST)]
    return [*caption, Note(presentation.undefined)] if has_undefined and presentation.undefined else caption


def _rows_of_settings(estimates: Sequence[Estimate]) -> list[EnvEstimates]:
    """Return a row for each model and its settings, with an estimate for each environment; the best model comes first.

    A row's settings are those that all environments have. Groups of one environment that differ only in other settings
    have a row each. Rows of one model follow each other, in the order of their settings.
    """
    names = (
        set[str].intersection(*(set(estimate.group.settings) for estimate in estimates)) - _SETTINGS_OF_AN_ENVIRONMENT
    )

    def shared_settings(estimate: Estimate) -> Hashable:
        group = estimate.group
        # The number of examples is a setting only of groups that have any, so it is not among the shared names.
        settings = tuple(sorted((name, value) for name, value in group.settings.items() if name in names))
        return group.model, group.embedded, group.examples, settings

    rows: list[dict[str, Estimate]] = []
    for alike in group_by(estimates, shared_settings).values():
        rows_alike: list[dict[str, Estimate]] = []
        for estimate in alike:
            row = next((row for row in rows_alike if estimate.group.env not in row), None)
            if row is None:
                rows_alike.append(row := {})
            row[estimate.group.env] = estimate
        rows += rows_alike
    merits: dict[tuple[bool, str], tuple[bool, float]] = {}
    # A model's rank is that of its row with the fewest examples.
    for row in sorted(rows, key=lambda row: next(iter(row.values())).group.examples):
        is_incomplete = any(estimate.lost for estimate in row.values())  # has no rank, and comes last
        merits.setdefault(_player_of_row(row), (is_incomplete, -_row_merit(row.values())))
    names = setting_names(estimate.group for estimate in estimates)

    def sort_key(row: EnvEstimates) -> tuple[bool, tuple[bool, float], str, tuple[tuple[int, float, str], ...]]:
        embedded, model = _player_of_row(row)
        return embedded, merits[embedded, model], model, settings_sort_key(next(iter(row.values())).group, names)

    return sorted(rows, key=sort_key)


def _player_of_row(row: EnvEstimates) -> tuple[bool, str]:
    """Return whether the player of a row is embedded, and its name."""
    group = next(iter(row.values())).group
    return group.embedded, group.model


def _row_merit(estimates: Iterable[Estimate]) -> float:
    """Return the sum of a row's headlines over its environments, each from 0 to 1 if it has bounds."""
    total = 0.0
    for estimate in estimates:
        headline = headline_spec(registry.load(estimate.group.env), estimate.guided)
        mean = headline.mean(estimate)
        if mean:
            share = quality_between_bounds(mean.value, headline.metric)
            if share is None:  # without bounds, the value itself ranks the rows of one environment
                share = -mean.value if headline.metric.better == "lower" else mean.value
            total += share
    return total


def _distinguishing_settings(row: EnvEstimates, rows: Sequence[EnvEstimates]) -> list[str]:
    """Return the settings that distinguish a row from the other rows, each once.

    The task is among them only if two groups of an environment differ in nothing else.
    """
    texts: dict[str, None] = {}
    for env, estimate in row.items():
        groups = [other[env].group for other in rows if env in other]
        tasks = {group.task for group in groups if replace(group, task="") == replace(estimate.group, task="")}
        for text in distinguishing_settings(estimate.group, groups):
            if not text.startswith(f"{_TASK}: ") or len(tasks) > 1:
                texts[text] = None
    return list(texts)


def _metric_mean(estimate: Estimate, metric: Metric) -> IntervalEstimate | None:
    """Return the mean of a metric or an aggregate or, with a teacher, of the curve; None if it is not defined."""
    headline = headline_spec(registry.load(estimate.group.env), estimate.guided)
    return headline.mean(estimate) if headline.series else estimate.metric_or_aggregate(metric.name)


def _mean_with_effect_cell(
    estimate: Estimate,
    metric: Metric,
    effect_of: Mapping[tuple[RunKey, int], ExamplesEffect],
    pages: Mapping[RunKey, str],
) -> TableCell:
    """Return the cell of a mean, with the effect of in-context examples on it if there is one."""
    group, effect = estimate.group, effect_of.get((estimate.group, estimate.level or 0))
    series = headline_spec(registry.load(group.env), estimate.guided).series
    change = None if effect is None else effect.curves.get(series) if series else effect.metrics.get(metric.name)
    mean = _metric_mean(estimate, metric)
    lost = estimate.lost if series or metric.name == estimate.headline else None
    lines = value_notes([interval_text(mean, metric) if mean else lost_text(lost, metric)], "interval")
    if change:
        is_significant = change.low is not None and (change.low > 0 or (change.high or 0) < 0)
        text = change_text(change.value, metric)
        lines = (
            Note(text, "change certain" if is_significant else "change", spoken=_effect_sentence(change, metric)),
            *lines,
        )
    return TableCell(
        mean_text(mean.value if mean else None, metric),
        bold=True,
        link=f"results/{pages[group]}",
        mark=lost_mark(estimate.lost),
        notes=lines,
        part=mean_quality(mean, metric),
        kind="score",
    )


def _effect_sentence(effect: IntervalEstimate, metric: Metric) -> str:
    """Return the effect of in-context examples as text for screen readers."""
    text = change_text(effect.value, metric)
    direction, interval = "", ""
    if text[0] != "±" and better_text(metric):  # "±" is a change of 0
        direction = ", better" if (effect.value > 0) == (metric.better == "higher") else ", worse"
    ends = known_ends(effect, metric, is_change=True)
    if ends is not None:
        low, high = ends
        interval = f" (interval {change_text(low, metric)} to {change_text(high, metric)})"
    return f"change due to the examples: {text}{direction}{interval}"
