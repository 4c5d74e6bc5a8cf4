"""Spreads work over other processes, by default over forked ones, which share this process's memory."""

import gc
import io
import os
import pickle
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from waybench.core._errors import LostWorkerError

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

P = TypeVar("P")
T = TypeVar("T")
PROCESSES = min(8, os.cpu_count() or 1)  # that take part by default
_AHEAD = 32  # results that may wait to be taken: they are in memory, and behind a long job the others go on
_FORBIDDEN: list[bool] = []
_WORK: list[Callable[[int], Any]] = []  # what a forked process finds here needs no pickling


class Workers(Protocol):
    """Do the parts of a work, here or on other machines."""

    def each(self, function: Callable[[P], T], parts: Sequence[P]) -> AbstractContextManager[Iterator[T]]:
        """Compute a function for each of several parts.

        Args:
            function: The work, a function that can be imported.
            parts: Its parts. One is taken when its turn comes, so they need not all be in memory.

        Returns:
            What a `with` statement enters for the results, in the order of the parts.
        """
        ...


@dataclass(frozen=True, slots=True)
class Copies:
    """Workers that are `processes` copies of this process; 1 for none but this one."""

    processes: int = PROCESSES

    def each(self, function: Callable[[P], T], parts: Sequence[P]) -> AbstractContextManager[Iterator[T]]:
        """Compute a function for each part in copies of this process; see `Workers`."""
        return map_in_processes(lambda number: function(parts[number]), len(parts), self.processes)


@contextmanager
def map_in_processes(function: Callable[[int], T], count: int, processes: int) -> Generator[Iterator[T], None, None]:
    """Compute a function of each number below `count`, in copies of this process if that is worth it.

    The processes are copies of this one, so they start at once with all that has been read and computed.

    Args:
        function: Number -> result, which is pickled. It may change nothing but files.
        count: How many times it is done.
        processes: The number of processes; 1 for none but this one.

    Yields:
        The results in order. Without other processes each is worked out when it is taken.

    Raises:
        LostWorkerError: If a process ended without a result.
    """
    if min(processes, count) < 2 or not _can_fork():
        yield map(function, range(count))
        return
    from concurrent.futures import ProcessPoolExecutor  # loads much, which most commands do without
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    _WORK.append(function)
    has_frozen = gc.get_freeze_count() > 0
    gc.freeze()  # a collection in a copy would write to, and so copy, the memory that both share
    try:
        with ProcessPoolExecutor(min(processes, count), mp_context=get_context("fork")) as pool:
            with warnings.catch_warnings():
                # numpy has threads, which know what to do about a fork; there are no others (`_can_fork`).
                warnings.simplefilter("ignore", DeprecationWarning)
                # The first one starts all processes; these work on while this process does something else.
                begun = [pool.submit(_run_pickled, number) for number in range(min(count, _AHEAD + processes))]
            try:
                yield _results_in_order(pool, begun, count)
            finally:
                pool.shutdown(cancel_futures=True)
    except BrokenProcessPool:
        raise LostWorkerError(
            "a worker process ended without a result (killed, perhaps for want of memory): free some memory and run "
            "the same command again"
        ) from None
    finally:
        if not has_frozen:
            gc.unfreeze()
        _WORK.pop()


def _results_in_order(pool: "ProcessPoolExecutor", begun: "list[Future[Any]]", count: int) -> Iterator[Any]:
    """Yield the results of all parts in order; a part is submitted as one ends."""
    waiting = deque(begun)
    for number in range(len(begun), count):
        yield pickle.loads(waiting.popleft().result())  # a copy of this process has just made it
        waiting.append(pool.submit(_run_pickled, number))
    while waiting:
        yield pickle.loads(waiting.popleft().result())


def _run_pickled(number: int) -> bytes:
    """Return the pickled result of the present work for a number."""
    return to_pickle(_WORK[-1](number))


def to_pickle(values: object) -> bytes:
    """Return values as a pickle, with read-only mappings as dictionaries."""
    content = io.BytesIO()
    pickler = pickle.Pickler(content, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = {MappingProxyType: lambda mapping: (dict, (dict(mapping),))}
    pickler.dump(values)
    return content.getvalue()


def _can_fork() -> bool:
    """Return whether a copy of this process would work, which has no other threads."""
    return sys.platform == "linux" and hasattr(os, "fork") and threading.active_count() == 1 and not _FORBIDDEN


def forbid_forking() -> None:
    """Make `map_in_processes` compute everything in this process from now on.

    For libraries with threads that Python does not know, such as the one that draws charts.
    """
    _FORBIDDEN[:] = [True]
