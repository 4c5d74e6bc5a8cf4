"""Counts of what was compared with published results; tests/conftest.py tells them at the end of a run.

The golden files are a set among several of the same schema: what one of them lacks is not compared, and says so.
"""

from collections.abc import Callable, Iterator

import pytest

from tests.conftest import GOLDEN


@pytest.fixture
def compared(record_property: Callable[[str, object], None]) -> Callable[[str, str, int], None]:
    """Return a function that notes how many things of a kind a test has compared; none at all in a test skips it."""

    def note(family: str, kind: str, count: int) -> None:
        if count:
            record_property(f"{GOLDEN}{family} {kind}", count)

    return note


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    """Skip a test, once it is over, that would have compared and has met nothing to compare."""
    result = yield
    if "compared" in pyfuncitem.fixturenames and not any(
        name.startswith(GOLDEN) for name, _ in pyfuncitem.user_properties
    ):
        pytest.skip("the golden files at hand have nothing of what this test compares")
    return result
