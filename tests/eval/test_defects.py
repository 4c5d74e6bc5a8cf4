"""An environment whose code raises has a defect: it is called one, wherever it is met, and nothing else is."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import waybench
from tests.contract.test_mistakes import SOURCE
from waybench.cli import main
from waybench.cli._environments import find_environment
from waybench.core import DefectError, Entry, Episode
from waybench.core._registry import Registry
from waybench.envs import registry

METRIC = ("/ len(record.turns) if", "/ (len(record.turns) - 2) if", "metric score raised ZeroDivisionError")
PARSE = ("word = reply.strip()", "word = reply[99].strip()", "parse raised IndexError: string index out of range")
PLAYER = ("    moves = distances(state.field)\n", "    moves = {}\n", "player oracle raised KeyError: ")
ITEMS = ("        cells = [(row", "        cells = [] + [(row / 0", "instance raised ZeroDivisionError")


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture
def mistaken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Path]]:
    """Return a function that puts an environment with a mistake into the catalogue."""
    monkeypatch.setattr("sys.path", [*sys.path])
    known: dict[str, Entry] = dict(vars(registry)["_entries"])

    def write(old: str, new: str, _: str = "") -> Path:
        path = tmp_path / f"walk{len(sys.modules)}.py"  # no other module has this name
        path.write_text(SOURCE.replace(old, new).replace("compass/turns", f"compass/{path.stem}"))
        environment = find_environment(str(path))
        assert isinstance(registry, Registry)
        registry.register(Entry(environment.id, 1, f"{path.stem}:ENVIRONMENT", "walks", horizon="walks"))
        return path

    yield write
    vars(registry)["_entries"].clear()
    vars(registry)["_entries"].update(known)


@pytest.mark.parametrize("mistake", [METRIC, PARSE, PLAYER], ids=["metric", "parse", "player"])
def test_a_run_calls_it_a_defect_and_has_a_status_of_its_own(
    mistaken: Callable[..., Path], tmp_path: Path, mistake: tuple[str, str, str]
) -> None:
    path = mistaken(*mistake)
    name = f"compass/{path.stem}"
    result = run("run", name, "--model", "waybench/oracle", "--limit", 4, "--out", tmp_path / "out")
    assert result.exit_code == 3, result.output
    assert f"defect in environment {name}: {mistake[2]}" in result.stderr
    assert f"({path.name}:" in result.stderr
    assert f"retrying will not help; run waybench check {name}" in result.stderr
    assert "infrastructure error" not in result.stderr
    assert "run the same command again" not in result.stderr
    report = run("report", tmp_path / "out", "--out", tmp_path / "site")
    verified = run("verify", tmp_path / "out")
    for told in (report.output, verified.output):
        assert f"defect in environment {name}: " in told
        assert "does not confirm" not in told and "does not agree with the record" not in told
    assert verified.exit_code == 1


def test_items_that_cannot_be_drawn(mistaken: Callable[..., Path], tmp_path: Path) -> None:
    path = mistaken(*ITEMS)
    result = run("run", f"compass/{path.stem}", "--model", "waybench/oracle", "--limit", 4, "--out", tmp_path / "out")
    assert (result.exit_code, result.stderr.count("\n")) == (3, 1)
    assert result.stderr.startswith(f"Error: defect in environment compass/{path.stem}: {ITEMS[2]}")


def test_every_command_says_so_in_one_line(mistaken: Callable[..., Path], tmp_path: Path) -> None:
    path = mistaken(*ITEMS)
    name = f"compass/{path.stem}"
    run_words = ("run", "horizon_compass", "--model", "waybench/oracle", "--out", tmp_path / "out")
    for words in (("generate", name), ("play", name), run_words):
        result = run(*words)
        assert (result.exit_code, result.stderr.count("\n")) == (3, 1), result.output
        assert result.stderr.startswith(f"Error: defect in environment {name}: {ITEMS[2]}")


def test_from_python(mistaken: Callable[..., Path]) -> None:
    path = mistaken(*PARSE)
    environment = waybench.load(f"compass/{path.stem}")
    episode: Episode[Any, Any, Any] = Episode(environment, environment.source().item(0))
    with pytest.raises(DefectError, match="parse raised IndexError") as caught:
        episode.step("north")
    assert caught.value.reply == "north"
    assert isinstance(caught.value.__cause__, IndexError)
    assert episode.turns == ()


def test_what_a_caller_does_wrong_is_no_defect() -> None:
    environment = waybench.load("graph/paths")
    episode: Episode[Any, Any, Any] = Episode(environment, environment.source().item(0))
    wrong: Any = None
    with pytest.raises(AttributeError):
        episode.step(wrong)
