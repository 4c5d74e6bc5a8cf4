"""Runs that are killed, interrupted or out of room: the same records, and next to nothing is asked twice."""

import os
import random
import re
import signal
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.eval.crash import (
    CONNECTED,
    CONNECTIONS,
    DELAY,
    FAMILIES,
    LONG,
    Family,
    Outcome,
    full_buffer,
    full_journal,
    full_log,
    play,
    printed,
    start,
)
from tests.eval.model_server import Answer, model_server

KILLS = int(os.environ.get("WAYBENCH_KILLS", "24"))  # over all families; `make crash` asks for 100
KILLED = (*FAMILIES, *CONNECTED)
BY_NAME = {family.name: family for family in FAMILIES}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Family], Outcome]:
    """Return a function that plays a family without an interruption, once."""
    known: dict[str, Outcome] = {}

    def whole(family: Family) -> Outcome:
        if family.name not in known:
            known[family.name] = play(family, tmp_path_factory.mktemp(family.name) / "whole")
        return known[family.name]

    return whole


def same(found: Outcome, whole: Outcome, out: Path, connections: int = CONNECTIONS) -> None:
    assert found.episodes == whole.episodes
    assert found.tokens == whole.tokens
    assert found.requests - whole.requests <= connections * found.stops
    assert not list(out.glob("*.journal"))
    assert "Traceback" not in printed(out)


@pytest.mark.parametrize("family", KILLED, ids=lambda family: family.name)
def test_a_run_that_is_killed_asks_at_most_one_request_again_for_each_connection(
    family: Family, tmp_path: Path, uninterrupted: Callable[[Family], Outcome]
) -> None:
    whole = uninterrupted(family)
    number = KILLS // len(KILLED)
    chance = random.Random(f"{family.name} {KILLS}")
    # So many requests apart that some kills fall into the last part of the run, and some before its first request.
    kills = [chance.uniform(0, 1.8 * whole.requests / (number + 1)) for _ in range(number)]
    found = play(family, tmp_path / "killed", kills)
    assert found.stops >= number / 2
    same(found, whole, tmp_path / "killed", family.connections)


def test_a_long_episode_goes_on_at_the_turn_at_which_it_was_killed(tmp_path: Path) -> None:
    # Of two episodes of 200 turns, side by side, 250 requests are answered when the process is killed.
    found = play(LONG, tmp_path / "out", [250.5])
    assert found.stops == 1
    turns = sum(len(each["turns"]) for each in found.episodes.values())
    assert len(found.episodes) == 2 and 300 <= turns <= 400
    assert 0 <= found.requests - turns <= CONNECTIONS
    said = printed(tmp_path / "out")
    (line,) = re.findall(r"crafter with \S+ continues: (.+)", said)
    match = re.fullmatch(
        r"0 of 2 items finished before; 2 episodes from turn (\d+), (\d+); (\d+) replies taken over without a request",
        line,
    )
    assert match, line
    first, second, kept = map(int, match.groups())
    assert first + second - 2 == kept
    assert 250 - CONNECTIONS <= kept <= 250 + CONNECTIONS
    assert found.requests - kept <= turns - kept + CONNECTIONS


def test_ctrl_c_is_no_worse(tmp_path: Path, uninterrupted: Callable[[Family], Outcome]) -> None:
    found = play(BY_NAME["smartplay"], tmp_path / "interrupted", [-11.5, -17.5])
    assert found.stops == 2
    same(found, uninterrupted(BY_NAME["smartplay"]), tmp_path / "interrupted")
    assert printed(tmp_path / "interrupted").count("To resume, run the same command again") == 2


@pytest.mark.parametrize("full", [full_journal, full_log, full_buffer])
def test_a_full_disk_loses_nothing(
    full: Callable[[int], None], tmp_path: Path, uninterrupted: Callable[[Family], Outcome]
) -> None:
    chance = random.Random(full.__name__)
    writes = {full_journal: 60, full_log: 5, full_buffer: 60}[full]
    disks = [partial(full, chance.randrange(1, writes)) for _ in range(2)]
    found = play(BY_NAME["aqa"], tmp_path / "full", full=disks)
    same(found, uninterrupted(BY_NAME["aqa"]), tmp_path / "full")
    said = re.findall(
        r"Error: no space left to write: .+\. Free some space and run the same command", printed(tmp_path / "full")
    )
    assert len(said) == found.stops == 2


def test_an_error_of_the_provider_loses_the_turns_before_it_no_more(
    tmp_path: Path, uninterrupted: Callable[[Family], Outcome]
) -> None:
    whole, family = uninterrupted(BY_NAME["smartplay"]), BY_NAME["smartplay"]
    seen = 0

    def failing(messages: list[dict[str, Any]], before: int) -> Answer:
        nonlocal seen
        seen += 1
        # A status that the engine does not try again by itself: the episode ends, and the run tries it once more.
        return Answer(status=400) if seen == 25 else family.script(messages, before)

    found = play(replace(family, script=failing), tmp_path / "failed")
    assert found.episodes == whole.episodes
    assert found.tokens == whole.tokens
    assert found.requests == whole.requests + 1


def test_one_run_at_a_time_in_a_folder(tmp_path: Path) -> None:
    family = BY_NAME["smartplay"]

    def slow(messages: list[dict[str, Any]], before: int) -> Answer:
        return Answer(family.script(messages, 0).text, delay=10 * DELAY)

    out = tmp_path / "out"
    with model_server(slow) as server:
        first = start(family, server, out)
        while not sum(server.answered.values()):
            assert first.is_alive()
            first.join(0.01)
        second = start(family, server, out)
        second.join()
        assert second.exitcode == 2 and first.is_alive()
        (told,) = (line for line in printed(out).splitlines() if line.startswith("Error"))
        assert re.search(rf"process {first.pid} on \S+, since [-0-9]+ [:0-9]+, is running in it", told)
        assert first.pid is not None
        os.kill(first.pid, signal.SIGKILL)  # which leaves no time to give the lock back
        first.join()
        third = start(family, server, out)
        before = sum(server.asked.values())
        while sum(server.asked.values()) == before:
            assert third.is_alive()
            third.join(0.01)
        third.kill()
        third.join()
