"""Environments whose items can be made as hard as one likes: what the search for a horizon plays."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from waybench.core import Environment, Option
from waybench.envs.hanoi import RODS
from waybench.envs.maze import ALICIA
from waybench.envs.search import BFS, DFS, GUESSNUM
from waybench.envs.textmap import ROUTE
from waybench.envs.tilemap import GTB
from waybench.tasks._entry import TaskEntry


@dataclass(frozen=True, slots=True)
class Scale:
    """An environment whose items can be made as hard as one likes.

    Attributes:
        environment: The environment; difficulty is its first axis.
        what: What it is, for listings.
        levels: Levels of which items are drawn.
        pool: How many items of each level are sorted by their difficulty; None where a level is a difficulty itself.
        style: Source options that are fixed.
    """

    environment: Environment[Any, Any, Any]
    what: str
    levels: tuple[int, ...]
    pool: int | None = None
    style: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def options(self) -> tuple[Option, ...]:
        """Options of play: in "sound" if not said otherwise, and without a teacher, whose merit success would be."""
        own = (
            option for option in self.environment.options if option.name not in ("teacher_guided", "weak_tg_chances")
        )
        return tuple(replace(option, default="sound") if option.name == "protocol" else option for option in own)

    @property
    def parameters(self) -> tuple[Option, ...]:
        """Parameters of the task."""
        return (
            *self.options,
            Option(
                name="precision",
                default=0.1,
                low=0.02,
                high=1.0,
                doc="Half the interval's width that is enough, as a part of the horizon.",
            ),
            Option(name="share", default=0.5, low=0.05, high=0.95, doc="Share of items that is solved at the horizon."),
            Option(
                name="budget",
                default=None,
                kind=str,
                doc="Most that may be spent: 5USD, which needs prices, or 200k tokens.",
            ),
            Option(name="prices", default=None, kind=str, doc="A file with the prices of models' tokens, as JSON."),
            Option(name="most", default=200, low=1, high=100_000, doc="Most episodes."),
            Option(
                name="batch",
                default=4,
                low=1,
                high=1000,
                doc="Episodes at a time; the next ones are chosen after them.",
            ),
            Option(name="key", default=None, kind=str, doc="The key of the items; the public sets if not given."),
            Option(name="easiest", default=self.levels[0], low=1, doc="The easiest level that is tried."),
            Option(name="hardest", default=self.levels[-1], low=1, doc="The hardest level that is tried."),
            *(option for option in self.environment.source_options if option.name not in self.style),
        )


_NODES = (5, 6, 7, 8, 10, 12, 14, 17, 20, 24, 28, 34, 40, 48, 57, 68, 80)
HORIZONS = {
    "horizon_maze": Scale(
        ALICIA, "mazes, by dimension", (5, 7, 9, 11, 13, 15, 17, 21, 25, 29, 35, 41, 49, 57, 69, 81, 101)
    ),
    "horizon_guessnum": Scale(
        GUESSNUM, "guessed numbers, by bits", (3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 26, 32, 40, 50)
    ),
    "horizon_dfs": Scale(DFS, "depth-first search, by nodes", _NODES),
    "horizon_bfs": Scale(BFS, "breadth-first search, by nodes", _NODES),
    "horizon_textmap": Scale(ROUTE, "routes in text maps, by path length", (1, 2, 3, 4, 5, 6, 7), 40),
    "horizon_tilemap": Scale(GTB, "tile maps, by the length of the shortest tour", (1, 2, 3, 4, 5, 6), 60),
    "horizon_hanoi": Scale(RODS, "the Tower of Hanoi, by disks", (3, 4, 5, 6, 7, 8, 9), style={"positions": "free"}),
}

SEARCHES = tuple(
    TaskEntry(
        name,
        (scale.environment.id,),
        f"how far a model reaches: {scale.what}; chooses what to ask next",
        scale.parameters,
        f"waybench.tasks._horizon:{name}",
    )
    for name, scale in HORIZONS.items()
)
