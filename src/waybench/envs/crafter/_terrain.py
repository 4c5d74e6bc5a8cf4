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

_MIDDLE = SIZE // 2
_STRETCH, _SQUISH = -1 / 6, 1 / 3  # between the cubic grid and the one whose vertices have gradients
_NORM = 103.0  # brings the noise to about -1 to 1


@compiled
def permutation(seed: int) -> Ints:
    """Return the numbers 0 to 255 in the order that a seed gives: a linear congruential generator of 64 bits."""
    left, order = np.arange(256), np.zeros(256, np.int64)
    state = np.int64(seed)
    for _ in range(3):
        state = state * np.int64(6364136223846793005) + np.int64(1442695040888963407)
    for last in range(255, -1, -1):
        state = state * np.int64(6364136223846793005) + np.int64(1442695040888963407)
        place = (state + np.int64(31)) % np.int64(last + 1)
        order[last] = left[place]
        left[place] = left[last]
    return order


@compiled
def _pull(order: Ints, i: int, j: int, k: int, x: float, y: float, z: float) -> float:
    """Return what a vertex of the grid adds at a point that lies at (x, y, z) from it."""
    near = 2.0 - x * x - y * y - z * z
    if near <= 0.0:
        return 0.0
    # One of 24 gradients: the permutations of (11, 4, 4) with all signs.
    number = order[(order[(order[i & 255] + j) & 255] + k) & 255] % 24
    axis, signs = number % 3, number // 3
    along = (11.0 if axis == 0 else 4.0) * x * (1.0 if signs & 1 else -1.0)
    along += (11.0 if axis == 1 else 4.0) * y * (-1.0 if signs & 2 else 1.0)
    along += (11.0 if axis == 2 else 4.0) * z * (-1.0 if signs & 4 else 1.0)
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
    total, value, nowhere = u + v + w, 0.0, int(np.int64(-1))
    for vertex in range(8):
        size = (vertex & 1) + (vertex >> 1 & 1) + (vertex >> 2)
        # A tetrahedron has the four vertices at its end of the cell, the octahedron the six in the middle.
        if size <= 1 if total <= 1.0 else size >= 2 if total >= 2.0 else 1 <= size <= 2:
            value += _pull_of(order, i, j, k, x, y, z, vertex, nowhere)
    one, along, two, across = _two_more(u, v, w)
    value += _pull_of(order, i, j, k, x, y, z, one, along)
    value += _pull_of(order, i, j, k, x, y, z, two, across)
    return value / _NORM


@compiled
def _rock(order: Ints, x: int, y: int, mountain: float, draws: Floats, used: int) -> tuple[int, bool, int]:
    """Return what a cell in the mountains is, whether it is a tunnel, and how many draws have been used."""
    if noise(order, x / 7, y / 7, 6.0) > 0.15 and mountain > 0.3:
        return PATH, False, used
    if noise(order, 2 * x / 3, y / 5 / 3, 7.0) > 0.4 or noise(order, x / 5 / 3, 2 * y / 3, 7.0) > 0.4:
        return PATH, True, used
    if noise(order, x / 8, y / 8, 1.0) > 0:
        used += 1
        if draws[used - 1] > 0.85:
            return COAL, False, used
    if noise(order, x / 6, y / 6, 2.0) > 0.4:
        used += 1
        if draws[used - 1] > 0.75:
            return IRON, False, used
    if mountain > 0.18:
        used += 1
        if draws[used - 1] > 0.994:
            return DIAMOND, False, used
    if mountain > 0.3 and noise(order, x / 5, y / 5, 6.0) > 0.35:
        return LAVA, False, used
    return STONE, False, used


@compiled
def _cell(order: Ints, x: int, y: int, draws: Floats, used: int) -> tuple[int, bool, int]:
    """Return what a cell is, whether it is a tunnel, and how many draws have been used."""
    start = 4 - math.sqrt((x - _MIDDLE) ** 2 + (y - _MIDDLE) ** 2)
    start += 2 * noise(order, x / 3, y / 3, 8.0)
    start = 1 / (1 + math.exp(-start))
    if start > 0.5:
        return GRASS, False, used
    water = noise(order, x / 15, y / 15, 3.0) + 0.15 * noise(order, x / 5, y / 5, 3.0) + 0.1 - 2 * start
    mountain = (noise(order, x / 15, y / 15, 0.0) + 0.3 * noise(order, x / 5, y / 5, 0.0)) / 1.3
    mountain -= 4 * start + 0.3 * water
    if mountain > 0.15:
        return _rock(order, x, y, mountain, draws, used)
    if 0.25 < water <= 0.35 and noise(order, x / 9, y / 9, 4.0) > -0.2:
        return SAND, False, used
    if water > 0.3:
        return WATER, False, used
    if noise(order, x / 7, y / 7, 5.0) > 0:
        used += 1
        if draws[used - 1] > 0.8:
            return TREE, False, used
    return GRASS, False, used


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
    order, tunnels, used = permutation(seed), np.zeros(SIZE * SIZE, np.bool_), int(np.int64(0))
    for place in range(SIZE * SIZE):
        land[place], tunnels[place], used = _cell(order, place // SIZE, place % SIZE, draws, used)
    for place in range(SIZE * SIZE):
        beings[place], used = _inhabitant(place // SIZE, place % SIZE, land[place], tunnels[place], draws, used)
    return used
