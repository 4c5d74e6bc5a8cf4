"""Loops are compiled when they are first needed, and kept on the disk; nothing imports numba before that."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def jit(function: F) -> F:
    """Compile a loop.

    No fast mathematics is switched on: every operation on floats is rounded by itself, in the order in which it is
    written, so that all platforms agree.
    """
    numba: Any = import_module("numba")  # takes half a second, and carries no types
    try:
        return numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # there is no folder in which compiled code could be kept
        return numba.njit(nogil=True)(function)
