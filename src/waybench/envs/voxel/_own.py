"""The default world: our own terrain, rays and physics, from the compiled loops."""

import math
from functools import cache

import numpy as np

from waybench.envs.voxel import _generate, _look, _walk
from waybench.envs.voxel._blocks import BIOME_NUMBER, BIOMES, BLOCKS, SOLID, tables
from waybench.envs.voxel._describe import SPREAD, WIDEST, Raw
from waybench.envs.voxel._generate import Bytes, Ints
from waybench.envs.voxel._look import Floats
from waybench.envs.voxel._terrain import EYES, Body, Near, Walked

_NAMES = tuple(BIOMES)
_SOLID: Bytes = np.array(SOLID, dtype=np.uint8)
_EXACT = 30  # bits after the point that are kept of a sine, so that no platform's last digit counts
_CURSOR, _LONGEST = 3.0, 65.0  # blocks that a ray goes, as published


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
    return np.array(ways)


_LENGTHS: Floats = np.array([_CURSOR] + [_LONGEST] * (_look.RAYS - 1))


@cache
def _wanted(goals: tuple[str, ...]) -> Bytes:
    wanted = np.zeros(len(BIOMES), dtype=np.uint8)
    wanted[[BIOME_NUMBER[name] for name in goals]] = 1
    return wanted


class OwnTerrain:
    """A world of our own.

    It keeps the chunks of a square of 256 by 256 columns that wraps around, so that its memory does not grow.

    Args:
        seed: From 0 to 2**62 - 1.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        ground, biomes, trees = (np.array(table, dtype=np.int64) for table in tables())
        self._world: tuple[int, Bytes, Ints, Ints, Ints, Ints] = (seed, *_look.empty_pool(), ground, biomes, trees)

    def block(self, x: int, y: int, z: int) -> str:
        """Return the name of a block."""
        return BLOCKS[_generate.block_at(*self._world, x, y, z)]

    def biome(self, x: int, z: int) -> str:
        """Return the name of a column's biome."""
        return _NAMES[_generate.biome_of(self.seed, x, z)]

    def ground(self, x: int, z: int) -> int:
        """Return the layer of a column's highest block of the ground."""
        return _generate.height_of(self.seed, x, z)

    def stand(self, x: int, z: int) -> Body:
        """Return a walker on the ground or in the water; where a tree is in the way, on top of it."""
        y = max(self.ground(x, z), _generate.SEA - 1) + 1
        while _walk.blocked(*self._world, _SOLID, x + 0.5, float(y), z + 0.5):
            y += 1
        return Body(x + 0.5, float(y), z + 0.5, 0)

    def view(self, body: Body) -> Raw:
        """Return what is seen and felt from a place. There are no beings."""
        voxels = np.empty((2 * _look.NEAR + 1,) * 3, dtype=np.int64)
        _look.around(*self._world, *(math.floor(each) for each in (body.x, body.y, body.z)), voxels)
        rays, distances = np.empty(_look.RAYS, dtype=np.int64), np.empty(_look.RAYS)
        eye = np.array([body.x, body.y + EYES, body.z])
        _look.fan(*self._world, eye, _rays(body.yaw), _LENGTHS, rays, distances)
        return Raw((body.x, body.y, body.z), body.yaw, 0, BLOCKS, voxels, rays, distances)

    def walk(self, body: Body, ticks: bytes, goals: tuple[str, ...]) -> Walked:
        """Walk where one looks."""
        at = np.array([body.x, body.y, body.z, body.rise])
        made, arrived, length = _walk.stroll(
            *self._world, _SOLID, _wanted(goals), at, np.array(heading(body.yaw)), np.frombuffer(ticks, dtype=np.uint8)
        )
        x, y, z, rise = at.tolist()
        return Walked(Body(x, y, z, body.yaw, rise), bool(arrived), float(length), int(made))

    def nearest(self, x: int, z: int, goals: tuple[str, ...], most: int) -> Near | None:
        """Return the nearest place of some biomes."""
        east, south, square = _generate.nearest(self.seed, x, z, _wanted(goals), most)
        return None if square < 0 else Near(int(east), int(south), math.sqrt(square))


