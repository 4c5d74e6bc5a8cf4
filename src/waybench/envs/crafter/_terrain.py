"""Makes worlds: OpenSimplex noise in three dimensions, and what the published rules make of it.

Compiled; each function calls only others of this file (see `_compile`). Constant arguments are floats or numpy's
integers: for each constant integer of Python's the compiler would compile the function once more.
"""

import math

import numpy as np
from numpy.typing import NDArray

from waybench._compile import compiled
from waybench.envs.crafter._ids import (
    COAL,
    COW,
    DIAMOND,
    GRASS,
    IRON,
    LAVA,
    PATH,
    SAND,
    SIZE,
    SKELETON,
    STONE,
    TREE,
    WATER,
    ZOMBIE,
)

Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_MIDDLE = SIZE // 2
_STRETCH, _SQUISH = -1 / 6, 1 / 3  # between the cubic grid and the one whose vertices have gradients
# The 24 gradients: the permutations of (11, 4, 4) with all signs.
_SLOPES = np.array(
    [
        [
            (11.0 if number % 3 == axis else 4.0) * (1 if bool(number // 3 & 1 << axis) == (axis == 0) else -1)
            for axis in range(3)
        ]
        for number in range(24)
    ]
)
_TWICE = 2 * _SQUISH
# Coordinates as the layers of noise are stretched.
_BY_3, _BY_5, _BY_6, _BY_7, _BY_8, _BY_9, _BY_15 = (np.arange(SIZE) / scale for scale in (3, 5, 6, 7, 8, 9, 15))
_LONG, _SHORT = 2 * np.arange(SIZE) / 3, np.arange(SIZE) / 5 / 3
_NORM = 103.0  # brings the noise to about -1 to 1


@compiled
def permutation(seed: int) -> Ints:
    """Return the numbers 0 to 255 in the order that a seed gives, and then each one's gradient.

    The generator is a linear congruential one of 64 bits.
    """
    left, order = np.arange(256), np.zeros(512, np.int64)
    state = np.int64(seed)
    for _ in range(3):
        state = state * np.int64(6364136223846793005) + np.int64(1442695040888963407)
    for last in range(255, -1, -1):
        state = state * np.int64(6364136223846793005) + np.int64(1442695040888963407)
        place = (state + np.int64(31)) % np.int64(last + 1)
        order[last], order[256 + last] = left[place], left[place] % 24
        left[place] = left[last]
    return order


@compiled
def _pull(order: Ints, i: int, j: int, k: int, x: float, y: float, z: float) -> float:
    """Return what a vertex of the grid adds at a point that lies at (x, y, z) from it."""
    near = 2.0 - x * x - y * y - z * z
    if near <= 0.0:
        return 0.0
    slope = _SLOPES[order[256 + ((order[(order[i & 255] + j) & 255] + k) & 255)]]
    along = slope[0] * x + slope[1] * y + slope[2] * z
    return near * near * near * near * along


@compiled
def _mask(axis: int) -> int:
    """Return an axis as a set of axes, in which the axes have the bits 1, 2 and 4."""
    return 1 << axis


@compiled
def _two_more(u: float, v: float, w: float) -> tuple[int, int, int, int]:
    """Return the two vertices outside a cell's tetrahedron or octahedron that the published noise adds.

    Args:
        u: Place in the cell, 0 to 1, along the first axis.
        v: Along the second.
        w: Along the third.

    Returns:
        For each vertex the axes along which it is at 1, and the single axis along which it is further: the axis's
        number and where it is there, as 4 * number + place + 1; -1 if there is none.
    """
    total = u + v + w
    if total <= 1.0 or total >= 2.0:
        # A tetrahedron at the corner 000, or mirrored, at 111: how near are its other three vertices?
        far = total >= 2.0
        a, b, c = (1.0 - u, 1.0 - v, 1.0 - w) if far else (u, v, w)
        corner = 1.0 - (a + b + c)
        first, second, one, two = 0, 1, a, b
        if one >= two and c > two:
            second, two = 2, c
        elif one < two and c > one:
            first, one = 2, c
        beyond = 3 if far else 0  # 2 in a mirrored cell, otherwise -1, as a vertex has it
        if corner > one or corner > two:  # the corner is one of the two nearest vertices
            axis = second if two > one else first
            ones = 7 - _mask(axis) if far else _mask(axis)
            before, after = (1 if axis == 0 else 0), (1 if axis == 2 else 2)
            return ones, 4 * before + beyond, ones, 4 * after + beyond
        ones, third = _mask(first) | _mask(second), 3 - first - second
        return (7 - ones, -1, 0, 4 * third + 3) if far else (ones, -1, ones, 4 * third)
    # The octahedron between them: for each pair of opposite vertices, the nearer one and how near it is. Of a pair
    # (without axis n) the one is 111 without n, the other n alone.
    p, q, r = u + v, u + w, v + w
    first, second, one, two = 2, 1, abs(p - 1.0), abs(q - 1.0)  # first and second: the axes the pairs go without
    near, next_near = p > 1.0, q > 1.0
    if one <= two and one < abs(r - 1.0):
        first, near = 0, r > 1.0
    elif one > two and two < abs(r - 1.0):
        second, next_near = 0, r > 1.0
    third = 3 - first - second
    if near and next_near:
        return 7, -1, 0, 4 * third + 3
    if not near and not next_near:
        return 0, -1, _mask(first) | _mask(second), 4 * third
    long, short = (first, second) if near else (second, first)
    return 7 - _mask(long), 4 * long, 0, 4 * short + 3


@compiled
def _pull_of(order: Ints, i: int, j: int, k: int, x: float, y: float, z: float, ones: int, further: int) -> float:
    """Return what a vertex adds, as `_two_more` names it."""
    a, b, c = ones & 1, ones >> 1 & 1, ones >> 2
    if further >= 0:
        axis, place = further // 4, further % 4 - 1
        if axis == 0:
            a = place
        elif axis == 1:
            b = place
        else:
            c = place
    away = (a + b + c) * _SQUISH
    return _pull(order, i + a, j + b, k + c, x - a - away, y - b - away, z - c - away)


@compiled
def noise(order: Ints, x: float, y: float, z: float) -> float:
    """Return OpenSimplex noise (the version of 2014) at a point."""
    stretch = (x + y + z) * _STRETCH
    i, j, k = math.floor(x + stretch), math.floor(y + stretch), math.floor(z + stretch)
    u, v, w = x + stretch - i, y + stretch - j, z + stretch - k
    squish = (i + j + k) * _SQUISH
    x, y, z = x - (i + squish), y - (j + squish), z - (k + squish)
    total, value = u + v + w, 0.0
    # A tetrahedron has the four vertices at its end of the cell, the octahedron the six in the middle.
    x1, y1, z1, x2, y2, z2 = x - _SQUISH, y - _SQUISH, z - _SQUISH, x - _TWICE, y - _TWICE, z - _TWICE
    if total <= 1.0:
        value += _pull(order, i, j, k, x, y, z)
    if total < 2.0:
        value += _pull(order, i + 1, j, k, x - 1.0 - _SQUISH, y1, z1)
        value += _pull(order, i, j + 1, k, x1, y - 1.0 - _SQUISH, z1)
    if total > 1.0:
        value += _pull(order, i + 1, j + 1, k, x - 1.0 - _TWICE, y - 1.0 - _TWICE, z2)
    if total < 2.0:
        value += _pull(order, i, j, k + 1, x1, y1, z - 1.0 - _SQUISH)
    if total > 1.0:
        value += _pull(order, i + 1, j, k + 1, x - 1.0 - _TWICE, y2, z - 1.0 - _TWICE)
        value += _pull(order, i, j + 1, k + 1, x2, y - 1.0 - _TWICE, z - 1.0 - _TWICE)
    if total >= 2.0:
        value += _pull(order, i + 1, j + 1, k + 1, x - 1.0 - 1.0, y - 1.0 - 1.0, z - 1.0 - 1.0)
    one, along, two, across = _two_more(u, v, w)
    value += _pull_of(order, i, j, k, x, y, z, one, along)
    value += _pull_of(order, i, j, k, x, y, z, two, across)
    return value / _NORM


@compiled
def _layer(order: Ints, xs: Floats, ys: Floats, z: float, stages: Bytes, least: np.int64) -> Floats:
    """Return the noise by place, 0 for cells before a stage; a layer at once, since neighbours take the same way."""
    values = np.zeros(len(stages))
    for place in range(len(stages)):
        if stages[place] >= least:
            values[place] = noise(order, xs[place // SIZE], ys[place % SIZE], z)
    return values


@compiled
def _starts(order: Ints, stages: Bytes) -> Floats:
    """Return how much each cell belongs to the meadow where the player starts, from 0 to 1. Others stay at stage 1."""
    values = _layer(order, _BY_3, _BY_3, 8.0, stages, np.int64(1))
    for place in range(len(values)):
        start = 4 - math.sqrt((place // SIZE - _MIDDLE) ** 2 + (place % SIZE - _MIDDLE) ** 2)
        start += 2 * values[place]
        values[place] = 1 / (1 + math.exp(-start))
        stages[place] = values[place] <= 0.5
    return values


@compiled
def _heights(order: Ints, starts: Floats, stages: Bytes) -> tuple[Floats, Floats]:
    """Return how much water and how much of a mountain each cell is; of stage 1 are then those that can be neither.

    The noise is between -1 and 1 (0.988 if each vertex has the gradient that points most to the point), so fine noise
    is computed only where it can change what a cell is; elsewhere any value is returned that makes the cell the same.
    """
    waters = _layer(order, _BY_15, _BY_15, 3.0, stages, np.int64(1))
    mountains = _layer(order, _BY_15, _BY_15, 0.0, stages, np.int64(1))
    for place in range(len(starts)):
        low, high = waters[place] - 0.15 + 0.1 - 2 * starts[place], waters[place] + 0.15 + 0.1 - 2 * starts[place]
        can_rise = (mountains[place] + 0.3) / 1.3 - (4 * starts[place] + 0.3 * low) > 0.15
        if stages[place] and (can_rise or (high > 0.25 and low <= 0.35)):
            stages[place] = 2
    finer = _layer(order, _BY_5, _BY_5, 3.0, stages, np.int64(2))
    for place in range(len(starts)):
        waters[place] = waters[place] + 0.15 * finer[place] + 0.1 - 2 * starts[place]
        if stages[place] and (mountains[place] + 0.3) / 1.3 - (4 * starts[place] + 0.3 * waters[place]) > 0.15:
            stages[place] = 3
    finer = _layer(order, _BY_5, _BY_5, 0.0, stages, np.int64(3))
    for place in range(len(starts)):
        fall = 4 * starts[place] + 0.3 * waters[place]
        mountains[place] = (mountains[place] + 0.3 * finer[place]) / 1.3 - fall if stages[place] == 3 else 0.0
    return waters, mountains


@compiled
def _dig(values: Floats, least: float, land: Bytes, stages: Bytes) -> None:
    """Make paths of the cells with more than the least value; they are of stage 0 then."""
    for place in range(len(values)):
        if values[place] > least:
            land[place], stages[place] = PATH, 0


@compiled
def _lands(order: Ints, draws: Floats, land: Bytes, tunnels: Flags) -> int:
    """Write what each cell is and which are tunnels; return how many draws were used."""
    stages, one, two = np.ones(len(land), np.uint8), np.int64(1), np.int64(2)
    starts = _starts(order, stages)
    waters, mountains = _heights(order, starts, stages)
    for place in range(len(land)):
        stages[place] = (mountains[place] > 0.15) + (mountains[place] > 0.3)
        land[place] = STONE if stages[place] else GRASS
    _dig(_layer(order, _BY_7, _BY_7, 6.0, stages, two), 0.15, land, stages)
    level = _layer(order, _LONG, _SHORT, 7.0, stages, one)
    _dig(level, 0.4, land, stages)
    upright = _layer(order, _SHORT, _LONG, 7.0, stages, one)
    _dig(upright, 0.4, land, stages)
    coals, irons = _layer(order, _BY_8, _BY_8, 1.0, stages, one), _layer(order, _BY_6, _BY_6, 2.0, stages, one)
    lavas = _layer(order, _BY_5, _BY_5, 6.0, stages, two)
    for place in range(len(land)):
        tunnels[place] = level[place] > 0.4 or upright[place] > 0.4
        if lavas[place] > 0.35:
            land[place] = LAVA
        is_open = land[place] == GRASS and starts[place] <= 0.5
        stages[place] = is_open + (is_open and 0.25 < waters[place] <= 0.35)
    sands = _layer(order, _BY_9, _BY_9, 4.0, stages, two)
    for place in range(len(land)):
        if stages[place] == 2 and sands[place] > -0.2:
            land[place], stages[place] = SAND, 0
        elif stages[place] and waters[place] > 0.3:
            land[place], stages[place] = WATER, 0
    trees = _layer(order, _BY_7, _BY_7, 5.0, stages, one)
    used = int(np.int64(0))
    for place in range(len(land)):
        if trees[place] > 0:
            used += 1
            if draws[used - 1] > 0.8:
                land[place] = TREE
        if land[place] != STONE and land[place] != LAVA:
            continue
        if coals[place] > 0:
            used += 1
            if draws[used - 1] > 0.85:
                land[place] = COAL
                continue
        if irons[place] > 0.4:
            used += 1
            if draws[used - 1] > 0.75:
                land[place] = IRON
                continue
        if mountains[place] > 0.18:
            used += 1
            if draws[used - 1] > 0.994:
                land[place] = DIAMOND
    return used


@compiled
def _inhabitant(x: int, y: int, land: int, tunnel: bool, draws: Floats, used: int) -> tuple[int, int]:
    """Return the being in a cell at the start, 0 for none, and the number of draws used."""
    if land not in (GRASS, SAND, PATH):
        return 0, used
    away = math.sqrt((x - _MIDDLE) ** 2 + (y - _MIDDLE) ** 2)
    if away > 3 and land == GRASS:
        used += 1
        if draws[used - 1] > 0.985:
            return COW, used
    if away > 10:
        used += 1
        if draws[used - 1] > 0.993:
            return ZOMBIE, used
    if land == PATH and tunnel:
        used += 1
        if draws[used - 1] > 0.95:
            return SKELETON, used
    return 0, used


@compiled
def generate(seed: int, draws: Floats, land: Bytes, beings: Bytes) -> int:
    """Make a world.

    Args:
        seed: The seed of the noise.
        draws: Uniform numbers from 0 to 1, at least six for each cell.
        land: What each cell is, by x * SIZE + y; written.
        beings: Who stands there; written.

    Returns:
        The number of draws that were used.
    """
    tunnels = np.zeros(len(land), np.bool_)
    used = _lands(permutation(seed), draws, land, tunnels)
    for place in range(SIZE * SIZE):
        beings[place], used = _inhabitant(place // SIZE, place % SIZE, land[place], tunnels[place], draws, used)
    return used
