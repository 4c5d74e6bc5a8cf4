"""Tables of what was drawn with several items, such as maps with their questions: one by one, and their averages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from waybench.analysis import (
    Cluster,
    Estimate,
    Group,
    Row,
    Variables,
    by_cluster,
    differing,
    grouped,
    mean_text,
)
from waybench.core import Environment, Metric, Presentation
from waybench.report._format import interval_text, part, percent


@dataclass(frozen=True, slots=True)
class AverageLine:
    """What a model comes to on average over clusters, all with the same weight.

    Attributes:
        name: The model.
        page: File name of its page.
        differs: The settings in which it differs from other rows, in words.
        clusters: Number of clusters.
        cells: Of each metric, the mean, its interval, and how good it is from 0 to 1; None where it is not defined.
    """

    name: str
    page: str
    differs: list[str]
    clusters: int
    cells: list[tuple[str, str, float | None] | None]


@dataclass(frozen=True, slots=True)
class Averages:
    """The table of them.

    Attributes:
        metrics: Its columns.
        models: Rows of models.
        references: Rows of the embedded players.
    """

    metrics: list[Metric]
    models: list[AverageLine]
    references: list[AverageLine]


@dataclass(frozen=True, slots=True)
class ClusterLine:
    """One cluster on a model's page.

    Attributes:
        name: Its name.
        anchor: Where its items are in the page.
        level: Its level.
        size: The first variable that is known of it, as text; "" if there is none.
        items: Number of its items.
        cells: Of each metric, its value, and how good it is from 0 to 1; None where it is not defined.
    """

    name: str
    anchor: str
    level: int
    size: str
    items: int
    cells: list[tuple[str, float | None] | None]


@dataclass(frozen=True, slots=True)
class Clusters:
    """The table of them.

    Attributes:
        size: What `ClusterLine.size` is called; "" if there is none.
        metrics: Its columns.
        lines: Its rows, by size and name.
    """

    size: str
    metrics: list[Metric]
    lines: list[ClusterLine]


def averages(
    env: Environment[Any, Any, Any],
    presentation: Presentation,
    ordered: Sequence[Group],
    total_of: Mapping[Group, Estimate],
    pages: Mapping[Group, str],
) -> Averages | None:
    """Return the table of averages over clusters of an environment; None if none has several items.

    Args:
        env: The environment.
        presentation: Its presentation.
        ordered: Its groups, the best one first.
        total_of: Their estimates over all levels.
        pages: File names of the groups' pages.
    """
    metrics = [metric for metric in env.metrics if metric.name in presentation.metrics]
    if not (presentation.cluster and metrics) or all(
        total_of[group].items <= _most(total_of[group]) for group in ordered
    ):
        return None
    lines = [
        (group, AverageLine(group.model, pages[group], differing(group, ordered), _most(total_of[group]), cells))
        for group in ordered
        for cells in [[_average(total_of[group], metric) for metric in metrics]]
    ]
    return Averages(
        metrics=metrics,
        models=[line for group, line in lines if not group.embedded],
        references=[line for group, line in lines if group.embedded],
    )


def _most(total: Estimate) -> int:
    """Return the number of clusters; all items if each is drawn by itself."""
    return max((mean.clusters for mean in total.macro.values()), default=total.items)


def _average(total: Estimate, metric: Metric) -> tuple[str, str, float | None] | None:
    mean = total.macro.get(metric.name)
    if mean is None:
        return None
    return mean_text(mean.value, metric), interval_text(mean, metric), part(mean.value, metric)


def clusters(
    env: Environment[Any, Any, Any],
    presentation: Presentation,
    own: Sequence[Row],
    known: Mapping[Cluster, Variables],
    anchors: Mapping[Cluster, str],
) -> Clusters | None:
    """Return the table of the clusters of one group; None if they are not in the page.

    Args:
        env: The environment.
        presentation: Its presentation.
        own: The group's rows.
        known: What is known of the clusters.
        anchors: Where each cluster is in the page.
    """
    if not anchors or not presentation.by_cluster:
        return None
    metrics = [metric for metric in env.metrics if metric.name in presentation.by_cluster]
    found = by_cluster(own, presentation.by_cluster)
    declared = env.explanatory_variables
    name, title = next(iter(declared.titles.items())) if declared else ("", "")
    sized: list[tuple[float, ClusterLine]] = []
    for cluster, some in grouped((row for row in own if row.counts), lambda row: row.cluster).items():
        size = known.get(cluster, {}).get(name)
        values = [(metric, found[metric.name].get(cluster)) for metric in metrics]
        line = ClusterLine(
            name=cluster.name,
            anchor=anchors[cluster],
            level=cluster.level,
            size="" if size is None else f"{size:,.0f}",
            items=len({(row.item, row.instance) for row in some}),
            cells=[(mean_text(one.value, metric), part(one.value, metric)) if one else None for metric, one in values],
        )
        sized.append((size or 0, line))
    return Clusters(title, metrics, [line for _, line in sorted(sized, key=lambda pair: (pair[0], pair[1].name))])


@dataclass(frozen=True, slots=True)
class Prompt:
    """How much of a group's prompts need not be read again, in per cent.

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
    told = total.cached is not None and (shared is not None or total.cached > 0)
    return Prompt(percent(shared.value) if shared else "", percent(total.cached) if told else "")
