"""How far a report has come."""

import io
import re
import sys
import threading

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


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_one_stage_is_shown_at_a_time_and_nothing_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    now, terminal, threads = [100.0], Terminal(), threading.active_count()
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now[0])
    with ReportProgress() as progress:
        for stage in ("episodes", "pages"):
            for done in range(3):
                now[0] += 3
                progress(stage, done, 3)
            assert threading.active_count() == threads  # else no copies of this process write pages
    drawn = terminal.getvalue()
    episodes, pages = re.split("(?=groups of pages)", drawn, maxsplit=1)
    assert "episodes verified" in episodes and "episodes verified" not in pages
    assert drawn.count("\n") == drawn.count("\x1b[1A")  # no line stays, not even an empty one
