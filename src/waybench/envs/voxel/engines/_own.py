"""The default world: our own terrain, rays and physics, from the compiled loops."""

import math
from functools import cache

import numpy as np

from waybench.envs.voxel import _look
from waybench.envs.voxel._blocks import AIR, BEDROCK, BIOME_NUMBER, BIOMES, BLOCKS, SOLID, WATER, tables
from waybench.envs.voxel._look import Bytes, Ints
from waybench.envs.voxel._wording import LONGEST, Raw
from waybench.envs.voxel.engines import _generate
from waybench.envs.voxel.engines._blockworld import LENGTHS, BlockWorld, eye_of, heading, rays
from waybench.envs.voxel.engines._terrain import Body, Near

_NAMES = tuple(BIOMES)
_SOLID: Bytes = np.array(SOLID, dtype=np.uint8)
_ALL_AROUND = (0.0, 0.0)
_STEEPEST = 5


@cache
def _tables() -> tuple[Ints, Ints, Ints]:
    ground, biomes, trees = (np.array(table, dtype=np.int64) for table in tables())
    return ground, biomes, trees


@cache
def goal_mask(goals: tuple[str, ...]) -> Bytes:
    """Return 1 for each biome that is one of some."""
    is_goal = np.zeros(len(BIOMES), dtype=np.uint8)
    is_goal[[BIOME_NUMBER[name] for name in goals]] = 1
    return is_goal


class OwnTerrain(BlockWorld):
    """A world of our own.

    Args:
        seed: From 0 to 2**62 - 1.
    """

    def __init__(self, seed: int) -> None:
        super().__init__(0, _generate.HEIGHT, _generate.SEA, _STEEPEST, AIR, WATER, BEDROCK, _SOLID)
        self.seed = seed
        # Goals -> the place where they were looked for last, and a distance within which there is none of them.
        self._none_within: dict[tuple[str, ...], tuple[int, int, float]] = {}

    def _ready(self, x: float, z: float, far: float, ahead: tuple[float, float] = _ALL_AROUND) -> None:
        ground, biomes, trees = _tables()
        _generate.ready(self.seed, self._pool, self._tags, ground, biomes, trees, x, z, *ahead, far)

    def _name(self, number: int) -> str:
        return BLOCKS[number]

    def _wanted_around(self, x: int, z: int, goals: tuple[str, ...], is_goal: Bytes) -> None:
        _generate.wanted_around(self.seed, x, z, goal_mask(goals), is_goal)

    def biome(self, x: int, z: int) -> str:
        """Return the name of a column's biome."""
        return _NAMES[_generate.biome_of(self.seed, x, z)]

    def ground(self, x: int, z: int) -> int:
        """Return the layer of a column's highest block of the ground."""
        return _generate.height_of(self.seed, x, z)

    def view(self, body: Body) -> Raw:
        """Return what is seen and felt from a place. There are no beings."""
        hits, distances = np.empty(_look.RAYS, dtype=np.int64), np.empty(_look.RAYS)
        with self._lock:
            self._ready(body.x, body.z, float(_look.NEAR + 1))
            self._ready(body.x, body.z, LONGEST, heading(body.yaw))
            voxels = self._felt(body)
            _look.fan(
                self._pool, self._tags, AIR, BEDROCK, WATER, eye_of(body), rays(body.yaw), LENGTHS, hits, distances
            )
        if hits.min() == _look.MISSING or voxels.min() == _look.MISSING:
            raise RuntimeError(f"a ray from {body} left the chunks that were made for it")
        return Raw((body.x, body.y, body.z), body.yaw, 0, BLOCKS, voxels, hits, distances)

    def nearest(self, x: int, z: int, goals: tuple[str, ...], most: int) -> Near | None:
        """Return the nearest place of some biomes.

        Who walks asks after every step. What was empty around the place before is empty around this one too, but for
        the way between them, so that most cells need not be looked at again.
        """
        before_x, before_z, empty = self._none_within.get(goals, (x, z, 0.0))
        least = max(int(empty - math.hypot(x - before_x, z - before_z)) - 1, 0)  # 1 for what rounding may be off
        east, south, square = _generate.nearest(self.seed, x, z, goal_mask(goals), least, most)
        near = None if square < 0 else Near(int(east), int(south), math.sqrt(square))
        self._none_within[goals] = x, z, most if near is None else near.away
        return near

    def chart(self, west: int, north: int, goals: tuple[str, ...], heights: Ints, is_goal: Bytes) -> None:
        """Write down what cells are like."""
        _generate.chart(self.seed, west, north, goal_mask(goals), heights, is_goal)
