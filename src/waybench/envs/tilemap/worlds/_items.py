"""Sets of the project's own worlds: which there are at a level, and how large each of them is."""

from collections.abc import Mapping
from dataclasses import replace
from math import isqrt
from typing import Any

from waybench._late import LateModule
from waybench.core import Item, Json, Option, Source, Stream, UsageError
from waybench.envs.tilemap._instance import TileMap, prove
from waybench.envs.tilemap.worlds._tiles import BIOMES

_world: Any = LateModule("waybench.envs.tilemap.worlds._world")  # it imports numpy

VERSION = 1  # of the generator; part of every item's key
LOWEST_LEVEL, HIGHEST_LEVEL = 1, 9
_LEAST_ROWS, _LEAST_COLUMNS, _MOST_ROWS, _MOST_COLUMNS = 7, 10, 100, 200
_MOST_OBJECTIVES = 11
# As often as published maps have so many objectives: eight most often, then four, five and three.
_OBJECTIVES = tuple(
    count
    for count, weight in zip(range(1, 12), (1, 2, 14, 36, 23, 8, 4, 66, 2, 1, 2), strict=True)
    for _ in range(weight)
)
_SHAPES = ((100, 150), (130, 250), (150, 300), (180, 400), (350, 800))  # columns for 100 rows, at least and at most

WORLD_OPTIONS = (
    Option(
        name="objectives",
        default=None,
        kind=int,
        low=1,
        high=_MOST_OBJECTIVES,
        doc="Number of objectives; if not given it is drawn, mostly 8, 4, 5 or 3, and fewer on small maps.",
    ),
    Option(
        name="tiles",
        default=None,
        kind=int,
        low=7,
        high=60,
        doc="Number of kinds of tiles, the player and the antagonist included; drawn from 7 to 46 if not given.",
    ),
    Option(
        name="biome",
        default="any",
        choices=("any", *sorted(BIOMES)),
        doc="What the world is like; any draws one for each map.",
    ),
)


class WorldSource(Source[TileMap]):
    """Tile worlds that are drawn by key, with a way to every objective.

    Args:
        key: The set's key.
        level: Size class, as of `TileMap.level`: level k holds maps of 70 * 2 ** (k - 1) cells up to twice as many.
        options: `objectives`, `tiles` and `biome`.

    Raises:
        UsageError: For a level that does not exist, or whose smallest maps have no room for so many kinds of tiles.
    """

    def __init__(self, key: str, level: int, options: Mapping[str, Json]) -> None:
        if not LOWEST_LEVEL <= level <= HIGHEST_LEVEL:
            raise UsageError(f"level {level}: give a size class from {LOWEST_LEVEL} to {HIGHEST_LEVEL}")
        self._key, self._level = key, level
        self._objectives, self._tiles = int(options["objectives"] or 0), int(options["tiles"] or 0)
        self._biome = str(options["biome"])
        most = 15 + 15 * level
        if self._tiles > most:
            raise UsageError(
                f"tiles={self._tiles}: maps of level {level} have room for {most}; give fewer, or a higher level"
            )

    def item(self, index: int) -> Item[TileMap]:
        """Return the item of this number."""
        settings = (self._objectives, self._tiles, self._biome)
        rng = Stream("tilemap", VERSION, self._key, self._level, *settings, index)
        size = _draw_size(self._level, rng)
        biome = sorted(BIOMES)[rng.below(len(BIOMES))] if self._biome == "any" else self._biome
        tiles = self._tiles or _draw_tiles(self._level, rng)
        name = f"{self._level}-{index}"
        world: TileMap = _world.make_world(
            size, biome, tiles, self._objectives or _draw_objectives(self._level, rng), name, rng
        )
        proof = prove(world)
        world = replace(world, path_length=proof["minimum"])
        return Item(world, name, self._level, self._key, index, proof)


def _draw_size(level: int, rng: Stream) -> tuple[int, int]:
    """Return a number of rows and columns of this size class; most maps are two or three times as wide as high."""
    least = 70 << level - 1
    most = min(2 * least - 1, _MOST_ROWS * _MOST_COLUMNS)
    size = least + rng.below(most - least + 1)
    low, high = rng.choice(_SHAPES)
    rows = isqrt(size * 100 // (low + rng.below(high - low + 1)))
    fewest = max(_LEAST_ROWS, -(-least // _MOST_COLUMNS))
    rows = max(fewest, min(rows, _MOST_ROWS, most // _LEAST_COLUMNS))
    columns = max(_LEAST_COLUMNS, -(-least // rows), min(size // rows, _MOST_COLUMNS))
    return rows, columns


def _draw_tiles(level: int, rng: Stream) -> int:
    """Return a number of kinds of tiles: from 7 to 46, on small maps fewer, those in the middle more often."""
    spread = min(39, 6 + 9 * level)
    return 7 + rng.below(spread // 2 + 1) + rng.below(spread - spread // 2 + 1)


def _draw_objectives(level: int, rng: Stream) -> int:
    """Return a number of objectives, at the lowest levels no more than there is room for."""
    return min(rng.choice(_OBJECTIVES), 2 * level + 1 + rng.below(3))
