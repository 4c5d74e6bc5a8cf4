import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.data.support import isolate

_SHARED = os.environ.get("WAYBENCH_DATA", "")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put the cache into a folder of the test's own."""
    return isolate(tmp_path, monkeypatch)


@pytest.fixture
def data_dir(data_dir: Callable[..., Path]) -> Callable[..., Path]:
    """Find the public data sets although the test is kept from the variable that may name their folder."""

    def find(*path: str) -> Path:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("WAYBENCH_DATA", _SHARED)
            return data_dir(*path)

    return find
