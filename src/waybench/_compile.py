"""Compilation with numba, which takes half a second to import and is loaded when a function is first compiled."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile a function of arrays and numbers: some seconds the first time, after that it is read from the disk.

    No fast mathematics is switched on: every operation on floats is rounded by itself, in the order in which it is
    written, so that all platforms agree.

    What is kept on the disk is renewed when the function's own file changes, but not when another one does whose
    values it has as constants. So a function calls only others of its own file.
    """
    numba: Any = import_module("numba")  # carries no types
    try:
        return numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # there is no folder in which compiled code could be kept
        return numba.njit(nogil=True)(function)
