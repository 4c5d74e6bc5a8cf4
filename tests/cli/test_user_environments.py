"""Environments in a file of the user's: what takes one, what refuses it, and what is said after an edit."""

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.support import Command, lines_of, one_line_error, watched
from tests.contract.test_mistakes import SOURCE
from waybench.cli import _environments
from waybench.core import Entry
from waybench.envs import registry

Write = Callable[[], Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Return a function that writes a file with an environment; the catalogue is as before in the end."""
    monkeypatch.setattr("sys.path", [*sys.path])
    monkeypatch.setattr(_environments, "_locations", {})
    known: dict[str, Entry] = dict(vars(registry)["_entries"])

    def write_() -> Path:
        path = tmp_path / f"walk{len(sys.modules)}.py"  # no other module has this name
        source = SOURCE.replace("compass/turns", f"{path.stem}/turns").replace('"compass:', f'"{path.stem}:')
        path.write_text(source)
        return path

    yield write_
    vars(registry)["_entries"].clear()
    vars(registry)["_entries"].update(known)


def test_items_are_generated_and_played_from_a_file(command: Command, write: Write) -> None:
    path = write()
    made = lines_of(command("generate", path, "--count", 2))
    assert [item["env"] for item in made] == [f"{path.stem}/turns"] * 2
    assert lines_of(command("generate", f"{path}:ENVIRONMENT", "--count", 2)) == made
    shown = command("play", path, "--plain", stdin="quit\n").stdout
    assert shown.startswith(f"{path.stem}/turns, level 3, item 3-0 ")
    assert f"{path.stem}/turns@1:" in command("list", path).stdout


def test_a_file_is_run_and_a_run_resumes(command: Command, write: Write, tmp_path: Path) -> None:
    path, out = write(), tmp_path / "out"
    arguments = ("run", path, "--model", "waybench/oracle", "--limit", 2, "--out", out)
    first, second = command(*arguments), command(*arguments)
    assert (first.exit_code, second.exit_code) == (0, 0), first.output
    assert "(2 finished before)" in second.stderr
    assert f"next: waybench --env {path} report {out}\n" in first.stdout


def test_other_processes_do_not_know_a_file(command: Command, write: Write, tmp_path: Path) -> None:
    path = write()
    run = ("run", path, "--model", "waybench/oracle", "--out", tmp_path / "out", "--executor", "processes")
    shards = ("generate", path, "--count", 4, "--shard-size", 2, "--out", tmp_path / "shards")
    for words in (run, shards):
        message = one_line_error(command(*words))
        assert f"other processes do not know {path}" in message and "`pip install -e .`" in message
    assert not (tmp_path / "out").exists() and not (tmp_path / "shards").exists()


def test_what_is_no_environment(command: Command, write: Write, tmp_path: Path) -> None:
    path = write()
    run = ("--model", "waybench/oracle", "--out", tmp_path / "out")
    assert "there is no file" in one_line_error(command("run", tmp_path / "none.py", *run))
    assert "has no environment 'NONE'" in one_line_error(command("generate", f"{path}:NONE"))
    path.with_name("broken.py").write_text("x = 1 / 0\n")
    message = one_line_error(command("run", path.with_name("broken.py"), *run))
    assert "the module raised ZeroDivisionError: division by zero (broken.py:1)" in message
    taken = path.with_name("taken.py")
    taken.write_text(SOURCE.replace("compass/turns", "maze/alicia"))
    assert "environment 'maze/alicia' exists already: choose another id" in one_line_error(command("generate", taken))


@pytest.mark.slow
def test_after_an_edit_a_run_says_which_records_no_longer_replay(write: Write, tmp_path: Path) -> None:
    path, out = write(), tmp_path / "out"
    arguments = ("run", str(path), "--model", "waybench/oracle", "--limit", "6", "--out", str(out))
    with watched(*arguments, text=True) as process:
        process.communicate()
    assert process.returncode == 0
    source = path.read_text()
    edited = source.replace('"north": (-1, 0)', '"north": (1, 0)').replace('"south": (1, 0)', '"south": (-1, 0)')
    assert edited != source
    path.write_text(edited)
    with watched(*arguments, text=True) as process:
        _, error = process.communicate()
    assert process.returncode == 1
    (line,) = (line for line in error.splitlines() if line.startswith("warning: "))
    assert re.search(r" with waybench/oracle: the records of \d items? \(3-\d", line)
    assert f"in {out} no longer re-simulate" in line and "another folder with --out" in line


@pytest.mark.slow
def test_logs_of_an_environment_that_is_not_installed(command: Command, write: Write, tmp_path: Path) -> None:
    path, out = write(), tmp_path / "out"
    with watched("run", str(path), "--model", "waybench/oracle", "--limit", "2", "--out", str(out)) as process:
        process.communicate()
    message = one_line_error(command("report", out))
    assert "that can be read; 2 are skipped" in message
    assert (
        f"unknown environment '{path.stem}/turns': install its package or name its file, as in `waybench --env"
        in message
    )
    result = command("results", out)
    assert result.exit_code == 2
    assert result.stderr.count("unknown environment") == 2, "a line for both samples, and the error"
    assert "(and 1 sample more of this log)" in result.stderr


@pytest.mark.slow
def test_other_commands_read_its_logs_if_they_are_given_the_file(
    command: Command, write: Write, tmp_path: Path
) -> None:
    path, out = write(), tmp_path / "out"
    with watched("run", str(path), "--model", "waybench/oracle", "--limit", "2", "--out", str(out)) as process:
        process.communicate()
    result = command("--env", path, "results", out)
    assert (result.exit_code, "waybench/oracle" in result.stdout, result.stderr) == (0, True, "")
    assert command("--env", f"{path}:ENVIRONMENT", "report", out, "--out", tmp_path / "site").exit_code == 0
    assert f'"env":"{path.stem}/turns"' in "".join((tmp_path / "site" / "summary.json").read_text().split())
    assert "is no place of an environment: give FILE.py" in one_line_error(
        command("--env", "maze/alicia", "results", out)
    )
