"""Variables that may explain an environment's scores."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from waybench.core._axes import Axis
from waybench.core._game import Json
from waybench.core._record import EpisodeRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplanatoryVariables:
    """Explanatory variables of items and of clusters, for regressions of a player's scores on them.

    Attributes:
        titles: The names of the clusters' variables in tables.
        note: What readers need to know about them, in a sentence or two.
        by_metric: Metric -> the variables of clusters that it is regressed on.
        depends_on: EpisodeRecord -> what else the clusters' variables depend on, such as how much of it was shown.
        of: EpisodeRecord -> the variables of its cluster; None where one is unknown.
        items: What may make one item harder than another of the same level. Each is 0 or more, and depends on the
            item alone. Success is regressed on them together, beside the environment's first axis.
    """

    titles: Mapping[str, str] = field(default_factory=dict[str, str])
    note: str = ""
    by_metric: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    depends_on: Callable[[EpisodeRecord], Json] = lambda record: None
    of: Callable[[EpisodeRecord], Mapping[str, float | None]] = lambda record: {}
    items: tuple[Axis, ...] = ()
