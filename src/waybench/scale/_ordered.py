"""An executor in the place of copies of this process."""

import pickle
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from waybench._version import __version__
from waybench.core import UsageError, WaybenchError, dumped
from waybench.scale._executors import Executor

P = TypeVar("P")
T = TypeVar("T")


class Ordered:
    """Has the parts of a work done by an executor, and gives the results in the order of the parts.

    Args:
        engine: The executor.

    Raises:
        UsageError: If it does not run all jobs while the command waits.
    """

    def __init__(self, engine: Executor) -> None:
        if not engine.is_whole:
            raise UsageError("this command has one result of all jobs: use --executor ray or processes")
        self._engine = engine

    @contextmanager
    def each(self, function: Callable[[P], T], parts: Sequence[P]) -> Generator[Iterator[T], None, None]:
        """Do a work for each of some parts; see `waybench.core.Workers`."""
        ended = self._engine.map(partial(_done, function, __version__), parts)
        try:
            yield _in_order(ended)
        finally:
            if isinstance(ended, Generator):
                ended.close()  # what has not begun is left


def _in_order(ended: Iterator[tuple[int, bytes]]) -> Iterator[Any]:
    early: dict[int, bytes] = {}
    number = 0
    for index, content in ended:
        early[index] = content
        while number in early:
            yield pickle.loads(early.pop(number))  # a worker of this command has made it
            number += 1


def _done(function: Callable[[P], T], version: str, part: P) -> bytes:
    """Do a part in a worker; a worker with another version might compute another result."""
    if version != __version__:
        raise WaybenchError(f"a worker has waybench {__version__}, and this machine {version}: install the same")
    return dumped(function(part))
