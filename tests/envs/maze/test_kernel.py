"""Compiled code draws and proves the mazes that Python does, from the same random numbers."""

import sys
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.envs.maze.mazes import ALICIA
from waybench.core import Item, Stream
from waybench.envs.maze import _environment
from waybench.envs.maze._game import Maze
from waybench.envs.spaces import TREES

NAME = "waybench.envs.maze._kernel"


@pytest.fixture
def kernel() -> Iterator[ModuleType]:
    """The module, which is forgotten afterwards: once it is imported, all mazes are drawn by it."""
    was_there = NAME in sys.modules
    yield import_module(NAME)
    if not was_there:
        del sys.modules[NAME]


def drawn(
    monkeypatch: pytest.MonkeyPatch, by: ModuleType | None, size: int, count: int, **options: Any
) -> list[Item[Maze]]:
    monkeypatch.setattr(_environment, "_kernel_if_worthwhile", lambda shape: by)
    return ALICIA.source("compiled", size, **options).head(count)


@pytest.mark.parametrize("algorithm", sorted(TREES))
def test_the_same_items(kernel: ModuleType, monkeypatch: pytest.MonkeyPatch, algorithm: str) -> None:
    for size, count, options in (
        (9, 20, {}),
        (10, 5, {"sides": "any", "loops": 0.3}),  # a row and a column are there twice
        (13, 5, {"sides": "left-top", "loops": 0.0}),
        (12, 5, {"loops": 1.0}),
        (25, 3, {"aspect": 0.3, "sides": "any"}),
        (26, 3, {"aspect": 4.0}),
        (61, 1, {}),
    ):
        python, compiled = (
            drawn(monkeypatch, by, size, count, algorithm=algorithm, **options) for by in (None, kernel)
        )
        assert compiled == python
        assert [item.instance.hash for item in compiled] == [item.instance.hash for item in python]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 2**31 + 1, 2**32 - 1])
def test_words_that_would_favour_some_numbers(kernel: ModuleType, n: int) -> None:
    words = [
        7,
        2**64 - 1,
        2**64 - 2**31 - 1,
        2**64 - 2**32,
        2**63 + 5,
        2**64 - 2,
        2**64 - 1,
        12345,
    ]  # the first one last
    array, stream = np.zeros(34, np.uint64), Stream("words")
    array[9], array[10:18] = len(words), words
    stream._words = list(words)
    while stream._words:
        assert kernel._random_below(array, n) == stream.below(n)
        assert int(array[9]) == len(stream._words)


def test_many_mazes_are_drawn_by_compiled_code(kernel: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, NAME)
    monkeypatch.setattr(_environment, "_drawn", Counter())
    monkeypatch.setattr(_environment, "_COMPILED_FROM", 200)
    assert [_environment._kernel_if_worthwhile((9, 9)) is not None for _ in range(4)] == [False, False, True, True]
