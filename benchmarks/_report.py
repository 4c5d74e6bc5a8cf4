"""The report: the first one of a folder, one of which nothing has changed, and one after a log was added."""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks._timing import Comparison
from waybench.evaluation import evaluate
from waybench.evaluation.tasks import find_task, load_task

# Tasks with their options, and players; what the last one plays is added to a report that was written.
_TASKS = {"alicia": {"max_dimension": 11}, "aqa": {"limit": 10}, "smartplay": {"limit": 10}}
_PLAYERS = ("oracle", "noisy-0.1", "noisy-0.3", "heuristic", "random")
_ROUNDS = 3
_SIMULATED = """
import sys
from pathlib import Path
from waybench.results import read_logs, rows
print(len(list(rows(read_logs(Path(sys.argv[1]))))))
"""


def report() -> Iterator[Comparison]:
    """Write reports of a folder of logs; the reference reads the same logs and simulates their records, and no more.

    Seconds are of processor time, with that of all processes.
    """
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        logs, added = home / "logs", home / "added"
        _run(_PLAYERS[:-1], logs)
        _run(_PLAYERS[-1:], added)
        simulate = [sys.executable, "-c", _SIMULATED, str(logs)]
        episodes = int(subprocess.run(simulate, check=True, capture_output=True, text=True).stdout)
        rounds = [_round(home / str(number), logs, added, simulate) for number in range(_ROUNDS)]
        best = [min(seconds) for seconds in zip(*rounds, strict=True)]
        against = "reading and simulating all episodes alone"
        for what, seconds in zip(_STEPS, best[1:], strict=True):
            yield Comparison(f"report of {episodes} episodes: {what}", seconds, best[0], against, episodes, "episodes")


_STEPS = "the first one", "again, nothing new", "again, with one more player"


def _run(players: tuple[str, ...], out: Path) -> None:
    for name, args in _TASKS.items():
        entry = find_task(name)
        task = partial(load_task(entry), **args)
        evaluate([task], [f"waybench/{player}" for player in players], out / name)


def _round(home: Path, logs: Path, added: Path, simulate: list[str]) -> list[float]:
    """Return seconds of the reference and of each report."""
    log_folder = home / "logs"
    shutil.copytree(logs, log_folder)
    write = [sys.executable, "-m", "waybench", "report", str(log_folder), "--out", str(home / "site")]
    seconds = [_seconds(simulate, home), _seconds(write, home), _seconds(write, home)]
    shutil.copytree(added, log_folder / "added")
    return [*seconds, _seconds(write, home)]


def _seconds(command: list[str], home: Path) -> float:
    """Return the processor time of a command and all that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "WAYBENCH_CACHE": str(home / "cache")}
    subprocess.run(command, check=True, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
