"""The default engine: blocks around a walker, its movement, and our own terrain."""

import math
from abc import ABC, abstractmethod
from functools import cache, cached_property
from threading import RLock

import numpy as np

from waybench._compile import compiled
from waybench.envs.voxel import _look
from waybench.envs.voxel._look import Bytes, Floats, Ints
from waybench.envs.voxel._wording import CURSOR, LONGEST, Raw, fan_angles
from waybench.envs.voxel.engines import _generate
from waybench.envs.voxel.engines._generate import SIDE, SLOTS
from waybench.envs.voxel.engines._terrain import (
    AIR,
    BEDROCK,
    BIOME_NUMBER,
    BIOMES,
    BLOCKS,
    EYES,
    SOLID,
    WATER,
    Body,
    Near,
    WalkResult,
    number_tables,
)

HALF, TALL = 0.3, 1.8  # the walker is a box of so many blocks around its middle, and so high
WALK, SPRINT, SWIM = 0.2158, 0.2806, 0.1
JUMP, GRAVITY, DRAG, FALL = 0.42, 0.08, 0.98, 0.9
_FLOAT, _RISE, _CLIMB = 0.05, 0.15, 0.45  # gained by floating, at most; and where a bank is in the way
_WATER_DRAG = 0.8
_DEEP = 0.4  # of the walker is under water where it swims
_SKIN = 0.001  # left free between the walker and what is above it
_DIAGONAL = 0.7071067811865476  # the square root of 1/2


@compiled
def is_blocked(pool: Bytes, solid: Bytes, x: float, y: float, z: float) -> bool:
    """Return whether the walker, with its feet at x, y, z, would be in something solid.

    `pool` has the chunks around the walker, as in `_look.cast_ray`, and `solid` a 1 for each block that is in the way.
    """
    wrap, layers = pool.shape[0] - 1, pool.shape[4]
    for column in range(int(np.floor(x - HALF)), int(np.floor(x + HALF)) + 1):
        for row in range(int(np.floor(z - HALF)), int(np.floor(z + HALF)) + 1):
            for layer in range(int(np.floor(y)), int(np.floor(y + TALL)) + 1):
                if layer < 0 or (
                    layer < layers
                    and solid[pool[(column >> 4) & wrap, (row >> 4) & wrap, column & 15, row & 15, layer]]
                ):
                    return True
    return False


@compiled
def is_water(pool: Bytes, water: int, x: float, y: float, z: float) -> bool:
    """Return whether there is water at x, y, z."""
    column, layer, row, wrap = int(np.floor(x)), int(np.floor(y)), int(np.floor(z)), pool.shape[0] - 1
    return (
        0 <= layer < pool.shape[4]
        and pool[(column >> 4) & wrap, (row >> 4) & wrap, column & 15, row & 15, layer] == water
    )


@compiled
def next_height(pool: Bytes, solid: Bytes, motion: Floats, swims: bool, jumps: bool) -> float:
    """Return the height of the feet after a tick, and change the speed upwards, `motion[3]`: see `walk_ticks`."""
    x, y, z = motion[0], motion[1], motion[2]
    if swims:
        motion[3] = max(motion[3] * _WATER_DRAG, min(motion[3] * _WATER_DRAG + _FLOAT, _RISE))
    elif motion[3] <= 0 and is_blocked(pool, solid, x, y - 2 * _SKIN, z):
        motion[3] = JUMP if jumps else 0.0
    else:
        motion[3] = max((motion[3] - GRAVITY) * DRAG, -FALL)
    y += motion[3]
    if is_blocked(pool, solid, x, y, z):  # stop below the block above, or on the block below
        y = np.floor(y + TALL) - TALL - _SKIN if motion[3] > 0 else np.floor(y) + 1.0
        if is_blocked(pool, solid, x, y, z):
            y = motion[1]
        motion[3] = 0.0
    return y


@compiled
def walk_ticks(
    pool: Bytes, water: int, solid: Bytes, goals: Bytes, motion: Floats, heading: Floats, ticks: Bytes
) -> tuple[int, bool, float]:
    """Walk for some ticks, or until a goal is reached.

    In each tick the walker goes ahead, and perhaps at the same time to a side, and either sprints or jumps. It moves
    up or down first, then along x, then along z; in a direction in which it would bump into a block it does not move.

    Args:
        pool: The chunks around the walker.
        water: Number of the block water, in which the walker swims.
        solid: 1 for each block that is in the way.
        goals: 1 for each cell of four by four columns in which the walk ends; shape (n, n), the walker's in the middle.
        motion: x, y, z of the feet, and the speed upwards; shape (4,). Changed.
        heading: Where the walker faces: x and z, of length 1.
        ticks: What is done in each tick: 0 or 1 straight ahead, 2 to the left, 3 to the right; plus 4 for sprinting
            in place of jumping.

    Returns:
        Ticks that were walked, whether a goal was reached, and the length of the way over the ground.
    """
    length, reach = 0.0, goals.shape[0] // 2
    column, row = (int(np.floor(motion[0])) >> 2) - reach, (int(np.floor(motion[2])) >> 2) - reach
    for tick in range(ticks.size):
        east, south = heading[0], heading[1]
        sideways = ticks[tick] & 3
        if sideways >= 2:  # left of north (0, -1) is west (-1, 0)
            turn = 1.0 if sideways == 2 else -1.0
            east, south = (east + turn * south) * _DIAGONAL, (south - turn * east) * _DIAGONAL
        sprints = ticks[tick] & 4 > 0
        swims = is_water(pool, water, motion[0], motion[1] + _DEEP, motion[2])
        speed = SWIM if swims else SPRINT if sprints else WALK
        y = next_height(pool, solid, motion, swims, not sprints)
        x, z = motion[0] + east * speed, motion[2] + south * speed
        if is_blocked(pool, solid, x, y, motion[2]):
            x = motion[0]
            motion[3] = _CLIMB if swims else motion[3]
        if is_blocked(pool, solid, x, y, z):
            z = motion[2]
            motion[3] = _CLIMB if swims else motion[3]
        length += np.sqrt((x - motion[0]) ** 2 + (z - motion[2]) ** 2)
        motion[0], motion[1], motion[2] = x, y, z
        if goals[(int(np.floor(x)) >> 2) - column, (int(np.floor(z)) >> 2) - row]:
            return tick + 1, True, length
    return ticks.size, False, length


_EXACT = 30  # bits after the point that are kept of a sine, so that no platform's last digit counts
_NOWHERE = 1 << 60  # no chunk has this number
_MOST_TICKS = 50
_FARTHEST_WALK = 18.0  # blocks; more than 50 times 0.2806 and half a walker
_FARTHEST_CELLS = 4  # the same in cells of four blocks


@cache
def _sine_and_cosine(degrees: float) -> tuple[float, float]:
    """Return sine and cosine of an angle in degrees, rounded to 30 bits, the same on all platforms."""
    angle, unit = math.radians(degrees), 1 << _EXACT
    return round(math.sin(angle) * unit) / unit, round(math.cos(angle) * unit) / unit


@cache
def heading_vector(yaw: float) -> tuple[float, float]:
    """Return x and z of the direction at a yaw."""
    sine, cosine = _sine_and_cosine(yaw)
    return -sine, cosine


@cache
def ray_directions(yaw: float) -> Floats:
    """Return the directions of all rays at a yaw; shape (290, 3)."""
    yaws_and_tilts = [(yaw, 0), *((yaw + turn, tilt) for tilt, turn in fan_angles())]
    vectors: list[tuple[float, float, float]] = []
    for ray_yaw, tilt in yaws_and_tilts:
        (east, south), (up, level) = heading_vector((ray_yaw + 180) % 360 - 180), _sine_and_cosine(tilt)
        vectors.append((east * level, up, south * level))
    directions: Floats = np.array(vectors)
    return directions


LENGTHS: Floats = np.array([CURSOR] + [LONGEST] * (_look.RAYS - 1))


class BlockWorld(ABC):
    """A world of blocks whose map is known. It is a pure function of its seed: queries do not change it.

    It keeps the chunks of a square of 256 by 256 columns that wraps around, so that its memory does not grow.

    Args:
        lowest: The layer of the lowest blocks; what is below is never left.
        layers: Number of layers; above is air.
        sea: The layer of the water's surface.
        steepest: Blocks from the middle of a cell to the middle of the next cell that can mostly be climbed.
        air, water, bedrock: Numbers of these blocks; bedrock is below the world.
        solid: 1 for each block that is in the way.
    """

    version = ""  # of a server, on which a seed's world depends, too

    def __init__(
        self, lowest: int, layers: int, sea: int, steepest: int, air: int, water: int, bedrock: int, solid: Bytes
    ) -> None:
        self.lowest, self.layers, self.sea, self.steepest = lowest, layers, sea, steepest
        self.air, self.water, self.bedrock, self._solid = air, water, bedrock, solid
        self._lock = RLock()  # threads share a world, and each replaces chunks that it does not need itself

    # Made when needed: drawing items asks dozens of worlds for their biomes alone.
    @cached_property
    def _pool(self) -> Bytes:
        return np.zeros((SLOTS, SLOTS, SIDE, SIDE, self.layers), dtype=np.uint8)

    @cached_property
    def _tags(self) -> Ints:
        return np.full((SLOTS, SLOTS, 2), _NOWHERE, dtype=np.int64)

    @abstractmethod
    def biome(self, x: int, z: int) -> str:
        """Return the name of a column's biome."""

    @abstractmethod
    def view(self, body: Body) -> Raw:
        """Return the measurements at a location: what is seen and felt."""

    @abstractmethod
    def nearest(self, x: int, z: int, goals: tuple[str, ...], most: int) -> Near | None:
        """Return the nearest cell of the biomes `goals` within `most` blocks; None if there is none."""

    @abstractmethod
    def chart(self, west: int, north: int, goals: tuple[str, ...], heights: Ints, is_goal: Bytes) -> None:
        """Write heights and goals of cells of four by four columns; see `_generate.write_chart`."""

    @abstractmethod
    def ground(self, x: int, z: int) -> int:
        """Return the layer of a column's highest block of the ground; trees and water do not count."""

    @abstractmethod
    def _ready(self, x: float, z: float, far: float) -> None:
        """Put the missing chunks within `far` blocks of a location, in each direction, into the pool."""

    @abstractmethod
    def _name(self, number: int) -> str:
        """Return the name of a block."""

    @abstractmethod
    def _wanted_around(self, x: int, z: int, goals: tuple[str, ...], is_goal: Bytes) -> None:
        """Write to `is_goal` whether the cells around a column are of the biomes: see `_generate.mark_goal_cells`."""

    def _block_at(self, x: int, y: int, z: int) -> int:
        """Return the number of a block whose chunk is in the pool."""
        if not 0 <= y - self.lowest < self.layers:
            return self.air if y > self.lowest else self.bedrock
        wrap = SLOTS - 1
        return int(self._pool[(x >> 4) & wrap, (z >> 4) & wrap, x & 15, z & 15, y - self.lowest])

    def block(self, x: int, y: int, z: int) -> str:
        """Return the name of a block: air above the world, bedrock below it."""
        with self._lock:
            self._ready(x + 0.5, z + 0.5, 0.0)
            return self._name(self._block_at(x, y, z))

    def stand(self, x: int, z: int) -> Body:
        """Return a walker on the ground, in the water, or on top of a tree that is in the way."""
        y = max(self.ground(x, z), self.sea - 1) + 1
        with self._lock:
            self._ready(x + 0.5, z + 0.5, 1.0)
            while is_blocked(self._pool, self._solid, x + 0.5, float(y - self.lowest), z + 0.5):
                y += 1
        return Body(x + 0.5, float(y), z + 0.5, 0)

    def is_clear_ground(self, x: int, z: int) -> bool:
        """Return whether a walker stands on the ground in a column: no water, no hole, nothing in the way."""
        ground = self.ground(x, z)
        if ground < self.sea or self.stand(x, z).y != ground + 1:
            return False
        with self._lock:
            self._ready(x + 0.5, z + 0.5, 0.0)
            return bool(self._solid[self._block_at(x, ground, z)]) and self._block_at(x, ground + 1, z) != self.water

    def walk(self, body: Body, ticks: bytes, goals: tuple[str, ...]) -> WalkResult:
        """Walk in the direction of the body's yaw; ValueError for more ticks than the chunks in the pool allow."""
        if len(ticks) > _MOST_TICKS:
            raise ValueError(f"{len(ticks)} ticks: at most {_MOST_TICKS} at once")
        is_goal = np.empty((2 * _FARTHEST_CELLS + 1,) * 2, dtype=np.uint8)
        self._wanted_around(math.floor(body.x), math.floor(body.z), goals, is_goal)
        motion = np.array([body.x, body.y - self.lowest, body.z, body.rise])
        heading, tick_commands = np.array(heading_vector(body.yaw)), np.frombuffer(ticks, dtype=np.uint8)
        with self._lock:
            self._ready(body.x, body.z, _FARTHEST_WALK)
            n_ticks, arrived, length = walk_ticks(
                self._pool, self.water, self._solid, is_goal, motion, heading, tick_commands
            )
        x, y, z, rise = motion.tolist()
        return WalkResult(Body(x, y + self.lowest, z, body.yaw, rise), bool(arrived), float(length), int(n_ticks))

    def _blocks_around(self, body: Body) -> Ints:
        """Return the blocks around the feet, whose chunks are in the pool; shape (9, 9, 9): x, y, z."""
        voxels = np.empty((2 * _look.NEAR + 1,) * 3, dtype=np.int64)
        x, y, z = (math.floor(coordinate) for coordinate in (body.x, body.y, body.z))
        _look.write_blocks_around(self._pool, self._tags, self.air, self.bedrock, x, y - self.lowest, z, voxels)
        return voxels


def eye_position(body: Body) -> Floats:
    """Return x, y, z of the walker's eye."""
    return np.array([body.x, body.y + EYES, body.z])


_NAMES = tuple(BIOMES)
_SOLID: Bytes = np.array(SOLID, dtype=np.uint8)
_STEEPEST = 5


@cache
def _number_tables() -> tuple[Ints, Ints, Ints]:
    """Return ground, biomes and trees as arrays, as the kernel takes them."""
    ground, biomes, trees = (np.array(table, dtype=np.int64) for table in number_tables())
    return ground, biomes, trees


@cache
def goal_mask(goals: tuple[str, ...]) -> Bytes:
    """Return 1 for each biome that is a goal, otherwise 0."""
    is_goal = np.zeros(len(BIOMES), dtype=np.uint8)
    is_goal[[BIOME_NUMBER[name] for name in goals]] = 1
    return is_goal


class OwnTerrain(BlockWorld):
    """A world of our own."""

    def __init__(self, seed: int) -> None:
        super().__init__(0, _generate.HEIGHT, _generate.SEA, _STEEPEST, AIR, WATER, BEDROCK, _SOLID)
        self.seed = seed
        # Goals -> x and z where they were looked for last, and a distance from there within which there are none.
        self._none_within: dict[tuple[str, ...], tuple[int, int, float]] = {}

    def _ready(self, x: float, z: float, far: float, ahead: tuple[float, float] = (0.0, 0.0)) -> None:
        ground, biomes, trees = _number_tables()
        _generate.make_missing_chunks(self.seed, self._pool, self._tags, ground, biomes, trees, x, z, *ahead, far)

    def _name(self, number: int) -> str:
        return BLOCKS[number]

    def _wanted_around(self, x: int, z: int, goals: tuple[str, ...], is_goal: Bytes) -> None:
        _generate.mark_goal_cells(self.seed, x, z, goal_mask(goals), is_goal)

    def biome(self, x: int, z: int) -> str:
        return _NAMES[_generate.biome_number(self.seed, x, z)]

    def ground(self, x: int, z: int) -> int:
        return _generate.ground_height(self.seed, x, z)

    def view(self, body: Body) -> Raw:
        hits, distances = np.empty(_look.RAYS, dtype=np.int64), np.empty(_look.RAYS)
        with self._lock:
            self._ready(body.x, body.z, float(_look.NEAR + 1))
            self._ready(body.x, body.z, LONGEST, heading_vector(body.yaw))
            voxels = self._blocks_around(body)
            eye, directions = eye_position(body), ray_directions(body.yaw)
            world = self._pool, self._tags, AIR, BEDROCK, WATER
            _look.cast_rays(*world, eye, directions, LENGTHS, hits, distances)
        if hits.min() == _look.MISSING or voxels.min() == _look.MISSING:
            raise RuntimeError(f"a ray from {body} left the chunks that were made for it")
        return Raw((body.x, body.y, body.z), body.yaw, 0, BLOCKS, voxels, hits, distances)

    def nearest(self, x: int, z: int, goals: tuple[str, ...], most: int) -> Near | None:
        """Return the nearest cell of the biomes; cells known from the last call to be of other biomes are left out."""
        before_x, before_z, empty_radius = self._none_within.get(goals, (x, z, 0.0))
        least = max(int(empty_radius - math.hypot(x - before_x, z - before_z)) - 1, 0)  # - 1: rounding errors
        east, south, squared_distance = _generate.nearest_cell(self.seed, x, z, goal_mask(goals), least, most)
        near = None if squared_distance < 0 else Near(int(east), int(south), math.sqrt(squared_distance))
        self._none_within[goals] = x, z, most if near is None else near.away
        return near

    def chart(self, west: int, north: int, goals: tuple[str, ...], heights: Ints, is_goal: Bytes) -> None:
        _generate.write_chart(self.seed, west, north, goal_mask(goals), heights, is_goal)
