"""Random numbers by key: the same key gives the same numbers on every platform and Python version."""

import hashlib
import struct
from collections.abc import MutableSequence, Sequence
from functools import lru_cache
from typing import TypeVar

T = TypeVar("T")

_WORDS = 8  # 64-bit words in one SHA-512 block
_BLOCK = struct.Struct(f"<{_WORDS}Q")
_MANY = 32  # items, from which on a shuffle is faster if its words are drawn at once
_RANGE = 1 << 64  # of one word
_SMALL = 1 << 32  # up to this n, words below _EVEN favour no remainder
_EVEN = _RANGE - _SMALL


class Stream:
    """A stream of random numbers that a key determines.

    The k-th block of the stream is SHA-512(SHA-512(key) || k), read as eight big-endian 64-bit words. Nothing of
    Python's `random` takes part, whose sampling methods may change between versions, and neighbouring keys have
    nothing in common, unlike neighbouring seeds of "seed + index".

    Args:
        *key: Strings and integers; their types and boundaries are part of the key.
    """

    __slots__ = ("_block", "_key", "_parent", "_parts", "_text", "_words")

    def __init__(self, *key: str | int) -> None:
        self._parts = key
        self._parent: Stream | None = None
        self._text = ""
        self._block = -1  # the rest is set up when the first number is drawn: most streams of a game are never read
        self._words: list[int] = []  # drawn and not yet given, the next one last

    def child(self, *more: str | int) -> "Stream":
        """Return the stream whose key is this one's key and further parts."""
        stream = Stream(*more)
        stream._parent = self
        return stream

    def _key_text(self) -> str:
        """Return the key as text, which many children share."""
        if not self._text:
            text = self._parent._key_text() if self._parent is not None else ""
            for part in self._parts:
                text += _part_text(part)
            self._text = text
        return self._text

    def _refill(self) -> int:
        """Draw a block and return its first word."""
        if self._block < 0:
            self._key, self._block = hashlib.sha512(self._key_text().encode("utf-8", "surrogatepass")).digest(), 0
        digest = hashlib.sha512(self._key + self._block.to_bytes(8, "big")).digest()
        self._block += 1
        words = self._words
        words.extend(_BLOCK.unpack(digest[::-1]))  # backwards: the last word is the first, and its last byte as well
        return words.pop()

    def _prepare(self, count: int) -> None:
        """Draw the blocks for `count` words at once, which takes two thirds of the time of one after the other."""
        if self._block < 0:
            self._words.append(self._refill())
        key, first, words = self._key, self._block, self._words
        self._block = last = first + max(0, -(-(count - len(words)) // _WORDS))
        digests = b"".join([hashlib.sha512(key + block.to_bytes(8, "big")).digest() for block in range(first, last)])
        words[:0] = struct.unpack(f"<{_WORDS * (last - first)}Q", digests[::-1])

    def word(self) -> int:
        """Return the next 64 random bits as an integer in [0, 2**64)."""
        return self._words.pop() if self._words else self._refill()

    def below(self, n: int) -> int:
        """Return a uniform integer in [0, n).

        Raises:
            ValueError: If n < 1.
        """
        if 0 < n <= _SMALL:
            value = self._words.pop() if self._words else self._refill()
            if value < _EVEN:
                return value % n
            self._words.append(value)
        if n < 1:
            raise ValueError(f"below({n}): n must be at least 1")
        return self._below(n)

    def _below(self, n: int) -> int:
        """Return a uniform integer in [0, n) for any n, from as many words as it takes."""
        words = 1 if n < _RANGE else (n.bit_length() + 63) // 64
        limit = (1 << 64 * words) // n * n  # values from here on would favour the small remainders
        while True:
            value = 0
            for _ in range(words):
                value = value << 64 | self.word()
            if value < limit:
                return value % n

    def random(self) -> float:
        """Return a uniform float in [0, 1) with 53 random bits."""
        # The word is taken here and not by `word`: a call less for each step of the games of chance.
        return ((self._words.pop() if self._words else self._refill()) >> 11) * 2.0**-53

    def choice(self, items: Sequence[T]) -> T:
        """Return one item, each with equal probability."""
        return items[self.below(len(items))]

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Put the items into a uniformly random order, in place (Fisher-Yates)."""
        if len(items) > _MANY:
            self._prepare(len(items) - 1)
        words = self._words
        for i in range(len(items) - 1, 0, -1):
            value = words.pop() if words else self._refill()
            if value < _EVEN:
                j = value % (i + 1)
            else:
                words.append(value)
                j = self._below(i + 1)
            items[i], items[j] = items[j], items[i]


@lru_cache(maxsize=1024)  # the names of purposes and the numbers of turns and items come again and again
def _part_text(part: str | int) -> str:
    return f"{'s' if isinstance(part, str) else 'i'}{len(str(part))}:{part}"
