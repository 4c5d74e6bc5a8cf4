"""Ray casting and connected components of the visible blocks. Compiled.

The chunks are made before (`_generate.make_missing_chunks`), and nothing here calls the functions that make them:
numba compiles a function again when its own file changes, and not when the file of a function that it calls does.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waybench._compile import compiled

Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]

NEAR = 4  # blocks in each direction that are felt around the feet
FAN = 17  # rays from side to side, and as many from below to above
RAYS = 1 + FAN * FAN  # the first one is the cursor
MISSING = -1  # a block of a chunk that is not there


@compiled
def cast_ray(
    pool: Bytes, tags: Ints, air: int, bedrock: int, eye: Floats, direction: Floats, longest: float, through: int
) -> tuple[int, float]:
    """Return the first block on a ray that is not air, and its distance; the block of the eye does not count.

    The ray passes from block to block where it crosses their sides (after Amanatides and Woo, 1987). Of sides that it
    crosses at once, those to the east or west come first, then those above or below.

    `pool` has the chunks, of 16 columns along each side, shape (slots, slots, 16, 16, layers), and `tags` column and
    row of the chunk in each slot, shape (slots, slots, 2). `air` and `bedrock` are the numbers of these blocks; bedrock
    is below the world. The ray begins at `eye` (x, y, z), has the `direction`, a vector of length 1, and is `longest`
    blocks long; it passes also `through` another block, such as water under water.

    Returns:
        The block and its distance; air and the greatest distance if there is none; MISSING if a chunk is not there.
    """
    wrap, layers, never = pool.shape[0] - 1, pool.shape[4], 1e30
    x, y, z = int(np.floor(eye[0])), int(np.floor(eye[1])), int(np.floor(eye[2]))
    x_step, y_step, z_step = 1 if direction[0] > 0 else -1, 1 if direction[1] > 0 else -1, 1 if direction[2] > 0 else -1
    x_spacing = abs(1.0 / direction[0]) if direction[0] != 0 else never
    y_spacing = abs(1.0 / direction[1]) if direction[1] != 0 else never
    z_spacing = abs(1.0 / direction[2]) if direction[2] != 0 else never
    next_x = (x + 1 - eye[0] if x_step > 0 else eye[0] - x) * x_spacing if direction[0] != 0 else never
    next_y = (y + 1 - eye[1] if y_step > 0 else eye[1] - y) * y_spacing if direction[1] != 0 else never
    next_z = (z + 1 - eye[2] if z_step > 0 else eye[2] - z) * z_spacing if direction[2] != 0 else never
    # The distance of the next side in each direction is `next_...`; from there on, sides follow in equal spacings.
    column, row, i, j = x >> 4, z >> 4, (x >> 4) & wrap, (z >> 4) & wrap
    while True:
        if next_x <= next_y and next_x <= next_z:
            distance = next_x
            x, next_x = x + x_step, next_x + x_spacing
        elif next_y <= next_z:
            distance = next_y
            y, next_y = y + y_step, next_y + y_spacing
        else:
            distance = next_z
            z, next_z = z + z_step, next_z + z_spacing
        if distance > longest or (y >= layers and y_step > 0):
            return air, longest
        if y >= layers:
            continue
        if y < 0:
            return bedrock, distance
        if x >> 4 != column or z >> 4 != row:
            column, row = x >> 4, z >> 4
            i, j = column & wrap, row & wrap
            if tags[i, j, 0] != column or tags[i, j, 1] != row:
                return MISSING, distance
        block_number = pool[i, j, x & 15, z & 15, y]
        if block_number != air and block_number != through:
            return block_number, distance


@compiled
def cast_rays(
    pool: Bytes,
    tags: Ints,
    air: int,
    bedrock: int,
    water: int,
    eye: Floats,
    directions: Floats,
    lengths: Floats,
    hits: Ints,
    distances: Floats,
) -> None:
    """Cast all rays (see `cast_ray`), which pass through water if the eye is in it.

    `directions` has shape (n, 3); `lengths` are how far the rays go. The results are written to `hits`, the block that
    each ray hits, and `distances`, the distance of this block.
    """
    x, y, z = int(np.floor(eye[0])), int(np.floor(eye[1])), int(np.floor(eye[2]))
    wrap = pool.shape[0] - 1
    wet = 0 <= y < pool.shape[4] and pool[(x >> 4) & wrap, (z >> 4) & wrap, x & 15, z & 15, y] == water
    through = water if wet else air
    for number in range(hits.size):
        hits[number], distances[number] = cast_ray(
            pool, tags, air, bedrock, eye, directions[number], lengths[number], through
        )


@compiled
def write_blocks_around(pool: Bytes, tags: Ints, air: int, bedrock: int, x: int, y: int, z: int, voxels: Ints) -> None:
    """Write to `voxels` the blocks around a location, shape (9, 9, 9): x, y, z. Other arguments: see `cast_ray`."""
    wrap, layers = pool.shape[0] - 1, pool.shape[4]
    for a in range(2 * NEAR + 1):
        for c in range(2 * NEAR + 1):
            east, south = x + a - NEAR, z + c - NEAR
            i, j = (east >> 4) & wrap, (south >> 4) & wrap
            is_chunk_there = tags[i, j, 0] == east >> 4 and tags[i, j, 1] == south >> 4
            for b in range(2 * NEAR + 1):
                up = y + b - NEAR
                if not is_chunk_there:
                    voxels[a, b, c] = MISSING
                elif up < 0:
                    voxels[a, b, c] = bedrock
                else:
                    voxels[a, b, c] = pool[i, j, east & 15, south & 15, up] if up < layers else air


@compiled
def find_components(codes: Ints, corners: bool, background: int, near: Floats, components: Ints) -> int:
    """Write the connected components (neighbouring cells of the same code) to `components`; return their number.

    Args:
        codes: The block's number in each cell; three axes.
        corners: Whether cells that touch at an edge or a corner are neighbours; otherwise only at a face.
        background: A code whose cells make one component wherever they are, the first one; -1 for none.
        near: The distance of each cell; of the same shape.
        components: Receives the components in the order of their first cells: code, number of cells, sums of the three
            coordinates, and the index (along the last axis first) of the cell with the least distance, the first of
            several; shape (one more than there are cells, 6).
    """
    wide, high, deep = codes.shape
    visited = np.zeros((wide, high, deep), dtype=np.uint8)
    stack = np.empty(codes.size, dtype=np.int64)
    n_components = 0
    for first_cell in range(-1, codes.size):  # -1: the background
        stack_size = 0
        if first_cell < 0:
            for cell in range(codes.size):
                if codes[cell // (high * deep), cell // deep % high, cell % deep] == background:
                    stack[stack_size] = cell
                    stack_size += 1
            if stack_size == 0:
                continue
        elif visited[first_cell // (high * deep), first_cell // deep % high, first_cell % deep]:
            continue
        else:
            stack[0], stack_size = first_cell, 1
        for index in range(stack_size):
            cell = stack[index]
            visited[cell // (high * deep), cell // deep % high, cell % deep] = 1
        code = (
            background
            if first_cell < 0
            else codes[first_cell // (high * deep), first_cell // deep % high, first_cell % deep]
        )
        least_distance, closest_cell = 1e30, -1
        components[n_components, :] = 0
        components[n_components, 0] = code
        while stack_size > 0:
            stack_size -= 1
            cell = stack[stack_size]
            x, y, z = cell // (high * deep), cell // deep % high, cell % deep
            components[n_components, 1] += 1
            components[n_components, 2] += x
            components[n_components, 3] += y
            components[n_components, 4] += z
            if near[x, y, z] < least_distance or (near[x, y, z] == least_distance and cell < closest_cell):
                least_distance, closest_cell = near[x, y, z], cell
            for a in range(max(x - 1, 0), min(x + 2, wide)):
                for b in range(max(y - 1, 0), min(y + 2, high)):
                    for c in range(max(z - 1, 0), min(z + 2, deep)):
                        touches = corners or abs(a - x) + abs(b - y) + abs(c - z) == 1
                        if touches and not visited[a, b, c] and codes[a, b, c] == code:
                            visited[a, b, c] = 1
                            stack[stack_size] = (a * high + b) * deep + c
                            stack_size += 1
        components[n_components, 5] = closest_cell
        n_components += 1
    return n_components


def connected_components(
    codes: Any, near: Any, *, grouped: bool
) -> Iterator[tuple[int, int, int, int, int, int, int, float]]:
    """Yield for each component its code, number of cells, sums of the coordinates, and the nearest cell.

    The nearest cell is given by row, column and distance.

    Args:
        codes: The block's number in each cell; three axes.
        near: The distance of each cell of a screen, whose first axis has length 1; None for blocks around.
        grouped: Whether all cells with the lowest code are one component, as published.
    """
    codes = np.ascontiguousarray(codes, dtype=np.int64)
    on_screen = near is not None
    distances = np.ascontiguousarray(near, dtype=np.float64) if on_screen else np.zeros(codes.shape)
    components = np.empty((codes.size + 1, 6), dtype=np.int64)
    n_components = find_components(codes, on_screen, int(codes.min()) if grouped else -1, distances, components)
    wide = codes.shape[2]
    flat_distances = distances.ravel()
    for code, cells, sum_x, sum_y, sum_z, nearest in components[:n_components].tolist():
        row, column = divmod(nearest, wide)
        yield code, cells, sum_x, sum_y, sum_z, row, column, float(flat_distances[nearest])
