"""A comparison against a model server: a kill changes no decision and pays nothing twice; errors hold nobody up."""

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import PATIENCE
from tests.eval.model_server import Answer, ModelServer, model_server
from tests.eval.play import MODEL, Faults, records, scripted, started, waybench_

WRONG = '{"movements": [{"direction": "up", "cells": 1}]}'
ORACLE = "waybench/oracle"


def failing(delay: float = 0.0, error_at: int = 0) -> Faults:
    """Fail at three mazes of four; answer one maze with an error of the server."""

    def faults(item: str, turn: int, before: int) -> Answer | None:
        number = int(item[-2:])
        if number == error_at:
            return Answer(status=500)
        return Answer(WRONG, delay=delay) if number % 4 else None

    return faults


def arguments(server: ModelServer, out: Path, *more: str) -> list[str]:
    return [
        *("run", "maze/alicia", "-m", ORACLE, "-m", MODEL, "--until", "decided", "--no-check", "--max-items", "60"),
        *("--model-base-url", server.url, "--out", str(out), "-T", "level=11", "-T", "requests=1"),
        *("--max-connections", "2", "--max-retries", "0", "--display", "none", *more),
    ]


def decision(folder: Path) -> Any:
    (path,) = folder.glob("*.decision.json")
    return json.loads(path.read_text())


@pytest.mark.slow
def test_killed_and_resumed_it_decides_the_same_and_pays_nothing_twice(tmp_path: Path) -> None:
    with model_server(scripted((11,), failing(), 60)) as server:
        whole = waybench_(*arguments(server, tmp_path / "whole"))
        assert whole.returncode == 0, whole.stderr
        assert f"{ORACLE} is better than {MODEL}" in whole.stdout
        requests = sum(server.answered.values())
    assert requests < 30
    with model_server(scripted((11,), failing(delay=0.1), 60)) as server:
        given = arguments(server, tmp_path / "killed")
        with started(*given) as process:
            deadline = time.monotonic() + PATIENCE
            while sum(server.answered.values()) < requests // 2:
                assert process.poll() is None and time.monotonic() < deadline
                time.sleep(0.01)
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        assert records(tmp_path / "killed")
        again = waybench_(*given)
        assert again.returncode == 0, again.stderr
        assert sum(times > 1 for times in server.answered.values()) <= 2  # what was in flight
    first, second = (decision(tmp_path / name) for name in ("whole", "killed"))
    assert first == second and first["verdict"] == "better"


@pytest.mark.slow
def test_a_maze_that_its_server_cannot_answer_holds_nobody_up_and_is_repeated_later(tmp_path: Path) -> None:
    with model_server(scripted((11,), failing(error_at=2), 60)) as server:
        lost = waybench_(*arguments(server, tmp_path, "--rerun", "0"))
        assert lost.returncode == 1 and f"{ORACLE} is better than {MODEL}" in lost.stdout, lost.stderr
    before = decision(tmp_path)
    assert before["units"][1]["scores"][1] == [None]
    with model_server(scripted((11,), failing(), 60)) as server:
        again = waybench_(*arguments(server, tmp_path))
        assert again.returncode == 0, again.stderr
        assert sum(server.answered.values()) == 1  # the maze that was lost, and nothing else
    after = decision(tmp_path)
    assert after["units"][1]["scores"][1] != [None]
    assert after["verdict"] == "better" and after["decided_at"] <= before["decided_at"]
