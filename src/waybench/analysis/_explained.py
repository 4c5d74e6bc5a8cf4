"""What can explain scores: variables of what was drawn, for those environments that have any."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from waybench.analysis._rows import Cluster, Group, Row, grouped
from waybench.analysis.logs import LoggedEpisode
from waybench.core import EpisodeRecord, Json
from waybench.envs import registry

Variables = Mapping[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """What can explain the scores of an environment.

    Attributes:
        titles: The variables' names in tables.
        note: What has to be said of them, in a sentence or two.
        by_metric: Metric -> the variables that it is regressed on.
        shown_until: EpisodeRecord -> what the variables depend on besides the cluster, such as how much was shown.
        of: EpisodeRecord -> its cluster's variables; None where one is not known.
    """

    titles: Mapping[str, str]
    note: str
    by_metric: Mapping[str, tuple[str, ...]]
    shown_until: Callable[[EpisodeRecord], Json]
    of: Callable[[EpisodeRecord], Variables]


def explained(env_id: str) -> Explained | None:
    """Return what can explain the scores of an environment; None if nothing is known that can."""
    return _EXPLAINED.get(env_id)


def variables(all_rows: Iterable[Row], episodes: Iterable[LoggedEpisode]) -> dict[Group, dict[Cluster, Variables]]:
    """Return the variables of every cluster with an episode that counts, for each group (see `Explanations`).

    Args:
        all_rows: The rows.
        episodes: Their episodes, in the same order.
    """
    found, listed = Explanations(), list(all_rows)
    for row, episode in zip(listed, episodes, strict=True):
        found.add(row, episode.record)
    return found.of(listed)


class Explanations:
    """The variables of clusters, from episodes that come one at a time.

    They are worked out once for each cluster. Where a group was shown different parts of it, they are the means over
    its episodes; a variable that is not known for one of these is not known.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, Cluster, str], Variables] = {}
        self._places: list[tuple[str, Cluster, str] | None] = []

    def add(self, row: Row, record: EpisodeRecord) -> None:
        """Take the next episode."""
        source = explained(row.group.env)
        place = None
        if source is not None and row.counts:
            place = row.group.env, row.cluster, repr(source.shown_until(record))
            if place not in self._known:
                self._known[place] = source.of(record)
        self._places.append(place)

    def of(self, all_rows: Sequence[Row]) -> dict[Group, dict[Cluster, Variables]]:
        """Return the variables of every cluster with an episode that counts, for each group.

        Args:
            all_rows: The rows of the episodes, in their order; some may have been set aside since.
        """
        found = [
            (row, self._known[place])
            for row, place in zip(all_rows, self._places, strict=True)
            if place is not None and row.counts
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


def _of_map(record: EpisodeRecord) -> Variables:
    # Counting paths needs a compiler, which is loaded only where there is a map.
    from waybench.envs.textmap import map_variables

    question = registry.load(record.env).decode(record.instance)
    return map_variables(question.map, question.cutoff)._asdict()


_MAPS = Explained(
    titles={
        "locations": "Places",
        "explicit_edges": "Explicit edges",
        "imputed_edges": "Imputed edges",
        "confusing_locations": "Confusion of names",
        "alike_locations": "Likeness of names",
        "easy_length": "Length of easy paths",
        "hard_length": "Length of hard paths",
        "imputed_in_hard": "Imputed in hard paths",
        "scene_words": "Words in a scene",
    },
    note=(
        "The confusion of names is MANGO's score as it is printed, a sum over places of how far the farthest other "
        "name is; it is nearly always the number of places. Their likeness is the sum of how near the nearest one is."
    ),
    # The variables of MANGO's Table 10, and the likeness of names, which the paper means but does not print.
    by_metric={
        "success_easy": (
            *("locations", "explicit_edges", "confusing_locations", "alike_locations"),
            *("easy_length", "scene_words"),
        ),
        "success_hard": (
            *("locations", "explicit_edges", "imputed_edges", "confusing_locations", "alike_locations"),
            *("hard_length", "imputed_in_hard", "scene_words"),
        ),
    },
    shown_until=lambda record: record.instance["cutoff"],
    of=_of_map,
)

_EXPLAINED = {"textmap/route": _MAPS, "textmap/destination": _MAPS}
