"""Limits on JSON from outside, which are checked before it is parsed: a few bytes can cost a parser gigabytes."""

from waybench.core._errors import DataError

MOST_DEPTH = 100  # brackets within each other; what waybench writes has fewer than ten
_PART = 1 << 20
_STRUCTURE = b'[]{},"'
_OTHER = bytes(byte for byte in range(256) if byte not in _STRUCTURE)


class JsonBounds:
    """Checks that a JSON text in UTF-8, which comes in parts, is neither too deep nor has too many values.

    Nothing is parsed: strings are left out, brackets that follow each other are taken away in pairs, and what is kept
    from one part to the next is what is still open. Whatever is no JSON is left to the parser, which stops there.

    Args:
        values: Most values, counted by commas and opening brackets.
        depth: Most brackets within each other. In a text of several parts up to twice as many can go unnoticed.
    """

    def __init__(self, values: int, depth: int = MOST_DEPTH) -> None:
        self._left, self._depth = values, depth
        self._carry = b""  # half an escape
        self._inside = 0  # whether a string is open
        self._open = b""

    def feed(self, part: bytes) -> None:
        """Take the next part.

        Raises:
            DataError: If there are too many brackets within each other, or too many values.
        """
        part = self._carry + part
        self._carry = b"\\" if (len(part) - len(part.rstrip(b"\\"))) % 2 else b""
        part = part[: len(part) - len(self._carry)].replace(b"\\\\", b"").replace(b'\\"', b"")
        pieces = part.translate(None, _OTHER).split(b'"')
        outside = b"".join(pieces[self._inside :: 2])
        self._inside ^= (len(pieces) - 1) % 2
        self._left -= sum(map(outside.count, (b",", b"[", b"{")))
        if self._left < 0:
            raise DataError("it has too many values")
        self._open = self._reduced(self._open + outside.translate(None, b","))

    def _reduced(self, brackets: bytes) -> bytes:
        for _ in range(self._depth + 1):
            before = len(brackets)
            brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
            if len(brackets) == before:
                break
        else:
            raise _too_deep()
        if len(brackets) > self._depth:
            raise _too_deep()
        return brackets


def _too_deep() -> DataError:
    return DataError("it has too many nested brackets")


def check_json(text: str | bytes, values: int, depth: int = MOST_DEPTH) -> None:
    """Check that a JSON text is neither too deep nor has too many values (`JsonBounds`).

    Raises:
        DataError: If it is.
    """
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if len(data) <= values and data.count(b"[") + data.count(b"{") <= depth:
        return  # even if none of it were in strings; most texts are small
    bounds = JsonBounds(values, depth)
    for start in range(0, len(data), _PART):
        bounds.feed(data[start : start + _PART])
