"""The map: how a world is generated from OpenSimplex noise by the published rules, what is near, and costs of ways.

Compiled; each function calls only others of this file (see `_compile`). Constant arguments are floats or numpy's
integers: for each constant integer of Python's the compiler would compile the function once more.
"""

import math

import numpy as np
from numpy.typing import NDArray

from waybench._compile import compiled
from waybench.envs.crafter import _ids as ids

Ints = NDArray[np.int64]
Numbers = NDArray[np.int32]
Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_MIDDLE = ids.SIZE // 2
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
# Coordinates of the cells, stretched for each layer of noise.
_BY_3, _BY_5, _BY_6, _BY_7, _BY_8, _BY_9, _BY_15 = (np.arange(ids.SIZE) / scale for scale in (3, 5, 6, 7, 8, 9, 15))
_LONG, _SHORT = 2 * np.arange(ids.SIZE) / 3, np.arange(ids.SIZE) / 5 / 3
_NORM = 103.0  # brings the noise to about -1 to 1
FAR = 1_000_000  # the cost of a way where there is none
_DEAREST = 16  # costs of entering a cell are lower


@compiled
def permutation(seed: int) -> Ints:
    """Return the numbers 0 to 255 in an order that a seed determines, followed by the gradient number of each."""
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
    falloff = 2.0 - x * x - y * y - z * z
    if falloff <= 0.0:
        return 0.0
    gradient = _SLOPES[order[256 + ((order[(order[i & 255] + j) & 255] + k) & 255)]]
    projection = gradient[0] * x + gradient[1] * y + gradient[2] * z
    return falloff * falloff * falloff * falloff * projection


@compiled
def _axis_bit(axis: int) -> int:
    """Return the bit of an axis in a set of axes: 1, 2 or 4."""
    return 1 << axis


@compiled
def _outer_vertices(u: float, v: float, w: float) -> tuple[int, int, int, int]:
    """Return the two vertices outside a cell's tetrahedron or octahedron that add to the noise at a point.

    Returns:
        For each vertex the set of axes along which it is at 1, and the single axis along which it is further, encoded
        as 4 * axis + coordinate + 1; -1 without such an axis.
    """
    total = u + v + w
    if total <= 1.0 or total >= 2.0:
        # A tetrahedron at the corner 000, or mirrored, at 111: how near are its other three vertices?
        is_mirrored = total >= 2.0
        a, b, c = (1.0 - u, 1.0 - v, 1.0 - w) if is_mirrored else (u, v, w)
        corner = 1.0 - (a + b + c)
        first, second, nearest_value, second_value = 0, 1, a, b
        if nearest_value >= second_value and c > second_value:
            second, second_value = 2, c
        elif nearest_value < second_value and c > nearest_value:
            first, nearest_value = 2, c
        beyond = 3 if is_mirrored else 0  # the code of coordinate 2 in a mirrored cell, otherwise of -1
        if corner > nearest_value or corner > second_value:  # the corner is one of the two nearest vertices
            axis = second if second_value > nearest_value else first
            ones = 7 - _axis_bit(axis) if is_mirrored else _axis_bit(axis)
            before, after = (1 if axis == 0 else 0), (1 if axis == 2 else 2)
            return ones, 4 * before + beyond, ones, 4 * after + beyond
        ones, third = _axis_bit(first) | _axis_bit(second), 3 - first - second
        return (7 - ones, -1, 0, 4 * third + 3) if is_mirrored else (ones, -1, ones, 4 * third)
    # The octahedron between them has three pairs of opposite vertices, one for each axis n: 111 without n ("double"),
    # and n alone. Take the nearer vertex of the two pairs `first` and `second` whose nearer vertices are nearest.
    p, q, r = u + v, u + w, v + w
    first, second, nearest_value, second_value = 2, 1, abs(p - 1.0), abs(q - 1.0)
    first_is_double, second_is_double = p > 1.0, q > 1.0
    if nearest_value <= second_value and nearest_value < abs(r - 1.0):
        first, first_is_double = 0, r > 1.0
    elif nearest_value > second_value and second_value < abs(r - 1.0):
        second, second_is_double = 0, r > 1.0
    third = 3 - first - second
    if first_is_double and second_is_double:
        return 7, -1, 0, 4 * third + 3
    if not first_is_double and not second_is_double:
        return 0, -1, _axis_bit(first) | _axis_bit(second), 4 * third
    long, short = (first, second) if first_is_double else (second, first)
    return 7 - _axis_bit(long), 4 * long, 0, 4 * short + 3


@compiled
def _outer_vertex_contribution(
    order: Ints, i: int, j: int, k: int, x: float, y: float, z: float, ones: int, further: int
) -> float:
    """Return the noise that a vertex adds, given by a set of axes and a code as `_outer_vertices` returns them."""
    a, b, c = ones & 1, ones >> 1 & 1, ones >> 2
    if further >= 0:
        axis, coordinate = further // 4, further % 4 - 1
        if axis == 0:
            a = coordinate
        elif axis == 1:
            b = coordinate
        else:
            c = coordinate
    squish = (a + b + c) * _SQUISH
    return _vertex_contribution(order, i + a, j + b, k + c, x - a - squish, y - b - squish, z - c - squish)


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
    first_vertex, first_code, second_vertex, second_code = _outer_vertices(u, v, w)
    value += _outer_vertex_contribution(order, i, j, k, x, y, z, first_vertex, first_code)
    value += _outer_vertex_contribution(order, i, j, k, x, y, z, second_vertex, second_code)
    return value / _NORM


@compiled
def _noise_layer(order: Ints, xs: Floats, ys: Floats, z: float, stages: Bytes, least_stage: np.int64) -> Floats:
    """Return the noise of each cell of at least a stage, 0 for the others, whose kind the noise cannot change."""
    values = np.zeros(len(stages))
    for cell in range(len(stages)):
        if stages[cell] >= least_stage:
            values[cell] = opensimplex_noise(order, xs[cell // ids.SIZE], ys[cell % ids.SIZE], z)
    return values


@compiled
def _start_meadow(order: Ints, stages: Bytes) -> Floats:
    """Return how much each cell belongs to the start's meadow, 0 to 1; its cells get stage 0, others 1."""
    values = _noise_layer(order, _BY_3, _BY_3, 8.0, stages, np.int64(1))
    for cell in range(len(values)):
        start = 4 - math.sqrt((cell // ids.SIZE - _MIDDLE) ** 2 + (cell % ids.SIZE - _MIDDLE) ** 2)
        start += 2 * values[cell]
        values[cell] = 1 / (1 + math.exp(-start))
        stages[cell] = values[cell] <= 0.5
    return values


@compiled
def _waters_and_mountains(order: Ints, starts: Floats, stages: Bytes) -> tuple[Floats, Floats]:
    """Return the levels of water and of mountain of each cell; cells that can be neither stay at stage 1.

    The noise is between -1 and 1 (at most 0.988, by the gradients), so fine noise is computed only where it can change
    the kind of a cell; elsewhere any value is returned that gives the same kind.
    """
    waters = _noise_layer(order, _BY_15, _BY_15, 3.0, stages, np.int64(1))
    mountains = _noise_layer(order, _BY_15, _BY_15, 0.0, stages, np.int64(1))
    for cell in range(len(starts)):
        low, high = waters[cell] - 0.15 + 0.1 - 2 * starts[cell], waters[cell] + 0.15 + 0.1 - 2 * starts[cell]
        can_rise = (mountains[cell] + 0.3) / 1.3 - (4 * starts[cell] + 0.3 * low) > 0.15
        if stages[cell] and (can_rise or (high > 0.25 and low <= 0.35)):
            stages[cell] = 2
    fine_noise = _noise_layer(order, _BY_5, _BY_5, 3.0, stages, np.int64(2))
    for cell in range(len(starts)):
        waters[cell] = waters[cell] + 0.15 * fine_noise[cell] + 0.1 - 2 * starts[cell]
        if stages[cell] and (mountains[cell] + 0.3) / 1.3 - (4 * starts[cell] + 0.3 * waters[cell]) > 0.15:
            stages[cell] = 3
    fine_noise = _noise_layer(order, _BY_5, _BY_5, 0.0, stages, np.int64(3))
    for cell in range(len(starts)):
        lowering = 4 * starts[cell] + 0.3 * waters[cell]
        mountains[cell] = (mountains[cell] + 0.3 * fine_noise[cell]) / 1.3 - lowering if stages[cell] == 3 else 0.0
    return waters, mountains


@compiled
def _dig_paths(values: Floats, least: float, land: Bytes, stages: Bytes) -> None:
    """Turn the cells whose value is above `least` into paths, of stage 0."""
    for cell in range(len(values)):
        if values[cell] > least:
            land[cell], stages[cell] = ids.PATH, 0


@compiled
def _write_land(order: Ints, draws: Floats, land: Bytes, tunnels: Flags) -> int:
    """Write the kind of each cell, and whether it is a tunnel; return the number of draws used."""
    stages, stage_1, stage_2 = np.ones(len(land), np.uint8), np.int64(1), np.int64(2)
    starts = _start_meadow(order, stages)
    waters, mountains = _waters_and_mountains(order, starts, stages)
    for cell in range(len(land)):
        stages[cell] = (mountains[cell] > 0.15) + (mountains[cell] > 0.3)
        land[cell] = ids.STONE if stages[cell] else ids.GRASS
    _dig_paths(_noise_layer(order, _BY_7, _BY_7, 6.0, stages, stage_2), 0.15, land, stages)
    level_noise = _noise_layer(order, _LONG, _SHORT, 7.0, stages, stage_1)
    _dig_paths(level_noise, 0.4, land, stages)
    upright_noise = _noise_layer(order, _SHORT, _LONG, 7.0, stages, stage_1)
    _dig_paths(upright_noise, 0.4, land, stages)
    coals = _noise_layer(order, _BY_8, _BY_8, 1.0, stages, stage_1)
    irons = _noise_layer(order, _BY_6, _BY_6, 2.0, stages, stage_1)
    lavas = _noise_layer(order, _BY_5, _BY_5, 6.0, stages, stage_2)
    for cell in range(len(land)):
        tunnels[cell] = level_noise[cell] > 0.4 or upright_noise[cell] > 0.4
        if lavas[cell] > 0.35:
            land[cell] = ids.LAVA
        is_open = land[cell] == ids.GRASS and starts[cell] <= 0.5
        stages[cell] = is_open + (is_open and 0.25 < waters[cell] <= 0.35)
    sands = _noise_layer(order, _BY_9, _BY_9, 4.0, stages, stage_2)
    for cell in range(len(land)):
        if stages[cell] == 2 and sands[cell] > -0.2:
            land[cell], stages[cell] = ids.SAND, 0
        elif stages[cell] and waters[cell] > 0.3:
            land[cell], stages[cell] = ids.WATER, 0
    trees = _noise_layer(order, _BY_7, _BY_7, 5.0, stages, stage_1)
    n_used = int(np.int64(0))
    for cell in range(len(land)):
        if trees[cell] > 0:
            n_used += 1
            if draws[n_used - 1] > 0.8:
                land[cell] = ids.TREE
        if land[cell] != ids.STONE and land[cell] != ids.LAVA:
            continue
        if coals[cell] > 0:
            n_used += 1
            if draws[n_used - 1] > 0.85:
                land[cell] = ids.COAL
                continue
        if irons[cell] > 0.4:
            n_used += 1
            if draws[n_used - 1] > 0.75:
                land[cell] = ids.IRON
                continue
        if mountains[cell] > 0.18:
            n_used += 1
            if draws[n_used - 1] > 0.994:
                land[cell] = ids.DIAMOND
    return n_used


@compiled
def _draw_inhabitant(x: int, y: int, land: int, tunnel: bool, draws: Floats, n_used: int) -> tuple[int, int]:
    """Return the being in a cell at the start, 0 for none, and the number of draws used."""
    if land not in (ids.GRASS, ids.SAND, ids.PATH):
        return 0, n_used
    distance = math.sqrt((x - _MIDDLE) ** 2 + (y - _MIDDLE) ** 2)
    if distance > 3 and land == ids.GRASS:
        n_used += 1
        if draws[n_used - 1] > 0.985:
            return ids.COW, n_used
    if distance > 10:
        n_used += 1
        if draws[n_used - 1] > 0.993:
            return ids.ZOMBIE, n_used
    if land == ids.PATH and tunnel:
        n_used += 1
        if draws[n_used - 1] > 0.95:
            return ids.SKELETON, n_used
    return 0, n_used


@compiled
def generate_world(seed: int, draws: Floats, land: Bytes, beings: Bytes) -> int:
    """Make a world.

    Args:
        seed: The seed of the noise.
        draws: Uniform numbers from 0 to 1, at least six for each cell.
        land: Receives the kind of each cell, by x * SIZE + y.
        beings: Receives the kind of the being in each cell, 0 without one.

    Returns:
        The number of draws that were used.
    """
    tunnels = np.zeros(len(land), np.bool_)
    n_used = _write_land(permutation(seed), draws, land, tunnels)
    for cell in range(ids.SIZE * ids.SIZE):
        beings[cell], n_used = _draw_inhabitant(
            cell // ids.SIZE, cell % ids.SIZE, land[cell], tunnels[cell], draws, n_used
        )
    return n_used


@compiled
def nearest_of_each_kind(land: Bytes, beings: Numbers, dx: int, dy: int) -> Numbers:
    """Return for each kind the nearest cell in view: its offset east and south, and its distance, -1 if none.

    Of several that are equally near, the westernmost counts, and of these the northernmost. Beings hide their ground.
    Row 0 begins with the kind of the cell at (dx, dy) from the player; -1 outside of the map.
    """
    x, y = beings[0, ids.X], beings[0, ids.Y]
    view = np.zeros((2 * ids.ACROSS + 1, 2 * ids.DOWN + 1), np.int32)
    for i in range(2 * ids.ACROSS + 1):
        for j in range(2 * ids.DOWN + 1):
            column, row = x + i - ids.ACROSS, y + j - ids.DOWN
            if 0 <= column < ids.SIZE and 0 <= row < ids.SIZE:
                view[i, j] = land[column * ids.SIZE + row]
    for being in range(len(beings)):
        i, j = beings[being, ids.X] - x + ids.ACROSS, beings[being, ids.Y] - y + ids.DOWN
        if 0 <= i <= 2 * ids.ACROSS and 0 <= j <= 2 * ids.DOWN:
            view[i, j] = beings[being, ids.KIND]
    nearest_cells = np.full((ids.PLANT + 1, 3), -1, np.int32)
    for i in range(2 * ids.ACROSS + 1):
        for j in range(2 * ids.DOWN + 1):
            kind, distance = view[i, j], abs(i - ids.ACROSS) + abs(j - ids.DOWN)
            if kind and (nearest_cells[kind, 2] < 0 or distance < nearest_cells[kind, 2]):
                nearest_cells[kind, 0], nearest_cells[kind, 1] = i - ids.ACROSS, j - ids.DOWN
                nearest_cells[kind, 2] = distance
    nearest_cells[0, 0] = view[ids.ACROSS + dx, ids.DOWN + dy] or -1
    return nearest_cells


@compiled
def path_costs(costs: Numbers, targets: Numbers) -> Numbers:
    """Return the cost of the way from each cell to the nearest target; FAR where there is none.

    Cells are visited in the order of their costs, by buckets (Dial's algorithm).

    Args:
        costs: For each cell the cost of entering it, 1 to 15; 0 where it cannot be entered.
        targets: Numbers of cells. To enter a target costs 1, whatever its own cost is.
    """
    lengths = np.full(ids.AREA, FAR, np.int32)
    rings = np.empty((_DEAREST, 4 * ids.AREA), np.int32)  # the cells of each cost, by cost % _DEAREST
    sizes = np.zeros(_DEAREST, np.int32)
    for target in targets:
        lengths[target] = 0
        rings[0, sizes[0]] = target
        sizes[0] += 1
    cost, n_empty = 0, 0
    while n_empty < _DEAREST:
        ring = cost % _DEAREST
        count, sizes[ring] = sizes[ring], 0
        n_empty = n_empty + 1 if count == 0 else 0
        for position in range(count):
            cell = rings[ring, position]
            if lengths[cell] != cost:  # reached at a lower cost since
                continue
            entry_cost = 1 if cost == 0 else costs[cell]
            if entry_cost == 0:
                continue
            x, y = cell // ids.SIZE, cell % ids.SIZE
            for dx, dy in ((-1, 0), (1, 0), (0, -1), (0, 1)):
                if 0 <= x + dx < ids.SIZE and 0 <= y + dy < ids.SIZE:
                    neighbour = cell + dx * ids.SIZE + dy
                    if cost + entry_cost < lengths[neighbour]:
                        lengths[neighbour] = cost + entry_cost
                        next_ring = (cost + entry_cost) % _DEAREST
                        rings[next_ring, sizes[next_ring]] = neighbour
                        sizes[next_ring] += 1
        cost += 1
    return lengths
