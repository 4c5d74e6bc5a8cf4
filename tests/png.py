"""A reader of PNG files, as a provider of models would need one: 8 bits a channel, not interlaced."""

import base64
import struct
import zlib
from functools import lru_cache
from typing import NamedTuple

Colour = tuple[int, int, int]


class Pixels(NamedTuple):
    """A decoded picture."""

    width: int
    height: int
    rows: list[bytes]
    channels: int

    def at(self, x: float, y: float) -> Colour:
        """Return the colour at a place, in shares of width and height."""
        row, column = int(y * self.height), int(x * self.width)
        red, green, blue = self.rows[row][column * self.channels : column * self.channels + 3]
        return red, green, blue


def decoded(data: bytes) -> Pixels:
    """Return the pixels of a PNG file."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    offset, packed, width, height, channels = 8, b"", 0, 0, 0
    while offset < len(data):
        length, kind = struct.unpack(">I4s", data[offset : offset + 8])
        body = data[offset + 8 : offset + 8 + length]
        assert zlib.crc32(kind + body) == struct.unpack(">I", data[offset + 8 + length : offset + 12 + length])[0]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", body)
            assert (depth, interlaced) == (8, 0)
            channels = {2: 3, 6: 4}[colour]
        elif kind == b"IDAT":
            packed += body
        offset += 12 + length
    raw, stride = zlib.decompress(packed), width * channels
    rows: list[bytes] = []
    before = bytes(stride)
    for number in range(height):
        start = number * (stride + 1)
        before = _unfiltered(raw[start], bytearray(raw[start + 1 : start + 1 + stride]), before, channels)
        rows.append(before)
    return Pixels(width, height, rows, channels)


@lru_cache(maxsize=64)  # a chat sends the same pictures again
def from_data_uri(uri: str) -> Pixels:
    """Return the pixels of a data URI."""
    head, _, content = uri.partition(",")
    assert head == "data:image/png;base64"
    return decoded(base64.b64decode(content, validate=True))


def _unfiltered(kind: int, row: bytearray, above: bytes, channels: int) -> bytes:
    for at in range(len(row)):
        before = row[at - channels] if at >= channels else 0
        corner = above[at - channels] if at >= channels else 0
        guess = (0, before, above[at], (before + above[at]) // 2, _paeth(before, above[at], corner))[kind]
        row[at] = (row[at] + guess) % 256
    return bytes(row)


def _paeth(before: int, above: int, corner: int) -> int:
    guess = before + above - corner
    return min((before, above, corner), key=lambda value: abs(guess - value))
