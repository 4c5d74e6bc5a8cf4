"""The same actions as text, by pictures and by tools are the same episodes, through real requests."""

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from tests.eval.interfaces import LINES, Line, begin, interfaces, measures
from waybench.core import Json

# Where an episode of the table has hundreds of steps, one with some dozens shows the same.
SHORT: dict[str, dict[str, Json]] = {"gtb_stepwise": {"level": 1}}


@pytest.fixture(scope="module")
def process() -> Iterator[ProcessPoolExecutor]:
    """Yield a process of its own: the engine leaves it to the end of the process to close its connections."""
    with ProcessPoolExecutor(1, get_context("spawn"), begin) as pool:
        yield pool


@pytest.mark.slow
@pytest.mark.parametrize("line", LINES, ids=lambda line: line.task)
def test_parity(line: Line, process: ProcessPoolExecutor, data_dir: Callable[..., Path]) -> None:
    data_dir()
    first = line._replace(given={**line.given, "limit": 1, **SHORT.get(line.task, {})})
    # It compares the episodes themselves.
    measured = [process.submit(measures, first, name) for name in interfaces(first)]
    scores = {each.result().score for each in measured}
    assert len(scores) == 1
