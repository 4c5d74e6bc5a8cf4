"""Runs that are killed again and again, over families that differ in how they play, each against a scripted server."""

import errno
import json
import multiprocessing
import os
import random
import re
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset

from tests.eval.model_server import Answer, ModelServer, Script, model_server
from tests.eval.play import MODEL, comparable, environment, records, scripted
from tests.toys import DIAL
from waybench.core import Entry
from waybench.evaluation import evaluate
from waybench.evaluation.tasks._items import TaskItem
from waybench.evaluation.tasks._samples import inspect_task, item_samples

CONNECTIONS = 4
DELAY = 0.05  # seconds of each answer
PATIENCE = 240.0  # seconds that one start of a command may take on a busy machine
WALL = '{"movements": [{"direction": "up", "cells": 1}]}'

# A server of processes that have imported what a run needs, for that takes longer than most runs here.
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(
    ["tests.eval.crash", "waybench.evaluation.tasks", "waybench.cli._run", "waybench.results"]
)


@dataclass(frozen=True, slots=True)
class Family:
    """A way of playing.

    Attributes:
        name: Its name.
        script: What the server answers: a function of the conversation alone.
        start: Runs it: takes the server's address and the folder for the logs.
        connections: How many requests are in flight at most, in all of its processes.
    """

    name: str
    script: Script
    start: Callable[[str, Path], None]
    connections: int = CONNECTIONS


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to, however often it was interrupted.

    Attributes:
        episodes: Of each sample, what of its record does not depend on when it was run.
        tokens: Of each sample, its input and output tokens.
        requests: How many requests the server has answered or begun to answer.
        stops: How often the run was interrupted while it went on.
    """

    episodes: dict[str, dict[str, Any]]
    tokens: dict[str, tuple[int, int]]
    requests: int
    stops: int


def _command(*arguments: str) -> Callable[[str, Path], None]:
    return partial(_run_command, arguments)


def _run_command(arguments: tuple[str, ...], address: str, out: Path) -> None:
    from waybench.cli import main

    # A daemon may have no processes, which the run may want; this one ends with the test, and they end with it.
    multiprocessing.process.current_process()._config["daemon"] = False
    more = ("--model-base-url", address, "--out", str(out), "--max-connections", str(CONNECTIONS))
    main(["run", "--no-check", "--model", MODEL, *more, "--display", "none", *arguments])


@task
def dials(limit: int = 8) -> Task:
    """A task of an environment that waybench does not know."""
    options = {"memory": "fresh"}
    items = [DIAL.source(level=12).item(index) for index in range(limit)]
    samples: Any = item_samples([TaskItem(DIAL, options, item, 2) for item in items])
    return inspect_task(MemoryDataset(list(samples)), 1)


def _run_dials(address: str, out: Path) -> None:
    _register()
    unfinished = evaluate([dials], [MODEL], out, model_base_url=address, config={"max_connections": CONNECTIONS})
    sys.exit(bool(unfinished))


def _register() -> None:
    """Make the dial known, as an entry point would in a process that has just started."""
    from waybench.envs import registry

    registry.register(Entry(DIAL.id, DIAL.version, "tests.toys:DIAL", "a dial"))


def _maze_faults(item: str, turn: int, before: int) -> Answer | None:
    number = int(item[-2:])
    return Answer(WALL) if number % 3 == 0 or (number % 3 == 1 and turn == 0) or turn < int(item[0]) - 5 else None


def _choose(choices: tuple[str, ...], messages: list[dict[str, Any]], before: int) -> Answer:
    """Answer with one of some texts, by chance and always the same to the same messages."""
    return Answer(random.Random(json.dumps(messages)).choice(choices))


def _walk(messages: list[dict[str, Any]], before: int) -> Answer:
    """Visit a neighbour of the last list that was shown."""
    lists = (re.search(r"Adjacent nodes: ([\d, ]+)", str(each["content"])) for each in reversed(messages))
    shown = next(found for found in lists if found)
    return _choose(tuple(re.findall(r"\d+", shown[1])), messages, before)


def _guess(messages: list[dict[str, Any]], before: int) -> Answer:
    """Bisect the numbers, but give up on ranges that are too large."""
    low, high = map(int, re.findall(r"\d+", re.search(r"between (\d+ and \d+)", messages[0]["content"])[1]))
    if high - low > 300:
        return Answer("I give up.")
    for own, answer in zip(messages[2::2], messages[3::2], strict=False):
        number = int(own["content"])
        low, high = (number + 1, high) if "bigger" in answer["content"] else (low, number - 1)
    return Answer(str((low + high) // 2))


FAMILIES = (
    Family("alicia", scripted((5, 7), _maze_faults), _command("alicia", "-T", "max_dimension=7")),
    Family("aqa", _walk, _command("dfs", "--limit", "8", "-T", "teacher_guided=true")),
    Family(
        "smartplay",
        partial(_choose, ("1", "2", "3", "I would look around.")),
        _command("hanoi_3", "messenger_l1", "--limit", "1"),
    ),
    Family("search", _guess, _command("horizon_guessnum", "--precision", "0.3")),
    Family("custom", partial(_choose, ("up", "down", "up, please")), _run_dials),
)

_GAMES = ("hanoi_3", "messenger_l1", "--limit", "1", "--max-connections")
_CHOOSE = partial(_choose, ("1", "2", "3", "I would look around."))
CONNECTED = (
    Family("1 connection", _CHOOSE, _command(*_GAMES, "1"), 1),
    Family("8 connections", _walk, _command("dfs", "--limit", "8", "--max-connections", "8"), 8),
    Family("2 processes", _CHOOSE, _command(*_GAMES, "1", "--executor", "processes:2"), 2),
)

LONG = Family(
    "long",
    partial(_choose, ("1", "2", "3", "4", "5")),
    _command("crafter", "--limit", "2", "-T", "steps=200", "-T", "wording=one_question"),
)


def full_journal(after: int) -> None:
    """Let the disk be full for a journal from a write on, of which it takes a part."""
    import waybench.evaluation._journal as journal

    left = after

    def write(file: int, data: Any) -> int:
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return os.write(file, data if left else data[: len(data) // 2])

    journal.os = SimpleNamespace(**{**vars(os), "write": write})


def full_log(after: int) -> None:
    """Let the disk be full for the engine's log from a write on."""
    from inspect_ai.log._recorders.eval import ZipLogFile

    _fail(ZipLogFile, "flush", after, lambda: OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))


def full_buffer(after: int) -> None:
    """Let the disk be full for the database in which the engine buffers what goes on."""
    from inspect_ai.log._recorders.buffer.database import SampleBufferDatabase

    _fail(SampleBufferDatabase, "_get_connection", after, lambda: sqlite3.OperationalError("database or disk is full"))


def _fail(owner: Any, name: str, after: int, error: Callable[[], Exception]) -> None:
    method, left = getattr(owner, name), after

    def failing(*args: Any, **kwargs: Any) -> Any:
        nonlocal left
        left -= kwargs.get("write", True)
        if left < 0:
            raise error()
        return method(*args, **kwargs)

    setattr(owner, name, failing)


def play(family: Family, out: Path, kills: Sequence[float] = (), full: Sequence[Callable[[], None]] = ()) -> Outcome:
    """Run a family to its end, interrupting it on the way, and start it again each time as the user would.

    Args:
        family: What is run.
        out: The folder of the logs.
        kills: When it is killed, one start after the other: after this number of further requests, whose fraction is
            a part of the time that the server takes for an answer. A negative number stands for Ctrl-C.
        full: What lets a disk be full, one start after the other.
    """

    def answer(messages: list[dict[str, Any]], before: int) -> Answer:
        said = family.script(messages, 0)
        return Answer(said.text, said.status, said.finish, DELAY)

    with model_server(answer) as server:
        done = sum(_killed(start(family, server, out), server, kill) for kill in kills)
        for disk in full:
            done += _end(start(family, server, out, disk)) != 0
        assert _end(start(family, server, out)) == 0, printed(out)[-4000:]
        return Outcome(*_results(out), sum(server.asked.values()), done)


def _results(out: Path) -> tuple[dict[str, dict[str, Any]], dict[str, tuple[int, int]]]:
    """Read a run's records and tokens, in a process that knows all environments."""
    ours, theirs = _PROCESSES.Pipe()
    process = _PROCESSES.Process(target=_read, args=(out, theirs), daemon=True)
    process.start()
    theirs.close()
    found = ours.recv()
    process.join()
    return found


def _read(out: Path, result: Connection) -> None:
    _register()
    found = records(out)
    episodes = {name: comparable(record) for name, record in found.items()}
    result.send((episodes, {name: record.tokens for name, record in found.items()}))


def start(family: Family, server: ModelServer, out: Path, first: Callable[[], None] | None = None) -> BaseProcess:
    """Start a run in a process of its own, which may do something first."""
    process = _PROCESSES.Process(target=_child, args=(family.start, server.url, out, first), daemon=True)
    process.start()
    return process


def _child(run: Callable[[str, Path], None], address: str, out: Path, first: Callable[[], None] | None) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a test runner's worker ignores Ctrl-C
    os.environ.update(environment())
    with _printed(out).open("ab", buffering=0) as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    if first is not None:
        first()
    run(address, out)


def _end(process: BaseProcess) -> int | None:
    process.join(PATIENCE)
    return process.exitcode


def _printed(out: Path) -> Path:
    return out.parent / f"{out.name}.txt"


def printed(out: Path) -> str:
    """Return what all runs in a folder have printed."""
    return _printed(out).read_text("utf-8")


def _killed(process: BaseProcess, server: ModelServer, kill: float) -> bool:
    """Kill a process, or press Ctrl-C, after a number of further requests; return whether it was still running."""
    goal = sum(server.asked.values()) + int(abs(kill))
    deadline = time.monotonic() + PATIENCE
    while sum(server.asked.values()) < goal and process.is_alive():
        assert time.monotonic() < deadline
        time.sleep(0.002)
    time.sleep(abs(kill) % 1 * DELAY)
    running = process.is_alive()
    if kill < 0 and running and process.pid:
        os.kill(process.pid, signal.SIGINT)
        process.join(PATIENCE)
    process.kill()
    process.join()
    return running
