"""`waybench compare --fail-if`, and the steps of the action that runs it on a pull request."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.analysis.foreign import RIGHT, WRONG, ask
from tests.cli.support import Command, one_line_error
from tests.cli.test_compare import run
from tests.conftest import PATIENCE

ACTION = Path(__file__).resolve().parents[2] / "integrations/github/action.yml"


@pytest.fixture(scope="module")
def mazes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("mazes")
    run(out, "oracle", "null", max_dimension=5, limit=7, attempts=1)
    return out


@pytest.mark.parametrize(
    ("sides", "conditions", "status"),
    [
        (("oracle", "null"), ("worse",), 4),
        (("oracle", "null"), ("not-better",), 5),
        (("oracle", "null"), ("not-better", "worse"), 4),
        (("oracle", "null"), ("unsure",), 0),
        (("null", "oracle"), ("worse", "not-better", "unsure"), 0),
        (("null", "oracle"), (), 0),
    ],
)
def test_b_is_the_change(
    command: Command, mazes: Path, sides: tuple[str, str], conditions: tuple[str, ...], status: int
) -> None:
    flags = [part for name in conditions for part in ("--fail-if", name)]
    result = command("compare", *sides, "--in", mazes, *flags)
    assert result.exit_code == status
    assert result.stdout == command("compare", *sides, "--in", mazes).stdout
    if status:
        assert "B is worse on 1 task (Mazes (AliciaBench))" in result.stderr


@pytest.mark.slow
def test_what_shows_nothing_is_not_sure(command: Command, tmp_path: Path) -> None:
    # Six of twelve against seven: one item differs, which shows nothing.
    for folder, good in (("before", 6), ("after", 7)):
        ask(tmp_path / folder, "m", lambda number, good=good: RIGHT if number < good else WRONG)
    sides = tmp_path / "before", tmp_path / "after"
    assert command("compare", *sides, "--fail-if", "worse").exit_code == 0
    assert command("compare", *sides, "--fail-if", "not-better").exit_code == 5
    assert command("compare", *sides, "--fail-if", "unsure").exit_code == 6


@pytest.mark.slow
def test_several_models_are_each_beside_itself(command: Command, tmp_path: Path) -> None:
    for folder, good in (("before", 12), ("after", 0)):
        ask(tmp_path / folder, "m", lambda number, good=good: RIGHT if number < good else WRONG)
        ask(tmp_path / folder, "n", lambda number: RIGHT if number < 6 else WRONG)
    result = command("compare", tmp_path / "before", tmp_path / "after", "--fail-if", "worse")
    assert result.exit_code == 4 and "worse on 1 task (mockllm/m: sums)" in result.stderr


def test_markdown_renders_no_markup_of_a_model(command: Command, tmp_path: Path) -> None:
    name = "<img src=x>|[a](b)"
    for folder, good in (("before", 12), ("after", 0)):
        ask(tmp_path / folder, name, lambda number, good=good: RIGHT if number < good else WRONG)
    file = tmp_path / "comment.md"
    result = command("compare", tmp_path / "before", tmp_path / "after", "--markdown", file, "--fail-if", "worse")
    assert result.exit_code == 4
    text = file.read_text(encoding="utf-8")
    assert "<img" not in text and "[a]" not in text and "**This fails: worse.**" in text
    header, _, row = (line for line in text.splitlines() if line.startswith("|"))
    assert header.count("|") == 9 and row.replace("\\|", "").count("|") == 9 and "A better" in row


def test_what_has_no_second_model_is_refused(command: Command, mazes: Path) -> None:
    assert "leave out the other options" in one_line_error(command("compare", mazes, "--twins", "--fail-if", "worse"))


def _step(name: str, folder: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a step of the action as a runner does: its script with `bash -eo pipefail`, and inputs as variables."""
    action: dict[str, Any] = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    (step,) = (step for step in action["runs"]["steps"] if step["name"] == name)
    assert "${{" not in step["run"]  # no input becomes a part of a script
    script = folder / "step.sh"
    script.write_text(step["run"], encoding="utf-8")
    assert env.keys() >= {key for key in step.get("env", {}) if not key.startswith("GH_")}
    files = {key: str(folder / key) for key in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
        cwd=folder,
        env={**os.environ, **files, "RUNNER_TEMP": str(folder), "PATH": path, **env},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="the action's steps are written for bash")
def test_the_action_fails_and_comments(mazes: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for name, script in (
        ("waybench", f'exec {sys.executable} -m waybench "$@"'),
        ("gh", f'printf "%s\\n" "$@" > {tmp_path}/gh.txt'),
    ):
        tool = tmp_path / "bin" / name
        tool.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        tool.chmod(0o755)
    tasks = "alicia -T max_dimension=5 -T attempts=1 --limit 7"
    for folder, player in (("baseline", "oracle"), ("out", "null")):
        ran = _step("Run", tmp_path, {"TASKS": tasks, "MODEL": f"waybench/{player}", "OUT": folder})
        assert ran.returncode == 0, ran.stderr
    hostile = _step("Run", tmp_path, {"TASKS": "$(touch pwned) ; touch pwned", "MODEL": "m", "OUT": "o"})
    assert hostile.returncode == 2 and not (tmp_path / "pwned").exists()
    inputs = {"BASELINE": "baseline/oracle", "OUT": "out/null"}
    done = _step("Compare", tmp_path, {**inputs, "FAIL_IF": "worse unsure"})
    assert done.returncode == 4
    summary = (tmp_path / "GITHUB_STEP_SUMMARY").read_text(encoding="utf-8")
    assert "This fails: worse." in summary
    assert (tmp_path / "GITHUB_OUTPUT").read_text(encoding="utf-8") == f"markdown={tmp_path}/waybench.md\n"
    assert _step("Compare", tmp_path, {**inputs, "FAIL_IF": ""}).returncode == 0
    comment = _step("Comment", tmp_path, {"NUMBER": "7", "MARKDOWN": f"{tmp_path}/waybench.md"})
    assert comment.returncode == 0
    assert (tmp_path / "gh.txt").read_text(encoding="utf-8").split()[:3] == ["pr", "comment", "7"]
