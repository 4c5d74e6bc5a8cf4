"""Variables that may explain an environment's scores."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from waybench.core._game import Json
from waybench.core._record import EpisodeRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplanatoryVariables:
    """Explanatory variables of clusters, for regressions of a player's scores on them.

    Attributes:
        titles: The variables' names in tables.
        note: What readers need to know about them, in a sentence or two.
        by_metric: Metric -> the variables that it is regressed on.
        depends_on: EpisodeRecord -> what else the variables depend on, such as how much of it was shown.
        of: EpisodeRecord -> the variables of its cluster; None where one is unknown.
    """

    titles: Mapping[str, str]
    note: str
    by_metric: Mapping[str, tuple[str, ...]]
    depends_on: Callable[[EpisodeRecord], Json]
    of: Callable[[EpisodeRecord], Mapping[str, float | None]]
