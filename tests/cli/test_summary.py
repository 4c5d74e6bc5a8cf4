"""The end of a run: its exit, its next commands."""

from pathlib import Path

import pytest

from tests.analysis.episodes import played
from tests.cli.support import Command, one_line_error
from waybench.cli._output import next_commands_text
from waybench.results import rows

OUT = Path("waybench-out")


def test_two_models_are_compared_next() -> None:
    two = rows(played("oracle", levels=(5,), model="a/b") + played("null", levels=(5,), model="c d"))
    assert next_commands_text(OUT, two).splitlines() == [
        "waybench compare a/b 'c d'",
        "      waybench report waybench-out",
    ]
    assert next_commands_text(Path("my logs"), two).splitlines()[0] == "waybench compare a/b 'c d' --in 'my logs'"
    assert next_commands_text(OUT, two[:1]) == "waybench report waybench-out"
    # The site of logs at a URL needs a folder of this machine.
    assert next_commands_text("s3://bucket/runs", two[:1]) == "waybench report s3://bucket/runs --out site"


def test_levels_are_printed_on_demand(command: Command, tmp_path: Path) -> None:
    args = ("--limit", 1, "-T", "max_dimension=5", "--out", tmp_path, "--display", "none")
    run = ("run", "alicia", "--model", "waybench/oracle", *args)
    brief, whole = command(*run).stdout, command(*run, "--levels").stdout
    assert "Mazes (AliciaBench)      5" not in brief
    assert [line for line in whole.splitlines() if line not in brief.splitlines()][:3] == [
        "Mazes (AliciaBench)      5",
        "--------------------------",
        "waybench/oracle      100.0",
    ]


def test_results_are_printed_again_without_a_request(command: Command, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    (tmp_path / "once.py").write_text(
        f"def reply(messages):\n    with open({str(asked)!r}, 'a') as file:\n        file.write('x')\n"
        "    return 'no maze has this answer'\n"
    )
    out = tmp_path / "out"
    args = ("--limit", 1, "--attempts", 1, "-T", "max_dimension=5", "--out", out, "--display", "none")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        first = command("run", "alicia", "--model", "python:once.reply", *args)
        requests = len(asked.read_text())
        again = command("results", out)
    assert again.exit_code == 0 and requests == len(asked.read_text()) > 0
    assert again.stdout == first.stdout and "AliciaBench" in again.stdout
    assert "100 % of the replies" in again.stderr
    with_levels = command("results", out, "--levels", "--price", "1/2").stdout
    assert len(with_levels.splitlines()) > len(again.stdout.splitlines()) and "--------" in with_levels
    assert "no folder nowhere" in one_line_error(command("results", "nowhere"))
