"""Worlds as values: made from a seed, carried on by an action, and drawn by key."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from waybench._late import LateModule
from waybench.core import DataError, Instance, Json, KeyedSource, Stream, UsageError, check_fields
from waybench.envs.crafter._ids import (
    AREA,
    BEING,
    BODY,
    CHUNKS,
    CLOCK,
    EAST_OF,
    LAST_HEALTH,
    MOST,
    NOOP,
    SIZE,
    SOUTH_OF,
)

SEEDS = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Wilds(Instance):
    """A world, by what it is made of. Everything that happens in it by chance follows from the seed, too.

    Attributes:
        seed: The seed of the random generator, from 0 to 2**31 - 2.
    """

    seed: int

    def canonical(self) -> str:
        """Return the seed."""
        return f"crafter {self.seed}"

    def to_json(self) -> Json:
        """Return {"seed": 1}."""
        return {"seed": self.seed}


def decode(data: Json) -> Wilds:
    """Read what `Wilds.to_json` wrote.

    Raises:
        DataError: If it is something else.
    """
    check_fields(data, ("seed",))
    match data:
        case {"seed": int(seed), **rest} if not rest and type(seed) is int and 0 <= seed < SEEDS:
            return Wilds(seed)
        case _:
            raise DataError(f'instance: give {{"seed": 1}}, a whole number from 0 to {SEEDS - 1}')


# Random words that drawing a picture in the dark takes in the published program; they are passed over, so that all
# later draws are the same.
RENDERED = 2 * 63 * 49
_DRAWS = 6 * AREA  # at most so many uniform numbers make a world
_SEEDS = (1 << 31) - 1


class World(NamedTuple):
    """A world after some steps. Everything is in bytes, which numpy reads with the types named here.

    Attributes:
        land: What each cell is, by x * SIZE + y; uint8.
        beings: A row of numbers for each being, the player's first and then in the order in which they came; int32.
        body: The player's numbers: items, achievements, and what else it needs; int32.
        key: The words of the random generator, MT19937; uint32.
        score: Number of achievements, summed over the steps.
        reward: The reward of the last step.
    """

    land: bytes
    beings: bytes
    body: bytes
    key: bytes
    score: int = 0
    reward: float = 0.0


# What takes long to import is imported when a world is made.
numpy: Any = LateModule("numpy")
terrain: Any = LateModule("waybench.envs.crafter._terrain")
life: Any = LateModule("waybench.envs.crafter._life")
sight: Any = LateModule("waybench.envs.crafter._routes")


def body_of(world: World) -> list[int]:
    """Return the player's numbers; `_ids` says where which is."""
    return memoryview(world.body).cast("i").tolist()


def beings_of(world: World) -> list[list[int]]:
    """Return the numbers of each being, the player first; `_ids` says where which is."""
    numbers = memoryview(world.beings).cast("i").tolist()
    return [numbers[start : start + BEING] for start in range(0, len(numbers), BEING)]


def nearest_of(world: World) -> list[list[int]]:
    """Return what is in view; see `_sight.nearest`."""
    body = body_of(world)
    land, beings = numpy.frombuffer(world.land, numpy.uint8), numpy.frombuffer(world.beings, numpy.int32)
    return sight.nearest(land, beings.reshape(-1, BEING), body[EAST_OF], body[SOUTH_OF]).tolist()


def daylight(world: World) -> float:
    """Return how light it is, from 0 (night) to 1."""
    return 1 - abs(math.cos(math.pi * (body_of(world)[CLOCK] / 300 % 1 + 0.3))) ** 3


def published_seed(seed: int, episode: int) -> int:
    """Return the seed of the random generator that the published program uses: Python's hash of the two numbers.

    Args:
        seed: The program's seed.
        episode: The number of the episode, the first being 1.
    """
    bits, mask = 0x27D4EB2F165667C5, (1 << 64) - 1  # the hash of a tuple of small whole numbers, since Python 3.8
    for number in (seed, episode):
        bits = bits + number * 0xC2B2AE3D27D4EB4F & mask
        bits = (bits << 31 | bits >> 33) * 0x9E3779B185EBCA87 & mask
    bits = bits + (2 ^ 0x27D4EB2F165667C5 ^ 3527539) & mask
    return (bits - (1 << 64) if bits >> 63 else bits) % _SEEDS


def create(seed: int) -> World:
    """Make a world, before any step.

    Args:
        seed: The seed of the random generator, from 0 to 2**31 - 2.
    """
    body = numpy.zeros(BODY, numpy.int32)
    body[:4] = MOST
    body[LAST_HEALTH], body[SOUTH_OF] = MOST, 1
    key = life.seeded(seed, body)
    noise = life.below(key, body, _SEEDS)
    land, inhabitants = numpy.zeros(AREA, numpy.uint8), numpy.zeros(AREA, numpy.uint8)
    draws = life.uniforms(key.copy(), body.copy(), _DRAWS)
    life.skip(key, body, 2 * terrain.generate(noise, draws, land, inhabitants))
    inhabitants[SIZE // 2 * SIZE + SIZE // 2] = 0
    beings = life.settle(inhabitants, body)
    return World(land.tobytes(), beings.tobytes(), body.tobytes(), key.tobytes())


@lru_cache(maxsize=16)  # every attempt at an item, and every check of its record, begins with it
def begin(seed: int) -> World:
    """Make a world and let one step pass in which nothing is done, as the published program does."""
    return advance(create(seed), NOOP)


def advance(world: World, action: int) -> World:
    """Make a step.

    Args:
        world: The world before it.
        action: What the player does.
    """
    from_buffer, numbers = numpy.frombuffer, numpy.int32
    land, key = from_buffer(world.land, numpy.uint8).copy(), from_buffer(world.key, numpy.uint32).copy()
    body, before = from_buffer(world.body, numbers).copy(), from_buffer(world.beings, numbers)
    count = len(before) // BEING
    # Room for what can come in one step: an arrow of each being, a plant, and three beings in each chunk.
    beings = numpy.empty((2 * count + 1 + 3 * CHUNKS * CHUNKS, BEING), numbers)
    beings.ravel()[: len(before)] = before
    count, healed, unlocked, new = life.step(land, beings, body, key, count, action, RENDERED)
    reward = healed / 10 + 1.0 if new else healed / 10
    return World(
        land.tobytes(), beings[:count].tobytes(), body.tobytes(), key.tobytes(), world.score + unlocked, reward
    )


VERSION = 1  # of the generator; part of every item's key
LEVEL = 1


class Worlds(KeyedSource[Wilds]):
    """Worlds drawn by key, of the published size.

    Args:
        key: The set's key.
        level: 1, the only level.
        options: None.

    Raises:
        UsageError: For a level that does not exist.
    """

    def __init__(self, key: str, level: int, options: Mapping[str, Json]) -> None:
        if level != LEVEL:
            raise UsageError(f"level {level}: Crafter has one level, {LEVEL}")
        super().__init__(key, level)

    def instance(self, index: int) -> Wilds:
        """Return the world of this number."""
        return Wilds(Stream("crafter", VERSION, self.key, LEVEL, index).below(SEEDS))
