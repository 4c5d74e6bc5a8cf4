"""Searches by key."""

from collections.abc import Mapping

from waybench.core import Item, Json, Option, Source, Stream, UsageError
from waybench.envs.voxel._engines import ENGINES, OWN
from waybench.envs.voxel._search import FARTHEST, LEVELS, MOST_SEED, Search, bounds, prove
from waybench.envs.voxel._terrain import chart

VERSION = 1  # of the terrain and of how starts are chosen; part of every item's key
ANY = "any"

_AROUND = 4096  # blocks from the middle of a world in which starts are tried

OPTIONS = (
    Option(
        name="goal",
        default=ANY,
        doc="The biome to be found; any: one of eight, drawn by key. Engines have different ones.",
    ),
    Option(
        name="engine",
        default=OWN,
        choices=tuple(ENGINES),
        doc="What makes the world; own: our own, which needs nothing else; luanti: Luanti's server on this machine "
        "(Debian's package minetest-server); minedojo: Minecraft, for those who have MineDojo. Scores of different "
        "engines are not comparable.",
        apart=True,
    ),
)


class SearchSource(Source[Search]):
    """Searches drawn by key, each in a world of its own.

    Args:
        key: The set's key.
        level: How far the nearest goal is: from 32 * 2**(level - 1) blocks to twice as many.
        options: `goal` and `engine`.

    Raises:
        UsageError: For a level that does not exist, and for a goal that the engine does not have.
    """

    def __init__(self, key: str, level: int, options: Mapping[str, Json]) -> None:
        if not 1 <= level <= LEVELS:
            raise UsageError(f"level {level}: give a level of distance from 1 to {LEVELS}")
        self._key, self._level = key, level
        self._goal, self._engine = str(options["goal"]), str(options["engine"])
        words = ENGINES[self._engine].words()
        if level != 1 and not ENGINES[self._engine].charted:
            raise UsageError(
                f"level {level}: with engine={self._engine}, whose maps are not known, there is only level 1"
            )
        if self._goal not in (ANY, *words):
            raise UsageError(f"goal={self._goal}: with engine={self._engine} give one of {ANY}, {', '.join(words)}")

    def item(self, index: int) -> Item[Search]:
        """Return the search of this number."""
        rng = Stream("voxel/find", VERSION, self._key, self._level, self._engine, self._goal, index)
        engine = ENGINES[self._engine]
        if not engine.charted:  # it begins where the engine wants to
            goal = rng.choice(engine.goals) if self._goal == ANY else self._goal
            search = Search(self._engine, rng.below(MOST_SEED + 1), goal, 0, 0, 0)
            return Item(search, f"1-{index}", 1, self._key, index, prove(search))
        for _ in engine.goals if self._goal == ANY else (self._goal,):  # some are nowhere so far away
            goal = rng.choice(engine.goals) if self._goal == ANY else self._goal
            for _ in range(engine.tries):
                search = self._drawn(goal, rng)
                if search is not None:
                    return Item(search, f"{self._level}-{index}", self._level, self._key, index, prove(search))
        raise UsageError(
            f"goal={self._goal}: no place was found that is so far from one; choose a lower level than this"
        )

    def _drawn(self, goal: str, rng: Stream) -> Search | None:
        """Try a place: its nearest goal is also that of all places between them, one of which is taken.

        Returns:
            A search that begins on dry land where nothing is in the way, at a distance of the level; None if from this
            place there is none.
        """
        low, high = bounds(self._level)
        seed = self._seed(rng)
        x, z, yaw, wanted = *(rng.below(2 * _AROUND) - _AROUND for _ in range(2)), rng.below(360), rng.below(high - low)
        world = chart(self._engine, seed)
        there = Search(self._engine, seed, goal, x, z, yaw - 180)
        # Worlds of which there are few have to be searched farther.
        near = world.nearest(x, z, there.goals, FARTHEST if ENGINES[self._engine].worlds else high + high // 4)
        if near is None or near.away <= low + wanted:
            return None
        share = (low + wanted) / near.away
        x, z = (round(end + (begin - end) * share) for begin, end in ((x, near.x), (z, near.z)))
        start = Search(self._engine, seed, goal, x, z, yaw - 180)
        away = prove(start).get("distance")
        return start if away is not None and low <= away < high and world.clear(x, z) else None

    def _seed(self, rng: Stream) -> int:
        """Return a world's seed: any, or that of one of the set's."""
        worlds = ENGINES[self._engine].worlds
        if worlds:
            rng = Stream("voxel/find/world", VERSION, self._key, self._engine, rng.below(worlds))
        return rng.below(MOST_SEED + 1)
