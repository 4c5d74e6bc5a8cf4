"""The map: how a world is generated from OpenSimplex noise by the published rules, what is near, and costs of ways.

Compiled; each function calls only others of this file (see `_compile`). Constant arguments are floats or numpy's
integers: for each constant integer of Python's the compiler would compile the function once more.
"""

import math

import numpy as np
from numpy.typing import NDArray

from waybench._compile import compiled
from waybench.envs.crafter._ids import (
    ACROSS,
    AREA,
    COAL,
    COW,
    DIAMOND,
    DOWN,
    GRASS,
    IRON,
    KIND,
    LAVA,
    PATH,
    PLANT,
    SAND,
    SIZE,
    SKELETON,
    STONE,
    TREE,
    WATER,
    ZOMBIE,
    X,
    Y,
)

Ints = NDArray[np.int64]
Numbers = NDArray[np.int32]
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
FAR = 1_000_000  # the distance to what cannot be reached
_DEAREST = 16  # costs are below this


@compiled
def permutation(seed: int) -> Ints:
    """Return the numbers 0 to 255 in an order that a seed determines, followed by each one's gradient number."""
    source, order = np.arange(256), np.zeros(512, np.int64)
    state = np.int64(seed)
    for _ in range(3):
        state = state * np.int64(6364136223846793005) + np.int64(1442695040888963407)
    for last in range(255, -1, -1):
        state = state * np.int64(6364136223846793005) + np.int64(1442695040888963407)
        index = (state + np.int64(31)) % np.int64(last + 1)
        order[last], order[256 + last] = source[index], source[index] % 24
        source[index] = source[last]
    return order


@compiled
def _vertex_contribution(order: Ints, i: int, j: int, k: int, x: float, y: float, z: float) -> float:
    """Return the noise that a vertex of the grid adds at a point that lies at (x, y, z) from it."""
    near = 2.0 - x * x - y * y - z * z
    if near <= 0.0:
        return 0.0
    slope = _SLOPES[order[256 + ((order[(order[i & 255] + j) & 255] + k) & 255)]]
    along = slope[0] * x + slope[1] * y + slope[2] * z
    return near * near * near * near * along


@compiled
def _axis_bit(axis: int) -> int:
    """Return the bit of an axis in a set of axes: 1, 2 or 4."""
    return 1 << axis


@compiled
def _outer_vertices(u: float, v: float, w: float) -> tuple[int, int, int, int]:
    """Return the two vertices outside a cell's tetrahedron or octahedron that add to the noise at a point.

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
        first, second, nearest_value, second_value = 0, 1, a, b
        if nearest_value >= second_value and c > second_value:
            second, second_value = 2, c
        elif nearest_value < second_value and c > nearest_value:
            first, nearest_value = 2, c
        beyond = 3 if far else 0  # 2 in a mirrored cell, otherwise -1, as a vertex has it
        if corner > nearest_value or corner > second_value:  # the corner is one of the two nearest vertices
            axis = second if second_value > nearest_value else first
            ones = 7 - _axis_bit(axis) if far else _axis_bit(axis)
            before, after = (1 if axis == 0 else 0), (1 if axis == 2 else 2)
            return ones, 4 * before + beyond, ones, 4 * after + beyond
        ones, third = _axis_bit(first) | _axis_bit(second), 3 - first - second
        return (7 - ones, -1, 0, 4 * third + 3) if far else (ones, -1, ones, 4 * third)
    # The octahedron between them: for each pair of opposite vertices, the nearer one and how near it is. Of a pair
    # (without axis n) the one is 111 without n, the other n alone.
    p, q, r = u + v, u + w, v + w
    first, second, nearest_value, second_value = (
        2,
        1,
        abs(p - 1.0),
        abs(q - 1.0),
    )  # first and second: the axes the pairs go without
    near, next_near = p > 1.0, q > 1.0
    if nearest_value <= second_value and nearest_value < abs(r - 1.0):
        first, near = 0, r > 1.0
    elif nearest_value > second_value and second_value < abs(r - 1.0):
        second, next_near = 0, r > 1.0
    third = 3 - first - second
    if near and next_near:
        return 7, -1, 0, 4 * third + 3
    if not near and not next_near:
        return 0, -1, _axis_bit(first) | _axis_bit(second), 4 * third
    long, short = (first, second) if near else (second, first)
    return 7 - _axis_bit(long), 4 * long, 0, 4 * short + 3


@compiled
def _outer_vertex_contribution(
    order: Ints, i: int, j: int, k: int, x: float, y: float, z: float, ones: int, further: int
) -> float:
    """Return the noise that a vertex of `_outer_vertices` adds."""
    a, b, c = ones & 1, ones >> 1 & 1, ones >> 2
    if further >= 0:
        axis, coordinate = further // 4, further % 4 - 1
        if axis == 0:
            a = coordinate
        elif axis == 1:
            b = coordinate
        else:
            c = coordinate
    away = (a + b + c) * _SQUISH
    return _vertex_contribution(order, i + a, j + b, k + c, x - a - away, y - b - away, z - c - away)


@compiled
def opensimplex_noise(order: Ints, x: float, y: float, z: float) -> float:
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
        value += _vertex_contribution(order, i, j, k, x, y, z)
    if total < 2.0:
        value += _vertex_contribution(order, i + 1, j, k, x - 1.0 - _SQUISH, y1, z1)
        value += _vertex_contribution(order, i, j + 1, k, x1, y - 1.0 - _SQUISH, z1)
    if total > 1.0:
        value += _vertex_contribution(order, i + 1, j + 1, k, x - 1.0 - _TWICE, y - 1.0 - _TWICE, z2)
    if total < 2.0:
        value += _vertex_contribution(order, i, j, k + 1, x1, y1, z - 1.0 - _SQUISH)
    if total > 1.0:
        value += _vertex_contribution(order, i + 1, j, k + 1, x - 1.0 - _TWICE, y2, z - 1.0 - _TWICE)
        value += _vertex_contribution(order, i, j + 1, k + 1, x2, y - 1.0 - _TWICE, z - 1.0 - _TWICE)
    if total >= 2.0:
        value += _vertex_contribution(order, i + 1, j + 1, k + 1, x - 1.0 - 1.0, y - 1.0 - 1.0, z - 1.0 - 1.0)
    first_vertex, along, second_vertex, across = _outer_vertices(u, v, w)
    value += _outer_vertex_contribution(order, i, j, k, x, y, z, first_vertex, along)
    value += _outer_vertex_contribution(order, i, j, k, x, y, z, second_vertex, across)
    return value / _NORM


@compiled
def _noise_layer(order: Ints, xs: Floats, ys: Floats, z: float, stages: Bytes, least: np.int64) -> Floats:
    """Return the noise of each cell of at least a stage, 0 for the others."""
    values = np.zeros(len(stages))
    for cell in range(len(stages)):
        if stages[cell] >= least:
            values[cell] = opensimplex_noise(order, xs[cell // SIZE], ys[cell % SIZE], z)
    return values


@compiled
def _start_meadow(order: Ints, stages: Bytes) -> Floats:
    """Return how much each cell belongs to the start's meadow, 0 to 1; its cells get stage 0, others 1."""
    values = _noise_layer(order, _BY_3, _BY_3, 8.0, stages, np.int64(1))
    for cell in range(len(values)):
        start = 4 - math.sqrt((cell // SIZE - _MIDDLE) ** 2 + (cell % SIZE - _MIDDLE) ** 2)
        start += 2 * values[cell]
        values[cell] = 1 / (1 + math.exp(-start))
        stages[cell] = values[cell] <= 0.5
    return values


@compiled
def _waters_and_mountains(order: Ints, starts: Floats, stages: Bytes) -> tuple[Floats, Floats]:
    """Return how much of a water and of a mountain each cell is; cells that can be neither stay at stage 1.

    The noise is between -1 and 1 (0.988 if each vertex has the gradient that points most to the point), so fine noise
    is computed only where it can change what a cell is; elsewhere any value is returned that makes the cell the same.
    """
    waters = _noise_layer(order, _BY_15, _BY_15, 3.0, stages, np.int64(1))
    mountains = _noise_layer(order, _BY_15, _BY_15, 0.0, stages, np.int64(1))
    for cell in range(len(starts)):
        low, high = waters[cell] - 0.15 + 0.1 - 2 * starts[cell], waters[cell] + 0.15 + 0.1 - 2 * starts[cell]
        can_rise = (mountains[cell] + 0.3) / 1.3 - (4 * starts[cell] + 0.3 * low) > 0.15
        if stages[cell] and (can_rise or (high > 0.25 and low <= 0.35)):
            stages[cell] = 2
    finer = _noise_layer(order, _BY_5, _BY_5, 3.0, stages, np.int64(2))
    for cell in range(len(starts)):
        waters[cell] = waters[cell] + 0.15 * finer[cell] + 0.1 - 2 * starts[cell]
        if stages[cell] and (mountains[cell] + 0.3) / 1.3 - (4 * starts[cell] + 0.3 * waters[cell]) > 0.15:
            stages[cell] = 3
    finer = _noise_layer(order, _BY_5, _BY_5, 0.0, stages, np.int64(3))
    for cell in range(len(starts)):
        fall = 4 * starts[cell] + 0.3 * waters[cell]
        mountains[cell] = (mountains[cell] + 0.3 * finer[cell]) / 1.3 - fall if stages[cell] == 3 else 0.0
    return waters, mountains


@compiled
def _dig_paths(values: Floats, least: float, land: Bytes, stages: Bytes) -> None:
    """Turn the cells with more than the least value into paths, of stage 0."""
    for cell in range(len(values)):
        if values[cell] > least:
            land[cell], stages[cell] = PATH, 0


@compiled
def _write_land(order: Ints, draws: Floats, land: Bytes, tunnels: Flags) -> int:
    """Write the kind of each cell and which are tunnels; return the number of draws used."""
    stages, stage_1, stage_2 = np.ones(len(land), np.uint8), np.int64(1), np.int64(2)
    starts = _start_meadow(order, stages)
    waters, mountains = _waters_and_mountains(order, starts, stages)
    for cell in range(len(land)):
        stages[cell] = (mountains[cell] > 0.15) + (mountains[cell] > 0.3)
        land[cell] = STONE if stages[cell] else GRASS
    _dig_paths(_noise_layer(order, _BY_7, _BY_7, 6.0, stages, stage_2), 0.15, land, stages)
    level = _noise_layer(order, _LONG, _SHORT, 7.0, stages, stage_1)
    _dig_paths(level, 0.4, land, stages)
    upright = _noise_layer(order, _SHORT, _LONG, 7.0, stages, stage_1)
    _dig_paths(upright, 0.4, land, stages)
    coals, irons = (
        _noise_layer(order, _BY_8, _BY_8, 1.0, stages, stage_1),
        _noise_layer(order, _BY_6, _BY_6, 2.0, stages, stage_1),
    )
    lavas = _noise_layer(order, _BY_5, _BY_5, 6.0, stages, stage_2)
    for cell in range(len(land)):
        tunnels[cell] = level[cell] > 0.4 or upright[cell] > 0.4
        if lavas[cell] > 0.35:
            land[cell] = LAVA
        is_open = land[cell] == GRASS and starts[cell] <= 0.5
        stages[cell] = is_open + (is_open and 0.25 < waters[cell] <= 0.35)
    sands = _noise_layer(order, _BY_9, _BY_9, 4.0, stages, stage_2)
    for cell in range(len(land)):
        if stages[cell] == 2 and sands[cell] > -0.2:
            land[cell], stages[cell] = SAND, 0
        elif stages[cell] and waters[cell] > 0.3:
            land[cell], stages[cell] = WATER, 0
    trees = _noise_layer(order, _BY_7, _BY_7, 5.0, stages, stage_1)
    used = int(np.int64(0))
    for cell in range(len(land)):
        if trees[cell] > 0:
            used += 1
            if draws[used - 1] > 0.8:
                land[cell] = TREE
        if land[cell] != STONE and land[cell] != LAVA:
            continue
        if coals[cell] > 0:
            used += 1
            if draws[used - 1] > 0.85:
                land[cell] = COAL
                continue
        if irons[cell] > 0.4:
            used += 1
            if draws[used - 1] > 0.75:
                land[cell] = IRON
                continue
        if mountains[cell] > 0.18:
            used += 1
            if draws[used - 1] > 0.994:
                land[cell] = DIAMOND
    return used


@compiled
def _draw_inhabitant(x: int, y: int, land: int, tunnel: bool, draws: Floats, used: int) -> tuple[int, int]:
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
def generate_world(seed: int, draws: Floats, land: Bytes, beings: Bytes) -> int:
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
    used = _write_land(permutation(seed), draws, land, tunnels)
    for cell in range(SIZE * SIZE):
        beings[cell], used = _draw_inhabitant(cell // SIZE, cell % SIZE, land[cell], tunnels[cell], draws, used)
    return used


@compiled
def nearest_of_each_kind(land: Bytes, beings: Numbers, dx: int, dy: int) -> Numbers:
    """Return for each kind the nearest cell in view: its offset east and south, and its distance, -1 if none.

    Of several that are equally near, the westernmost counts, and of these the northernmost. Beings hide their ground.
    Row 0 has the kind of what is at (dx, dy) from the player; -1 outside of the map.
    """
    x, y = beings[0, X], beings[0, Y]
    view = np.zeros((2 * ACROSS + 1, 2 * DOWN + 1), np.int32)
    for i in range(2 * ACROSS + 1):
        for j in range(2 * DOWN + 1):
            column, row = x + i - ACROSS, y + j - DOWN
            if 0 <= column < SIZE and 0 <= row < SIZE:
                view[i, j] = land[column * SIZE + row]
    for being in range(len(beings)):
        i, j = beings[being, X] - x + ACROSS, beings[being, Y] - y + DOWN
        if 0 <= i <= 2 * ACROSS and 0 <= j <= 2 * DOWN:
            view[i, j] = beings[being, KIND]
    nearest_cells = np.full((PLANT + 1, 3), -1, np.int32)
    for i in range(2 * ACROSS + 1):
        for j in range(2 * DOWN + 1):
            kind, away = view[i, j], abs(i - ACROSS) + abs(j - DOWN)
            if kind and (nearest_cells[kind, 2] < 0 or away < nearest_cells[kind, 2]):
                nearest_cells[kind, 0], nearest_cells[kind, 1], nearest_cells[kind, 2] = i - ACROSS, j - DOWN, away
    nearest_cells[0, 0] = view[ACROSS + dx, DOWN + dy] or -1
    return nearest_cells


@compiled
def path_costs(costs: Numbers, targets: Numbers) -> Numbers:
    """Return the cost of the way from each cell to the nearest target; FAR where there is none.

    Args:
        costs: For each cell what it costs to enter it, 1 to 15; 0 where it cannot be entered.
        targets: The targets. To enter one costs 1, whatever it is.
    """
    lengths = np.full(AREA, FAR, np.int32)
    rings = np.empty((_DEAREST, 4 * AREA), np.int32)  # the cells at a distance, by its remainder
    sizes = np.zeros(_DEAREST, np.int32)
    for target in targets:
        lengths[target] = 0
        rings[0, sizes[0]] = target
        sizes[0] += 1
    now, empty = 0, 0
    while empty < _DEAREST:
        ring = now % _DEAREST
        count, sizes[ring] = sizes[ring], 0
        empty = empty + 1 if count == 0 else 0
        for position in range(count):
            cell = rings[ring, position]
            if lengths[cell] != now:
                continue
            enter = 1 if now == 0 else costs[cell]
            if enter == 0:
                continue
            x, y = cell // SIZE, cell % SIZE
            for dx, dy in ((-1, 0), (1, 0), (0, -1), (0, 1)):
                if 0 <= x + dx < SIZE and 0 <= y + dy < SIZE:
                    neighbour = cell + dx * SIZE + dy
                    if now + enter < lengths[neighbour]:
                        lengths[neighbour] = now + enter
                        into = (now + enter) % _DEAREST
                        rings[into, sizes[into]] = neighbour
                        sizes[into] += 1
        now += 1
    return lengths
