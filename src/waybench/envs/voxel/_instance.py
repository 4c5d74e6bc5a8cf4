"""One search: a world, where it begins, and which biome is to be found."""

import json
from dataclasses import dataclass
from functools import lru_cache

from waybench.core import DataError, Instance, Json, check_fields, is_object
from waybench.envs.voxel.engines import ENGINES, Near, Terrain, chart, terrain

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
