"""Runs that are killed again and again, over families that differ in how they play, each against a scripted server."""

import json
import multiprocessing
import os
import random
import re
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from inspect_ai import Task, task

from tests.llm.model_server import Answer, ModelServer, Script, model_server
from tests.llm.play import MODEL, comparable, environment, records, scripted
from tests.toys import DIAL
from waybench.llm import evaluate, to_sample
from waybench.tasks._declare import played_items

CONNECTIONS = 4
DELAY = 0.05  # seconds of each answer
PATIENCE = 240.0  # seconds that one start of a command may take on a busy machine
WALL = '{"movements": [{"direction": "up", "cells": 1}]}'

# A server of processes that have imported what a run needs, for that takes longer than most runs here.
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["tests.llm.crash", "waybench.tasks", "waybench.cli._run", "waybench.analysis"])


@dataclass(frozen=True, slots=True)
class Family:
    """A way of playing.

    Attributes:
        name: Its name.
        script: What the server answers: a function of the conversation alone.
        start: Runs it: takes the server's address and the folder for the logs.
    """

    name: str
    script: Script
    start: Callable[[str, Path], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to, however often it was interrupted.

    Attributes:
        episodes: Of each sample, what of its record does not depend on when it was run.
        tokens: Of each sample, its input and output tokens.
        requests: How many requests the server has answered or begun to answer.
        kills: How often the run was killed while it went on.
    """

    episodes: dict[str, dict[str, Any]]
    tokens: dict[str, tuple[int, int]]
    requests: int
    kills: int


def _command(*arguments: str) -> Callable[[str, Path], None]:
    return partial(_run_command, arguments)


def _run_command(arguments: tuple[str, ...], address: str, out: Path) -> None:
    from waybench.cli import main

    more = ("--model-base-url", address, "--out", str(out), "--max-connections", str(CONNECTIONS))
    main(["run", *arguments, "--model", MODEL, *more, "--display", "none"])


@task
def dials(limit: int = 8) -> Task:
    """A task of an environment that waybench does not know."""
    options = {"memory": "fresh"}
    items = [DIAL.source(level=12).item(index) for index in range(limit)]
    return played_items([(DIAL, options, item) for item in items], 2, 1)


def _run_dials(address: str, out: Path) -> None:
    from waybench.envs import registry

    registry.register(DIAL)
    unfinished = evaluate([dials], [MODEL], out, model_base_url=address, config={"max_connections": CONNECTIONS})
    sys.exit(bool(unfinished))


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
        "smartplay", partial(_choose, ("1", "2", "3", "I would look around.")), _command("smartplay", "--limit", "1")
    ),
    Family("search", _guess, _command("horizon_guessnum", "--precision", "0.3")),
    Family("custom", partial(_choose, ("up", "down", "up, please")), _run_dials),
)


def play(family: Family, out: Path, kills: list[float]) -> Outcome:
    """Run a family to its end, killing it on the way, and start it again each time as the user would.

    Args:
        family: What is run.
        out: The folder of the logs.
        kills: When it is killed: after this number of further requests, plus seconds behind the point.
    """

    def answer(messages: list[dict[str, Any]], before: int) -> Answer:
        said = family.script(messages, 0)
        return Answer(said.text, said.status, said.finish, DELAY)

    with model_server(answer) as server:
        done = 0
        for kill in kills:
            process = start(family, server, out)
            if _killed(process, server, kill):
                done += 1
        process = start(family, server, out)
        process.join(PATIENCE)
        assert process.exitcode == 0, f"{family.name}: exit status {process.exitcode}"
        found = records(out)
        return Outcome(
            {name: comparable(record) for name, record in found.items()},
            {name: record.tokens for name, record in found.items()},
            sum(server.asked.values()),
            done,
        )


def start(family: Family, server: ModelServer, out: Path) -> BaseProcess:
    """Start a run in a process of its own."""
    process = _PROCESSES.Process(target=_child, args=(family.start, server.url, out), daemon=True)
    process.start()
    return process


def _child(run: Callable[[str, Path], None], address: str, out: Path) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a test runner's worker ignores Ctrl-C
    os.environ.update(environment())
    with (out.parent / f"{out.name}.txt").open("ab", buffering=0) as printed:
        os.dup2(printed.fileno(), 1)
        os.dup2(printed.fileno(), 2)
    run(address, out)


def _killed(process: BaseProcess, server: ModelServer, kill: float) -> bool:
    """Kill a process after a number of further requests; return whether it was still running."""
    goal = sum(server.asked.values()) + int(kill)
    deadline = time.monotonic() + PATIENCE
    while sum(server.asked.values()) < goal and process.is_alive():
        assert time.monotonic() < deadline
        time.sleep(0.002)
    time.sleep(kill % 1 * 2 * DELAY)
    running = process.is_alive()
    process.kill()
    process.join()
    return running
