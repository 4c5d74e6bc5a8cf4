"""What `waybench run` shows while it goes on: plain lines, a live table, and what Ctrl-C leaves."""

import io
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from tests.cli.support import watched
from tests.conftest import PATIENCE
from tests.eval.model_server import Answer, model_server
from tests.eval.play import MODEL, environment, records
from waybench.cli import _progress
from waybench.cli._progress import DISPLAYS, _Live, show_progress
from waybench.core import Outcome, Price, TurnRecord, Usage
from waybench.evaluation._progress import EarlierLog
from waybench.evaluation._run_progress import RunProgress

_NOISE = ("log_buffer", "by_level", "n/a", "HTTP retries", "Completed", "hooks enabled", "Traceback")


def arguments(address: str, out: Path, *more: str) -> list[str]:
    return [
        "run",
        "hanoi_3",
        "--limit",
        "4",
        "--model",
        MODEL,
        "--model-base-url",
        address,
        "--out",
        str(out),
        "--no-check",
        *more,
    ]


def turns(progress: RunProgress, sample: str, count: int) -> None:
    task = progress.tasks[0]
    task.begin_episode(sample, 5, limit=1)
    for _ in range(count):
        task.add_reply(sample, None, repeated=False)
    task.end_episode(sample)


def test_plain_lines_come_with_each_tenth(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now)
    progress = RunProgress()
    progress.add_task("waybench/alicia", "m", 20, attempts=False, args={})
    progress.tasks[0]._state = "running"
    lines = _progress._Lines(progress, is_silent=False)
    lines.refresh()
    for number in range(20):
        now += 2.0
        turns(progress, f"{number}-1", 1)
        lines.refresh()
        lines.refresh()
    said = capsys.readouterr().err.splitlines()
    assert [line.split(", ")[0] for line in said] == [f"alicia with m: {done} of 20 items" for done in range(2, 21, 2)]


def test_a_slow_task_has_a_line_each_half_minute(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now)
    progress = RunProgress()
    progress.add_task("waybench/alicia", "m", None, attempts=False, args={})
    progress.tasks[0]._state = "running"
    lines = _progress._Lines(progress, is_silent=False)
    lines.refresh()
    for number in range(13):
        now += 10
        turns(progress, f"{number}-1", 1)
        lines.refresh()
    assert len(capsys.readouterr().err.splitlines()) == 4


@pytest.mark.parametrize("display", DISPLAYS)
def test_notes_are_shown_as_one_harmless_line(display: str, capsys: pytest.CaptureFixture[str]) -> None:
    progress = RunProgress()
    progress.add_task("waybench/alicia", "m", 20, attempts=False, args={})
    with show_progress(progress, display):
        progress.notes.append("warning: [bold]a\nb\x1b[31m")
    said = capsys.readouterr().err
    assert "warning: [bold]a b␛[31m" in said
    assert ("finished: " in said) == (display != "none")


def test_nothing_is_announced_as_finished_that_was_interrupted(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyboardInterrupt), show_progress(RunProgress(), "plain"):
        raise KeyboardInterrupt
    assert "finished" not in capsys.readouterr().err


def test_the_live_table_fits_the_terminal() -> None:
    progress = RunProgress()
    for number in range(40):
        progress.add_task(
            f"waybench/task_{number}", "provider/a-model-with-a-rather-long-name", 20, attempts=False, args={}
        )
        progress.tasks[-1].start(EarlierLog())
        progress.tasks[-1].begin_episode("1-1", 5, 1, lambda: 1)
        progress.tasks[-1].add_reply(
            "1-1", Usage(input_tokens=123_456, output_tokens=1_234_567, seconds=5), repeated=False
        )
        progress.tasks[-1].end_episode("1-1")
    live = _Live(progress)
    live._console = Console(width=100, height=12, file=io.StringIO())
    live._console.print(live._rendered_statuses())
    lines = live._console.file.getvalue().splitlines()
    assert len(lines) <= 12
    assert max(map(len, lines)) <= 100
    assert "and 33 more tasks" in lines[-1]
    (first,) = (line for line in lines if line.startswith("task_0 "))
    # Names are cut, and numbers are not.
    assert "…" in first and first.split()[2:] == ["1", "of", "20", "1", "123k", "1.23M", "1", "1", "min", "35", "s"]


@pytest.mark.parametrize(("columns", "has_tokens"), [(80, False), (120, True)])
def test_a_narrow_terminal_has_the_numbers_that_matter_whole(columns: int, has_tokens: bool) -> None:
    progress = RunProgress(prices={"provider/a-model-with-a-rather-long-name": Price(1, 2, 1)})
    progress.add_task(
        "waybench/mango_destination", "provider/a-model-with-a-rather-long-name", 60, attempts=False, args={}
    )
    task = progress.tasks[0]
    task.start(EarlierLog())
    task.begin_episode("1-1", 5, 20, lambda: 1)
    for outcome in (Outcome.OK, Outcome.UNPARSED):
        task.add_reply("1-1", Usage(input_tokens=123_456, output_tokens=1_234, seconds=5), repeated=False)
        task.count_unreadable_reply("MANGO", TurnRecord("?", outcome))
    live = _Live(progress)
    live._console = Console(width=columns, height=12, file=io.StringIO())
    live._console.print(live._rendered_statuses())
    _, head, line, *_ = live._console.file.getvalue().splitlines()
    assert "…" not in head and ("tokens in" in head) == has_tokens
    assert head.split()[:3] == ["task", "model", "done"] and "unreadable" in head and "left" in head
    assert "50 %" in line and "…" not in line.partition("0 of 60")[2] and len(line) <= columns


def in_terminal(command: list[str], until: Callable[[str], bool]) -> tuple[str, int]:
    """Run `waybench COMMAND...` on a terminal, press Ctrl-C when its output is as wanted; return output and status."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "waybench", *command],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, **environment(), "TERM": "xterm", "COLUMNS": "100", "LINES": "30"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    os.close(theirs)
    said, pressed, deadline = b"", False, time.monotonic() + PATIENCE
    try:
        while process.poll() is None or select.select([ours], [], [], 0)[0]:
            assert time.monotonic() < deadline, said[-2000:]
            if select.select([ours], [], [], 0.1)[0]:
                try:
                    said += os.read(ours, 1 << 16)
                except OSError:  # the other end is closed
                    break
            if not pressed and until(said.decode("utf-8", "replace")):
                process.send_signal(signal.SIGINT)
                pressed = True
        return said.decode("utf-8", "replace"), process.wait(PATIENCE)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


@pytest.mark.slow
def test_an_interrupted_run_says_what_is_kept_and_goes_on_from_there(tmp_path: Path) -> None:
    with model_server(lambda messages, before: Answer("1", delay=0.05)) as server:
        said, status = in_terminal(
            arguments(server.url, tmp_path, "--max-connections", "2"),
            until=lambda text: sum(server.answered.values()) >= 40 and "0 of 4" in text,
        )
        assert status == 130
        assert "To resume, run the same command again" in said
        assert not [word for word in (*_NOISE, "finished: ") if word in said]
        answered = sum(server.answered.values())
        with watched(*arguments(server.url, tmp_path), text=True, env={**os.environ, **environment()}) as again:
            out, error = again.communicate()
        assert again.returncode == 0, error
        assert not [word for word in _NOISE if word in out + error]
    continued = re.search(r"continues: (\d) of 4 episodes finished before; (\d) episodes? from turn ([\d, ]+);", error)
    assert continued, error
    (kept,) = re.findall(r"(\d+) replies taken over without a request", error)
    requests, repeated = map(int, re.findall(r"(\d+) requests, (\d+) replies taken over", error)[-1])
    assert repeated == int(kept) > 0
    assert requests + answered == sum(server.answered.values())
    # At most the request of each connection is sent again.
    assert sum(server.asked.values()) - sum(len(record.turns) for record in records(tmp_path).values()) <= 2
