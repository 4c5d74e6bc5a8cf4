"""Sets of cells: as the bits of one number, for steps of whole layers, and as arrays of truth values."""

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
"""A truth value for each cell, shape (cells,)."""


def packed(mask: Mask) -> int:
    """Return the cells whose value is true, as bits."""
    return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")


def unpacked(cells: int, size: int) -> Mask:
    """Return for each of `size` cells whether it is among these bits."""
    octets = np.frombuffer(cells.to_bytes(-(-size // 8), "little"), np.uint8)
    return np.unpackbits(octets, count=size, bitorder="little").view(np.bool_)
