"""Names of a package, and modules, that are imported when they are first used (PEP 562)."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy_names(package: str, modules: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return a package's `__getattr__` that imports slow modules when a name of theirs is used.

    `modules` has the public names by the module of the package that defines them.
    """
    module_of = {name: module for module, names in modules.items() for name in names}

    def import_name(name: str) -> Any:
        """Return a public name of the package, and set it there, so that Python finds it without this function."""
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{module_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return import_name


class LazyModule:
    """A module that is imported when one of its names is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self._name), name)
        setattr(self, name, value)  # from now on it is an attribute like others
        return value
