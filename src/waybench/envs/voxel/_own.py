"""The default world: our own terrain, rays and physics, from the compiled loops."""

import math
from functools import cache
from threading import RLock

import numpy as np

from waybench.envs.voxel import _generate, _look, _walk
from waybench.envs.voxel._blocks import AIR, BEDROCK, BIOME_NUMBER, BIOMES, BLOCKS, SOLID, WATER, tables
from waybench.envs.voxel._describe import SPREAD, WIDEST, Raw
from waybench.envs.voxel._generate import Bytes, Ints
from waybench.envs.voxel._look import Floats
from waybench.envs.voxel._terrain import EYES, Body, Near, Walked

_NAMES = tuple(BIOMES)
_SOLID: Bytes = np.array(SOLID, dtype=np.uint8)
_EXACT = 30  # bits after the point that are kept of a sine, so that no platform's last digit counts
_CURSOR, _LONGEST = 3.0, 65.0  # blocks that a ray goes, as published
_NOWHERE = 1 << 60  # no chunk has this number
_ALL_AROUND = (0.0, 0.0)
_MOST_TICKS = 50
_STROLL = 18.0  # blocks; the farthest that one comes in so many ticks is 50 times 0.2806, and half a walker
_CELLS = 4  # the same in cells of four blocks


@cache
def _wave(degrees: int) -> tuple[float, float]:
    """Return sine and cosine of whole degrees."""
    angle, one = math.radians(degrees), 1 << _EXACT
    return round(math.sin(angle) * one) / one, round(math.cos(angle) * one) / one


@cache
def heading(yaw: int) -> tuple[float, float]:
    """Return x and z of the direction in which one looks."""
    sine, cosine = _wave(yaw)
    return -sine, cosine


@cache
def _rays(yaw: int) -> Floats:
    """Return the directions of all rays; shape (290, 3)."""
    turns = range(-WIDEST, WIDEST + 1, SPREAD)
    angles = [(yaw, 0), *((yaw + turn, tilt) for tilt in turns for turn in turns)]
    ways: list[tuple[float, float, float]] = []
    for turned, tilt in angles:
        (east, south), (up, flat) = heading((turned + 180) % 360 - 180), _wave(tilt)
        ways.append((east * flat, up, south * flat))
    found: Floats = np.array(ways)
    return found


_LENGTHS: Floats = np.array([_CURSOR] + [_LONGEST] * (_look.RAYS - 1))


@cache
def wanted(goals: tuple[str, ...]) -> Bytes:
    """Return 1 for each biome that is one of some."""
    found = np.zeros(len(BIOMES), dtype=np.uint8)
    found[[BIOME_NUMBER[name] for name in goals]] = 1
    return found


class OwnTerrain:
    """A world of our own.

    It keeps the chunks of a square of 256 by 256 columns that wraps around, so that its memory does not grow.

    Args:
        seed: From 0 to 2**62 - 1.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._lock = RLock()  # threads share a world, and each takes chunks out of it that it does not need
        shape = (_generate.SLOTS, _generate.SLOTS)
        self._pool: Bytes = np.zeros((*shape, _generate.SIDE, _generate.SIDE, _generate.HEIGHT), dtype=np.uint8)
        self._tags: Ints = np.full((*shape, 2), _NOWHERE, dtype=np.int64)
        self._tables = tuple(np.array(table, dtype=np.int64) for table in tables())

    def _ready(self, x: float, z: float, ahead: tuple[float, float], far: float) -> None:
        ground, biomes, trees = self._tables
        _generate.ready(self.seed, self._pool, self._tags, ground, biomes, trees, x, z, *ahead, far)

    def block(self, x: int, y: int, z: int) -> str:
        """Return the name of a block: air above the world, bedrock below it."""
        if not 0 <= y < _generate.HEIGHT:
            return BLOCKS[AIR] if y > 0 else BLOCKS[BEDROCK]
        wrap = _generate.SLOTS - 1
        with self._lock:
            self._ready(x + 0.5, z + 0.5, _ALL_AROUND, 0.0)
            return BLOCKS[int(self._pool[(x >> 4) & wrap, (z >> 4) & wrap, x & 15, z & 15, y])]

    def biome(self, x: int, z: int) -> str:
        """Return the name of a column's biome."""
        return _NAMES[_generate.biome_of(self.seed, x, z)]

    def ground(self, x: int, z: int) -> int:
        """Return the layer of a column's highest block of the ground."""
        return _generate.height_of(self.seed, x, z)

    def stand(self, x: int, z: int) -> Body:
        """Return a walker on the ground or in the water; where a tree is in the way, on top of it."""
        y = max(self.ground(x, z), _generate.SEA - 1) + 1
        with self._lock:
            self._ready(x + 0.5, z + 0.5, _ALL_AROUND, 1.0)
            while _walk.blocked(self._pool, AIR, _SOLID, x + 0.5, float(y), z + 0.5):
                y += 1
        return Body(x + 0.5, float(y), z + 0.5, 0)

    def view(self, body: Body) -> Raw:
        """Return what is seen and felt from a place. There are no beings."""
        voxels = np.empty((2 * _look.NEAR + 1,) * 3, dtype=np.int64)
        rays, distances = np.empty(_look.RAYS, dtype=np.int64), np.empty(_look.RAYS)
        x, y, z = (math.floor(each) for each in (body.x, body.y, body.z))
        eye, ways = np.array([body.x, body.y + EYES, body.z]), _rays(body.yaw)
        with self._lock:
            self._ready(body.x, body.z, _ALL_AROUND, float(_look.NEAR + 1))
            self._ready(body.x, body.z, heading(body.yaw), _LONGEST)
            _look.around(self._pool, self._tags, AIR, BEDROCK, x, y, z, voxels)
            _look.fan(self._pool, self._tags, AIR, BEDROCK, WATER, eye, ways, _LENGTHS, rays, distances)
        if rays.min() == _look.MISSING or voxels.min() == _look.MISSING:
            raise RuntimeError(f"a ray from {body} left the chunks that were made for it")
        return Raw((body.x, body.y, body.z), body.yaw, 0, BLOCKS, voxels, rays, distances)

    def walk(self, body: Body, ticks: bytes, goals: tuple[str, ...]) -> Walked:
        """Walk where one looks.

        Raises:
            ValueError: If there are more ticks than the chunks around are made for.
        """
        if len(ticks) > _MOST_TICKS:
            raise ValueError(f"{len(ticks)} ticks: at most {_MOST_TICKS} at once")
        found = np.empty((2 * _CELLS + 1,) * 2, dtype=np.uint8)
        _generate.wanted_around(self.seed, math.floor(body.x), math.floor(body.z), wanted(goals), found)
        at, done = np.array([body.x, body.y, body.z, body.rise]), np.frombuffer(ticks, dtype=np.uint8)
        ahead = np.array(heading(body.yaw))
        with self._lock:
            self._ready(body.x, body.z, _ALL_AROUND, _STROLL)
            made, arrived, length = _walk.stroll(self._pool, AIR, WATER, _SOLID, found, at, ahead, done)
        x, y, z, rise = at.tolist()
        return Walked(Body(x, y, z, body.yaw, rise), bool(arrived), float(length), int(made))

    def nearest(self, x: int, z: int, goals: tuple[str, ...], most: int) -> Near | None:
        """Return the nearest place of some biomes."""
        east, south, square = _generate.nearest(self.seed, x, z, wanted(goals), most)
        return None if square < 0 else Near(int(east), int(south), math.sqrt(square))
