"""Texts and word lists that stand in files beside the modules that use them."""

import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast


@cache
def read_text(module: str, name: str) -> str:
    """Return the text of the file `name` that stands beside the module whose `__file__` is `module`."""
    return Path(module).with_name(name).read_text(encoding="utf-8")


@cache
def read_toml(module: str, name: str, parse_float: Callable[[str], Any] = float) -> Mapping[str, Any]:
    """Return the content of the TOML file `name` beside the module whose `__file__` is `module`. Its arrays are tuples.

    `parse_float` reads a number with a point, for example as a `Decimal`, which keeps its digits.
    """
    return _as_read_only(tomllib.loads(read_text(module, name), parse_float=parse_float))


def _as_read_only(value: Any) -> Any:
    """Return a value with read-only mappings in place of dictionaries, and tuples in place of lists."""
    match value:
        case dict():
            table = cast("dict[str, Any]", value)
            return {key: _as_read_only(item) for key, item in table.items()}
        case list():
            return tuple(map(_as_read_only, cast("list[Any]", value)))
        case _:
            return value
