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
PROCESSES = min(8, os.cpu_count() or 1)  # by default
# Results that may wait, in memory, for the result of a long part before them, so that the other processes go on.
_MOST_WAITING = 32
_FORKING_FORBIDDEN: list[bool] = []  # has an element once `forbid_forking` was called
_FUNCTIONS: list[Callable[[int], Any]] = []  # forked processes find their function here, so it need not be pickled


class Workers(Protocol):
    """Processes that compute the parts of a work, here or on other machines."""

    def each(self, function: Callable[[P], T], parts: Sequence[P]) -> AbstractContextManager[Iterator[T]]:
        """Compute a function for each of several parts.

        Args:
            function: The work, a function that can be imported.
            parts: Its parts. Each is taken when its turn comes, so they need not all be in memory.

        Returns:
            A context manager that gives an iterator of the results, in the order of the parts.
        """
        ...


@dataclass(frozen=True, slots=True)
class Copies:
    """Workers that are `processes` copies of this process; with 1 this process does the work."""

    processes: int = PROCESSES

    def each(self, function: Callable[[P], T], parts: Sequence[P]) -> AbstractContextManager[Iterator[T]]:
        """Compute a function for each part in copies of this process; see `Workers`."""
        return map_in_processes(lambda number: function(parts[number]), len(parts), self.processes)


@contextmanager
def map_in_processes(function: Callable[[int], T], count: int, processes: int) -> Generator[Iterator[T], None, None]:
    """Compute a function of each number below `count`, in copies of this process where that is possible and worth it.

    Copies start at once with all that this process has read and computed.

    Args:
        function: Number -> result, which is pickled. It may change nothing but files.
        count: The number of results.
        processes: The number of processes; with 1 this process does the work.

    Yields:
        The results in order. Without other processes each is computed when it is taken.

    Raises:
        LostWorkerError: If a process ended without a result.
    """
    if min(processes, count) < 2 or not _can_fork():
        yield map(function, range(count))
        return
    from concurrent.futures import ProcessPoolExecutor  # imports many modules, which most commands do not need
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    _FUNCTIONS.append(function)
    was_frozen = gc.get_freeze_count() > 0
    gc.freeze()  # a collection in a copy would write to, and so copy, the memory that both share
    try:
        with ProcessPoolExecutor(min(processes, count), mp_context=get_context("fork")) as pool:
            with warnings.catch_warnings():
                # numpy has threads, which know what to do about a fork; there are no others (`_can_fork`).
                warnings.simplefilter("ignore", DeprecationWarning)
                # The first call starts all processes; they work while this process does something else.
                n_first = min(count, _MOST_WAITING + processes)
                submitted = [pool.submit(_run_pickled, number) for number in range(n_first)]
            try:
                yield _results_in_order(pool, submitted, count)
            finally:
                pool.shutdown(cancel_futures=True)
    except BrokenProcessPool:
        raise LostWorkerError(
            "a worker process ended without a result (killed, perhaps for want of memory): free some memory and run "
            "the same command again"
        ) from None
    finally:
        if not was_frozen:
            gc.unfreeze()
        _FUNCTIONS.pop()


def _results_in_order(pool: "ProcessPoolExecutor", submitted: "list[Future[Any]]", count: int) -> Iterator[Any]:
    """Yield all results in order; the parts after the submitted ones are submitted one by one, as results are taken."""
    waiting = deque(submitted)
    for number in range(len(submitted), count):
        yield pickle.loads(waiting.popleft().result())  # safe: a copy of this process has made the pickle
        waiting.append(pool.submit(_run_pickled, number))
    while waiting:
        yield pickle.loads(waiting.popleft().result())


def _run_pickled(number: int) -> bytes:
    """Return the pickled result of the innermost `map_in_processes` for a number."""
    return to_pickle(_FUNCTIONS[-1](number))


def to_pickle(values: object) -> bytes:
    """Return values as a pickle, with read-only mappings as dictionaries."""
    content = io.BytesIO()
    pickler = pickle.Pickler(content, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = {MappingProxyType: lambda mapping: (dict, (dict(mapping),))}
    pickler.dump(values)
    return content.getvalue()


def _can_fork() -> bool:
    """Return whether a copy of this process would work; it has none of this process's other threads."""
    has_one_thread = threading.active_count() == 1
    return sys.platform == "linux" and hasattr(os, "fork") and has_one_thread and not _FORKING_FORBIDDEN


def forbid_forking() -> None:
    """Make `map_in_processes` compute everything in this process from now on.

    For libraries with threads that Python does not know, such as the one that draws charts.
    """
    _FORKING_FORBIDDEN[:] = [True]
