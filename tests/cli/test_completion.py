"""What shells propose. bash asks for itself; for zsh and fish the answers to their questions are read."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.support import Command, one_line_error
from tests.cli.test_app import HEAVY
from tests.conftest import PATIENCE
from waybench.cli._app import COMMANDS
from waybench.evaluation.tasks._catalogue import all_tasks

# As readline does it: words are also split at "=", and the last one is being typed.
BASH = r"""
source /dev/stdin <<< "$SCRIPT"
compopt() { :; }
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
COMPREPLY=()
_waybench_completion waybench
printf '%s\n' "${COMPREPLY[@]}"
"""
ZSH = {"_WAYBENCH_COMPLETE": "zsh_complete"}
FISH = {"_WAYBENCH_COMPLETE": "fish_complete"}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A command `waybench` that runs this source."""
    path = tmp_path_factory.mktemp("bin") / "waybench"
    path.write_text(f'#!/bin/sh\nexec {sys.executable} -m waybench "$@"\n')
    path.chmod(0o755)
    return path


def run(*command: object, **variables: str) -> str:
    done = subprocess.run(
        [*map(str, command)],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout


def bash(program: Path, *words: str) -> list[str]:
    script = run(program, "completion", "bash")
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    return run("bash", "--norc", "-c", BASH, "bash", *words, SCRIPT=script, PATH=path).split()


needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")


@pytest.mark.slow
@needs_bash
@pytest.mark.parametrize(
    ("words", "proposals"),
    [
        (["re"], ["report", "reproduce", "results"]),
        (["run", "ali"], ["alicia"]),
        (["run", "alicia", "gtb_st"], ["gtb_state", "gtb_stepwise"]),
        (["run", "alicia", "--model", "waybench/o"], ["waybench/oracle"]),
        (["run", "alicia", "-T", "wor"], ["wording="]),
        (["run", "alicia", "-T", "wording", "="], ["ascii", "coordinates", "image", "image+text", "matrix", "prose"]),
        (["run", "alicia", "-T", "wording", "=", "pro"], ["prose"]),
        (["run", "alicia", "-T", "wording", "=", "ascii", "--dis"], ["--display"]),
        (["run", "alicia", "--display", "pl"], ["plain"]),
        (["play", "maze/"], ["maze/alicia", "maze/explore"]),
        (["play", "maze", "-T", "protocol", "=", ""], ["paper", "sound"]),
        (["data", "fetch", "man"], ["mango"]),
        (["reproduce", "smart"], ["smartplay"]),
        (["reproduce", "aqa", "table-15"], ["table-15"]),
        (["run", "no_such_task", "-T", ""], []),
    ],
    ids=" ".join,
)
def test_bash(program: Path, words: list[str], proposals: list[str]) -> None:
    assert sorted(bash(program, "waybench", *words)) == proposals


@needs_bash
def test_bash_proposes_all_commands_and_all_tasks(program: Path) -> None:
    assert bash(program, "waybench", "") == list(COMMANDS)
    assert bash(program, "waybench", "run", "") == [task.name for task in all_tasks()]


def test_zsh_and_fish(program: Path) -> None:
    zsh = run(program, COMP_WORDS="waybench run alicia -T wording=a", COMP_CWORD="4", **ZSH).splitlines()
    assert zsh[:2] == ["plain", "wording=ascii"] and len(zsh) == 3
    fish = run(program, COMP_WORDS="waybench run alicia -T wording=a", COMP_CWORD="wording=a", **FISH)
    assert fish.startswith("plain,wording=ascii\t") and fish.count("\n") == 1


def test_commands_are_proposed_without_importing_them(program: Path) -> None:
    probe = "import sys\nfrom waybench.cli import main\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", probe],
        env={**os.environ, "COMP_WORDS": "waybench do", "COMP_CWORD": "1", "_WAYBENCH_COMPLETE": "bash_complete"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.stdout == "plain,doctor\n"
    loaded = set(done.stderr.split())
    assert loaded.isdisjoint(HEAVY)
    assert not any(
        name.startswith(("waybench.envs", "waybench.evaluation.tasks", "waybench.cli._doctor")) for name in loaded
    )


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_completes_waybench(command: Command, shell: str) -> None:
    result = command("completion", shell)
    assert result.exit_code == 0
    assert f"_WAYBENCH_COMPLETE={shell}_complete" in result.stdout
    assert (shell == "bash") == ("compopt -o nospace" in result.stdout)


def test_another_shell_is_an_error(command: Command) -> None:
    assert "'bash', 'zsh', 'fish'" in one_line_error(command("completion", "tcsh"))
