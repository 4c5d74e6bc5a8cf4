"""Smooth random values over the cells of a map, in the bits of one number, so that all cells are computed at once."""

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

from waybench.core import Stream

_SCALE = 16  # of the noise: values are from 0 to 255 * _SCALE**2
_BYTES = 4  # of each cell's value, of which the highest bit is free for comparisons
_BITS = 8 * _BYTES
_FREE = 1 << _BITS - 1
_DIGITS = bytes(ord("1") if value >= 128 else ord("0") for value in range(256))


@dataclass(frozen=True, slots=True)
class Field:
    """A value below 2**31 for each cell.

    Attributes:
        size: Number of cells.
        lanes: The values, 32 bits for each, the first cell's lowest.
    """

    size: int
    lanes: int

    def values(self) -> tuple[int, ...]:
        """Return the values by cell."""
        return struct.unpack(f"<{self.size}I", self.lanes.to_bytes(self.size * _BYTES, "little"))

    def ranked(self) -> list[int]:
        """Return the values, the least first."""
        return sorted(self.values())

    def level(self, percent: int) -> int:
        """Return the value that this share of the cells reach or exceed."""
        return self.ranked()[max(0, min(self.size - 1, self.size * (100 - percent) // 100))]

    def least(self, level: int) -> int:
        """Return the cells whose values are at least this, as bits."""
        passed = self.lanes + (_FREE - level) * _ones(self.size)
        return int(passed.to_bytes(self.size * _BYTES, "big")[::_BYTES].translate(_DIGITS), 2)


def field(values: Iterable[int], size: int) -> Field:
    """Return a field of these values.

    Args:
        values: One for each cell.
        size: Number of cells.
    """
    return Field(size, int.from_bytes(struct.pack(f"<{size}I", *values), "little"))


def noise(rng: Stream, width: int, height: int, pitch: int) -> Field:
    """Return smooth random values, one for each cell, from 0 to 65280.

    Args:
        rng: Random numbers.
        width: Number of columns.
        height: Number of rows.
        pitch: Distance of the points whose values are drawn; the others lie between them. At least 1.
    """
    across, down = width // pitch + 2, height // pitch + 2
    random_bytes = b"".join([rng.word().to_bytes(8, "big") for _ in range(across * down // 8 + 1)])
    ease, kernel = _kernel(pitch)
    whole, row_size = (1 << _BITS * width) - 1, _BYTES * width
    lines: list[int] = []  # the rows that have points
    for first in range(0, across * down, across):
        points = bytearray(across * pitch * _BYTES)
        points[:: pitch * _BYTES] = random_bytes[first : first + across]
        lines.append(int.from_bytes(points, "little") * kernel >> _BITS * pitch & whole)
    rows = [
        (lines[y // pitch] * (_SCALE - ease[y % pitch]) + lines[y // pitch + 1] * ease[y % pitch]).to_bytes(
            row_size, "little"
        )
        for y in range(height)
    ]
    return Field(width * height, int.from_bytes(b"".join(rows), "little"))


@cache
def _kernel(pitch: int) -> tuple[list[int], int]:
    """Return the weights of the next point, by distance from the last, and what spreads points over their row.

    Multiplied with the second number, a point's value is added, weighted, to the cells on both of its sides.
    """
    ease = [_SCALE * (3 * t * t * pitch - 2 * t**3) // pitch**3 for t in range(pitch)]
    weights = [*ease, *(_SCALE - weight for weight in ease)]
    return ease, field(weights, 2 * pitch).lanes


@lru_cache(maxsize=64)
def _ones(size: int) -> int:
    return ((1 << _BITS * size) - 1) // ((1 << _BITS) - 1)
