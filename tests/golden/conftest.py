"""Counts of what was compared with published results, told once at the end of a run."""

from collections import Counter, defaultdict
from collections.abc import Callable

import pytest

_MARK = "golden "  # how the name of a property of a report begins that holds a count


@pytest.fixture
def compared(record_property: Callable[[str, object], None]) -> Callable[[str, str, int], None]:
    """Return a function that notes how many things of a kind a test has compared; none at all is a failure."""

    def note(family: str, kind: str, count: int) -> None:
        assert count > 0, f"no {kind} were compared"
        record_property(f"{_MARK}{family} {kind}", count)

    return note


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print a line for each family; the counts travel with the reports, from other processes too."""
    totals: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for report in terminalreporter.getreports("passed"):
        for name, count in report.user_properties:
            if name.startswith(_MARK):
                family, kind = name.removeprefix(_MARK).split(" ", 1)
                totals[family][kind] += int(count)
    for family, kinds in sorted(totals.items()):
        told = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        terminalreporter.write_line(f"golden {family}: {told} compared")
