"""A world of which some chunks are kept: the blocks around a walker, and where a walk ends."""

import math
from abc import ABC, abstractmethod
from functools import cache, cached_property
from threading import RLock

import numpy as np

from waybench.envs.voxel import _look
from waybench.envs.voxel._look import Bytes, Floats, Ints
from waybench.envs.voxel._wording import CURSOR, LONGEST, fan_angles
from waybench.envs.voxel.engines import _walk
from waybench.envs.voxel.engines._generate import SIDE, SLOTS
from waybench.envs.voxel.engines._terrain import EYES, Body, Walked

_EXACT = 30  # bits after the point that are kept of a sine, so that no platform's last digit counts
_NOWHERE = 1 << 60  # no chunk has this number
_MOST_TICKS = 50
_STROLL = 18.0  # blocks; the farthest that one comes in so many ticks is 50 times 0.2806, and half a walker
_CELLS = 4  # the same in cells of four blocks


@cache
def _wave(degrees: float) -> tuple[float, float]:
    """Return sine and cosine of whole degrees."""
    angle, unit = math.radians(degrees), 1 << _EXACT
    return round(math.sin(angle) * unit) / unit, round(math.cos(angle) * unit) / unit


@cache
def heading(yaw: float) -> tuple[float, float]:
    """Return x and z of the direction in which one looks."""
    sine, cosine = _wave(yaw)
    return -sine, cosine


@cache
def rays(yaw: float) -> Floats:
    """Return the directions of all rays; shape (290, 3)."""
    angles = [(yaw, 0), *((yaw + turn, tilt) for tilt, turn in fan_angles())]
    ways: list[tuple[float, float, float]] = []
    for turned, tilt in angles:
        (east, south), (up, flat) = heading((turned + 180) % 360 - 180), _wave(tilt)
        ways.append((east * flat, up, south * flat))
    directions: Floats = np.array(ways)
    return directions


LENGTHS: Floats = np.array([CURSOR] + [LONGEST] * (_look.RAYS - 1))


class BlockWorld(ABC):
    """A world of blocks.

    It keeps the chunks of a square of 256 by 256 columns that wraps around, so that its memory does not grow.

    Args:
        lowest: The layer of the lowest blocks; what is below is never left.
        layers: How many layers there are; above is air.
        sea: The layer of the water's surface.
        steepest: Blocks from the middle of a cell to that of the next that can mostly be climbed.
        air: Number of this block.
        water: The same; in it one swims.
        bedrock: The same; it is below the world.
        solid: 1 for each block that is in the way.
    """

    version = ""

    def __init__(
        self, lowest: int, layers: int, sea: int, steepest: int, air: int, water: int, bedrock: int, solid: Bytes
    ) -> None:
        self.lowest, self.layers, self.sea, self.steepest = lowest, layers, sea, steepest
        self.air, self.water, self.bedrock, self._solid = air, water, bedrock, solid
        self._lock = RLock()  # threads share a world, and each takes chunks out of it that it does not need

    # Whoever draws items asks dozens of worlds for their biomes alone, which takes less time than to clear this memory.
    @cached_property
    def _pool(self) -> Bytes:
        return np.zeros((SLOTS, SLOTS, SIDE, SIDE, self.layers), dtype=np.uint8)

    @cached_property
    def _tags(self) -> Ints:
        return np.full((SLOTS, SLOTS, 2), _NOWHERE, dtype=np.int64)

    @abstractmethod
    def ground(self, x: int, z: int) -> int:
        """Return the layer of a column's highest block of the ground; trees and water do not count."""

    @abstractmethod
    def _ready(self, x: float, z: float, far: float) -> None:
        """Take care that the chunks within a distance of a place are in the pool, in each direction."""

    @abstractmethod
    def _name(self, number: int) -> str:
        """Return the name of a block."""

    @abstractmethod
    def _wanted_around(self, x: int, z: int, goals: tuple[str, ...], is_goal: Bytes) -> None:
        """Write 1 for the cells around a place that are of some biomes; shape (n, n), n odd, its own in the middle."""

    def _at(self, x: int, y: int, z: int) -> int:
        """Return the number of a block whose chunk is in the pool."""
        if not 0 <= y - self.lowest < self.layers:
            return self.air if y > self.lowest else self.bedrock
        wrap = SLOTS - 1
        return int(self._pool[(x >> 4) & wrap, (z >> 4) & wrap, x & 15, z & 15, y - self.lowest])

    def block(self, x: int, y: int, z: int) -> str:
        """Return the name of a block: air above the world, bedrock below it."""
        with self._lock:
            self._ready(x + 0.5, z + 0.5, 0.0)
            return self._name(self._at(x, y, z))

    def stand(self, x: int, z: int) -> Body:
        """Return a walker on the ground or in the water; where a tree is in the way, on top of it."""
        y = max(self.ground(x, z), self.sea - 1) + 1
        with self._lock:
            self._ready(x + 0.5, z + 0.5, 1.0)
            while _walk.blocked(self._pool, self.air, self._solid, x + 0.5, float(y - self.lowest), z + 0.5):
                y += 1
        return Body(x + 0.5, float(y), z + 0.5, 0)

    def clear(self, x: int, z: int) -> bool:
        """Whether one stands on the ground in a column: nothing is in the way, neither water nor a hole."""
        ground = self.ground(x, z)
        if ground < self.sea or self.stand(x, z).y != ground + 1:
            return False
        with self._lock:
            self._ready(x + 0.5, z + 0.5, 0.0)
            return bool(self._solid[self._at(x, ground, z)]) and self._at(x, ground + 1, z) != self.water

    def walk(self, body: Body, ticks: bytes, goals: tuple[str, ...]) -> Walked:
        """Walk where one looks.

        Raises:
            ValueError: If there are more ticks than the chunks around are made for.
        """
        if len(ticks) > _MOST_TICKS:
            raise ValueError(f"{len(ticks)} ticks: at most {_MOST_TICKS} at once")
        is_goal = np.empty((2 * _CELLS + 1,) * 2, dtype=np.uint8)
        self._wanted_around(math.floor(body.x), math.floor(body.z), goals, is_goal)
        at, tick_array = (
            np.array([body.x, body.y - self.lowest, body.z, body.rise]),
            np.frombuffer(ticks, dtype=np.uint8),
        )
        ahead = np.array(heading(body.yaw))
        with self._lock:
            self._ready(body.x, body.z, _STROLL)
            ticks_made, arrived, length = _walk.stroll(
                self._pool, self.air, self.water, self._solid, is_goal, at, ahead, tick_array
            )
        x, y, z, rise = at.tolist()
        return Walked(Body(x, y + self.lowest, z, body.yaw, rise), bool(arrived), float(length), int(ticks_made))

    def _felt(self, body: Body) -> Ints:
        """Return the blocks around the feet; (9, 9, 9) whole numbers: x, y, z. The chunks are in the pool."""
        voxels = np.empty((2 * _look.NEAR + 1,) * 3, dtype=np.int64)
        x, y, z = (math.floor(coordinate) for coordinate in (body.x, body.y, body.z))
        _look.around(self._pool, self._tags, self.air, self.bedrock, x, y - self.lowest, z, voxels)
        return voxels


def eye_of(body: Body) -> Floats:
    """Return where the eyes are."""
    return np.array([body.x, body.y + EYES, body.z])
