"""Ray casting and connected components of the visible blocks. Compiled.

The chunks are made before (`_generate.make_missing_chunks`), and nothing here calls what makes them: a loop is compiled
again when its own file changes, and not when that of another one does.
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
    pool: Bytes, tags: Ints, air: int, bedrock: int, eye: Floats, way: Floats, longest: float, through: int
) -> tuple[int, float]:
    """Follow a ray to the first block that is not air; the block of the eye does not count.

    The ray passes from block to block where it crosses their sides (after Amanatides and Woo, 1987). Of sides that it
    crosses at once, those to the east or west come first, then those above or below.

    Args:
        pool: The chunks, of 16 columns along each side; shape (slots, slots, 16, 16, layers).
        tags: Column and row of the chunk in each slot; shape (slots, slots, 2).
        air: Number of this block.
        bedrock: Number of this block, which is below the world.
        eye: Where the ray begins: x, y, z.
        way: Its direction, of length 1.
        longest: How far it goes, in blocks.
        through: A further block that it passes through, such as water under water.

    Returns:
        The block and its distance; air and the greatest distance if there is none; MISSING if a chunk is not there.
    """
    wrap, layers, never = pool.shape[0] - 1, pool.shape[4], 1e30
    x, y, z = int(np.floor(eye[0])), int(np.floor(eye[1])), int(np.floor(eye[2]))
    sx, sy, sz = 1 if way[0] > 0 else -1, 1 if way[1] > 0 else -1, 1 if way[2] > 0 else -1
    dx = abs(1.0 / way[0]) if way[0] != 0 else never
    dy = abs(1.0 / way[1]) if way[1] != 0 else never
    dz = abs(1.0 / way[2]) if way[2] != 0 else never
    tx = (x + 1 - eye[0] if sx > 0 else eye[0] - x) * dx if way[0] != 0 else never
    ty = (y + 1 - eye[1] if sy > 0 else eye[1] - y) * dy if way[1] != 0 else never
    tz = (z + 1 - eye[2] if sz > 0 else eye[2] - z) * dz if way[2] != 0 else never
    column, row, i, j = x >> 4, z >> 4, (x >> 4) & wrap, (z >> 4) & wrap
    while True:
        if tx <= ty and tx <= tz:
            far = tx
            x, tx = x + sx, tx + dx
        elif ty <= tz:
            far = ty
            y, ty = y + sy, ty + dy
        else:
            far = tz
            z, tz = z + sz, tz + dz
        if far > longest or (y >= layers and sy > 0):
            return air, longest
        if y >= layers:
            continue
        if y < 0:
            return bedrock, far
        if x >> 4 != column or z >> 4 != row:
            column, row = x >> 4, z >> 4
            i, j = column & wrap, row & wrap
            if tags[i, j, 0] != column or tags[i, j, 1] != row:
                return MISSING, far
        block_number = pool[i, j, x & 15, z & 15, y]
        if block_number != air and block_number != through:
            return block_number, far


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
    each ray hits, and `distances`, how far that is.
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
    """Write the blocks around a place, shape (9, 9, 9): x, y, z. The arguments are those of `cast_ray`."""
    wrap, layers = pool.shape[0] - 1, pool.shape[4]
    for a in range(2 * NEAR + 1):
        for c in range(2 * NEAR + 1):
            east, south = x + a - NEAR, z + c - NEAR
            i, j = (east >> 4) & wrap, (south >> 4) & wrap
            there = tags[i, j, 0] == east >> 4 and tags[i, j, 1] == south >> 4
            for b in range(2 * NEAR + 1):
                up = y + b - NEAR
                if not there:
                    voxels[a, b, c] = MISSING
                elif up < 0:
                    voxels[a, b, c] = bedrock
                else:
                    voxels[a, b, c] = pool[i, j, east & 15, south & 15, up] if up < layers else air


@compiled
def find_components(codes: Ints, corners: bool, background: int, near: Floats, boxes: Ints) -> int:
    """Find connected components: neighbouring places of the same code.

    Args:
        codes: What is where; three axes.
        corners: Whether places that touch at an edge or a corner are neighbours; otherwise only at a face.
        background: A code whose places make one component wherever they are, the first one; -1 for none.
        near: The distance of each place; of the same shape.
        boxes: Receives the components in the order of their first places: code, number of places, sums of the three
            coordinates, and the place (counted along the last axis first) with the least distance, the first of
            several; shape (as many as there are places, 6).

    Returns:
        Number of components.
    """
    wide, high, deep = codes.shape
    visited = np.zeros((wide, high, deep), dtype=np.uint8)
    stack = np.empty(codes.size, dtype=np.int64)
    count = 0
    for first in range(-1, codes.size):
        top = 0
        if first < 0:
            for number in range(codes.size):
                if codes[number // (high * deep), number // deep % high, number % deep] == background:
                    stack[top] = number
                    top += 1
            if top == 0:
                continue
        elif visited[first // (high * deep), first // deep % high, first % deep]:
            continue
        else:
            stack[0], top = first, 1
        for index in range(top):
            number = stack[index]
            visited[number // (high * deep), number // deep % high, number % deep] = 1
        code = background if first < 0 else codes[first // (high * deep), first // deep % high, first % deep]
        least, closest = 1e30, -1
        boxes[count, :] = 0
        boxes[count, 0] = code
        while top > 0:
            top -= 1
            number = stack[top]
            x, y, z = number // (high * deep), number // deep % high, number % deep
            boxes[count, 1] += 1
            boxes[count, 2] += x
            boxes[count, 3] += y
            boxes[count, 4] += z
            if near[x, y, z] < least or (near[x, y, z] == least and number < closest):
                least, closest = near[x, y, z], number
            for a in range(max(x - 1, 0), min(x + 2, wide)):
                for b in range(max(y - 1, 0), min(y + 2, high)):
                    for c in range(max(z - 1, 0), min(z + 2, deep)):
                        touches = corners or abs(a - x) + abs(b - y) + abs(c - z) == 1
                        if touches and not visited[a, b, c] and codes[a, b, c] == code:
                            visited[a, b, c] = 1
                            stack[top] = (a * high + b) * deep + c
                            top += 1
        boxes[count, 5] = closest
        count += 1
    return count


def connected_components(
    codes: Any, near: Any, *, grouped: bool
) -> Iterator[tuple[int, int, int, int, int, int, int, float]]:
    """Yield code, cells, sums of the three coordinates, and row, column and distance of the nearest cell.

    Args:
        codes: What is where; three axes.
        near: How far each is, on a screen, of whose three axes the first has length 1; None for blocks around.
        grouped: Whether all places with the lowest code are one group, as published.
    """
    codes = np.ascontiguousarray(codes, dtype=np.int64)
    corners = near is not None
    far = np.ascontiguousarray(near, dtype=np.float64) if corners else np.zeros(codes.shape)
    boxes = np.empty((codes.size + 1, 6), dtype=np.int64)
    count = find_components(codes, corners, int(codes.min()) if grouped else -1, far, boxes)
    wide = codes.shape[2]
    flat = far.ravel()
    for code, cells, x, y, z, nearest in boxes[:count].tolist():
        row, column = divmod(nearest, wide)
        yield code, cells, x, y, z, row, column, float(flat[nearest])
