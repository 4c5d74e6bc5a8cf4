"""Jobs in processes of this machine."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from multiprocessing.context import BaseContext
from typing import Any, TypeVar

from waybench.core import LostWorkerError

J = TypeVar("J")
R = TypeVar("R")
_AHEAD = 4  # jobs for each process that have been handed over


class Share:
    """Runs every N-th job in this process: what a scheduler's job does.

    Args:
        index: The first job.
        count: N.
    """

    is_whole = False

    def __init__(self, index: int, count: int) -> None:
        self._index, self._count = index, count

    def map(self, function: Callable[[J], R], jobs: Sequence[J]) -> Iterator[tuple[int, R]]:
        """Run jobs in order; see `Executor`."""
        for index in range(self._index, len(jobs), self._count):
            yield index, function(jobs[index])


class Processes:
    """Runs jobs in new processes of this machine, which share nothing with this one.

    They are no copies of this one, so that jobs may use threads and event loops.

    Args:
        count: Number of processes; with one, jobs run in this process.
    """

    is_whole = True

    def __init__(self, count: int) -> None:
        self._count = count

    def map(self, function: Callable[[J], R], jobs: Sequence[J]) -> Iterator[tuple[int, R]]:
        """Run jobs; see `Executor`."""
        count = min(self._count, len(jobs))
        if count < 2:
            yield from Share(0, 1).map(function, jobs)
            return
        context = _context(function.__module__)
        with ProcessPoolExecutor(count, mp_context=context, initializer=_begin, initargs=(dict(os.environ),)) as pool:
            waiting: dict[Future[Any], int] = {}
            following = iter(range(len(jobs)))
            try:
                while True:
                    while len(waiting) < _AHEAD * count and (index := next(following, None)) is not None:
                        waiting[pool.submit(_call, function, jobs[index])] = index
                    if not waiting:
                        return
                    for done in wait(waiting, return_when=FIRST_COMPLETED).done:
                        index = waiting.pop(done)
                        yield index, done.result()
            except BrokenProcessPool:
                raise LostWorkerError(
                    "a worker process ended without a result (killed, perhaps for want of memory); what is finished is "
                    "kept: run the same command again, with fewer processes if memory is short"
                ) from None
            finally:
                pool.shutdown(wait=False, cancel_futures=True)


def _context(module: str) -> BaseContext:
    """Return how processes are started: each afresh, or as a copy of one fresh process that has imported a module."""
    if sys.platform != "linux":  # elsewhere there are no copies, or system libraries do not stand them
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload([module])
    return context


def _begin(environment: Mapping[str, str]) -> None:
    """Prepare a process: it ends with the one that started it, and a Ctrl-C reaches it while it runs a job.

    Args:
        environment: The environment of the process that started it; the fresh one's may be older.
    """
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=lambda: (parent.join(), os._exit(1)), name="waybench-parent", daemon=True).start()


def _call(function: Callable[[Any], Any], job: Any) -> Any:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return function(job)
    finally:
        signal.signal(signal.SIGINT, before)
