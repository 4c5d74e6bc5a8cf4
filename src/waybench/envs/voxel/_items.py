"""Searches by key, and the view from where they begin."""

from collections.abc import Mapping
from functools import lru_cache
from math import ceil, floor

from waybench.core import Item, Json, Option, Source, Stream, UsageError
from waybench.envs.voxel._game import FARTHEST, LEVELS, MOST_SEED, Search, bounds, nearest, prove, world_of
from waybench.envs.voxel._wording import LONGEST, NOTHING, SPREAD, WIDEST
from waybench.envs.voxel.engines import ENGINES, OWN, PUBLISHED_GOALS, chart

_CELL = 4  # blocks along each side of a cell, the distance to whose middle is known
_INTO = 1e-6  # blocks from where a ray meets a block's side to a place in the block


def goal_in_sight(search: Search) -> bool:
    """Return whether some block that can be seen from the start is in a goal.

    One sees as far as the rays of an observation reach, and no farther than the first block that each of them meets. A
    player can turn, so that rays at every whole degree around count, whatever the heading is.

    Args:
        search: The search; the map of its engine is known.
    """
    near = nearest(search, search.x, search.z)
    if near is None or near.away > LONGEST + _CELL:
        return False
    world = world_of(search)
    goals, cache = search.goals, dict[tuple[int, int], bool]()
    for x, z in _visible_cells(search):
        if (x, z) not in cache:
            cache[x, z] = world.biome(x, z) in goals
        if cache[x, z]:
            return True
    return False


def _visible_cells(search: Search) -> set[tuple[int, int]]:
    """Return the columns of all blocks that the rays meet."""
    from waybench.envs.voxel.engines import eye_of, rays  # numpy and numba, which nothing else here needs

    world = world_of(search)
    start = world.stand(search.x, search.z)
    screen = 2 * WIDEST + SPREAD  # degrees from one screen to the one beside it
    columns: set[tuple[int, int]] = set()
    for turn in range(SPREAD):
        for beside in range(ceil(360 / screen)):
            yaw = (turn + beside * screen + 180) % 360 - 180
            raw = world.view(start._replace(yaw=yaw))
            points = eye_of(start) + (raw.distances + _INTO)[:, None] * rays(yaw)
            columns |= {
                (floor(x), floor(z))
                for (x, _, z), block in zip(points.tolist(), raw.rays.tolist(), strict=True)
                if raw.blocks[block] != NOTHING
            }
    return columns


VERSION = 1  # of the terrain and of how starts are chosen; part of every item's key
ANY, UNSEEN = "any", "unseen"

_AROUND = 4096  # blocks from the middle of a world in which starts are tried

OPTIONS = (
    Option(
        name="goal",
        default=ANY,
        doc=f"The biome to find: {', '.join(PUBLISHED_GOALS.values())}; any: one of them, drawn from the key. "
        "Luanti has others.",
    ),
    Option(
        name="start",
        default=None,
        kind=str,
        choices=(ANY, UNSEEN),
        doc="Start of a search; any: any place at the level's distance; unseen: a place from which no block of a goal "
        "is visible in any direction. By default unseen with protocol=sound and any with protocol=paper.",
    ),
    Option(
        name="engine",
        default=OWN,
        choices=tuple(ENGINES),
        doc="Engine of the world; own: waybench's own, without further requirements; luanti: a Luanti server on this "
        "machine (Debian package minetest-server); minedojo: Minecraft with MineDojo. Scores of different engines are "
        "not comparable.",
        separate_tables=True,
    ),
)


def sound_items(options: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return source options as `sound` has them: it begins out of sight of a goal, where the start can be chosen."""
    if options["start"] is None and ENGINES[str(options["engine"])].charted:
        return {**options, "start": UNSEEN}
    return options


def recorded_level(engine: str, protocol: str) -> int:
    """Return the level of the search that stands for the recorded setting.

    In `paper` it is the nearest one, as published. In `sound` it is one that chance does not find in 200 steps: plains
    32 to 64 blocks away are found at random by half of all players, in sight or not (docs/environments/voxel-find.md).
    """
    return 3 if protocol == "sound" and ENGINES[engine].charted else 1


class SearchSource(Source[Search]):
    """Searches drawn by key, each in a world of its own.

    Args:
        key: The set's key.
        level: How far the nearest goal is: from 32 * 2**(level - 1) blocks to twice as many.
        options: `goal`, `start` and `engine`.

    Raises:
        UsageError: For a level that does not exist, a goal that the engine does not have, and a start that it does not
            let one choose.
    """

    def __init__(self, key: str, level: int, options: Mapping[str, Json]) -> None:
        if not 1 <= level <= LEVELS:
            raise UsageError(f"level {level}: give a level of distance from 1 to {LEVELS}")
        self._key, self._level = key, level
        self._goal, self._engine = str(options["goal"]), str(options["engine"])
        words = ENGINES[self._engine].words()
        self._unseen = options.get("start") == UNSEEN
        if self._unseen and not ENGINES[self._engine].charted:
            raise UsageError(f"start={UNSEEN}: engine={self._engine} chooses the start itself")
        if level != 1 and not ENGINES[self._engine].charted:
            raise UsageError(
                f"level {level}: with engine={self._engine}, whose maps are unknown, there is only level 1"
            )
        if self._goal not in (ANY, *words):
            raise UsageError(f"goal={self._goal}: with engine={self._engine} give one of {ANY}, {', '.join(words)}")

    def item(self, index: int) -> Item[Search]:
        """Return the search of this number."""
        engine = ENGINES[self._engine]
        if not engine.charted:  # it begins where the engine wants to
            rng = self._stream(index)
            goal = rng.choice(engine.goals) if self._goal == ANY else self._goal
            search = Search(self._engine, rng.below(MOST_SEED + 1), goal, 0, 0, 0)
            return Item(search, f"1-{index}", 1, self._key, index, prove(search))
        # In training, an item is played by a group of episodes, each with a source of its own.
        kept = self._engine == OWN
        search = _kept(self._key, self._level, self._goal, self._unseen, index) if kept else self.search(index)
        return Item(search, f"{self._level}-{index}", self._level, self._key, index, prove(search))

    def search(self, index: int) -> Search:
        """Draw the search of this number, in an engine whose maps are known."""
        rng, engine = self._stream(index), ENGINES[self._engine]
        for _ in engine.goals if self._goal == ANY else (self._goal,):  # some are nowhere so far away
            goal = rng.choice(engine.goals) if self._goal == ANY else self._goal
            for _ in range(engine.tries):
                search = self._draw(goal, rng)
                if search is not None:
                    return search
        raise UsageError(f"goal={self._goal}: no place is that far from a goal; choose a lower level")

    def _stream(self, index: int) -> Stream:
        return Stream("voxel/find", VERSION, self._key, self._level, self._engine, self._goal, index)

    def _draw(self, goal: str, rng: Stream) -> Search | None:
        """Try a place: its nearest goal is also that of all places between them, one of which is taken.

        Returns:
            A search that begins on dry land where nothing is in the way, at a distance of the level; None if from this
            place there is none.
        """
        low, high = bounds(self._level)
        seed = self._seed(rng)
        x, z, yaw, extra = *(rng.below(2 * _AROUND) - _AROUND for _ in range(2)), rng.below(360), rng.below(high - low)
        world = chart(self._engine, seed, keep=False)
        there = Search(self._engine, seed, goal, x, z, yaw - 180)
        # Worlds of which there are few have to be searched farther.
        near = world.nearest(x, z, there.goals, FARTHEST if ENGINES[self._engine].worlds else high + high // 4)
        if near is None or near.away <= low + extra:
            return None
        share = (low + extra) / near.away
        x, z = (round(end + (begin - end) * share) for begin, end in ((x, near.x), (z, near.z)))
        start = Search(self._engine, seed, goal, x, z, yaw - 180)
        away = prove(start).get("distance")
        if away is None or not low <= away < high or not chart(self._engine, seed).clear(x, z):
            return None
        return None if self._unseen and goal_in_sight(start) else start

    def _seed(self, rng: Stream) -> int:
        """Return a world's seed: any, or that of one of the set's."""
        worlds = ENGINES[self._engine].worlds
        if worlds:
            rng = Stream("voxel/find/world", VERSION, self._key, self._engine, rng.below(worlds))
        return rng.below(MOST_SEED + 1)


@lru_cache(maxsize=1024)
def _kept(key: str, level: int, goal: str, unseen: bool, index: int) -> Search:
    return SearchSource(key, level, {"goal": goal, "engine": OWN, "start": UNSEEN if unseen else ANY}).search(index)
