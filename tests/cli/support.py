import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from click.testing import Result

from tests.conftest import PATIENCE

Command = Callable[..., Result]  # runs `waybench ARGS...`


@contextmanager
def watched(*command: str, patience: float = PATIENCE, **settings: Any) -> Iterator[subprocess.Popen[Any]]:
    """Run `python -m waybench COMMAND...`, and kill it if it hangs."""
    # Where the tests run in the background SIGINT is ignored, and a child would inherit that.
    process = subprocess.Popen(
        [sys.executable, "-m", "waybench", *command],
        stdout=-1,
        stderr=-1,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **settings,
    )
    watchdog = threading.Timer(patience, process.kill)
    watchdog.start()
    try:
        with process:
            try:
                yield process
            except BaseException:
                process.kill()  # nobody ends it any more
                raise
    finally:
        watchdog.cancel()


def lines_of(result: Result) -> list[Any]:
    """Read the JSON lines of a command's output, which must be ASCII."""
    assert result.stdout.isascii()
    return [json.loads(line) for line in result.stdout.splitlines()]


def plan(*movements: tuple[str, int]) -> str:
    """Write a plan as a model replies it."""
    return json.dumps({"movements": [{"direction": way, "cells": cells} for way, cells in movements]})


def one_line_error(result: Result) -> str:
    """Check that a command failed as it should on what the user can mend, and return the message."""
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1 and result.stderr.endswith("\n")
    return result.stderr
