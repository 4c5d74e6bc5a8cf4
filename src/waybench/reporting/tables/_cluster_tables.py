"""Tables of clusters, such as maps with their questions: one by one, and their averages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from waybench.core import Presentation
from waybench.reporting._format import amount, percent
from waybench.reporting.tables._table import (
    Cell,
    Note,
    Table,
    TableRow,
    by_player,
    columns_of,
    count_cell,
    group_cell,
    mean_cell,
    metric_column,
    rows_of,
    value_cell,
)
from waybench.reporting.tables._task_view import TaskView
from waybench.results import Estimate, Row
from waybench.results.estimates import Variables, by_cluster
from waybench.results.formatting import NOTHING, one_line
from waybench.results.results import Cluster, Group, grouped
from waybench.results.stats import CONFIDENCE


def averages(view: TaskView, ordered: Sequence[Group], total_of: Mapping[Group, Estimate]) -> Table | None:
    """Return the table of averages over clusters, all with the same weight; None if no cluster has several items.

    Args:
        view: The task.
        ordered: Its groups, the best one first.
        total_of: Their estimates over all levels.
    """
    metrics = [metric for metric in view.env.scoring.metrics if metric.name in view.presentation.metrics]
    if not (view.presentation.cluster and metrics) or all(
        total_of[group].items <= _most(total_of[group]) for group in ordered
    ):
        return None
    rows = [
        (
            group.embedded,
            TableRow(
                group_cell(group, ordered, view.pages),
                [
                    count_cell(_most(total_of[group])),
                    *(mean_cell(total_of[group].macro.get(metric.name), metric) for metric in metrics),
                ],
            ),
        )
        for group in ordered
    ]
    cluster, clusters = view.presentation.cluster, view.presentation.clusters
    caption = (
        f"The mean over {clusters} of each {cluster}'s mean: every {cluster} has the same weight, whatever its number "
        f"of {view.presentation.items}. Small: {100 * CONFIDENCE:.0f} % interval over {clusters}."
    )
    return Table(
        id="task-averages",
        title=f"Averages over {clusters}",
        caption=(Note(caption),),
        columns=[*columns_of("Model", clusters.capitalize()), *map(metric_column, metrics)],
        groups=by_player(rows),
        kind="scores",
    )


def _most(total: Estimate) -> int:
    """Return the number of clusters; all items if each is drawn by itself."""
    return max((mean.clusters for mean in total.macro.values()), default=total.items)


def clusters(
    view: TaskView,
    own: Sequence[Row],
    known: Mapping[Cluster, Variables],
    anchors: Mapping[Cluster, str],
    drawings: Mapping[Cluster, str],
) -> Table | None:
    """Return the table of the clusters of one group; None if they are not in the page.

    Args:
        view: The task.
        own: The group's rows.
        known: What is known of the clusters.
        anchors: Where each cluster is in the page.
        drawings: Paths of pages with drawings of clusters, from the first page of the site.
    """
    if not anchors or not view.presentation.by_cluster:
        return None
    metrics = [metric for metric in view.env.scoring.metrics if metric.name in view.presentation.by_cluster]
    found = by_cluster(own, view.presentation.by_cluster)
    source = view.env.difficulty.explanatory_variables
    name, title = next(iter(source.titles.items()), ("", "")) if source else ("", "")
    sized: list[tuple[float, str, TableRow]] = []
    for cluster, some in grouped((row for row in own if row.is_included), lambda row: row.cluster).items():
        size = known.get(cluster, {}).get(name)
        cells = [
            Cell(text=str(cluster.level)),
            *([Cell(text=amount(size))] if title else []),
            count_cell(len({(row.item, row.instance) for row in some})),
            *(
                value_cell(one.value, metric)
                if (one := found[metric.name].get(cluster))
                else Cell(text=NOTHING, kind="score")
                for metric in metrics
            ),
        ]
        if drawings:
            cells.append(
                Cell(text="whole drawing", kind="name", link=drawings[cluster]) if cluster in drawings else Cell()
            )
        head = Cell(text=one_line(cluster.name, 60) or "(no name)", link=f"#{anchors[cluster]}")
        sized.append((size or 0, cluster.name, TableRow(head, cells)))
    size_heading = [title] if title else []
    headings = [
        view.presentation.cluster.capitalize(),
        view.presentation.level.capitalize(),
        *size_heading,
        view.presentation.items.capitalize(),
    ]
    return Table(
        id="by-cluster",
        title=f"By {view.presentation.cluster}",
        caption=(Note(f"Means over its {view.presentation.items}."),),
        columns=[
            *columns_of(*headings),
            *map(metric_column, metrics),
            *(columns_of("*Drawing") if drawings else []),
        ],
        groups=rows_of(row for *_, row in sorted(sized, key=lambda each: each[:2])),
        kind="scores by-cluster",
    )


@dataclass(frozen=True, slots=True)
class Prompt:
    """The shares of a group's prompts that are common to all and that were cached, in per cent.

    Attributes:
        shared: What share of a prompt others begin with too; "" if not known.
        cached: What share of the input tokens a provider's cache had, as far as it says; "" if not known.
    """

    shared: str
    cached: str


def prompt(total: Estimate, presentation: Presentation) -> Prompt:
    """Return how much of a group's prompts is shared and was cached.

    Args:
        total: The group's estimate over all levels.
        presentation: Its presentation.
    """
    shared = total.metrics.get(presentation.shared)
    # A provider that says nothing of a cache is recorded as one that had nothing in it.
    known_cache = total.cached is not None and (shared is not None or total.cached > 0)
    return Prompt(percent(shared.value) if shared else "", percent(total.cached) if known_cache else "")
