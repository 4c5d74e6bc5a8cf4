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
from waybench.results.estimates._bounds import Variables, metric_cluster_values
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
    """Return the caption of the table of scores: what a cell shows, and notes on lost attempts and missing scores."""
    presentation = view.presentation
    most = max(estimate.most_attempts for estimate in estimates)
    if headline.series:
        text = f"In bold, the mean of its curve over the steps. Below it, its {_INTERVAL}."
    elif view.env.scoring.best_of:
        of_most = f" of at most {most}" if most > 1 else ""
        text = (
            f"In bold, the mean over {presentation.items} of the best attempt{of_most}. Below it, the mean of single "
            f"attempts with its {_INTERVAL}."
        )
    else:
        over_clusters = f" over {presentation.clusters}" if presentation.clusters else ""
        and_attempts = " and attempts" if most > 1 else ""
        text = f"In bold, the mean over {presentation.items}{and_attempts}. Below it, its {_INTERVAL}{over_clusters}."
    undefined = any(headline.mean(estimate) is None and estimate.attempts for estimate in estimates)
    return [
        Note(f"{text} Blank: not run."),
        *lost_caption(estimates),
        *value_notes([presentation.undefined] if undefined else []),
    ]


def _score_cell(estimate: Estimate, headline: HeadlineSpec, view: TaskView) -> TableCell:
    """Return the score at a level, with the interval of a single attempt below, and the numbers of items in a tooltip.

    Where an item's score is that of its best attempt, the mean of a single attempt is below, too.
    """
    metric, mean, presentation = headline.metric, headline.mean(estimate), view.presentation
    tooltip = f"{plural(estimate.items, presentation.item, presentation.items)}, {plural(estimate.attempts, 'attempt')}"
    best_of = not headline.series and registry.load(estimate.group.env).scoring.best_of
    lost = headline.lost_attempts(estimate)
    if best_of and not lost and (interval := _interval_or_loss_text(estimate, mean, metric)):
        tooltip += f"; best of attempts {interval}"
    single = mean if headline.series else estimate.single
    notes = value_notes([lost_text(lost, metric)], "flag")
    if best_of:
        notes += value_notes([mean_text(single.value if single else None, metric)])
    if best_of or not lost:
        notes += value_notes([_interval_or_loss_text(estimate, single, metric)], "interval")
    return TableCell(
        mean_text(mean.value if mean else None, metric),
        bold=True,
        mark=lost_mark(lost),
        notes=notes,
        part=mean_quality(mean, metric),
        title=tooltip,
        kind="score",
    )


def _interval_or_loss_text(estimate: Estimate, mean: IntervalEstimate | None, metric: Metric) -> str:
    """Return the interval of a mean, what it would be with lost attempts, or how few items there are; "" for None."""
    if mean is not None and not mean.lost and not estimate.guided and estimate.few_items:
        return estimate.few_items
    return interval_text(mean, metric)


def conduct_table(
    view: TaskView, groups: Mapping[RunKey, Mapping[int, Estimate]], total_of: Mapping[RunKey, Estimate]
) -> Table:
    """Return the table of conduct: attempts, outcomes of replies, tokens and time.

    `groups` has the estimates of each group by level, the best group first.
    """
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
    replies_header, means_header = HeaderGroup("% of replies"), HeaderGroup("Mean per attempt")

    def solved_cell(total: Estimate) -> TableCell:
        lines = value_notes([percent_interval_text(total.solved)], "interval")
        return TableCell(percent_text(total.solved.value if total.solved else None), notes=lines)

    def outcome_cell(total: Estimate, name: str) -> TableCell:
        share = total.outcomes.get(name, 0)
        n_in_words = total.refusals_in_words if name == str(Outcome.REFUSED) else 0
        lines = value_notes([f"and {n_in_words:,} unparsed in words"] if n_in_words else [])
        text = percent_text(share if total.action_replies else None)
        return TableCell(text, notes=lines, kind="" if share or n_in_words else "zero")

    def input_tokens_cell(total: Estimate) -> TableCell:
        shares = prompt_shares(total, presentation)
        lines = [f"{share} % {name}" for name, share in shares._asdict().items() if share]
        return TableCell(count_text(total.input_tokens), notes=value_notes(lines))

    columns: list[TableColumn[Estimate]] = [
        model_column(lambda total: total.group, groups, view.pages),
        TableColumn(presentation.items.capitalize(), lambda total: count_cell(total.items)),
        TableColumn("Attempts", lambda total: count_cell(total.attempts)),
        TableColumn("Solved,\n% of attempts", solved_cell),
        *(
            TableColumn(
                name.capitalize(),
                lambda total, name=name: outcome_cell(total, name),
                group=replies_header,
                is_optional=True,
            )
            for name in map(str, _OUTCOMES)
        ),
        TableColumn("Requests", lambda total: mean_text(total.requests), group=means_header),
        TableColumn("Tokens in", input_tokens_cell, group=means_header, is_optional=True),
        TableColumn("Tokens out", lambda total: count_text(total.output_tokens), group=means_header, is_optional=True),
        TableColumn("Seconds", lambda total: mean_text(total.seconds), group=means_header, is_optional=True),
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
        shared: The share of a prompt that other prompts begin with, too; "" if it is not known.
        cached: The share of input tokens from a provider's cache; "" if it is not known.
    """

    shared: str
    cached: str


def prompt_shares(total: Estimate, presentation: Presentation) -> PromptShares:
    """Return how much of a group's prompts is common to all of them, and how much was cached."""
    shared = total.metrics.get(presentation.shared)
    # A share of 0 is also recorded for a provider without a cache; it is news only where prompts have a common part.
    is_cache_known = total.cached_share is not None and (shared is not None or total.cached_share > 0)
    return PromptShares(
        percent_text(shared.value) if shared else "", percent_text(total.cached_share) if is_cache_known else ""
    )


def aggregate_tables(view: TaskView, estimates: Sequence[Estimate]) -> list[Table]:
    """Return the tables of an environment's aggregates with models side by side, one for each level.

    `estimates` are by level or, if the environment's items are pooled, over all levels.
    """
    by_level = group_by((estimate for estimate in estimates if not estimate.guided), lambda estimate: estimate.level)
    tables: list[Table] = []
    for aggregate in view.env.scoring.aggregates:
        for level, level_estimates in by_level.items():
            by_group = {estimate.group: estimate for estimate in level_estimates}
            # The best first, as in the other tables; totals are of no level, have no ranks, and keep their order.
            groups = list(rank_by_merit(level_estimates)) or list(by_group)
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

    `estimates` are by level and, if the environment's items are pooled, over all levels.
    """
    without_teacher = [estimate for estimate in estimates if not estimate.guided]
    if not without_teacher:
        return []
    titles = [""]
    if len(without_teacher) > 1:
        titles = [view.presentation.level_title(view.env.id, estimate.level) for estimate in without_teacher]
    columns: list[TableColumn[Any]] = [TableColumn(title or f"All {view.presentation.items}") for title in titles]
    return [
        _aggregate_table(f"made-{number}", aggregate, view, "", columns, without_teacher)
        for number, aggregate in enumerate(view.env.scoring.aggregates, start=1)
    ]


def _aggregate_table(
    id: str,
    aggregate: Aggregate,
    view: TaskView,
    level_label: str,
    columns: Sequence[TableColumn[Any]],
    estimates: Sequence[Estimate],
) -> Table:
    """Return the table of one aggregate: its value for each estimate, and below it the means that it is computed from.

    `level_label` names the level of all columns; it is "" if there is one level, or if columns are levels.
    """
    metric, presentation = as_metric(aggregate), view.presentation
    caption = (
        f"{aggregate.doc} Below it, the means over {presentation.items} from which it is computed, shares in per "
        f"cent. Small: "
        f"{100 * CONFIDENCE:.0f} % intervals over {presentation.sampling_units}; {metric.title} has no interval for "
        f"a single {presentation.cluster or presentation.item}, or where all have the same value."
    )
    too_few_notes = dict.fromkeys(
        too_few_note(estimate.metric_or_aggregate(aggregate.name), aggregate) for estimate in estimates
    )

    def number_with_interval(estimate: Estimate, metric: Metric, *, bold: bool = False) -> TableCell:
        """Return a mean with its interval; a share, which is one of bounds 0 and 1 without a unit, in per cent."""
        mean = estimate.metric_or_aggregate(metric.name)
        if mean is None or metric.bounds != (0, 1) or metric.unit:
            return mean_cell(mean, metric, bold=bold)
        lines = value_notes([percent_interval_text(mean)], "interval")
        shade = quality_between_bounds(mean.value, metric)
        return TableCell(percent_text(mean.value), bold=bold, notes=lines, part=shade, kind="score")

    value_row = TableRow(
        TableCell(metric_heading(metric), bold=True, better=metric.better),
        [number_with_interval(estimate, metric, bold=True) for estimate in estimates],
    )
    items_row = TableRow(
        TableCell(presentation.items.capitalize()), [count_cell(estimate.items, "score") for estimate in estimates]
    )
    mean_rows = [
        TableRow(TableCell(metric_heading(metric)), [number_with_interval(estimate, metric) for estimate in estimates])
        for metric in aggregate.metrics
    ]
    return Table(
        id=id,
        title=metric_heading(metric) + (f", {level_label}" if level_label else ""),
        caption=(Note(caption), *value_notes(too_few_notes, "flag")),
        columns=[TableColumn(aggregate.part), *columns],
        groups=(RowGroup((value_row, items_row)), RowGroup(mean_rows)),
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

    `variables` are the explanatory variables of the clusters, `anchors` their anchors in the page, and `drawings` the
    paths of the pages with their drawings, from the first page of the site.
    """
    presentation = view.presentation
    if not anchors or not presentation.by_cluster:
        return None
    rows = list(rows)
    source = view.env.difficulty.explanatory_variables
    # The first explanatory variable is the size of a cluster.
    size, size_title = next(iter(source.titles.items()), ("", "")) if source else ("", "")
    values = metric_cluster_values(rows, presentation.by_cluster)
    rows_of_cluster = group_by((row for row in rows if row.is_included), lambda row: row.cluster)

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
            lambda cluster: count_cell(len({(row.item, row.instance) for row in rows_of_cluster[cluster]})),
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
        sorted(rows_of_cluster, key=lambda cluster: (variables.get(cluster, {}).get(size) or 0, cluster.name)),
        id="by-cluster",
        title=f"By {presentation.cluster}",
        caption=(Note(f"Means over its {presentation.items}."),),
        kind="scores by-cluster",
    )
