"""`waybench check`: what an author reads of each mistake, and that no mistake ends in a traceback."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import Command, one_line_error
from tests.contract.test_mistakes import SOURCE
from waybench.testing import ENVIRONMENT_CHECKS, LEVEL_CHECKS

NUMBER = len(ENVIRONMENT_CHECKS) + len(LEVEL_CHECKS)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("sys.path", [*sys.path])
    return tmp_path / f"{tmp_path.name}.py"


@pytest.mark.slow
def test_a_sound_environment(command: Command, module: Path) -> None:
    module.write_text(SOURCE)
    for place in (module, f"{module}:ENVIRONMENT"):
        result = command("check", place)
        assert result.exit_code == 0
        assert result.stdout.startswith(f"compass/turns@1: no problem in {NUMBER} checks at level 3 (")
    assert command("check", module, "--json", "-l", 4).stdout == (
        f'{{"env":"compass/turns@1","levels":[4],"checks":{NUMBER},"failures":[]}}\n'
    )


@pytest.mark.slow
def test_an_environment_of_the_catalogue(command: Command) -> None:
    for name in ("graph/paths", "graph"):
        assert command("check", name).stdout.startswith("graph/paths@")


def test_a_failure_says_reply_line_and_what_to_do(command: Command, module: Path) -> None:
    module.write_text(SOURCE.replace("word = reply.strip().lower()", "word = reply.split()[0].lower()"))
    line = module.read_text().splitlines().index("        word = reply.split()[0].lower()") + 1
    result = command("check", module)
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0] == "FAILED hostile"
    assert lines[1] == "  reply: ''"
    assert lines[2] == f"  wrong: parse raised IndexError: list index out of range ({module.name}:{line})"
    assert lines[3] == f"  where: {module}:{line} (parse)"
    assert lines[4].startswith(
        "  to do: No code of an environment may raise IndexError here. `parse` returns an action or"
    )
    assert lines[5].startswith("  also: the same in horizon, ")
    assert lines[-1].startswith(f"compass/turns@1: 1 problem in {NUMBER} checks at level 3 (")
    assert "Traceback" not in result.stdout + result.stderr
    assert "Traceback (most recent call last)" in command("check", module, "-v").stdout
    [failure] = json.loads(command("check", module, "--json").stdout)["failures"]
    assert (failure["check"], failure["reply"], failure["file"], failure["line"]) == ("hostile", "", str(module), line)
    assert failure["problem"] == lines[2].removeprefix("  wrong: ")


@pytest.mark.parametrize(
    ("text", "problem", "line"),
    [
        ("import nosuch\n", "raised ModuleNotFoundError: No module named 'nosuch'", 1),
        ("\nx = 1 / 0\n", "raised ZeroDivisionError: division by zero", 2),
        ("\n\nx = (\n", "raised SyntaxError: '(' was never closed", 3),
    ],
)
def test_a_module_that_cannot_be_imported(command: Command, module: Path, text: str, problem: str, line: int) -> None:
    module.write_text(text)
    result = command("check", module)
    assert result.exit_code == 1
    assert result.stdout.startswith("FAILED import\n")
    assert problem in result.stdout
    assert f"  where: {module}:{line}" in result.stdout


def test_a_level_that_does_not_exist(command: Command, module: Path) -> None:
    module.write_text(SOURCE)
    assert "level 2: give 3 to 30" in one_line_error(command("check", module, "--level", 2))


def test_what_is_no_environment(command: Command, module: Path) -> None:
    module.write_text("x = 1\n")
    assert "has no environment" in one_line_error(command("check", module))
    assert "has no environment 'NAME'" in one_line_error(command("check", f"{module}:NAME"))
    assert "there is no file" in one_line_error(command("check", "nosuch.py"))
    assert "there is no module 'nosuch'" in one_line_error(command("check", "nosuch:X"))
    assert "did you mean 'graph/paths'" in one_line_error(command("check", "graph/path"))


def test_code_that_never_ends(command: Command, module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("waybench.cli._check.PATIENCE", 0.2)
    module.write_text(SOURCE.replace(">= self.level - 1:", "< 0:"))
    result = command("check", module)
    assert result.exit_code == 1
    assert "raised TimeoutError: it takes longer than 0.2 s" in result.stdout
    assert result.stdout.count("FAILED") == 1
    assert (
        "  to do: Let it end sooner: bound each search and each loop that draws until something fits" in result.stdout
    )
    assert "The other checks wait for that." in result.stdout
    assert f"  where: {module}:" in result.stdout


@pytest.mark.parametrize(
    ("old", "new", "problem", "advice", "line"),
    [
        (
            "Entry(ID, 1",
            "Entry(ID, 2",
            "the Entry has the version 2, and its Environment 1",
            "Give both the same.",
            "def",
        ),
        ("Entry(ID, 1", "Entry('a/b', 1", "the Entry has the id 'a/b'", "Give both the same.", "def"),
        (
            ", horizon=horizon",
            "",
            "the Environment has a Difficulty.horizon, and its Entry no horizon",
            "Say in it",
            "def",
        ),
        ("Entry(ID, 1", "Entry(ID, 1 // 0", "entry raised ZeroDivisionError", "Return an Entry.", "    return"),
    ],
)
def test_an_entry_that_does_not_fit(
    command: Command, module: Path, old: str, new: str, problem: str, advice: str, line: str
) -> None:
    module.write_text(SOURCE.replace(old, new))
    result = command("check", module, "--json")
    assert result.exit_code == 1
    failures: list[dict[str, Any]] = json.loads(result.stdout)["failures"]
    [failure] = failures
    assert (failure["check"], failure["file"]) == ("entry", str(module))
    assert problem in failure["problem"]
    assert str(failure["advice"]).startswith(advice)
    named: str = module.read_text().splitlines()[int(failure["line"]) - 1]
    assert named.startswith(line)
