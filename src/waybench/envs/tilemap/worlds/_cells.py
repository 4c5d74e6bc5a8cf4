"""Sets of cells as bits and arrays, and smooth random values over cells."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from waybench.core import Stream

Mask = NDArray[np.bool_]
"""A truth value for each cell, shape (cells,)."""


def packed(mask: Mask) -> int:
    """Return the cells whose value is true, as bits."""
    return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")


def unpacked(cells: int, size: int) -> Mask:
    """Return for each of `size` cells whether it is among these bits."""
    octets = np.frombuffer(cells.to_bytes(-(-size // 8), "little"), np.uint8)
    return np.unpackbits(octets, count=size, bitorder="little").view(np.bool_)


Values = NDArray[np.int64]
"""A whole number for each cell, shape (cells,)."""

_SCALE = 16  # of the noise: values are from 0 to 255 * _SCALE**2


def noise(rng: Stream, width: int, height: int, pitch: int) -> Values:
    """Return smooth random values, one for each cell, from 0 to 65280.

    Args:
        rng: Random numbers.
        width: Number of columns.
        height: Number of rows.
        pitch: Distance of the points whose values are drawn; the others lie between them. At least 1.
    """
    down, across = height // pitch + 2, width // pitch + 2
    random_bytes = b"".join([rng.word().to_bytes(8, "big") for _ in range(across * down // 8 + 1)])
    points = np.frombuffer(random_bytes, np.uint8, across * down).reshape(down, across)
    return (_weights(height, pitch) @ points @ _weights(width, pitch).T).astype(np.int64).reshape(-1)


@lru_cache(maxsize=256)
def _weights(length: int, pitch: int) -> NDArray[np.float64]:
    """Return the weight of each point in each cell of a line, shape (length, points).

    Weights and values are whole numbers far below 2**53: their products as floats, which are much faster, are exact.
    """
    cells = np.arange(length)
    points, t = cells // pitch, cells % pitch
    ease = _SCALE * (3 * t * t * pitch - 2 * t**3) // pitch**3
    weights = np.zeros((length, length // pitch + 2))
    weights[cells, points], weights[cells, points + 1] = _SCALE - ease, ease
    return weights


def level(values: Values, percent: int) -> int:
    """Return the value that this share of the cells reach or exceed."""
    place = max(0, min(values.size - 1, values.size * (100 - percent) // 100))
    return int(np.partition(values, place)[place])
