"""The walker's movement: gravity, jumps, swimming and collisions. Compiled.

A tick is a twentieth of a second. All lengths are in blocks, all speeds in blocks a tick. As in `_look`, the chunks are
made before.
"""

import numpy as np

from waybench._compile import compiled
from waybench.envs.voxel._look import Bytes, Floats

HALF, TALL = 0.3, 1.8  # the walker is a box of so many blocks around its middle, and so high
WALK, SPRINT, SWIM = 0.2158, 0.2806, 0.1
JUMP, GRAVITY, DRAG, FALL = 0.42, 0.08, 0.98, 0.9
_FLOAT, _RISE, _CLIMB = 0.05, 0.15, 0.45  # gained by floating, at most; and where a bank is in the way
_DEEP = 0.4  # of the walker is under water where it swims
_SKIN = 0.001  # left free between the walker and what is above it
_DIAGONAL = 0.7071067811865476


@compiled
def blocked(pool: Bytes, air: int, solid: Bytes, x: float, y: float, z: float) -> bool:
    """Whether the walker would be in something solid, with its feet at a place.

    Args:
        pool: The chunks, as in `_look.cast`; those around the place are there.
        air: Number of this block; it is above the world, and bedrock below.
        solid: 1 for each block that is in the way.
        x: The place, to the east.
        y: Upwards.
        z: To the south.
    """
    wrap, layers = pool.shape[0] - 1, pool.shape[4]
    for i in range(int(np.floor(x - HALF)), int(np.floor(x + HALF)) + 1):
        for k in range(int(np.floor(z - HALF)), int(np.floor(z + HALF)) + 1):
            for j in range(int(np.floor(y)), int(np.floor(y + TALL)) + 1):
                if j < 0 or (j < layers and solid[pool[(i >> 4) & wrap, (k >> 4) & wrap, i & 15, k & 15, j]]):
                    return True
    return False


@compiled
def fluid(pool: Bytes, water: int, x: float, y: float, z: float) -> bool:
    """Whether there is water at a place."""
    i, j, k, wrap = int(np.floor(x)), int(np.floor(y)), int(np.floor(z)), pool.shape[0] - 1
    return 0 <= j < pool.shape[4] and pool[(i >> 4) & wrap, (k >> 4) & wrap, i & 15, k & 15, j] == water


@compiled
def lifted(pool: Bytes, air: int, solid: Bytes, at: Floats, swims: bool, jumps: bool) -> float:
    """Return how high the feet are after a tick; the speed upwards in `at` is changed."""
    x, y, z = at[0], at[1], at[2]
    if swims:
        at[3] = max(at[3] * 0.8, min(at[3] * 0.8 + _FLOAT, _RISE))
    elif at[3] <= 0 and blocked(pool, air, solid, x, y - 2 * _SKIN, z):
        at[3] = JUMP if jumps else 0.0
    else:
        at[3] = max((at[3] - GRAVITY) * DRAG, -FALL)
    y += at[3]
    if blocked(pool, air, solid, x, y, z):
        y = np.floor(y + TALL) - TALL - _SKIN if at[3] > 0 else np.floor(y) + 1.0
        if blocked(pool, air, solid, x, y, z):
            y = at[1]
        at[3] = 0.0
    return y


@compiled
def stroll(
    pool: Bytes, air: int, water: int, solid: Bytes, goals: Bytes, at: Floats, ahead: Floats, ticks: Bytes
) -> tuple[int, bool, float]:
    """Walk for some ticks, or until a goal is reached.

    In each tick the walker goes ahead, and perhaps at the same time to a side, and either sprints or jumps. It moves
    up or down first, then along x, then along z; what it would bump into in a direction it does not move towards.

    Args:
        pool: See `blocked`, as the next one and `solid`.
        air: The same.
        water: Number of this block, in which the walker swims.
        solid: The same.
        goals: 1 for each cell of four by four columns in which the walk ends; shape (n, n), the walker's in the middle.
        at: x, y, z of the feet, and the speed upwards; shape (4,). Changed.
        ahead: Where the walker faces: x and z, of length 1.
        ticks: What is done in each tick: 0 or 1 straight ahead, 2 to the left, 3 to the right; plus 4 for sprinting
            in place of jumping.

    Returns:
        Ticks that were walked, whether a goal was reached, and the length of the way over the ground.
    """
    length, reach = 0.0, goals.shape[0] // 2
    column, row = (int(np.floor(at[0])) >> 2) - reach, (int(np.floor(at[2])) >> 2) - reach
    for tick in range(ticks.size):
        east, south = ahead[0], ahead[1]
        side = ticks[tick] & 3
        if side >= 2:  # left of north (0, -1) is west (-1, 0)
            turn = 1.0 if side == 2 else -1.0
            east, south = (east + turn * south) * _DIAGONAL, (south - turn * east) * _DIAGONAL
        sprints = ticks[tick] & 4 > 0
        swims = fluid(pool, water, at[0], at[1] + _DEEP, at[2])
        speed = SWIM if swims else SPRINT if sprints else WALK
        y = lifted(pool, air, solid, at, swims, not sprints)
        x, z = at[0] + east * speed, at[2] + south * speed
        if blocked(pool, air, solid, x, y, at[2]):
            x = at[0]
            at[3] = _CLIMB if swims else at[3]
        if blocked(pool, air, solid, x, y, z):
            z = at[2]
            at[3] = _CLIMB if swims else at[3]
        length += np.sqrt((x - at[0]) ** 2 + (z - at[2]) ** 2)
        at[0], at[1], at[2] = x, y, z
        if goals[(int(np.floor(x)) >> 2) - column, (int(np.floor(z)) >> 2) - row]:
            return tick + 1, True, length
    return ticks.size, False, length
