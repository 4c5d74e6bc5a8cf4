"""The tables of a task: scores by level, conduct of episodes, aggregates, and clusters such as maps."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from waybench.core import Aggregate, Metric, Outcome, Presentation, plural
from waybench.envs import registry
from waybench.reporting._format import (
    TaskView,
    count_text,
    interval_text,
    mean_quality,
    metric_caption_heading,
    metric_heading,
    percent_interval_text,
    percent_text,
    quality_between_bounds,
)
from waybench.reporting.tables._table import (
    BLANK,
    HeaderGroup,
    Note,
    RowGroup,
    Table,
    TableCell,
    TableColumn,
    TableRow,
    count_cell,
    error_cell,
    lost_caption,
    lost_mark,
    mean_cell,
    metric_column,
    model_column,
    model_label,
    setting_notes,
    value_cell,
    value_notes,
)
from waybench.results import Estimate, Row
from waybench.results.estimates import as_metric, headline_spec
from waybench.results.estimates._bounds import Variables
from waybench.results.estimates._estimates import metric_cluster_values
from waybench.results.estimates._measures import HeadlineSpec, rank_by_merit
from waybench.results.formatting import NOTHING, lost_text, mean_text, one_line, too_few_note
from waybench.results.results import Cluster, RunKey, group_by
from waybench.results.results._groups import distinguishing_settings
from waybench.results.stats import CONFIDENCE, IntervalEstimate

_INTERVAL = f"{100 * CONFIDENCE:.0f} % interval"
_OUTCOMES = (
    Outcome.UNPARSED,
    Outcome.ILLEGAL,
    Outcome.UNPRODUCTIVE,
    Outcome.TRUNCATED,
    Outcome.OVERFLOW,
    Outcome.REFUSED,
)


def score_table(id: str, view: TaskView, estimates: Sequence[Estimate]) -> Table:
    """Return the table of scores by level, of episodes either with a teacher or without one."""
    groups, guided = rank_by_merit(estimates), estimates[0].guided
    headline = headline_spec(view.env, guided)

    def level_cell(group: RunKey, level: int) -> TableCell:
        estimate = groups[group].get(level)
        return BLANK if estimate is None else _score_cell(estimate, headline, view)

    columns: list[TableColumn[RunKey]] = [
        model_column(lambda group: group, groups, view.pages),
        *(
            TableColumn(str(level), lambda group, level=level: level_cell(group, level))
            for level in sorted({level for by_level in groups.values() for level in by_level})
        ),
    ]
    return Table.from_columns(
        columns,
        groups,
        is_reference=lambda group: group.embedded,
        id=id,
        title=f"{metric_caption_heading(headline.metric)}, by {view.presentation.level}"
        + (", with a teacher" if guided else ""),
        caption=_score_caption(view, headline, estimates),
        kind="scores",
    )


def _score_caption(view: TaskView, headline: HeadlineSpec, estimates: Sequence[Estimate]) -> list[Note]:
    presentation = view.presentation
    most = max(estimate.most_attempts for estimate in estimates)
    if headline.series:
        text = f"In bold, the mean of its curve over the steps. Below it, its {_INTERVAL}."
    elif view.env.scoring.best_of:
        of = f" of at most {most}" if most > 1 else ""
        text = (
            f"In bold, the mean over {presentation.items} of the best attempt{of}. Below it, the mean of single "
            f"attempts with its {_INTERVAL}."
        )
    else:
        over = f" over {presentation.clusters}" if presentation.clusters else ""
        attempts = " and attempts" if most > 1 else ""
        text = f"In bold, the mean over {presentation.items}{attempts}. Below it, its {_INTERVAL}{over}."
    undefined = any(headline.mean(estimate) is None and estimate.attempts for estimate in estimates)
    return [
        Note(f"{text} Blank: not run."),
        *lost_caption(estimates),
        *value_notes([presentation.undefined] if undefined else []),
    ]


def _score_cell(estimate: Estimate, headline: HeadlineSpec, view: TaskView) -> TableCell:
    metric, mean, presentation = headline.metric, headline.mean(estimate), view.presentation
    title = f"{plural(estimate.items, presentation.item, presentation.items)}, {plural(estimate.attempts, 'attempt')}"
    best_of = not headline.series and registry.load(estimate.group.env).scoring.best_of
    lost = headline.lost_attempts(estimate)
    if best_of and not lost and (ends := _interval_or_loss_text(estimate, mean, metric)):
        title += f"; best of attempts {ends}"
    single = mean if headline.series else estimate.single
    return TableCell(
        mean_text(mean.value if mean else None, metric),
        bold=True,
        mark=lost_mark(lost),
        notes=(
            *value_notes([lost_text(lost, metric)], "flag"),
            *value_notes([mean_text(single.value if single else None, metric)] if best_of else []),
            *value_notes([_interval_or_loss_text(estimate, single, metric)] if best_of or not lost else [], "interval"),
        ),
        part=mean_quality(mean, metric),
        title=title,
        kind="score",
    )


def _interval_or_loss_text(estimate: Estimate, mean: IntervalEstimate | None, metric: Metric) -> str:
    return ("" if mean is None or mean.lost or estimate.guided else estimate.few_items) or interval_text(mean, metric)


def conduct_table(
    view: TaskView, groups: Mapping[RunKey, Mapping[int, Estimate]], total_of: Mapping[RunKey, Estimate]
) -> Table:
    """Return the table of conduct: attempts, outcomes of replies, tokens and time; `groups` has the best one first."""
    presentation = view.presentation
    caption = ""
    if len({tuple(by_level) for by_level in groups.values()}) > 1:
        caption += f"Not all rows have the same {presentation.levels}: compare with care. "
    if any(estimate.guided for by_level in groups.values() for estimate in by_level.values()):
        caption += "With a teacher no attempt counts as solved by the player. "
    caption += (
        "Attempts that an infrastructure error ended have no result; they are counted here. Columns with nothing but "
        "zeros are left out."
    )
    replies, means = HeaderGroup("% of replies"), HeaderGroup("Mean per attempt")

    def solved_cell(total: Estimate) -> TableCell:
        lines = value_notes([percent_interval_text(total.solved)], "interval")
        return TableCell(percent_text(total.solved.value if total.solved else None), notes=lines)

    def outcome_cell(total: Estimate, name: str) -> TableCell:
        share = total.outcomes.get(name, 0)
        in_words = total.refusals_in_words if name == str(Outcome.REFUSED) else 0
        lines = value_notes([f"and {in_words:,} unparsed in words"] if in_words else [])
        is_zero = not (share or in_words)
        return TableCell(
            percent_text(share if total.action_replies else None), notes=lines, kind="zero" if is_zero else ""
        )

    def input_tokens_cell(total: Estimate) -> TableCell:
        shares = prompt_shares(total, presentation)
        lines = [f"{share} % {what}" for share, what in zip(shares, ("shared", "cached"), strict=True) if share]
        return TableCell(count_text(total.input_tokens), notes=value_notes(lines))

    columns: list[TableColumn[Estimate]] = [
        model_column(lambda total: total.group, groups, view.pages),
        TableColumn(presentation.items.capitalize(), lambda total: count_cell(total.items)),
        TableColumn("Attempts", lambda total: count_cell(total.attempts)),
        TableColumn("Solved,\n% of attempts", solved_cell),
        *(
            TableColumn(
                name.capitalize(), lambda total, name=name: outcome_cell(total, name), group=replies, is_optional=True
            )
            for name in map(str, _OUTCOMES)
        ),
        TableColumn("Requests", lambda total: mean_text(total.requests), group=means),
        TableColumn("Tokens in", input_tokens_cell, group=means, is_optional=True),
        TableColumn("Tokens out", lambda total: count_text(total.output_tokens), group=means, is_optional=True),
        TableColumn("Seconds", lambda total: mean_text(total.seconds), group=means, is_optional=True),
        TableColumn("Infrastructure\nerrors", lambda total: error_cell(total.errors), is_optional=True),
    ]
    return Table.from_columns(
        columns,
        [total_of[group] for group in groups],
        is_reference=lambda total: total.group.embedded,
        id="task-conduct",
        title=f"Outcomes and cost, over all {presentation.levels} that a model was given",
        caption=(Note(caption),),
        kind="conduct",
    )


class PromptShares(NamedTuple):
    """The shares of a group's prompts that are common to all and that were cached, in per cent.

    Attributes:
        shared: The share of a prompt that others begin with too; "" if it is not known.
        cached: The share of input tokens from a provider's cache; "" if it is not known.
    """

    shared: str
    cached: str


def prompt_shares(total: Estimate, presentation: Presentation) -> PromptShares:
    """Return how much of a group's prompts is common to all of them, and how much was cached."""
    shared = total.metrics.get(presentation.shared)
    # A provider that says nothing of a cache is recorded as one that had nothing in it.
    is_cache_known = total.cached_share is not None and (shared is not None or total.cached_share > 0)
    return PromptShares(
        percent_text(shared.value) if shared else "", percent_text(total.cached_share) if is_cache_known else ""
    )


def aggregate_tables(view: TaskView, estimates: Sequence[Estimate]) -> list[Table]:
    """Return the tables of an environment's aggregates with models side by side, one for each level.

    The estimates are those by level, or if the environment is pooled those over all levels.
    """
    by_level = group_by((estimate for estimate in estimates if not estimate.guided), lambda estimate: estimate.level)
    tables: list[Table] = []
    for aggregate in view.env.scoring.aggregates:
        for level, of_level in by_level.items():
            by_group = {estimate.group: estimate for estimate in of_level}
            # The best first, as in the other tables; totals are of no level, and keep their order.
            groups = list(rank_by_merit(of_level)) or list(by_group)
            columns: list[TableColumn[Any]] = [
                TableColumn(
                    model_label(group.model),
                    link=f"results/{view.pages[group]}",
                    notes=setting_notes(distinguishing_settings(group, groups)),
                )
                for group in groups
            ]
            level_name = view.presentation.level_title(view.env.id, level) if len(by_level) > 1 else ""
            ordered = [by_group[group] for group in groups]
            table = _aggregate_table(f"task-made-{len(tables) + 1}", aggregate, view, level_name, columns, ordered)
            suffix = f" ({level_name})" if level_name else ""
            summary = f"{aggregate.title} and its parts, models side by side{suffix}"
            tables.append(replace(table, summary=summary, folded=True))
    return tables


def aggregate_tables_of_model(view: TaskView, estimates: Sequence[Estimate]) -> list[Table]:
    """Return the tables of an environment's aggregates for one model, levels side by side.

    The estimates are those by level, and that over all levels if the environment is pooled.
    """
    free = [estimate for estimate in estimates if not estimate.guided]
    titles = [view.presentation.level_title(view.env.id, estimate.level) if len(free) > 1 else "" for estimate in free]
    columns: list[TableColumn[Any]] = [TableColumn(title or f"All {view.presentation.items}") for title in titles]
    return [
        _aggregate_table(f"made-{number}", aggregate, view, "", columns, free)
        for number, aggregate in enumerate(view.env.scoring.aggregates, start=1)
        if free
    ]


def _aggregate_table(
    id: str,
    aggregate: Aggregate,
    view: TaskView,
    level_label: str,
    columns: Sequence[TableColumn[Any]],
    estimates: Sequence[Estimate],
) -> Table:
    """Return the table of one aggregate: the number of each estimate, and below it the means that it is made of.

    `level_label` names the level that all columns have; it is "" if there is one level, or columns are levels.
    """
    metric, presentation = as_metric(aggregate), view.presentation
    caption = (
        f"{aggregate.doc} Below it, the means over {presentation.items} from which it is computed, shares in per "
        f"cent. Small: "
        f"{100 * CONFIDENCE:.0f} % intervals over {presentation.sampling_units}; {metric.title} has no interval for "
        f"a single {presentation.cluster or presentation.item}, or where all have the same value."
    )
    few = dict.fromkeys(too_few_note(estimate.metric_or_aggregate(aggregate.name), aggregate) for estimate in estimates)

    def number_with_interval(estimate: Estimate, metric: Metric, *, bold: bool = False) -> TableCell:
        mean = estimate.metric_or_aggregate(metric.name)
        if mean is None or metric.bounds != (0, 1) or metric.unit:
            return mean_cell(mean, metric, bold=bold)
        lines = value_notes([percent_interval_text(mean)], "interval")
        return TableCell(
            percent_text(mean.value),
            bold=bold,
            notes=lines,
            part=quality_between_bounds(mean.value, metric),
            kind="score",
        )

    result = TableRow(
        TableCell(metric_heading(metric), bold=True, better=metric.better),
        [number_with_interval(estimate, metric, bold=True) for estimate in estimates],
    )
    items = TableRow(
        TableCell(presentation.items.capitalize()), [count_cell(estimate.items, "score") for estimate in estimates]
    )
    means = [
        TableRow(TableCell(metric_heading(metric)), [number_with_interval(estimate, metric) for estimate in estimates])
        for metric in aggregate.metrics
    ]
    return Table(
        id=id,
        title=metric_heading(metric) + (f", {level_label}" if level_label else ""),
        caption=(Note(caption), *value_notes(few, "flag")),
        columns=[TableColumn(aggregate.part), *columns],
        groups=(RowGroup((result, items)), RowGroup(means)),
        kind="scores made",
    )


def average_table(view: TaskView, ordered: Sequence[RunKey], total_of: Mapping[RunKey, Estimate]) -> Table | None:
    """Return the table of averages over clusters of equal weight; None if no cluster has several items."""
    presentation, totals = view.presentation, [total_of[group] for group in ordered]
    metrics = [metric for metric in view.env.scoring.metrics if metric.name in presentation.metrics]

    def n_clusters(total: Estimate) -> int:
        """Return the number of clusters; all items if each is drawn by itself."""
        return max((mean.clusters for mean in total.macro.values()), default=total.items)

    if not (presentation.cluster and metrics) or all(total.items <= n_clusters(total) for total in totals):
        return None
    cluster, clusters = presentation.cluster, presentation.clusters
    caption = (
        f"The mean over {clusters} of each {cluster}'s mean: every {cluster} has the same weight, whatever its number "
        f"of {presentation.items}. Small: {_INTERVAL} over {clusters}."
    )
    columns: list[TableColumn[Estimate]] = [
        model_column(lambda total: total.group, ordered, view.pages),
        TableColumn(clusters.capitalize(), lambda total: count_cell(n_clusters(total))),
        *(
            metric_column(metric, lambda total, metric=metric: mean_cell(total.macro.get(metric.name), metric))
            for metric in metrics
        ),
    ]
    return Table.from_columns(
        columns,
        totals,
        is_reference=lambda total: total.group.embedded,
        id="task-averages",
        title=f"Averages over {clusters}",
        caption=(Note(caption),),
        kind="scores",
    )


def clusters_table(
    view: TaskView,
    rows: Iterable[Row],
    variables: Mapping[Cluster, Variables],
    anchors: Mapping[Cluster, str],
    drawings: Mapping[Cluster, str],
) -> Table | None:
    """Return the table of a group's clusters; None if the page does not show them.

    Args:
        view: The task.
        rows: The group's rows.
        variables: The explanatory variables of the clusters.
        anchors: The anchor of each cluster in the page.
        drawings: Paths of pages with drawings of clusters, from the first page of the site.
    """
    presentation = view.presentation
    if not anchors or not presentation.by_cluster:
        return None
    rows = list(rows)
    source = view.env.difficulty.explanatory_variables
    size, size_title = next(iter(source.titles.items()), ("", "")) if source else ("", "")
    values = metric_cluster_values(rows, presentation.by_cluster)
    rows_of = group_by((row for row in rows if row.is_included), lambda row: row.cluster)

    def cluster_mean_cell(cluster: Cluster, metric: Metric) -> TableCell:
        value = values[metric.name].get(cluster)
        return value_cell(value.value, metric) if value else TableCell(NOTHING, kind="score")

    def drawing_cell(cluster: Cluster) -> TableCell:
        return TableCell("whole drawing", kind="name", link=drawings[cluster]) if cluster in drawings else TableCell()

    columns: list[TableColumn[Cluster]] = [
        TableColumn(
            presentation.cluster.capitalize(),
            lambda cluster: TableCell(one_line(cluster.name, 60) or "(no name)", link=f"#{anchors[cluster]}"),
        ),
        TableColumn(presentation.level.capitalize(), lambda cluster: str(cluster.level)),
        TableColumn(
            size_title, lambda cluster: count_text(variables.get(cluster, {}).get(size)), is_shown=bool(size_title)
        ),
        TableColumn(
            presentation.items.capitalize(),
            lambda cluster: count_cell(len({(row.item, row.instance) for row in rows_of[cluster]})),
        ),
        *(
            metric_column(metric, lambda cluster, metric=metric: cluster_mean_cell(cluster, metric))
            for metric in view.env.scoring.metrics
            if metric.name in presentation.by_cluster
        ),
        TableColumn("Drawing", drawing_cell, "name", is_shown=bool(drawings)),
    ]
    return Table.from_columns(
        columns,
        sorted(rows_of, key=lambda cluster: (variables.get(cluster, {}).get(size) or 0, cluster.name)),
        id="by-cluster",
        title=f"By {presentation.cluster}",
        caption=(Note(f"Means over its {presentation.items}."),),
        kind="scores by-cluster",
    )
