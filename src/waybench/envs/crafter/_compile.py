"""Compiles what has to be fast. A module that imports this one loads numba, which takes half a second."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

_numba: Any = import_module("numba")  # carries no types


def compiled(function: F) -> F:
    """Compile a function of arrays and numbers: some seconds the first time, after that it is read from the disk.

    What is kept on the disk is renewed when the function's own file changes, but not when another one does whose
    values it has as constants. So a function calls only others of its own file.
    """
    try:
        return _numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # there is no folder in which compiled code could be kept
        return _numba.njit(nogil=True)(function)
