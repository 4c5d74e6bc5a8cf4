"""Searches by key."""

from collections.abc import Mapping

from waybench.core import Item, Json, Option, Source, Stream, UsageError
from waybench.envs.voxel._blocks import BIOMES, GOALS
from waybench.envs.voxel._search import LEVELS, MOST_SEED, Search, bounds, prove
from waybench.envs.voxel._terrain import ENGINES, terrain

VERSION = 1  # of the terrain and of how starts are chosen; part of every item's key
ANY = "any"

_AROUND = 4096  # blocks from the middle of a world in which starts are tried
_TRIES = 2000

OPTIONS = (
    Option(
        name="goal",
        default=ANY,
        choices=(ANY, *GOALS, *(name for name in BIOMES if name not in GOALS)),
        doc="Which biome is to be found; any: one of the eight published goals, drawn by key.",
    ),
    Option(
        name="engine",
        default=ENGINES[0],
        choices=ENGINES,
        doc="What makes the world; own: our own, in which nothing but this package is needed.",
    ),
)


class SearchSource(Source[Search]):
    """Searches drawn by key, each in a world of its own.

    Args:
        key: The set's key.
        level: How far the nearest goal is: from 32 * 2**(level - 1) blocks to twice as many.
        options: `goal` and `engine`.

    Raises:
        UsageError: For a level that does not exist.
    """

    def __init__(self, key: str, level: int, options: Mapping[str, Json]) -> None:
        if not 1 <= level <= LEVELS:
            raise UsageError(f"level {level}: give a level of distance from 1 to {LEVELS}")
        self._key, self._level = key, level
        self._goal, self._engine = str(options["goal"]), str(options["engine"])

    def item(self, index: int) -> Item[Search]:
        """Return the search of this number."""
        rng = Stream("voxel/find", VERSION, self._key, self._level, self._engine, self._goal, index)
        goal = rng.choice(GOALS) if self._goal == ANY else self._goal
        for _ in range(_TRIES):
            search = self._drawn(goal, rng)
            if search is not None:
                return Item(search, f"{self._level}-{index}", self._level, self._key, index, prove(search))
        raise UsageError(f"goal={goal}: no place was found that is so far from one; choose a lower level than this")

    def _drawn(self, goal: str, rng: Stream) -> Search | None:
        """Try a place: its nearest goal is also that of all places between them, one of which is taken.

        Returns:
            A search that begins on dry land where nothing is in the way, at a distance of the level; None if from this
            place there is none.
        """
        low, high = bounds(self._level)
        seed = rng.below(MOST_SEED + 1)
        x, z, yaw, wanted = *(rng.below(2 * _AROUND) - _AROUND for _ in range(2)), rng.below(360), rng.below(high - low)
        world = terrain(self._engine, seed)
        there = Search(self._engine, seed, goal, x, z, yaw - 180)
        near = world.nearest(x, z, there.goals, high + high // 4)
        if near is None or near.away <= low + wanted:
            return None
        share = (low + wanted) / near.away
        x, z = (round(end + (begin - end) * share) for begin, end in ((x, near.x), (z, near.z)))
        start = Search(self._engine, seed, goal, x, z, yaw - 180)
        away = prove(start).get("distance")
        body, ground = world.stand(x, z), world.ground(x, z)
        dry = body.y == ground + 1 and world.block(x, ground + 1, z) != "water"
        return start if dry and away is not None and low <= away < high else None
