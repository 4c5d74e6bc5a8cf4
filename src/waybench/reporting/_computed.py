"""Values that take long to work out: kept, and worked out in several processes."""

import pickle
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from waybench.core import dumped, spread
from waybench.reporting._cache import ReportCache, unpack_values


class Computation(NamedTuple):
    """A value to work out.

    Attributes:
        key: Of everything that it depends on (`content_key`); b"" if that is not known.
        work: Returns it; it is not None.
    """

    key: bytes
    work: Callable[[], Any]


@contextmanager
def computed(
    computations: Sequence[Computation], kept: ReportCache, processes: int
) -> Generator[Iterator[Any], None, None]:
    """Work out values that an earlier report has not, in other processes if possible.

    Args:
        computations: What to work out.
        kept: What the earlier report has worked out; what is new is added.
        processes: In how many processes.

    Yields:
        The values in order. Other processes begin at once, and go on while this one does something else.
    """
    contents = [kept.get(each.key) if each.key else None for each in computations]
    known = [None if content is None else unpack_values(content) for content in contents]
    new = [each for each, value in zip(computations, known, strict=True) if value is None]

    def work(number: int) -> bytes:
        return dumped(new[number].work())

    with spread(work, len(new), processes) as results:
        yield _taken(computations, known, results, kept)


def _taken(
    computations: Sequence[Computation], known: Sequence[Any], results: Iterator[bytes], kept: ReportCache
) -> Iterator[Any]:
    for each, value in zip(computations, known, strict=True):
        if value is not None:
            yield value
            continue
        content = next(results)
        if each.key:
            kept.put(each.key, zlib.compress(content, 1))
        yield pickle.loads(content)  # a copy of this process has just made it
