"""A search for a horizon against a model server: what it asks, what it decides, and that a kill changes neither."""

import json
import os
import signal
import time
from pathlib import Path

import pytest

from tests.conftest import PATIENCE
from tests.eval.model_server import Answer, ModelServer, model_server
from tests.eval.play import MAZES, MODEL, Faults, comparable, records, scripted, solution, started, waybench_
from waybench.results import read_logs, rows
from waybench.results.horizons._searches import search_results

DIMENSIONS = (5, 7, 9, 11, 13, 15, 17, 21, 25, 29)
WRONG = '{"movements": [{"direction": "up", "cells": 1}]}'


def reaches(half: int, delay: float = 0.0) -> Faults:
    """Solve smaller mazes than a dimension, every second one of it, and none of larger ones."""

    def faults(item: str, turn: int, before: int) -> Answer | None:
        size, number = int(item[:-2]), int(item[-2:])
        solved = size < half or (size == half and number % 2 == 1)
        if solved and not delay:
            return None
        return Answer(solution(MAZES.source(level=size).item(number - 1)) if solved else WRONG, delay=delay)

    return faults


def arguments(server: ModelServer, out: Path, *more: str) -> list[str]:
    return [
        *("run", "horizon_maze", "--model", MODEL, "--no-check", "--model-base-url", server.url, "--out", str(out)),
        *("-T", "requests=1", "-T", "hardest=29", "--precision", "0.15", "--display", "none", *more),
    ]


def decision(printed: str) -> str:
    (line,) = (line for line in printed.splitlines() if line.startswith("horizon_maze,") and "stopped" in line)
    return line


@pytest.mark.slow
def test_a_horizon_is_found_to_the_precision(tmp_path: Path) -> None:
    with model_server(scripted(DIMENSIONS, reaches(15), 60)) as server:
        run = waybench_(*arguments(server, tmp_path))
        assert run.returncode == 0, run.stderr
        assert max(server.answered.values()) == 1
    quoted, *_ = run.stdout.splitlines()
    assert quoted.startswith(f"horizon_maze, {MODEL}: about ")
    assert "stopped: the precision is reached" in decision(run.stdout)
    episodes = list(read_logs(tmp_path))
    (found,) = search_results(episodes, rows(episodes))
    assert found.low < 15 < found.high
    assert (found.high - found.low) / (2 * found.value) <= 0.15
    assert found.trials == len(episodes) == sum(server.answered.values())
    assert found.tokens == sum(sum(episode.record.tokens) for episode in episodes)


@pytest.mark.slow
def test_killed_and_resumed_it_decides_the_same_and_pays_nothing_twice(tmp_path: Path) -> None:
    with model_server(scripted(DIMENSIONS, reaches(13), 60)) as server:
        whole = waybench_(*arguments(server, tmp_path / "whole"))
        assert whole.returncode == 0, whole.stderr
        without_kill = sum(server.answered.values())
    with model_server(scripted(DIMENSIONS, reaches(13, delay=0.1), 60)) as server:
        given = arguments(server, tmp_path / "killed")
        with started(*given) as process:
            deadline = time.monotonic() + PATIENCE
            while sum(server.answered.values()) < without_kill // 2:
                assert process.poll() is None and time.monotonic() < deadline
                time.sleep(0.01)
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        done = [record for record in records(tmp_path / "killed").values() if record.end]
        assert 0 < len(done) < without_kill
        again = waybench_(*given)
        assert again.returncode == 0, again.stderr
        paid = {key: times for key, times in server.answered.items() if times > 1}
        assert len(paid) <= 4  # what was in flight, of one round
        drawn = [json.dumps(record.instance["maze"]).replace('"', "").replace(" ", "") for record in done]
        assert not [key for key in paid for maze in drawn if maze in json.loads(key)[0]["content"]]
        total = sum(server.answered.values())
        third = waybench_(*given)
        assert third.returncode == 0, third.stderr
        assert sum(server.answered.values()) == total  # nothing is left to ask
    assert decision(whole.stdout) == decision(again.stdout) == decision(third.stdout)
    expected, found = (
        {name: comparable(record) for name, record in records(tmp_path / folder).items()}
        for folder in ("whole", "killed")
    )
    assert found == expected


@pytest.mark.slow
def test_an_infrastructure_error_is_no_failure_and_the_search_waits_for_it(tmp_path: Path) -> None:
    broken = ["1101"]

    def faults(item: str, turn: int, before: int) -> Answer | None:
        return Answer(status=500) if item in broken else reaches(11)(item, turn, before)

    with model_server(scripted(DIMENSIONS, reaches(11), 60)) as server:
        whole = waybench_(*arguments(server, tmp_path / "whole"))
    assert "1101-1" in records(tmp_path / "whole")
    with model_server(scripted(DIMENSIONS, faults, 60)) as server:
        given = arguments(server, tmp_path / "broken", "--max-retries", "0", "--rerun", "0")
        first = waybench_(*given)
        assert first.returncode == 1
        assert "interrupted; run the same command to continue" in first.stdout
        assert "1 infrastructure error" in first.stdout
        broken.clear()
        second = waybench_(*given)
        assert second.returncode == 0, second.stderr
        assert max(server.answered.values()) == 1
    assert decision(whole.stdout) == decision(second.stdout)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("half", "said", "most"),
    [(31, "the horizon is above the hardest items", 40), (4, "the horizon is below the easiest items", 40)],
)
def test_it_ends_where_the_horizon_is_out_of_range(tmp_path: Path, half: int, said: str, most: int) -> None:
    with model_server(scripted(DIMENSIONS, reaches(half), 60)) as server:
        run = waybench_(*arguments(server, tmp_path))
    assert run.returncode == 0, run.stderr
    assert said in decision(run.stdout)
    assert sum(server.answered.values()) <= most


@pytest.mark.slow
def test_a_budget_ends_it_and_is_kept(tmp_path: Path) -> None:
    prices = tmp_path / "prices.json"
    prices.write_text(json.dumps({MODEL: {"input": 2.0, "output": 10.0}}))
    with model_server(scripted(DIMENSIONS, reaches(15), 60)) as server:
        given = arguments(server, tmp_path / "out", "--budget", "0.02USD", "--prices", str(prices))
        run = waybench_(*given)
    assert run.returncode == 0, run.stderr
    assert "the budget is 0.02USD" in run.stdout.splitlines()[0]
    assert "stopped: the rest of the budget is too small for another round" in decision(run.stdout)
    spent = sum(
        2e-6 * sum(record.tokens[:1]) + 1e-5 * record.tokens[1] for record in records(tmp_path / "out").values()
    )
    assert 0.014 < spent <= 0.0205
    assert f"{spent:.2f} USD" in decision(run.stdout)
