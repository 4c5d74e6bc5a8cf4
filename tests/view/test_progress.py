"""What `waybench view` says of runs that are not finished."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import PATIENCE
from tests.view.support import asked, served
from waybench.core import LOCK_FILE, PROGRESS_FILE
from waybench.evaluation._preflight import lock_folder
from waybench.reporting.view._app import PROGRESS, LiveSite, unfinished_runs

HOSTILE = "</script><img src=x onerror=alert(1)>"


def task(**given: Any) -> dict[str, Any]:
    texts = {"done_text": "3 of 12", "state_text": "2 min", "use_text": "40 requests"}
    return {"name": f"alicia with {HOSTILE}", "state": "running", "done": 3, "total": 12, **texts, **given}


def written(folder: Path, state: str = "running", **given: Any) -> None:
    data = {"form": 1, "state": state, "written": time.time(), "text": "running for 20 s", "tasks": [task()], **given}
    (folder / PROGRESS_FILE).write_text(json.dumps(data))


def holder(folder: Path) -> "subprocess.Popen[str]":
    """Start a process that holds the lock of a folder until it is killed."""
    code = (
        "import sys, time; from pathlib import Path; from waybench.evaluation._preflight import lock_folder\n"
        "with lock_folder(Path(sys.argv[1])):\n    print('held', flush=True); time.sleep(1000)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE, text=True)
    assert process.stdout and process.stdout.readline() == "held\n"
    return process


@pytest.mark.slow
def test_a_run_is_running_as_long_as_its_process(tmp_path: Path) -> None:
    written(tmp_path)
    with holder(tmp_path) as process:
        try:
            (run,) = unfinished_runs([tmp_path])
        finally:
            process.kill()
            process.wait(PATIENCE)
    assert (run["state"], run["title"]) == ("running", "Running for 20 s")
    assert run["tasks"][0]["share"] == 0.25 and run["tasks"][0]["state_text"] == "2 min"
    # The process was killed, and its file says "running" as before.
    (run,) = unfinished_runs([tmp_path])
    assert run["state"] == "stopped" and "run the same command again" in run["title"]
    assert run["tasks"][0]["state_text"] == "unfinished"


def test_a_look_does_not_keep_a_run_from_starting(tmp_path: Path) -> None:
    written(tmp_path)
    for _ in range(3):
        unfinished_runs([tmp_path])
        with lock_folder(tmp_path):
            assert (tmp_path / LOCK_FILE).exists()


def test_finished_runs_have_no_strip(tmp_path: Path) -> None:
    written(tmp_path, "finished")
    assert unfinished_runs([tmp_path]) == []
    written(tmp_path, "interrupted")
    assert [run["state"] for run in unfinished_runs([tmp_path])] == ["interrupted"]


@pytest.mark.parametrize(
    "content",
    ["", "[]", "3", '{"state": []}', "[" * 100_000, '{"state": "failed", "tasks": 3}', '{"state": "failed"}', "\x00"],
)
def test_damaged_files_are_no_error(content: str, tmp_path: Path) -> None:
    (tmp_path / PROGRESS_FILE).write_text(content)
    assert all(run["tasks"] == [] for run in unfinished_runs([tmp_path]))


def test_totals_that_cannot_be_have_no_bar(tmp_path: Path) -> None:
    written(tmp_path, "failed", tasks=[task(total=0), task(total=None), task(done="3"), task(done=99), 7])
    (run,) = unfinished_runs([tmp_path])
    assert [each["share"] for each in run["tasks"]] == [None, None, None, 1.0]


def test_the_server_answers_with_the_progress_of_its_folders(tmp_path: Path) -> None:
    (tmp_path / "logs" / "deeper").mkdir(parents=True)
    written(tmp_path / "logs" / "deeper", "interrupted")
    with served(LiveSite(tmp_path / "site", "title", folders=(tmp_path / "logs",))) as port:
        answer, content = asked(port, PROGRESS)
        assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
        assert json.loads(content)[0]["tasks"][0]["name"] == f"alicia with {HOSTILE}"
        assert asked(port, PROGRESS, token=None)[0].status == 403
