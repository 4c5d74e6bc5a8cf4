"""A submission of a few episodes of ten tasks, which many tests share."""

from pathlib import Path

import pytest

import waybench
from waybench.submission._pack import pack

# Task -> its parameters; a ladder, a search for a horizon, tasks of fixed items, and best of several attempts.
TASKS = {
    "alicia": {"limit": 2, "max_dimension": 7, "attempts": 2},
    "guessnum": {"limit": 4},
    "dfs": {"limit": 4, "attempts": 2, "isomorph": 3},
    "gtb": {"limit": 2},
    "mango_route": {"limit": 3, "worlds": 1},
    "mango_destination": {"limit": 3, "worlds": 1},
    "messenger": {"limit": 4},
    "rps": {"limit": 3},
    "horizon_maze": {"most": 12},
    "horizon_dfs": {"most": 12, "difficulty_index": '{"minimum":[0.8,1.0,2.0]}'},
}
MODEL = "waybench/noisy-0.3"


@pytest.fixture(scope="session")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    for name, parameters in TASKS.items():
        waybench.evaluate(name, MODEL, out=folder, **parameters)
    return folder


@pytest.fixture(scope="session")
def submission(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("submission") / "submission.zip"
    packed = pack([logs], path, submitter="tests", on_problem=lambda problem: pytest.fail(str(problem)))
    assert packed.unconfirmed == 0
    assert packed.runs == len(TASKS)
    return path
