"""What the tests of the Inspect layer share: the command in a process of its own, and a scripted maze player."""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import waybench
from tests.conftest import PATIENCE
from tests.eval.forked import Command
from tests.eval.model_server import Answer, Script
from waybench.core import EpisodeRecord, Item, play_to_end, policy
from waybench.results import read_logs

MAZES = waybench.load("maze/alicia")
MODEL = "openai-api/scripted/player"

Faults = Callable[[str, int, int], Answer | None]  # (item id, turn from 0, sent before) -> a fault, or None for good


def command(*arguments: str) -> list[str]:
    """Return the command line of `waybench run` and so on."""
    return [sys.executable, "-m", "waybench", *arguments]


def environment() -> dict[str, str]:
    """Return the environment for a scripted model."""
    return {**os.environ, "SCRIPTED_API_KEY": "none", "PYTHONWARNINGS": "ignore"}


def waybench_(*arguments: str) -> Command:
    """Run the command to its end."""
    run = Command(*arguments, environment=environment())
    run.wait(PATIENCE)
    return run


@contextmanager
def started(*arguments: str) -> Iterator[Command]:
    """Start the command, and see to it that it has ended when the block does."""
    process = Command(*arguments, environment=environment())
    try:
        yield process
    finally:
        process.kill()


def solution(item: Item[Any]) -> str:
    """Return the oracle's reply to the first request."""
    return play_to_end(MAZES, item, policy("oracle")).turns[0].reply


def scripted(dimensions: tuple[int, ...], faults: Faults, mazes: int = 10) -> Script:
    """Play the public mazes perfectly, but for some faults.

    Args:
        dimensions: The dimensions that may be asked for.
        faults: What goes wrong where.
        mazes: How many of each dimension may be asked for.
    """
    known = {
        json.dumps(item.instance.to_json()["maze"]).replace('"', "").replace(" ", ""): item
        for size in dimensions
        for item in MAZES.source(level=size).head(mazes)
    }

    def script(messages: list[dict[str, Any]], before: int) -> Answer:
        drawn = re.search(r"<Maze map>\n(.*)\n</Maze map>", messages[0]["content"])
        assert drawn is not None
        item = known[drawn[1]]
        return faults(item.id, len(messages) // 2, before) or Answer(solution(item))

    return script


def records(folder: Path) -> dict[str, EpisodeRecord]:
    """Return a run's records by item and attempt, as in "501-1"."""
    return {f"{e.record.item['id']}-{e.record.attempt}": e.record for e in read_logs(folder)}


def comparable(record: EpisodeRecord) -> dict[str, Any]:
    """Return what of a record must not depend on when and how often it was run: all but times."""
    data = record.to_json()
    for turn in data["turns"]:
        turn.pop("usage")
    return data
