"""How far a report has come."""

import pytest

from waybench.cli import _progress
from waybench.cli._progress import ReportProgress


def test_nothing_is_shown_for_two_seconds_and_then_a_line_every_five(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [100.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now[0])
    with ReportProgress() as progress:
        for seconds, done in ((0.0, 10), (1.9, 900), (2.1, 1000), (4.0, 1100), (7.2, 1200)):
            now[0] = 100 + seconds
            progress("episodes", done, 0)
        now[0] = 113
        progress("pages", 3, 40)
    assert capsys.readouterr().err.splitlines() == [
        "report: 1,000 episodes verified",
        "report: 1,200 episodes verified",
        "report: 3 of 40 groups of pages written",
    ]
