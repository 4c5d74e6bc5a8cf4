"""Jobs for executors: functions that other processes import."""

import os
import signal
import time
from pathlib import Path

from waybench.core import UsageError


def square(number: int) -> tuple[int, int]:
    """Return a square and the process that computed it."""
    return number * number, os.getpid()


def refuse(number: int) -> int:
    """Refuse one job."""
    if number == 3:
        raise UsageError("job 3 cannot be done")
    return number


def die(number: int) -> int:
    """End this process in one job as the kernel ends one that has no memory."""
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def note(folder: str) -> None:
    """Say which process this is, and go on until it is ended."""
    Path(folder, str(os.getpid())).touch()
    while True:
        time.sleep(0.1)


def variable(name: str) -> str:
    """Return a variable of this process's environment."""
    return os.environ[name]


def where(number: int) -> tuple[str, str]:
    """Return what tells the nodes of the test's cluster apart, and the GPUs that are given to this job."""
    return os.environ["WAYBENCH_CACHE"], os.environ.get("CUDA_VISIBLE_DEVICES", "")
