"""Texts and word lists that stand in files beside the modules that use them."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any


@cache
def read_text(module: str, name: str) -> str:
    """Return the text of a file that stands beside a module.

    Args:
        module: The module's `__file__`.
        name: The file's name.
    """
    return Path(module).with_name(name).read_text(encoding="utf-8")


@cache
def read_toml(module: str, name: str) -> dict[str, Any]:
    """Return the content of a TOML file that stands beside a module. It is read once: do not change it.

    Args:
        module: The module's `__file__`.
        name: The file's name.
    """
    return tomllib.loads(read_text(module, name))
