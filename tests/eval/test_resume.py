"""A run that is killed and started again, and a ladder whose result does not depend on who is faster."""

import os
import signal
import time
from pathlib import Path

import pytest

from tests.conftest import PATIENCE
from tests.eval.model_server import Answer, ModelServer, model_server
from tests.eval.play import (
    MAZES,
    MODEL,
    Faults,
    comparable,
    records,
    scripted,
    solution,
    started,
    waybench_,
)

CONNECTIONS = 4


def _faults(delay: float) -> Faults:
    """Fail some mazes once, some always, so that attempts and dimensions depend on results."""

    def faults(item: str, turn: int, before: int) -> Answer | None:
        number = int(item[-2:])
        if number % 3 == 0 or (number % 3 == 1 and turn == 0) or (item.startswith("9") and turn < 2):
            return Answer('{"movements": [{"direction": "up", "cells": 1}]}', delay=delay)
        return None if not delay else Answer(_good(item), delay=delay)

    return faults


def _good(item: str) -> str:
    size, number = int(item[:-2]), int(item[-2:])
    return solution(MAZES.source(level=size).item(number - 1))


def _arguments(server: ModelServer, out: Path, connections: int) -> list[str]:
    return [
        *("run", "alicia", "--model", MODEL, "--no-check", "--model-base-url", server.url, "--out", str(out)),
        *("-T", "max_dimension=9", "--max-connections", str(connections), "--display", "none"),
    ]


@pytest.mark.slow
def test_killed_and_resumed(tmp_path: Path) -> None:
    with model_server(scripted((5, 7, 9), _faults(0.0))) as server:
        whole = waybench_(*_arguments(server, tmp_path / "whole", 16))
        assert whole.returncode == 0, whole.stderr
        without_kill = sum(server.answered.values())

    with model_server(scripted((5, 7, 9), _faults(0.1))) as server:
        arguments = _arguments(server, tmp_path / "killed", CONNECTIONS)
        with started(*arguments) as process:
            deadline = time.monotonic() + PATIENCE
            while sum(server.answered.values()) < without_kill // 2:
                assert process.poll() is None and time.monotonic() < deadline
                time.sleep(0.01)
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        before = sum(server.answered.values())
        assert 0 < before < without_kill
        # Killed once more as soon as the resumed run has begun a log of its own, which has few of the samples yet.
        logs = set((tmp_path / "killed").glob("*.eval"))
        with started(*arguments) as process:
            while set((tmp_path / "killed").glob("*.eval")) <= logs or sum(server.answered.values()) == before:
                assert process.poll() is None and time.monotonic() < deadline
                time.sleep(0.005)
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        again = waybench_(*arguments)
        assert again.returncode == 0, again.stderr
        total = sum(server.answered.values())
        third = waybench_(*arguments)
        assert third.returncode == 0, third.stderr
        assert sum(server.answered.values()) == total  # nothing is left to ask

    expected = {name: comparable(record) for name, record in records(tmp_path / "whole").items()}
    found = {name: comparable(record) for name, record in records(tmp_path / "killed").items()}
    assert found == expected
    assert total - without_kill <= 2 * CONNECTIONS  # at each of the two kills, the request in flight of each connection


@pytest.mark.slow
def test_interrupted(tmp_path: Path) -> None:
    with model_server(scripted((5, 7, 9), _faults(0.2))) as server:
        arguments = _arguments(server, tmp_path, CONNECTIONS)
        with started(*arguments) as process:
            deadline = time.monotonic() + PATIENCE
            while sum(server.answered.values()) < 8:
                assert process.poll() is None and time.monotonic() < deadline
                time.sleep(0.01)
            os.kill(process.pid, signal.SIGINT)
            assert process.wait(PATIENCE) == 130
    assert "run the same command again" in process.stderr and "Traceback" not in process.stderr


@pytest.mark.slow
def test_same_ladder_one_at_a_time(tmp_path: Path) -> None:
    found = []
    for connections in (1, 12):
        with model_server(scripted((5, 7, 9), _faults(0.0))) as server:
            out = tmp_path / str(connections)
            result = waybench_(*_arguments(server, out, connections))
            assert result.returncode == 0, result.stderr
        found.append({name: comparable(record) for name, record in records(out).items()})
    assert found[0] == found[1]
    assert {record["item"]["level"] for record in found[0].values()} == {5, 7, 9}
