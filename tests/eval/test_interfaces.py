"""The same actions as text, by pictures and by tools are the same episodes, through real requests."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.eval.interfaces import LINES, Line, interfaces, measures


@pytest.mark.slow
# The engine leaves it to the end of the process to close its connections.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("line", LINES, ids=lambda line: line.task)
def test_parity(line: Line, monkeypatch: pytest.MonkeyPatch, data_dir: Callable[..., Path]) -> None:
    data_dir()
    monkeypatch.setenv("SCRIPTED_API_KEY", "none")
    first = line._replace(given={**line.given, "limit": 1})
    scores = {measures(first, name).score for name in interfaces(first)}  # it compares the episodes themselves
    assert len(scores) == 1
