"""The terrain as a pure function of a seed: biomes, heights, and chunks of blocks. Compiled; imported when needed.

All noise is in whole numbers, from 0 to 65535, so that every platform makes the same world. `x` points east, `y` up and
`z` south, in blocks, as in Minecraft. Arithmetic on hashes wraps at 64 bits.
"""

import numpy as np
from numpy.typing import NDArray

from waybench._compile import compiled

Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]

HEIGHT = 128  # layers, from 0
SEA = 62  # the highest layer of water
CELL = 4  # biomes are those of cells of so many columns along each side
SIDE = 16  # columns along each side of a chunk
SLOTS = 16  # chunks along each side that are kept: those of a square that wraps around

# Biomes by number, as in `_terrain.BIOMES`.
OCEAN, FROZEN_OCEAN, BEACH, COLD_BEACH, RIVER, FROZEN_RIVER, PLAINS, FOREST, BIRCH_FOREST, SWAMPLAND = range(10)
EXTREME_HILLS, TAIGA, COLD_TAIGA, ICE_PLAINS, ICE_SPIKES, DESERT, SAVANNA, JUNGLE = range(10, 18)

_SHORE, _DRY = 27_000, 28_200  # continents below the one are sea, between both beach
_MIDDLE = 32_768
_BED = 900  # rivers are where their noise is so near to the middle
_PATCH = 6  # columns along each side of what has one tree at most
_NARROW = 3_000  # of the noise of caves
_REACH = 3  # how far a crown reaches from its trunk


@compiled
def hash_bits(seed: int, x: int, z: int) -> int:
    """Return 62 bits that seed, x and z determine."""
    h = seed ^ (x * 668265263 + z * -7046029254386353131)
    h = (h ^ (h >> 29)) * -4658895280553007687
    h = (h ^ (h >> 32)) * -7723592293110705685
    return (h ^ (h >> 30)) & 0x3FFFFFFFFFFFFFFF


@compiled
def value_noise(seed: int, x: int, z: int, scale: int) -> int:
    """Return value noise, 0 to 65535, whose lattice has a point in every `scale` blocks."""
    column, row = x // scale, z // scale
    east, south = ((x - column * scale) << 12) // scale, ((z - row * scale) << 12) // scale
    east, south = (east * east * (12288 - 2 * east)) >> 24, (south * south * (12288 - 2 * south)) >> 24
    northern = (hash_bits(seed, column, row) & 65535) * (4096 - east) + (
        hash_bits(seed, column + 1, row) & 65535
    ) * east
    southern = (hash_bits(seed, column, row + 1) & 65535) * (4096 - east) + (
        hash_bits(seed, column + 1, row + 1) & 65535
    ) * east
    return (northern * (4096 - south) + southern * south) >> 24


@compiled
def layered_noise(seed: int, x: int, z: int, scale: int) -> int:
    """Return noise at three scales, 0 to 65535."""
    fine = value_noise(seed + 2, x, z, scale // 4)
    return (
        4 * value_noise(seed, x, z, scale) + 2 * value_noise(seed + 1, x + 7919, z + 104729, scale // 2) + fine
    ) // 7


@compiled
def inland_level(seed: int, x: int, z: int) -> int:
    """Return how far inland a column is, 0 to 65535."""
    return layered_noise(hash_bits(seed, 1, 0), x, z, 768)


@compiled
def mountain_level(seed: int, x: int, z: int) -> int:
    """Return how mountainous a column is, 0 to 65535."""
    return layered_noise(hash_bits(seed, 2, 0), x, z, 384)


@compiled
def river_distance(seed: int, x: int, z: int) -> int:
    """Return how far a column is from the middle of a river, in units of noise."""
    return abs(layered_noise(hash_bits(seed, 3, 0), x, z, 512) - _MIDDLE)


@compiled
def biome_number(seed: int, x: int, z: int) -> int:
    """Return the number of a column's biome, that of the middle of its cell."""
    x, z = (x >> 2 << 2) + 2, (z >> 2 << 2) + 2
    return _biome_at(seed, x, z, inland_level(seed, x, z))


@compiled
def _biome_at(seed: int, x: int, z: int, inland: int) -> int:
    """Return the number of the biome of a cell's middle with this inland level."""
    warm = layered_noise(hash_bits(seed, 4, 0), x, z, 1152)
    cold = warm < 25_000
    if inland < _SHORE:
        return FROZEN_OCEAN if cold else OCEAN
    if inland < _DRY:
        return COLD_BEACH if cold else BEACH
    if river_distance(seed, x, z) < _BED:
        return FROZEN_RIVER if cold else RIVER
    if mountain_level(seed, x, z) > 44_000:
        return EXTREME_HILLS
    wet = layered_noise(hash_bits(seed, 5, 0), x, z, 512)
    if cold:
        if wet > 34_000:
            return COLD_TAIGA
        return ICE_SPIKES if wet < 26_000 else ICE_PLAINS
    if warm < 30_500:
        return TAIGA if wet > 29_000 else PLAINS
    if warm < 38_000:
        if wet < 30_000:
            return PLAINS
        if wet < 41_000:
            return BIRCH_FOREST if wet > 38_000 else FOREST
        return SWAMPLAND
    if wet < 30_500:
        return DESERT
    return SAVANNA if wet < 34_500 else JUNGLE


@compiled
def ground_height(seed: int, x: int, z: int) -> int:
    """Return the layer of the highest block of the ground in a column, perhaps under water."""
    inland = inland_level(seed, x, z)
    if inland < _SHORE:
        return max(SEA - 1 - (_SHORE - inland) // 320, 34)
    beyond = inland - _DRY
    if beyond < 0:
        return SEA + (inland - _SHORE) // 600
    rise = min(beyond, 3000)  # hills grow with the distance from the shore
    hills = value_noise(hash_bits(seed, 6, 0), x, z, 72) * 9 + value_noise(hash_bits(seed, 7, 0), x, z, 28) * 3
    level = SEA + 2 + min(beyond // 1500, 8) + ((hills >> 8) * rise // 3000 >> 8)
    steep = mountain_level(seed, x, z) - 41_000
    if steep > 0:
        level += steep * rise // 3000 // 420
    bed = SEA - 3 + (river_distance(seed, x, z)) // 380  # a valley along each river
    return min(level, bed, HEIGHT - 30)


@compiled
def nearest_cell(seed: int, x: int, z: int, wanted: Bytes, least: int, most: int) -> tuple[int, int, int]:
    """Return the nearest cell of some biomes.

    Args:
        seed: The terrain's.
        x: Column to start from.
        z: Its row.
        wanted: 1 for each biome that is wanted.
        least: Distance below which it is known that there is none, in blocks; no biome is looked up there.
        most: Farthest distance to look, in blocks.

    Returns:
        Column and row of the middle of the nearest cell, and the square of its distance; -1 if there is none. Of
        several that are as near it is the first from north to south and then from west to east, ring by ring.
    """
    # How far inland a cell is says most about it, and is the first that is known.
    at_sea = wanted[OCEAN] or wanted[FROZEN_OCEAN]
    at_beach = wanted[BEACH] or wanted[COLD_BEACH]
    on_land = False
    for biome in range(RIVER, len(wanted)):
        on_land = on_land or wanted[biome] != 0
    column, row = x >> 2, z >> 2
    best, east, south = (most + 1) * (most + 1), 0, 0
    for ring in range(most // CELL + 2):
        if (max(ring * CELL - 3, 0)) ** 2 >= best:
            break
        for down in range(-ring, ring + 1):
            stride = 1 if abs(down) == ring else 2 * ring
            for right in range(-ring, ring + 1, max(stride, 1)):
                there, below = (column + right) * CELL + 2, (row + down) * CELL + 2
                away = (there - x) ** 2 + (below - z) ** 2
                if not least * least <= away < best:
                    continue
                inland = inland_level(seed, there, below)
                possible = at_sea if inland < _SHORE else at_beach if inland < _DRY else on_land
                if possible and wanted[_biome_at(seed, there, below, inland)]:
                    best, east, south = away, there, below
    return (east, south, best) if best <= most * most else (0, 0, -1)


@compiled
def _fill_bare_column(seed: int, ground: Ints, biome: Ints, x: int, z: int, height: int, column: Bytes) -> None:
    air, bedrock, stone, water, ice = ground[0], ground[1], ground[2], ground[4], ground[5]
    salt, bits = hash_bits(seed, 8, 0), 0
    for y in range(HEIGHT):
        if y > height:
            column[y] = water if y <= SEA else air
        elif y == 0:
            column[y] = bedrock
        elif y > height - 4:
            column[y] = biome[0] if y == height else biome[1]
        else:
            bits = hash_bits(salt, x * HEIGHT + y, z) if y % 6 == 1 else bits >> 10  # there are enough for six layers
            ore = bits & 1023
            column[y] = ground[6] if ore < 12 else ground[7] if ore < 18 else ground[8] if ore < 26 else stone
    if height < SEA:
        bottom = value_noise(hash_bits(seed, 9, 0), x, z, 12)
        column[height] = ground[9] if bottom > 46_000 else ground[10] if bottom > 36_000 else column[height]
        if biome[0] == ground[13] and column[height] == biome[0]:
            column[height] = ground[3]  # no grass grows under water
        if biome[9]:
            column[SEA] = ice


@compiled
def _put_plants(seed: int, ground: Ints, biome: Ints, x: int, z: int, height: int, column: Bytes) -> None:
    chance = hash_bits(hash_bits(seed, 10, 0), x, z)
    if height < SEA:
        if biome[6] == ground[0]:
            return
        if not biome[9] and biome[4] == 70 and (chance & 255) < 30:
            column[SEA + 1] = ground[12]
        return
    if (chance & 255) < biome[7]:
        column[height + 1] = biome[5]
    elif (chance >> 8 & 255) < biome[8]:
        column[height + 1] = biome[6]
    elif biome[9]:
        column[height + 1] = ground[11]


@compiled
def _dig_caves(seed: int, west: int, north: int, heights: Ints, air: int, blocks: Bytes) -> None:
    """Dig tunnels: where two kinds of noise in space, with a lattice of 8 blocks, are both near their middle."""
    layers = HEIGHT // 8 + 1
    lattice = np.empty((2, 3, 3, layers), dtype=np.int64)
    for kind in range(2):
        for k in range(layers):
            salt = hash_bits(seed, 11 + kind, k)
            for i in range(3):
                for j in range(3):
                    lattice[kind, i, j, k] = hash_bits(salt, (west >> 3) + i, (north >> 3) + j) & 65535
    line = np.empty((2, layers), dtype=np.int64)  # along a column
    for x in range(SIDE):
        for z in range(SIDE):
            i, j, a, b, top = x >> 3, z >> 3, x & 7, z & 7, heights[x, z] - 4
            for kind in range(2):
                for k in range((top >> 3) + 2):
                    near = lattice[kind, i, j, k] * (8 - a) + lattice[kind, i + 1, j, k] * a
                    beside = lattice[kind, i, j + 1, k] * (8 - a) + lattice[kind, i + 1, j + 1, k] * a
                    line[kind, k] = near * (8 - b) + beside * b
            for y in range(5, top):
                k, c = y >> 3, y & 7
                first_noise = (line[0, k] * (8 - c) + line[0, k + 1] * c >> 9) - _MIDDLE
                second_noise = (line[1, k] * (8 - c) + line[1, k + 1] * c >> 9) - _MIDDLE
                if abs(first_noise) < _NARROW and abs(second_noise) < _NARROW:
                    blocks[x, z, y] = air


@compiled
def _put_tree_block(blocks: Bytes, x: int, y: int, z: int, block: int, air: int, over: bool) -> None:
    """Put a block of a tree if it is in the chunk; leaves only into air or, with `over`, anything."""
    if 0 <= x < SIDE and 0 <= z < SIDE and 0 < y < HEIGHT and (over or blocks[x, z, y] == air):
        blocks[x, z, y] = block


@compiled
def _put_crown(blocks: Bytes, x: int, z: int, top: int, tree: Ints, air: int) -> None:
    """Put the leaves around the end of a trunk."""
    crown, shape, radius = tree[1], tree[4], tree[5]
    lowest = 1 if shape == 2 else 3 if shape == 0 else 5
    for down in range(-1, lowest):
        if shape == 0:
            reach = radius - 1 if down < 1 else radius
        elif shape == 1:
            reach = 0 if down < 0 else 1 + down % 2 if down > 0 else 1
        else:
            reach = radius if down == 0 else radius - 1
        for east in range(-reach, reach + 1):
            for south in range(-reach, reach + 1):
                if east * east + south * south <= reach * reach + 1:
                    _put_tree_block(blocks, x + east, top - down, z + south, crown, air, False)


@compiled
def _build_tree(blocks: Bytes, x: int, z: int, height: int, tree: Ints, luck: int, air: int) -> None:
    """Build one tree; `x` and `z` count from the chunk's corner and may lie outside of it."""
    tall = tree[2] + luck % (tree[3] - tree[2] + 1)
    top = height + tall
    if tree[4] < 3:
        _put_crown(blocks, x, z, top, tree, air)
    for y in range(height + 1, top + 1):
        _put_tree_block(blocks, x, y, z, tree[0], air, True)
        if tree[4] == 4:
            reach = 2 if y - height < tall // 3 else 1 if y - height < 2 * tall // 3 else 0
            for east in range(-reach, reach + 1):
                for south in range(-reach, reach + 1):
                    if abs(east) + abs(south) <= reach:
                        _put_tree_block(blocks, x + east, y, z + south, tree[0], air, True)


@compiled
def _build_trees(seed: int, west: int, north: int, ground: Ints, biomes: Ints, trees: Ints, blocks: Bytes) -> None:
    """Build all trees that reach into a chunk, in an order that does not depend on the chunk."""
    salt = hash_bits(seed, 13, 0)
    for column in range((west - _REACH) // _PATCH, (west + SIDE + _REACH) // _PATCH + 1):
        for row in range((north - _REACH) // _PATCH, (north + SIDE + _REACH) // _PATCH + 1):
            luck = hash_bits(salt, column, row)
            x, z = column * _PATCH + 1 + luck % 4, row * _PATCH + 1 + (luck >> 8) % 4
            biome = biomes[biome_number(seed, x, z)]
            if (luck >> 16 & 255) >= biome[4]:
                continue
            height = ground_height(seed, x, z)
            if height >= SEA:
                kind = biome[3] if (luck >> 24 & 3) == 0 else biome[2]
                _build_tree(blocks, x - west, z - north, height, trees[kind], luck >> 32, ground[0])


@compiled
def write_chunk(seed: int, column: int, row: int, ground: Ints, biomes: Ints, trees: Ints, blocks: Bytes) -> None:
    """Write the blocks of a chunk, from its number to the east and to the south; shape (SIDE, SIDE, HEIGHT): x, z, y.

    The three tables are those of `_terrain.number_tables`.
    """
    west, north = column * SIDE, row * SIDE
    heights, kinds = np.empty((SIDE, SIDE), dtype=np.int64), np.empty((SIDE, SIDE), dtype=np.int64)
    for x in range(SIDE):
        for z in range(SIDE):
            if x % CELL == 0 and z % CELL == 0:
                kinds[x : x + CELL, z : z + CELL] = biome_number(seed, west + x, north + z)
            heights[x, z] = ground_height(seed, west + x, north + z)
            _fill_bare_column(seed, ground, biomes[kinds[x, z]], west + x, north + z, heights[x, z], blocks[x, z])
    _dig_caves(seed, west, north, heights, ground[0], blocks)
    for x in range(SIDE):
        for z in range(SIDE):
            _put_plants(seed, ground, biomes[kinds[x, z]], west + x, north + z, heights[x, z], blocks[x, z])
    _build_trees(seed, west, north, ground, biomes, trees, blocks)


@compiled
def make_missing_chunks(
    seed: int,
    pool: Bytes,
    tags: Ints,
    ground: Ints,
    biomes: Ints,
    trees: Ints,
    x: float,
    z: float,
    east: float,
    south: float,
    far: float,
) -> int:
    """Make the chunks around a place that are not there yet.

    Args:
        seed: The terrain's.
        pool: The chunks that are kept; shape (SLOTS, SLOTS, SIDE, SIDE, HEIGHT). Changed.
        tags: Column and row of the chunk in each slot; shape (SLOTS, SLOTS, 2). Changed.
        ground: See `_terrain.number_tables`, as the next two.
        biomes: What biomes look like.
        trees: How trees are built.
        x: The place, to the east.
        z: To the south.
        east: Where one looks, as a vector of length 1: only chunks are made that have a place up to 48 degrees from
            there; all of them if it is zero.
        south: The same.
        far: How far, in blocks; at most 7 chunks.

    Returns:
        How many chunks were made.
    """
    made_count, half = 0, SIDE // 2
    corner = 1.5 * half  # somewhat more than from the middle of a chunk to its corner
    first_column, last_column = int(np.floor(x - far)) >> 4, int(np.floor(x + far)) >> 4
    first_row, last_row = int(np.floor(z - far)) >> 4, int(np.floor(z + far)) >> 4
    for column in range(first_column, last_column + 1):
        for row in range(first_row, last_row + 1):
            right, down = column * SIDE + half - x, row * SIDE + half - z
            ahead, aside = right * east + down * south, abs(right * south - down * east)
            if right * right + down * down > (far + corner) ** 2:
                continue
            if (east != 0 or south != 0) and aside > 1.12 * ahead + 2.2 * corner:  # the tangent of 48 degrees is 1.111
                continue
            i, j = column & (SLOTS - 1), row & (SLOTS - 1)
            if tags[i, j, 0] != column or tags[i, j, 1] != row:
                write_chunk(seed, column, row, ground, biomes, trees, pool[i, j])
                tags[i, j, 0], tags[i, j, 1] = column, row
                made_count += 1
    return made_count


@compiled
def mark_goal_cells(seed: int, x: int, z: int, wanted: Bytes, is_goal: Bytes) -> None:
    """Mark the cells around a place that are of wanted biomes.

    `wanted` has a 1 for each such biome. `is_goal` receives a 1 for each such cell; its shape is (n, n), n odd, with
    the place's cell in the middle.
    """
    reach = is_goal.shape[0] // 2
    for i in range(is_goal.shape[0]):
        for j in range(is_goal.shape[0]):
            is_goal[i, j] = wanted[biome_number(seed, ((x >> 2) + i - reach) << 2, ((z >> 2) + j - reach) << 2)]


@compiled
def write_chart(seed: int, west: int, north: int, wanted: Bytes, heights: Ints, is_goal: Bytes) -> None:
    """Write heights and goals of cells, as on a map, from the first column and row of cells on.

    `wanted` has a 1 for each biome that is wanted. `heights` receives the layer of the ground in each cell's middle,
    and `is_goal` a 1 for each cell of such a biome; both have the shape (columns, rows).
    """
    for i in range(heights.shape[0]):
        for j in range(heights.shape[1]):
            x, z = (west + i) * CELL + 2, (north + j) * CELL + 2
            heights[i, j], is_goal[i, j] = ground_height(seed, x, z), wanted[biome_number(seed, x, z)]
