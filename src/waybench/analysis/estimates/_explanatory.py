"""Explanatory variables of clusters (for example, of maps), where an environment declares them."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from waybench.analysis.results import Cluster, Group, Row, grouped
from waybench.core import EpisodeRecord
from waybench.envs import registry

Variables = Mapping[str, float | None]


class ClusterVariables:
    """The variables of clusters, from episodes that come one at a time.

    They are worked out once for each cluster. If a group was shown different parts of a cluster, its variables are the
    means over its episodes; a variable that is unknown for one of them is unknown.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, Cluster, str], Variables] = {}
        self._keys: list[tuple[str, Cluster, str] | None] = []  # of each episode

    def add(self, row: Row, record: EpisodeRecord) -> None:
        """Take the next episode."""
        declared = registry.load(row.group.env).difficulty.explanatory_variables
        key = None
        if declared is not None and declared.by_metric and row.is_included:
            key = row.group.env, row.cluster, repr(declared.depends_on(record))
            if key not in self._known:
                self._known[key] = declared.of(record)
        self._keys.append(key)

    def of(self, all_rows: Sequence[Row]) -> dict[Group, dict[Cluster, Variables]]:
        """Return the variables of every cluster with an episode that counts, for each group.

        Args:
            all_rows: The rows of the episodes, in their order; some may have been excluded since.
        """
        found = [
            (row, self._known[key])
            for row, key in zip(all_rows, self._keys, strict=True)
            if key is not None and row.is_included
        ]
        return {
            group: {cluster: _means([each for _, each in some]) for cluster, some in grouped(own, _cluster).items()}
            for group, own in grouped(found, lambda one: one[0].group).items()
        }


def _cluster(one: tuple[Row, Variables]) -> Cluster:
    return one[0].cluster


def _means(several: list[Variables]) -> Variables:
    columns = {name: [each[name] for each in several] for name in several[0]}
    return {
        name: fmean(values) if len(values := [value for value in column if value is not None]) == len(column) else None
        for name, column in columns.items()
    }
