"""The groups of an observation, from the compiled loop."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from waybench.envs.voxel._look import components


def parts_of(codes: Any, near: Any, *, grouped: bool) -> Iterator[tuple[int, int, int, int, int, int, int, float]]:
    """Yield code, places, the sums of the three coordinates, and the nearest one's row, column and distance.

    Args:
        codes: What is where; three axes.
        near: How far each is, on a screen, of whose three axes the first has length 1; None for blocks around.
        grouped: Whether all places with the lowest code are one group, as published.
    """
    codes = np.ascontiguousarray(codes, dtype=np.int64)
    corners = near is not None
    far = np.ascontiguousarray(near, dtype=np.float64) if corners else np.zeros(codes.shape)
    boxes = np.empty((codes.size + 1, 6), dtype=np.int64)
    count = components(codes, corners, int(codes.min()) if grouped else -1, far, boxes)
    wide = codes.shape[2]
    flat = far.ravel()
    for code, cells, x, y, z, place in boxes[:count].tolist():
        row, column = divmod(place, wide)
        yield code, cells, x, y, z, row, column, float(flat[place])
