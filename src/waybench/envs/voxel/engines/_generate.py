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
_NARROW = 3_000  # tunnels are where both noises of caves are so near to the middle
_LATTICE = 8  # blocks between the points of the lattice of caves
_REACH = 3  # how far a crown reaches from its trunk

# Kinds of noise: `hash_bits(seed, kind, 0)` is the seed of each. Caves have two kinds.
_INLAND, _MOUNTAINS, _RIVERS, _WARMTH, _WETNESS, _HILLS, _KNOLLS, _ORES, _SEA_BED, _PLANTS, _CAVES = range(1, 12)
_TREES = _CAVES + 2

# Columns of the three tables of `_terrain.number_tables`: of the ground, of biomes and of trees.
_AIR, _BEDROCK, _STONE, _DIRT, _WATER, _ICE, _COAL, _IRON, _GRAVEL, _CLAY, _SAND, _SNOW, _LILY, _GRASS = range(14)
_TOP, _FILLER, _TREE, _RARE_TREE, _WOOD, _PLANT, _RARE_PLANT, _SOWN, _SOWN_RARE, _COLD = range(10)
_TRUNK, _CROWN, _LOW, _HIGH, _SHAPE, _RADIUS = range(6)
_ROUND, _CONE, _FLAT, _COLUMN, _SPIKE = range(5)
_WOOD_OF_SWAMPS = 70  # no other biome has so many trees


@compiled
def hash_bits(seed: int, x: int, z: int) -> int:
    """Return 62 bits that seed, x and z determine."""
    # The last multipliers are those of SplitMix64, as signed numbers.
    bits = seed ^ (x * 668265263 + z * -7046029254386353131)
    bits = (bits ^ (bits >> 29)) * -4658895280553007687
    bits = (bits ^ (bits >> 32)) * -7723592293110705685
    return (bits ^ (bits >> 30)) & 0x3FFFFFFFFFFFFFFF


@compiled
def value_noise(seed: int, x: int, z: int, scale: int) -> int:
    """Return value noise, 0 to 65535, whose lattice has a point in every `scale` blocks.

    Between the points it is weighted by 3t² - 2t³, in whole numbers: t is in 4096ths.
    """
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
    """Return the weighted mean of noise at three scales, 0 to 65535."""
    coarse = value_noise(seed, x, z, scale)
    middle = value_noise(seed + 1, x + 7919, z + 104729, scale // 2)  # moved, so that the lattices do not coincide
    fine = value_noise(seed + 2, x, z, scale // 4)
    return (4 * coarse + 2 * middle + fine) // 7


@compiled
def inland_level(seed: int, x: int, z: int) -> int:
    """Return how far inland a column is, 0 to 65535."""
    return layered_noise(hash_bits(seed, _INLAND, 0), x, z, 768)


@compiled
def mountain_level(seed: int, x: int, z: int) -> int:
    """Return how mountainous a column is, 0 to 65535."""
    return layered_noise(hash_bits(seed, _MOUNTAINS, 0), x, z, 384)


@compiled
def river_distance(seed: int, x: int, z: int) -> int:
    """Return how far a column is from the middle of a river, in units of noise."""
    return abs(layered_noise(hash_bits(seed, _RIVERS, 0), x, z, 512) - _MIDDLE)


@compiled
def biome_number(seed: int, x: int, z: int) -> int:
    """Return the number of a column's biome: the biome of the middle of its cell."""
    x, z = x // CELL * CELL + CELL // 2, z // CELL * CELL + CELL // 2
    return _biome_at(seed, x, z, inland_level(seed, x, z))


@compiled
def _biome_at(seed: int, x: int, z: int, inland: int) -> int:
    """Return the number of the biome of a cell, from the column, row and inland level of its middle."""
    warmth = layered_noise(hash_bits(seed, _WARMTH, 0), x, z, 1152)
    is_cold = warmth < 25_000
    if inland < _SHORE:
        return FROZEN_OCEAN if is_cold else OCEAN
    if inland < _DRY:
        return COLD_BEACH if is_cold else BEACH
    if river_distance(seed, x, z) < _BED:
        return FROZEN_RIVER if is_cold else RIVER
    if mountain_level(seed, x, z) > 44_000:
        return EXTREME_HILLS
    wetness = layered_noise(hash_bits(seed, _WETNESS, 0), x, z, 512)
    if is_cold:
        if wetness > 34_000:
            return COLD_TAIGA
        return ICE_SPIKES if wetness < 26_000 else ICE_PLAINS
    if warmth < 30_500:
        return TAIGA if wetness > 29_000 else PLAINS
    if warmth < 38_000:
        if wetness < 30_000:
            return PLAINS
        if wetness < 41_000:
            return BIRCH_FOREST if wetness > 38_000 else FOREST
        return SWAMPLAND
    if wetness < 30_500:
        return DESERT
    return SAVANNA if wetness < 34_500 else JUNGLE


@compiled
def ground_height(seed: int, x: int, z: int) -> int:
    """Return the layer of the highest block of the ground in a column, perhaps under water."""
    inland = inland_level(seed, x, z)
    if inland < _SHORE:
        return max(SEA - 1 - (_SHORE - inland) // 320, 34)
    beyond_beach = inland - _DRY
    if beyond_beach < 0:
        return SEA + (inland - _SHORE) // 600
    rise = min(beyond_beach, 3000)  # hills grow with the distance from the shore
    hills = value_noise(hash_bits(seed, _HILLS, 0), x, z, 72) * 9
    hills += value_noise(hash_bits(seed, _KNOLLS, 0), x, z, 28) * 3
    level = SEA + 2 + min(beyond_beach // 1500, 8) + ((hills >> 8) * rise // 3000 >> 8)
    steepness = mountain_level(seed, x, z) - 41_000
    if steepness > 0:
        level += steepness * rise // 3000 // 420
    valley_floor = SEA - 3 + river_distance(seed, x, z) // 380  # rises with the distance from the river
    return min(level, valley_floor, HEIGHT - 30)


@compiled
def nearest_cell(seed: int, x: int, z: int, wanted: Bytes, least: int, most: int) -> tuple[int, int, int]:
    """Return the nearest cell of some biomes to the column `x` and row `z` of blocks.

    `wanted` has a 1 for each biome that is wanted. Cells up to `most` blocks away are searched; within `least` blocks
    it is known that there are none, and no biomes are computed.

    Returns:
        Column and row of the middle of the nearest cell, and the square of its distance, all in blocks; the square is
        -1 if there is none. Of cells that are equally near it is the first ring by ring from inside, then from north
        to south, then from west to east.
    """
    # The inland level is computed first, and mostly tells already that a cell cannot be wanted.
    wanted_at_sea = wanted[OCEAN] or wanted[FROZEN_OCEAN]
    wanted_at_beach = wanted[BEACH] or wanted[COLD_BEACH]
    wanted_on_land = False
    for biome in range(RIVER, len(wanted)):
        wanted_on_land = wanted_on_land or wanted[biome] != 0
    column, row = x // CELL, z // CELL
    least_square, east, south = (most + 1) * (most + 1), 0, 0
    for ring_number in range(most // CELL + 2):
        if (max(ring_number * CELL - 3, 0)) ** 2 >= least_square:  # no middle of the ring's cells is nearer
            break
        for row_offset in range(-ring_number, ring_number + 1):
            stride = 1 if abs(row_offset) == ring_number else 2 * ring_number  # all cells, or the two at the ends
            for column_offset in range(-ring_number, ring_number + 1, max(stride, 1)):
                cell_x, cell_z = (column + column_offset) * CELL + CELL // 2, (row + row_offset) * CELL + CELL // 2
                square = (cell_x - x) ** 2 + (cell_z - z) ** 2
                if not least * least <= square < least_square:
                    continue
                inland = inland_level(seed, cell_x, cell_z)
                can_be_wanted = (
                    wanted_at_sea if inland < _SHORE else wanted_at_beach if inland < _DRY else wanted_on_land
                )
                if can_be_wanted and wanted[_biome_at(seed, cell_x, cell_z, inland)]:
                    least_square, east, south = square, cell_x, cell_z
    return (east, south, least_square) if least_square <= most * most else (0, 0, -1)


@compiled
def _fill_bare_column(seed: int, ground: Ints, biome: Ints, x: int, z: int, height: int, column: Bytes) -> None:
    """Write the blocks of a column of the terrain, without caves, plants and trees; `height` is its ground's layer."""
    salt, bits = hash_bits(seed, _ORES, 0), 0
    for y in range(HEIGHT):
        if y > height:
            column[y] = ground[_WATER] if y <= SEA else ground[_AIR]
        elif y == 0:
            column[y] = ground[_BEDROCK]
        elif y > height - 4:
            column[y] = biome[_TOP] if y == height else biome[_FILLER]
        else:
            bits = hash_bits(salt, x * HEIGHT + y, z) if y % 6 == 1 else bits >> 10  # 62 bits are enough for six layers
            ore = bits & 1023
            column[y] = ground[_COAL if ore < 12 else _IRON if ore < 18 else _GRAVEL if ore < 26 else _STONE]
    if height < SEA:
        bottom = value_noise(hash_bits(seed, _SEA_BED, 0), x, z, 12)
        column[height] = ground[_CLAY] if bottom > 46_000 else ground[_SAND] if bottom > 36_000 else column[height]
        if biome[_TOP] == ground[_GRASS] and column[height] == biome[_TOP]:
            column[height] = ground[_DIRT]  # no grass grows under water
        if biome[_COLD]:
            column[SEA] = ground[_ICE]


@compiled
def _put_plants(seed: int, ground: Ints, biome: Ints, x: int, z: int, height: int, column: Bytes) -> None:
    """Put a plant or snow on the ground of a column, or a lily pad on the water of a swamp; chances are in 256ths."""
    random_bits = hash_bits(hash_bits(seed, _PLANTS, 0), x, z)
    if height < SEA:
        has_lilies = biome[_RARE_PLANT] != ground[_AIR] and not biome[_COLD] and biome[_WOOD] == _WOOD_OF_SWAMPS
        if has_lilies and (random_bits & 255) < 30:
            column[SEA + 1] = ground[_LILY]
        return
    if (random_bits & 255) < biome[_SOWN]:
        column[height + 1] = biome[_PLANT]
    elif (random_bits >> 8 & 255) < biome[_SOWN_RARE]:
        column[height + 1] = biome[_RARE_PLANT]
    elif biome[_COLD]:
        column[height + 1] = ground[_SNOW]


@compiled
def _dig_caves(seed: int, west: int, north: int, heights: Ints, air: int, blocks: Bytes) -> None:
    """Dig tunnels into a chunk: where two kinds of noise in space are both near their middle.

    `west` and `north` are the chunk's first column and row of blocks, `heights` the layers of its ground.
    """
    layers = HEIGHT // _LATTICE + 1
    lattice = np.empty((2, 3, 3, layers), dtype=np.int64)
    for kind in range(2):
        for k in range(layers):
            salt = hash_bits(seed, _CAVES + kind, k)
            for i in range(3):
                for j in range(3):
                    lattice[kind, i, j, k] = hash_bits(salt, west // _LATTICE + i, north // _LATTICE + j) & 65535
    column_noise = np.empty((2, layers), dtype=np.int64)  # at the lattice's layers, 64 times the noise
    for x in range(SIDE):
        for z in range(SIDE):
            # The point of the lattice to the north-west, and how far the column is from it: linear interpolation.
            i, j, a, b, top = x // _LATTICE, z // _LATTICE, x % _LATTICE, z % _LATTICE, heights[x, z] - 4
            for kind in range(2):
                for k in range(top // _LATTICE + 2):
                    north_noise = lattice[kind, i, j, k] * (_LATTICE - a) + lattice[kind, i + 1, j, k] * a
                    south_noise = lattice[kind, i, j + 1, k] * (_LATTICE - a) + lattice[kind, i + 1, j + 1, k] * a
                    column_noise[kind, k] = north_noise * (_LATTICE - b) + south_noise * b
            for y in range(5, top):
                k, c = y // _LATTICE, y % _LATTICE
                first_noise = (column_noise[0, k] * (_LATTICE - c) + column_noise[0, k + 1] * c) // _LATTICE**3
                second_noise = (column_noise[1, k] * (_LATTICE - c) + column_noise[1, k + 1] * c) // _LATTICE**3
                if abs(first_noise - _MIDDLE) < _NARROW and abs(second_noise - _MIDDLE) < _NARROW:
                    blocks[x, z, y] = air


@compiled
def _put_tree_block(blocks: Bytes, x: int, y: int, z: int, block: int, air: int, over: bool) -> None:
    """Put a block of a tree if it is in the chunk and replaces air or, with `over`, anything."""
    if 0 <= x < SIDE and 0 <= z < SIDE and 0 < y < HEIGHT and (over or blocks[x, z, y] == air):
        blocks[x, z, y] = block


@compiled
def _put_crown(blocks: Bytes, x: int, z: int, top: int, tree: Ints, air: int) -> None:
    """Put the leaves around the end of a trunk; layers are counted downwards from its highest block."""
    crown, shape, radius = tree[_CROWN], tree[_SHAPE], tree[_RADIUS]
    lowest = 1 if shape == _FLAT else 3 if shape == _ROUND else 5
    for layer in range(-1, lowest):
        if shape == _ROUND:
            reach = radius - 1 if layer < 1 else radius
        elif shape == _CONE:
            reach = 0 if layer < 0 else 1 + layer % 2
        else:
            reach = radius if layer == 0 else radius - 1
        for east in range(-reach, reach + 1):
            for south in range(-reach, reach + 1):
                if east * east + south * south <= reach * reach + 1:
                    _put_tree_block(blocks, x + east, top - layer, z + south, crown, air, False)


@compiled
def _build_tree(blocks: Bytes, x: int, z: int, height: int, tree: Ints, random_bits: int, air: int) -> None:
    """Build one tree on the layer `height`; `x` and `z` count from the chunk's corner and may lie outside of it."""
    trunk_height = tree[_LOW] + random_bits % (tree[_HIGH] - tree[_LOW] + 1)
    top = height + trunk_height
    if tree[_SHAPE] < _COLUMN:
        _put_crown(blocks, x, z, top, tree, air)
    for y in range(height + 1, top + 1):
        _put_tree_block(blocks, x, y, z, tree[_TRUNK], air, True)
        if tree[_SHAPE] == _SPIKE:
            reach = 2 if y - height < trunk_height // 3 else 1 if y - height < 2 * trunk_height // 3 else 0
            for east in range(-reach, reach + 1):
                for south in range(-reach, reach + 1):
                    if abs(east) + abs(south) <= reach:
                        _put_tree_block(blocks, x + east, y, z + south, tree[_TRUNK], air, True)


@compiled
def _build_trees(seed: int, west: int, north: int, ground: Ints, biomes: Ints, trees: Ints, blocks: Bytes) -> None:
    """Build all trees that reach into a chunk, in an order that does not depend on the chunk."""
    salt = hash_bits(seed, _TREES, 0)
    for column in range((west - _REACH) // _PATCH, (west + SIDE + _REACH) // _PATCH + 1):
        for row in range((north - _REACH) // _PATCH, (north + SIDE + _REACH) // _PATCH + 1):
            random_bits = hash_bits(salt, column, row)
            x, z = column * _PATCH + 1 + random_bits % 4, row * _PATCH + 1 + (random_bits >> 8) % 4
            biome = biomes[biome_number(seed, x, z)]
            if (random_bits >> 16 & 255) >= biome[_WOOD]:
                continue
            height = ground_height(seed, x, z)
            if height >= SEA:
                kind = biome[_RARE_TREE] if (random_bits >> 24 & 3) == 0 else biome[_TREE]
                _build_tree(blocks, x - west, z - north, height, trees[kind], random_bits >> 32, ground[_AIR])


@compiled
def write_chunk(seed: int, column: int, row: int, ground: Ints, biomes: Ints, trees: Ints, blocks: Bytes) -> None:
    """Write the blocks of a chunk to `blocks`, shape (SIDE, SIDE, HEIGHT): x, z, y.

    `column` and `row` are the chunk's numbers to the east and to the south; the three tables are those of
    `_terrain.number_tables`.
    """
    west, north = column * SIDE, row * SIDE
    heights, kinds = np.empty((SIDE, SIDE), dtype=np.int64), np.empty((SIDE, SIDE), dtype=np.int64)
    for x in range(SIDE):
        for z in range(SIDE):
            if x % CELL == 0 and z % CELL == 0:
                kinds[x : x + CELL, z : z + CELL] = biome_number(seed, west + x, north + z)
            heights[x, z] = ground_height(seed, west + x, north + z)
            _fill_bare_column(seed, ground, biomes[kinds[x, z]], west + x, north + z, heights[x, z], blocks[x, z])
    _dig_caves(seed, west, north, heights, ground[_AIR], blocks)
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
    """Make the chunks around a location that are not in the pool yet, and return how many were made.

    The chunks are written to `pool`, shape (SLOTS, SLOTS, SIDE, SIDE, HEIGHT), and the column and row of the chunk in
    each slot to `tags`, shape (SLOTS, SLOTS, 2). `ground`, `biomes` and `trees` are those of `_terrain.number_tables`.

    Chunks up to `far` blocks (at most 7 chunks) from the location (x, z) are made. (east, south) is the direction of
    view, of length 1: only chunks that reach into the 48 degrees to each side of it are made; with (0, 0) all around.
    """
    made_count, half = 0, SIDE // 2
    corner = 1.5 * half  # somewhat more than from the middle of a chunk to its corner
    first_column, last_column = int(np.floor(x - far)) >> 4, int(np.floor(x + far)) >> 4
    first_row, last_row = int(np.floor(z - far)) >> 4, int(np.floor(z + far)) >> 4
    for column in range(first_column, last_column + 1):
        for row in range(first_row, last_row + 1):
            right, down = column * SIDE + half - x, row * SIDE + half - z
            distance_ahead, distance_aside = right * east + down * south, abs(right * south - down * east)
            if right * right + down * down > (far + corner) ** 2:
                continue
            if (
                east != 0 or south != 0
            ) and distance_aside > 1.12 * distance_ahead + 2.2 * corner:  # the tangent of 48 degrees is 1.111
                continue
            i, j = column & (SLOTS - 1), row & (SLOTS - 1)
            if tags[i, j, 0] != column or tags[i, j, 1] != row:
                write_chunk(seed, column, row, ground, biomes, trees, pool[i, j])
                tags[i, j, 0], tags[i, j, 1] = column, row
                made_count += 1
    return made_count


@compiled
def mark_goal_cells(seed: int, x: int, z: int, wanted: Bytes, is_goal: Bytes) -> None:
    """Write to `is_goal` whether each cell around a column of blocks is of a wanted biome: 1 or 0.

    `x` and `z` are the column's, in blocks. `wanted` has a 1 for each biome that is wanted. `is_goal` has the shape
    (n, n), n odd, with the column's cell in the middle.
    """
    size = is_goal.shape[0]
    first_column, first_row = x // CELL - size // 2, z // CELL - size // 2
    for i in range(size):
        for j in range(size):
            is_goal[i, j] = wanted[biome_number(seed, (first_column + i) * CELL, (first_row + j) * CELL)]


@compiled
def write_chart(seed: int, west: int, north: int, wanted: Bytes, heights: Ints, is_goal: Bytes) -> None:
    """Write heights and goals of cells to `heights` and `is_goal`, both of the shape (columns, rows).

    `west` and `north` are the first column and row of cells. `wanted` has a 1 for each biome that is wanted. `heights`
    receives the layer of the ground in each cell's middle, `is_goal` a 1 for each cell of a wanted biome, otherwise 0.
    """
    for i in range(heights.shape[0]):
        for j in range(heights.shape[1]):
            x, z = (west + i) * CELL + CELL // 2, (north + j) * CELL + CELL // 2
            heights[i, j], is_goal[i, j] = ground_height(seed, x, z), wanted[biome_number(seed, x, z)]
