"""Families of hostile JSON: a good value, spoilt in many ways that a fixed key determines."""

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any, cast

from waybench.core import Json, Stream

DEEP = "\0deep"  # stands for 5,000 brackets within each other, which the json module cannot write
VALUES: tuple[Json, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63), 10**30, 0.5, -0.0, 1e308, 5e-324),
    *("", " ", "\0", "\ud800", "\u202e", "x" * 100_000, "9" * 5_000, "../../etc/passwd", "{}", "[]", "NaN"),
    *([], {}, [[]], [None], {"": None}, [0] * 10_000, {str(number): number for number in range(2_000)}, DEEP),
)
RAW = (
    b"NaN",
    b"-Infinity",
    b"1e999",
    b"-1e999",
    b"1" + b"0" * 5_000,
    b"0x10",
    b"'a'",
    b"\xff",
    b"\x00",
    b"\xed\xa0\x80",
)

Path = tuple[str | int, ...]


def places(value: Json, at: Path = ()) -> Iterator[Path]:
    """Yield where there is a value within a value, itself first."""
    yield at
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in cast("Any", inside):
        yield from places(part, (*at, name))


def _parent(value: Json, at: Path) -> Any:
    for name in at[:-1]:
        value = value[name]
    return value


def _replaced(data: Json, rng: Stream) -> Json:
    """Return the data with another value somewhere."""
    at = rng.choice(list(places(data))[1:])
    _parent(data, at)[at[-1]] = rng.choice(VALUES)
    return data


def _removed(data: Json, rng: Stream) -> Json:
    """Return the data without a value."""
    at = rng.choice(list(places(data))[1:])
    del _parent(data, at)[at[-1]]
    return data


def _moved(data: Json, rng: Stream) -> Json:
    """Return the data with one of its values in the place of another."""
    paths = list(places(data))[1:]
    first, other = rng.choice(paths), rng.choice(paths)
    value = copy.deepcopy(_parent(data, first)[first[-1]])
    _parent(data, other)[other[-1]] = value
    return data


def _grown(data: Json, rng: Stream) -> Json:
    """Return the data with a list that is much longer, or a text."""
    paths = [at for at in places(data) if at and isinstance(_parent(data, at)[at[-1]], list | str)]
    if paths:
        at = rng.choice(paths)
        value = _parent(data, at)[at[-1]]
        _parent(data, at)[at[-1]] = value * min(1_000, 200_000 // max(1, len(json.dumps(value))))
    return data


def _added(data: Json, rng: Stream) -> Json:
    """Return the data with an entry more."""
    paths = [at for at in places(data) if isinstance(_parent(data, (*at, "")), dict | list)]
    inside = _parent(data, (*rng.choice(paths), ""))
    if isinstance(inside, list):
        cast("list[Json]", inside).append(rng.choice(VALUES))
    else:
        inside[rng.choice(("", "x", "env", "turns", "schema", "\ud800", "k" * 5_000))] = rng.choice(VALUES)
    return data


FAMILIES: dict[str, Callable[[Json, Stream], Json]] = {
    "replaced": _replaced,
    "removed": _removed,
    "moved": _moved,
    "grown": _grown,
    "added": _added,
}


def _cut(text: bytes, rng: Stream) -> bytes:
    return text[: rng.below(len(text))]


def _flipped(text: bytes, rng: Stream) -> bytes:
    spoilt = bytearray(text)
    for _ in range(1 + rng.below(4)):
        spoilt[rng.below(len(text))] = rng.below(256)
    return bytes(spoilt)


def _inserted(text: bytes, rng: Stream) -> bytes:
    at = rng.below(len(text))
    return text[:at] + rng.choice(RAW) + text[at:]


RAW_FAMILIES: dict[str, Callable[[bytes, Stream], bytes]] = {"cut": _cut, "flipped": _flipped, "inserted": _inserted}


def dumped(data: Json) -> str:
    """Return spoilt data as JSON."""
    return json.dumps(data).replace(json.dumps(DEEP), "[" * 5_000 + "]" * 5_000)


def spoilt(data: Json, family: str, *key: str | int) -> bytes:
    """Return the JSON of some data, spoilt as one of the families is."""
    rng = Stream("hostile", family, *key)
    if family in RAW_FAMILIES:
        return RAW_FAMILIES[family](dumped(data).encode(), rng)
    return dumped(FAMILIES[family](copy.deepcopy(data), rng)).encode()
