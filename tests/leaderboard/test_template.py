"""The files of a new leaderboard: none is replaced, and the workflow verifies what is added."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import PATIENCE
from tests.submission.test_verify import run
from waybench import __version__
from waybench.ext.publish.leaderboard._entries import Settings, read_settings

WORKFLOW = ".github/workflows/leaderboard.yml"


def workflow(folder: Path) -> dict[str, Any]:
    return yaml.safe_load((folder / WORKFLOW).read_text())


def test_new_files_are_read_and_none_is_replaced(tmp_path: Path) -> None:
    status, output = run("leaderboard", tmp_path, "--init")
    assert (status, output.count("\n")) == (0, 4)
    assert read_settings(tmp_path) == Settings()
    jobs = workflow(tmp_path)["jobs"]
    assert jobs["verify"]["permissions"] == {"contents": "read"}, "code of others runs nowhere, and gets no secret"
    used = [step["uses"] for job in jobs.values() for step in job["steps"] if "uses" in step]
    assert all(len(use.partition("@")[2]) == 40 for use in used), "actions are pinned"
    assert f'waybench=={__version__}"' in (tmp_path / WORKFLOW).read_text()
    (tmp_path / "leaderboard.toml").write_text('title = "Mine"\n')
    status, output = run("leaderboard", tmp_path, "--init")
    assert output.count("it exists, and stays as it is") == 4
    assert read_settings(tmp_path).title == "Mine"


@pytest.mark.slow
def test_the_workflow_verifies_what_a_pull_request_adds(honest: Path, folder: Path, tmp_path: Path) -> None:
    board, bin_ = tmp_path / "board", tmp_path / "bin"
    run("leaderboard", board, "--init")
    bin_.mkdir()
    command = bin_ / "waybench"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m waybench "$@"\n')
    command.chmod(0o755)
    (script,) = [step["run"] for step in workflow(board)["jobs"]["verify"]["steps"] if step.get("name") == "Verify"]

    def git(*arguments: str) -> str:
        identity = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false")
        done = subprocess.run(["git", *identity, *arguments], cwd=board, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-q", "-m", "A new board")
    base = git("rev-parse", "HEAD")

    def verified(files: dict[str, Path], association: str = "NONE") -> tuple[int, str]:
        git("checkout", "-q", "-B", "change", base)
        for name, source in files.items():
            (board / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, board / name)
        git("add", "-A", "-f")
        git("commit", "-q", "-m", "A submission")
        path = f"{bin_}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=board,
            env={**os.environ, "PATH": path, "BASE": base, "ASSOCIATION": association},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    good, selected = honest / "good.zip", folder / "submissions" / "selected.zip"
    status, output = verified({"submissions/good.zip": good})
    assert status == 0, output
    assert "2 runs, 10 records: verified" in output
    assert verified({"submissions/selected.zip": selected})[0] == 1
    other = tmp_path / "good.toml"
    other.write_text('status = "community"\n')
    for name in ("submissions/good.toml", "leaderboard.toml", WORKFLOW, "submissions/$(touch evil).zip", "-x.zip"):
        status, output = verified({"submissions/good.zip": good, name: other})
        assert status == 1, name
        assert "Only submissions/*.zip may be added" in output
    assert not (board / "evil").exists()
    assert verified({"leaderboard.toml": other}, "MEMBER")[0] == 0
