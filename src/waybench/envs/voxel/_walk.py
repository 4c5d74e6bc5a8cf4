"""How the walker moves: gravity, jumps, swimming, and what it bumps into. Compiled.

A tick is a twentieth of a second. All lengths are in blocks, all speeds in blocks a tick.
"""

import numpy as np

from waybench.envs.voxel._generate import Bytes, Ints, biome_of, block_at
from waybench.envs.voxel._jit import jit
from waybench.envs.voxel._look import Floats

HALF, TALL = 0.3, 1.8  # the walker is a box of so many blocks around its middle, and so high
WALK, SPRINT, SWIM = 0.2158, 0.2806, 0.1
JUMP, GRAVITY, DRAG, FALL = 0.42, 0.08, 0.98, 0.9
_FLOAT, _RISE, _CLIMB = 0.05, 0.15, 0.45  # gained by floating, at most; and where a bank is in the way
_DEEP = 0.4  # of the walker is under water where it swims
_SKIN = 0.001  # left free between the walker and what it bumps into


@jit
def blocked(
    seed: int,
    pool: Bytes,
    tags: Ints,
    ground: Ints,
    biomes: Ints,
    trees: Ints,
    solid: Bytes,
    x: float,
    y: float,
    z: float,
) -> bool:
    """Whether the walker would be in something solid, with its feet at a place."""
    for i in range(int(np.floor(x - HALF)), int(np.floor(x + HALF)) + 1):
        for j in range(int(np.floor(y)), int(np.floor(y + TALL)) + 1):
            for k in range(int(np.floor(z - HALF)), int(np.floor(z + HALF)) + 1):
                if solid[block_at(seed, pool, tags, ground, biomes, trees, i, j, k)]:
                    return True
    return False


@jit
def stroll(
    seed: int,
    pool: Bytes,
    tags: Ints,
    ground: Ints,
    biomes: Ints,
    trees: Ints,
    solid: Bytes,
    goals: Bytes,
    at: Floats,
    ahead: Floats,
    ticks: Bytes,
) -> tuple[int, bool, float]:
    """Walk for some ticks, or until a goal is reached.

    In each tick the walker goes ahead, and perhaps at the same time to a side, and either sprints or jumps. It moves
    up or down first, then along x, then along z, and stops at what is in the way.

    Args:
        seed: See `block_at`, as the next five.
        pool: The chunks.
        tags: Which they are.
        ground: See `_blocks.tables`.
        biomes: The same.
        trees: The same.
        solid: 1 for each block that is in the way.
        goals: 1 for each biome in which the walk ends.
        at: x, y, z of the feet, and the speed upwards; shape (4,). Changed.
        ahead: Where the walker faces: x and z, of length 1.
        ticks: What is done in each tick: 0 or 1 straight ahead, 2 to the left, 3 to the right; plus 4 for sprinting
            in place of jumping.

    Returns:
        Ticks that were walked, whether a goal was reached, and the length of the way over the ground.
    """
    length = 0.0
    for tick in range(ticks.size):
        east, south = ahead[0], ahead[1]
        side = ticks[tick] & 3
        if side >= 2:  # left of north (0, -1) is west (-1, 0)
            turn = 1.0 if side == 2 else -1.0
            east, south = (east + turn * south) * 0.7071067811865476, (south - turn * east) * 0.7071067811865476
        sprints = ticks[tick] & 4 > 0
        x, y, z = at[0], at[1], at[2]
        there = block_at(
            seed, pool, tags, ground, biomes, trees, int(np.floor(x)), int(np.floor(y + _DEEP)), int(np.floor(z))
        )
        swims = there == ground[4]
        speed = SWIM if swims else SPRINT if sprints else WALK
        if swims:
            at[3] = max(at[3] * 0.8, min(at[3] * 0.8 + _FLOAT, _RISE))
        else:
            stands = at[3] <= 0 and blocked(
                seed, pool, tags, ground, biomes, trees, solid, x, y - 2 * _SKIN, z
            )
            at[3] = JUMP if stands and not sprints else 0.0 if stands else max((at[3] - GRAVITY) * DRAG, -FALL)
        y += at[3]
        if blocked(seed, pool, tags, ground, biomes, trees, solid, x, y, z):
            y = np.floor(at[1] + TALL + at[3]) - TALL - _SKIN if at[3] > 0 else np.floor(y) + 1.0
            if blocked(seed, pool, tags, ground, biomes, trees, solid, x, y, z):
                y = at[1]
            at[3] = 0.0
        for axis in range(2):
            step = (east if axis == 0 else south) * speed
            if axis == 0 and not blocked(seed, pool, tags, ground, biomes, trees, solid, x + step, y, z):
                x += step
            elif axis == 1 and not blocked(seed, pool, tags, ground, biomes, trees, solid, x, y, z + step):
                z += step
            elif swims:
                at[3] = _CLIMB
        length += np.sqrt((x - at[0]) ** 2 + (z - at[2]) ** 2)
        at[0], at[1], at[2] = x, y, z
        if goals[biome_of(seed, int(np.floor(x)), int(np.floor(z)))]:
            return tick + 1, True, length
    return ticks.size, False, length
