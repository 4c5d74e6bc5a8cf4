"""Shards of items: two processes against one."""

import ctypes
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress

from benchmarks._timing import Comparison

ITEMS, SIZE = 10_000, 500
_ROUNDS = 3
_SUBREAPER = 36  # of prctl


def spent(processes: int, items: int = ITEMS, size: int = SIZE) -> float:
    """Return the processor time of `waybench generate` with a number of processes, with that of all of them."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)  # what outlives the command becomes a child, whose time counts
    with tempfile.TemporaryDirectory() as folder:
        choice = ["--level", "21", "--count", str(items), "--shard-size", str(size)]
        options = ["--out", folder, "--executor", f"processes:{processes}"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "waybench", "generate", "maze", *choice, *options]
        subprocess.run(command, check=True, capture_output=True, env=os.environ)
        with suppress(ChildProcessError):
            while True:
                os.wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def shards() -> Iterator[Comparison]:
    """Make 10,000 mazes; what else the machine does would decide a comparison of time by the clock."""
    rounds = [(spent(2), spent(1)) for _ in range(_ROUNDS)]
    two, single = (min(seconds) for seconds in zip(*rounds, strict=True))
    yield Comparison(
        f"`waybench generate maze --level 21 --count {ITEMS}` in two processes: half of their processor time, which is "
        "the time by the clock on two free cores",
        two / 2,
        single,
        "one process",
        ITEMS,
        "mazes",
    )
