"""The search for a biome as a game of single steps: instances and rules."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import floor, hypot
from typing import NamedTuple

from waybench.core import DataError, End, Field, Instance, Json, Outcome, Stream, check_fields, is_object
from waybench.envs.smartplay import SEEN, Rules, Step
from waybench.envs.voxel._wording import ACTIONS, MANUAL, TOOK, TURN, describe, seen_part, turn_bin
from waybench.envs.voxel.engines import ENGINES, TICKS, Body, Near, Terrain, Walked, chart, terrain

SHORTEST = 32  # blocks to the nearest goal; the lower end of level 1
LEVELS = 5
MOST_SEED = (1 << 62) - 1
FARTHEST = 2048  # blocks in which a goal is looked for


@dataclass(frozen=True, slots=True)
class Search(Instance):
    """One search.

    Attributes:
        engine: What makes the world; one of ENGINES.
        seed: The world's.
        goal: The biome's word; every biome whose name contains it will do.
        x: The column in which it begins, to the east.
        z: Its row, to the south.
        yaw: Where one looks at the start: 0 is south, 90 west; whole degrees from -180 to 179.
    """

    engine: str
    seed: int
    goal: str
    x: int
    z: int
    yaw: int

    @property
    def goals(self) -> tuple[str, ...]:
        """The biomes that will do."""
        return ENGINES[self.engine].fitting(self.goal)

    def canonical(self) -> str:
        """Return the JSON text."""
        return json.dumps(self.to_json(), sort_keys=True)

    def to_json(self) -> Json:
        """Return the attributes; the seed as a text, for it has more digits than some readers of JSON keep."""
        return {
            "engine": self.engine,
            "seed": str(self.seed),
            "goal": self.goal,
            "x": self.x,
            "z": self.z,
            "yaw": self.yaw,
        }


def bounds(level: int) -> tuple[int, int]:
    """Return the least distance to the nearest goal in a level, in blocks, and that of the next level."""
    return SHORTEST << level - 1, SHORTEST << level


@lru_cache(maxsize=1024)
def nearest(search: Search, x: int, z: int) -> Near | None:
    """Return the goal that is nearest to a place; None if none is known within 2048 blocks."""
    has_map = ENGINES[search.engine].charted
    return chart(search.engine, search.seed).nearest(x, z, search.goals, FARTHEST) if has_map else None


def world_of(search: Search) -> Terrain:
    """Return the world in which a search is."""
    return terrain(search.engine, search.seed, search.goal)


def level_of(search: Search) -> int:
    """Return the level that a search belongs to by its distance; those that are nearer or farther count as an end's."""
    if not ENGINES[search.engine].charted:
        return 1
    near = nearest(search, search.x, search.z)
    away = FARTHEST if near is None else near.away
    return next((level for level in range(1, LEVELS) if away < bounds(level)[1]), LEVELS)


def prove(search: Search) -> dict[str, Json]:
    """Return the distance to the nearest goal in blocks, and where it is; nothing if there is none near.

    And, where a world depends on it, the version of its server.
    """
    near = nearest(search, search.x, search.z)
    if near is None:
        return {}
    version = chart(search.engine, search.seed).version
    return {"distance": near.away, "x": near.x, "z": near.z, **({"server": version} if version else {})}


def decode(data: Json) -> Search:
    """Read what `Search.to_json` wrote.

    Raises:
        DataError: If it is no search.
    """
    check_fields(data, ("engine", "seed", "goal", "x", "z", "yaw"))
    if not is_object(data) or set(data) != {"engine", "seed", "goal", "x", "z", "yaw"}:
        raise DataError("instance: give engine, seed, goal, x, z and yaw, and nothing else")
    match [data[name] for name in ("engine", "seed", "goal", "x", "z", "yaw")]:
        case [str(engine), str(seed), str(goal), int(x), int(z), int(yaw)]:
            numbers = (x, z, yaw)
        case _:
            raise DataError("instance: engine, seed (digits) and goal are texts, x, z and yaw are whole numbers")
    if engine not in ENGINES:
        raise DataError(f"instance: the engine is one of {', '.join(ENGINES)}")
    if not (seed.isascii() and seed.isdigit() and len(seed) <= len(str(MOST_SEED)) and int(seed) <= MOST_SEED):
        raise DataError("instance: the seed is a whole number from 0 to 2**62 - 1, written as a text")
    if str(int(seed)) != seed:
        raise DataError("instance: write the seed without leading zeros")
    goals, farthest = ENGINES[engine].words(), ENGINES[engine].farthest
    if goal not in goals:
        raise DataError(f"instance: the goal is one of {', '.join(goals)}")
    if any(type(number) is not int for number in numbers) or max(abs(x), abs(z)) > farthest:
        allowed = f"whole numbers from -{farthest} to {farthest}" if farthest else "0"
        raise DataError(f"instance: x and z are {allowed}")
    if not -180 <= yaw < 180:
        raise DataError("instance: yaw is a whole number of degrees from -180 to 179")
    return Search(engine, int(seed), goal, x, z, yaw)


# Ours: the world of our own engine, and what its rules are.
_OUR_MANUAL = (
    "You are in a world of blocks, and your goal is to find {goal} biome. Each action turns you to a direction and "
    "makes you walk some ten blocks that way; you jump and swim by yourself, and what cannot be jumped over stops you. "
    "In coordinates (x,y,z), x grows to the east, y upwards, and z to the south.\n\n"
    "Of what you see, you are told how much of your field of view it takes: things of the same size take more when "
    "they are nearer."
)
_OUR_END = "You have found what you were looking for: this is {biome} biome."
_STUCK = 1.0  # blocks; who comes less far did not get on


class World(NamedTuple):
    """The state of a search.

    Attributes:
        search: The instance.
        body: Where the walker is.
        last: Number of the last action; -1 at the start.
        found: Whether the goal is found.
        moved: How far the last step led over the ground, as the crow flies, in blocks.
    """

    search: Search
    body: Body
    last: int = -1
    found: bool = False
    moved: float = 0.0


class FindRules(Rules[Search, World]):
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
        self.scene_fields = (Field[World](SEEN, doc, lambda world: seen_part(self.observe(world))),)

    def begin(self, instance: Search) -> World:
        """Return the start; standing in a goal does not count before a step was made."""
        body = world_of(instance).stand(instance.x, instance.z)
        return World(instance, body._replace(yaw=instance.yaw) if ENGINES[instance.engine].charted else body)

    def actions(self, instance: Search) -> Sequence[str]:
        """Return the four actions."""
        return ACTIONS

    def walked(self, world: World, action: int, rng: Stream) -> tuple[World, Walked]:
        """Turn once, by a number of whole steps of the camera, and walk for fifty ticks or until a goal is reached.

        In each tick chance decides, as published: straight ahead (1/2), also to the left (1/4) or to the right (1/4);
        and sprinting or jumping (1/2 each).
        """
        search, before = world.search, world.body
        yaw = (before.yaw + (turn_bin(action, before.yaw) * TURN - 180) + 180) % 360 - 180
        chance = rng.below(8**TICKS)
        ticks = bytes(chance >> 3 * tick & 7 for tick in range(TICKS))
        walked = world_of(search).walk(before._replace(yaw=yaw), ticks, search.goals)
        moved = hypot(walked.body.x - before.x, walked.body.z - before.z)
        return World(search, walked.body, action, walked.arrived, moved), walked

    def step(self, world: World, action: int, rng: Stream) -> Step[World]:
        """Turn and walk (see `walked`)."""
        after, walked = self.walked(world, action, rng)
        search, body = after.search, after.body
        x, z = floor(body.x), floor(body.z)
        near = nearest(search, x, z)
        events: dict[str, Json] = {
            "at": [body.x, body.y, body.z],
            "yaw": body.yaw,
            "biome": world_of(search).biome(x, z),
            "walked": walked.length,
            "left": 0.0 if after.found else None if near is None else near.away,
        }
        stuck = after.moved < _STUCK and not after.found
        return Step(after, float(after.found), events, Outcome.UNPRODUCTIVE if stuck else Outcome.OK)

    def over(self, world: World) -> End | None:
        """Return SOLVED once the goal is found."""
        return End.SOLVED if world.found else None

    def score(self, world: World) -> float:
        """Return 1 if the goal is found, otherwise 0."""
        return float(world.found)

    def manual(self, instance: Search) -> str:
        """Return the manual."""
        if self._published:
            return MANUAL.format(goal=instance.goal)
        return _OUR_MANUAL.format(goal=_with_article(instance.goal))

    def observe(self, world: World) -> str:
        """Return the description of the walker's location and of the last action."""
        # A world that is alive can look different when one is there again.
        observe_world = _observed if ENGINES[world.search.engine].charted else _observed.__wrapped__
        return observe_world(world, self._published)


def _with_article(name: str) -> str:
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


@lru_cache(maxsize=256)  # each is needed again when it becomes part of the history
def _observed(world: World, published: bool) -> str:
    search, body = world.search, world.body
    engine = world_of(search)
    paragraphs = [] if world.last < 0 else [TOOK.format(name=ACTIONS[world.last])]
    if world.found and not published:
        paragraphs.append(_OUR_END.format(biome=_with_article(engine.biome(floor(body.x), floor(body.z)))))
    paragraphs.append(describe(engine.view(body), published=published))
    return "\n\n".join(paragraphs)
