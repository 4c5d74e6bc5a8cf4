"""Counts of what was compared with published results; tests/conftest.py tells them at the end of a run."""

from collections.abc import Callable

import pytest

from tests.conftest import GOLDEN


@pytest.fixture
def compared(record_property: Callable[[str, object], None]) -> Callable[[str, str, int], None]:
    """Return a function that notes how many things of a kind a test has compared; none at all is a failure."""

    def note(family: str, kind: str, count: int) -> None:
        assert count > 0, f"no {kind} were compared"
        record_property(f"{GOLDEN}{family} {kind}", count)

    return note
