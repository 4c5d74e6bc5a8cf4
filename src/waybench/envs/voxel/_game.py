"""The search for a biome as a game of single steps: instances, rules, and searches by key."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, floor, hypot
from typing import NamedTuple

from waybench.core import (
    DataError,
    End,
    Field,
    Instance,
    Item,
    Json,
    Option,
    Outcome,
    Source,
    Stream,
    UsageError,
)
from waybench.envs.smartplay import SEEN, ActionEffect, Rules, field_values
from waybench.envs.voxel._wording import (
    ACTIONS,
    LONGEST,
    MANUAL,
    NOTHING,
    SPREAD,
    TOOK,
    TURN,
    WIDEST,
    description_text,
    seen_part,
    turn_bin,
)
from waybench.envs.voxel.engines._engines import open_charted_world, open_terrain
from waybench.envs.voxel.engines._terrain import ENGINES, OWN, PUBLISHED_GOALS, TICKS, Body, Near, Terrain, WalkResult

SHORTEST = 32  # blocks to the nearest goal; the lower end of level 1
LEVELS = 5
MOST_SEED = (1 << 62) - 1
FARTHEST = 2048  # blocks in which a goal is looked for
_FIELDS = ("engine", "seed", "goal", "x", "z", "yaw")


@dataclass(frozen=True, slots=True)
class Search(Instance):
    """One search.

    Attributes:
        engine: What makes the world; one of ENGINES.
        goal: The biome's word; every biome whose name contains it counts.
        x: The column of blocks of the start, to the east.
        z: The row of the start, to the south.
        yaw: Direction of view at the start: 0 is south, 90 west; whole degrees from -180 to 179.
    """

    engine: str
    seed: int
    goal: str
    x: int
    z: int
    yaw: int

    @property
    def goals(self) -> tuple[str, ...]:
        """The biomes that count as the goal."""
        return ENGINES[self.engine].matching_biomes(self.goal)

    def canonical(self) -> str:
        return json.dumps(self.to_json(), sort_keys=True)

    def to_json(self) -> Json:
        """Return the attributes; the seed as a text, for it has more digits than some readers of JSON keep."""
        return {name: str(self.seed) if name == "seed" else getattr(self, name) for name in _FIELDS}


def level_distances(level: int) -> tuple[int, int]:
    """Return the least distance to the nearest goal in a level and in the next level, in blocks."""
    return SHORTEST << level - 1, SHORTEST << level


@lru_cache(maxsize=1024)
def nearest_goal(search: Search, x: int, z: int) -> Near | None:
    """Return the goal nearest to a column; None if there is none within 2048 blocks, or the map is not known."""
    if not ENGINES[search.engine].charted:
        return None
    return open_charted_world(search.engine, search.seed).nearest(x, z, search.goals, FARTHEST)


def terrain_of_search(search: Search) -> Terrain:
    """Return the world that a search is in."""
    return open_terrain(search.engine, search.seed, search.goal)


def level_of(search: Search) -> int:
    """Return the level of a search by the distance to its goal, from 1 to `LEVELS`; 1 if the map is not known."""
    if not ENGINES[search.engine].charted:
        return 1
    near = nearest_goal(search, search.x, search.z)
    distance = FARTHEST if near is None else near.away
    return next((level for level in range(1, LEVELS) if distance < level_distances(level)[1]), LEVELS)


def prove(search: Search) -> dict[str, Json]:
    """Return "distance" (blocks), "x" and "z" of the nearest goal, and "server" (a version) if any; or {}."""
    near = nearest_goal(search, search.x, search.z)
    if near is None:
        return {}
    version = open_charted_world(search.engine, search.seed).version
    return {"distance": near.away, "x": near.x, "z": near.z, **({"server": version} if version else {})}


def decode(data: Json) -> Search:
    """Read what `Search.to_json` wrote; raise DataError for anything else."""
    match field_values(data, _FIELDS, "instance: give engine, seed, goal, x, z and yaw, and nothing else"):
        case [str(engine), str(seed), str(goal), int(x), int(z), int(yaw)]:
            coordinates = (x, z, yaw)
        case _:
            raise DataError("instance: engine, seed (digits) and goal are texts, x, z and yaw are whole numbers")
    if engine not in ENGINES:
        raise DataError(f"instance: the engine is one of {', '.join(ENGINES)}")
    if not (seed.isascii() and seed.isdigit() and len(seed) <= len(str(MOST_SEED)) and int(seed) <= MOST_SEED):
        raise DataError("instance: the seed is a whole number from 0 to 2**62 - 1, written as a text")
    if str(int(seed)) != seed:
        raise DataError("instance: write the seed without leading zeros")
    goals, farthest = ENGINES[engine].goal_words(), ENGINES[engine].farthest
    if goal not in goals:
        raise DataError(f"instance: the goal is one of {', '.join(goals)}")
    if any(type(number) is not int for number in coordinates) or max(abs(x), abs(z)) > farthest:
        allowed = f"whole numbers from -{farthest} to {farthest}" if farthest else "0"
        raise DataError(f"instance: x and z are {allowed}")
    if not -180 <= yaw < 180:
        raise DataError("instance: yaw is a whole number of degrees from -180 to 179")
    return Search(engine, int(seed), goal, x, z, yaw)


# Our own wording, without the published one's defects.
_OUR_MANUAL = (
    "You are in a world of blocks, and your goal is to find {goal} biome. Each action turns you to a direction and "
    "makes you walk some ten blocks that way; you jump and swim by yourself, and what cannot be jumped over stops you. "
    "In coordinates (x,y,z), x grows to the east, y upwards, and z to the south.\n\n"
    "Of what you see, you are told how much of your field of view it takes: things of the same size take more when "
    "they are nearer."
)
_OUR_END = "You have found what you were looking for: this is {biome} biome."
_STUCK = 1.0  # blocks; a step that leads less far is unproductive


class VoxelWorld(NamedTuple):
    """The state of a search.

    Attributes:
        last: Number of the last action; -1 at the start.
        moved: Horizontal straight-line distance that the last step led, in blocks.
    """

    search: Search
    body: Body
    last: int = -1
    is_found: bool = False
    moved: float = 0.0


class FindRules(Rules[Search, VoxelWorld]):
    """Turns and walks until the biome is found.

    Events: `at` (x, y, z), `yaw`, `biome`, `walked` (blocks over the ground), `left` (blocks to the nearest
    goal in a straight line; None if there is none within 2048).

    Args:
        published: Whether manual and descriptions are the published ones, defects of the latter included.
    """

    deterministic = False

    def __init__(self, *, published: bool) -> None:
        super().__init__(published=published)
        doc = "What is around and what is seen; none where nothing is."
        self.scene_fields = (Field[VoxelWorld](SEEN, doc, lambda world: seen_part(self.observe(world))),)

    def begin(self, instance: Search) -> VoxelWorld:
        """Return the world at the start; a goal counts only after a step."""
        body = terrain_of_search(instance).stand(instance.x, instance.z)
        return VoxelWorld(instance, body._replace(yaw=instance.yaw) if ENGINES[instance.engine].charted else body)

    def actions(self, instance: Search) -> Sequence[str]:
        return ACTIONS

    def turn_and_walk(self, world: VoxelWorld, action: int, rng: Stream) -> tuple[VoxelWorld, WalkResult]:
        """Turn by whole steps of the camera, then walk for fifty ticks or until a goal is reached.

        In each tick three random bits decide, as published: straight ahead (1/2), also to the left (1/4) or to the
        right (1/4); and sprinting or jumping (1/2 each).
        """
        search, before = world.search, world.body
        yaw = (before.yaw + (turn_bin(action, before.yaw) * TURN - 180) + 180) % 360 - 180
        random_bits = rng.below(8**TICKS)
        ticks = bytes(random_bits >> 3 * tick & 7 for tick in range(TICKS))
        walk_result = terrain_of_search(search).walk(before._replace(yaw=yaw), ticks, search.goals)
        moved = hypot(walk_result.body.x - before.x, walk_result.body.z - before.z)
        return VoxelWorld(search, walk_result.body, action, walk_result.arrived, moved), walk_result

    def step(self, world: VoxelWorld, action: int, rng: Stream) -> ActionEffect[VoxelWorld]:
        """Turn and walk (see `turn_and_walk`)."""
        after, walk_result = self.turn_and_walk(world, action, rng)
        search, body = after.search, after.body
        x, z = floor(body.x), floor(body.z)
        near = nearest_goal(search, x, z)
        events: dict[str, Json] = {
            "at": [body.x, body.y, body.z],
            "yaw": body.yaw,
            "biome": terrain_of_search(search).biome(x, z),
            "walked": walk_result.length,
            "left": 0.0 if after.is_found else None if near is None else near.away,
        }
        is_stuck = after.moved < _STUCK and not after.is_found
        return ActionEffect(after, float(after.is_found), events, Outcome.UNPRODUCTIVE if is_stuck else Outcome.OK)

    def ending(self, world: VoxelWorld) -> End | None:
        return End.SOLVED if world.is_found else None

    def score(self, world: VoxelWorld) -> float:
        return float(world.is_found)

    def manual(self, instance: Search) -> str:
        if self._published:
            return MANUAL.format(goal=instance.goal)
        return _OUR_MANUAL.format(goal=_with_article(instance.goal))

    def observe(self, world: VoxelWorld) -> str:
        # A live world can look different on the next visit, so its descriptions are not cached.
        observe_world = _description if ENGINES[world.search.engine].charted else _description.__wrapped__
        return observe_world(world, self._published)


def _with_article(noun: str) -> str:
    return f"{'an' if noun[0].lower() in 'aeiou' else 'a'} {noun}"


@lru_cache(maxsize=256)  # each is needed again when it becomes part of the history
def _description(world: VoxelWorld, published: bool) -> str:
    """Return the last action, the end of a search that found its goal (not published), and the location."""
    search, body = world.search, world.body
    engine = terrain_of_search(search)
    paragraphs = [] if world.last < 0 else [TOOK.format(name=ACTIONS[world.last])]
    if world.is_found and not published:
        paragraphs.append(_OUR_END.format(biome=_with_article(engine.biome(floor(body.x), floor(body.z)))))
    paragraphs.append(description_text(engine.view(body), published=published))
    return "\n\n".join(paragraphs)


_CELL = 4  # blocks along each side of a cell; distances are to middles of cells
_INTO = 1e-6  # blocks from where a ray meets a block's side to a point in the block


def is_goal_in_sight(search: Search) -> bool:
    """Return whether a block of a goal can be seen from the start of a search on a known map, at any heading."""
    nearest = nearest_goal(search, search.x, search.z)
    if nearest is None or nearest.away > LONGEST + _CELL:
        return False
    world = terrain_of_search(search)
    return any(world.biome(x, z) in search.goals for x, z in _visible_columns(search))


def _visible_columns(search: Search) -> set[tuple[int, int]]:
    """Return the columns of all blocks that can be seen from the start, at headings of whole degrees."""
    from waybench.envs.voxel.engines._own import eye_position, ray_directions

    world = terrain_of_search(search)
    start = world.stand(search.x, search.z)
    screen_width = 2 * WIDEST + SPREAD  # degrees from one screen to the next
    columns: set[tuple[int, int]] = set()
    for turn in range(SPREAD):
        for screen_number in range(ceil(360 / screen_width)):
            yaw = (turn + screen_number * screen_width + 180) % 360 - 180
            raw = world.view(start._replace(yaw=yaw))
            points = eye_position(start) + (raw.distances + _INTO)[:, None] * ray_directions(yaw)
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


def sound_source_options(options: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the options of a source in `sound`: by default starts are out of sight of a goal, if the map is known."""
    if options["start"] is None and ENGINES[str(options["engine"])].charted:
        return {**options, "start": UNSEEN}
    return options


def recorded_level(engine: str, protocol: str) -> int:
    """Return the level of the search that stands for the recorded setting.

    In `paper` it is the nearest level, as published. In `sound` it is a level at which random players do not find the
    goal in 200 steps: half of them find plains 32 to 64 blocks away, in sight or not (docs/environments/voxel-find.md).
    """
    return 3 if protocol == "sound" and ENGINES[engine].charted else 1


class SearchSource(Source[Search]):
    """Searches drawn by key, each in a world of its own.

    The level is how far the nearest goal is: from 32 * 2**(level - 1) blocks to twice as many.

    Raises:
        UsageError: For a level, goal or start that the engine does not have.
    """

    def __init__(self, key: str, level: int, options: Mapping[str, Json]) -> None:
        if not 1 <= level <= LEVELS:
            raise UsageError(f"level {level}: give a level of distance from 1 to {LEVELS}")
        self._key, self._level = key, level
        self._goal, self._name = str(options["goal"]), str(options["engine"])
        self._engine = ENGINES[self._name]
        goal_words = self._engine.goal_words()
        self._unseen = options.get("start") == UNSEEN
        if self._unseen and not self._engine.charted:
            raise UsageError(f"start={UNSEEN}: engine={self._name} chooses the start itself")
        if level != 1 and not self._engine.charted:
            raise UsageError(f"level {level}: with engine={self._name}, whose maps are unknown, there is only level 1")
        if self._goal not in (ANY, *goal_words):
            raise UsageError(f"goal={self._goal}: with engine={self._name} give one of {ANY}, {', '.join(goal_words)}")

    def item(self, index: int) -> Item[Search]:
        """Return the item of an index; on unknown maps it has only a seed and a goal."""
        if not self._engine.charted:  # the engine chooses the start
            rng = self._item_stream(index)
            goal = rng.choice(self._engine.goals) if self._goal == ANY else self._goal
            search = Search(self._name, rng.below(MOST_SEED + 1), goal, 0, 0, 0)
        elif self._name == OWN:
            search = _cached_search(self._key, self._level, self._goal, self._unseen, index)
        else:
            search = self.draw_search(index)
        return Item(search, f"{self._level}-{index}", self._level, self._key, index, prove(search))

    def draw_search(self, index: int) -> Search:
        """Draw the search of an index, in an engine whose maps are known; raise UsageError if no start is found."""
        rng, goals = self._item_stream(index), self._engine.goals if self._goal == ANY else (self._goal,)
        for _ in goals:  # some goals are nowhere at this distance
            goal = rng.choice(goals) if self._goal == ANY else self._goal
            for _ in range(self._engine.tries):
                search = self._try_start(goal, rng)
                if search is not None:
                    return search
        raise UsageError(f"goal={self._goal}: no place is that far from a goal; choose a lower level")

    def _item_stream(self, index: int) -> Stream:
        return Stream("voxel/find", VERSION, self._key, self._level, self._name, self._goal, index)

    def _try_start(self, goal: str, rng: Stream) -> Search | None:
        """Draw a start: a random column, moved towards its nearest goal to a distance of the level.

        Return a search that begins there, on clear, dry land; None if the start does not fit.
        """
        (least, most), n_worlds = level_distances(self._level), self._engine.worlds
        world_rng = rng
        if n_worlds:
            world_rng = Stream("voxel/find/world", VERSION, self._key, self._name, rng.below(n_worlds))
        seed = world_rng.below(MOST_SEED + 1)
        x, z = (rng.below(2 * _AROUND) - _AROUND for _ in range(2))
        yaw, distance_to_goal = rng.below(360), least + rng.below(most - least)
        # Where searches share a few worlds, starts far from a goal have to do as well.
        farthest = FARTHEST if n_worlds else most + most // 4
        nearest = open_charted_world(self._name, seed, keep=False).nearest(
            x, z, self._engine.matching_biomes(goal), farthest
        )
        if nearest is None or nearest.away <= distance_to_goal:
            return None
        share = distance_to_goal / nearest.away
        x, z = (round(to + (start - to) * share) for start, to in ((x, nearest.x), (z, nearest.z)))
        search = Search(self._name, seed, goal, x, z, yaw - 180)
        distance = prove(search).get("distance")
        # Another goal can be nearer to the new start.
        if distance is None or not least <= distance < most:
            return None
        if not open_charted_world(self._name, seed).is_clear_ground(x, z):
            return None
        return None if self._unseen and is_goal_in_sight(search) else search


@lru_cache(maxsize=1024)  # in training, an item is played by a group of episodes, each with a source of its own
def _cached_search(key: str, level: int, goal: str, unseen: bool, index: int) -> Search:
    """Return a search in a world of our own engine (cached)."""
    options = {"goal": goal, "engine": OWN, "start": UNSEEN if unseen else ANY}
    return SearchSource(key, level, options).draw_search(index)
