"""Fifty ways in which a user's text file can be damaged."""

from collections.abc import Callable
from pathlib import Path

Damage = Callable[[bytes], bytes]


def _cut(share: float) -> Damage:
    return lambda content: content[: int(share * len(content))]


def _insert(part: bytes, share: float) -> Damage:
    def damage(content: bytes) -> bytes:
        at = int(share * len(content))
        return content[:at] + part + content[at:]

    return damage


_SIGNS: dict[str, bytes] = {
    "zero byte": b"\0",
    "no UTF-8": b"\xff\xfe\xfd",
    "half a sign": b"\xe2\x82",
    "surrogate": b"\xed\xa0\x80",
    "quote": b'"',
    "brace": b"{",
    "bracket": b"]",
    "escape": b"\x1b[2J",
    "carriage return": b"\r",
    "backslash": b"\\",
    "dollar": b"${X:-${Y}}",
}
DAMAGES: dict[str, Damage] = {
    **{f"cut after {share:.0%}": _cut(share) for share in (0, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99)},
    **{f"{name} at {share:.0%}": _insert(part, share) for name, part in _SIGNS.items() for share in (0.0, 0.4, 1.0)},
    "twice": lambda content: content + content,
    "backwards": lambda content: content[::-1],
    "UTF-16": lambda content: content.decode().encode("utf-16"),
    "UTF-16 without mark": lambda content: content.decode().encode("utf-16-le"),
    "UTF-32": lambda content: content.decode().encode("utf-32"),
    "in Latin-1": lambda content: content + "é".encode("latin-1"),
    "deep": lambda content: b"[" * 5_000 + content,
    "deep objects": lambda content: b'{"a":' * 5_000 + content,
    "a long number": lambda content: content + b"9" * 10_000,
    "a program": lambda content: b"\x7fELF" + bytes(range(256)) * 8,
    "a ZIP file": lambda content: b"PK\x03\x04" + content,
    "gzip": lambda content: b"\x1f\x8b\x08" + content,
}


def damage(path: Path, name: str) -> None:
    """Damage a file in the way of a name."""
    path.write_bytes(DAMAGES[name](path.read_bytes()))


def replace_file(path: Path, kind: str) -> None:
    """Put something else in a file's place."""
    path.unlink()
    if kind == "a folder":
        path.mkdir()
    elif kind == "a loop":
        path.symlink_to(path)
