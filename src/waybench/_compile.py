"""Compilation with numba, which takes half a second to import and is loaded when a function is first compiled."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Return a compiled function of arrays and numbers; compiling takes seconds, and the result is kept on the disk.

    Fast mathematics is off: operations on floats are rounded one by one, in the order in which they are written, so
    that all platforms agree.

    The compiled code is renewed when the function's own file changes, but not when another file changes whose functions
    it calls. Therefore a compiled function calls only functions of its own file.
    """
    numba: Any = import_module("numba")  # it has no types
    try:
        return numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # there is no folder in which compiled code could be kept
        return numba.njit(nogil=True)(function)
