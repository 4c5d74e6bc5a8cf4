"""`waybench reproduce`: a paper's tables by a command, beside the published numbers."""

from pathlib import Path

import pytest

from tests.cli.support import Command, one_line_error
from tests.conftest import shared


def test_papers_and_tables_are_listed(command: Command) -> None:
    papers = command("reproduce").stdout
    assert [line.split()[0] for line in papers.splitlines()] == ["aliciabench", "aqa", "mango", "gtb", "smartplay"]
    tables = command("reproduce", "aqa").stdout
    assert "\ntable-15 " in tables and "\nfigure-6 " in tables
    # What cannot be made yet says so, below its table.
    assert "not yet: agreement of two people" in command("reproduce", "mango").stdout


def test_a_dry_run_prints_commands_and_runs_nothing(command: Command, tmp_path: Path) -> None:
    told = command("reproduce", "aqa", "Table 5", "--dry-run", "-m", "a/b", "--limit", 7, "--", "--seed", 3)
    assert told.stdout.splitlines() == [
        "waybench run guessnum dfs bfs coin cavedfs cavebfs -T source=published -T wording=code -T mode=hard "
        "-T limit=7 --model a/b --seed 3"
    ]
    several = command("reproduce", "gtb", "one-shot", "--dry-run").stdout
    assert several.splitlines() == [
        "waybench run gtb -T source=published -T skip=2 --each tries=1,2 --model MODEL",
        "waybench run gtb -T source=published -T skip=2 --each icl=0,1 --model MODEL",
    ]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["aqua"], "unknown paper 'aqua'"),
        (["aqa", "table-33"], "unknown table of aqa 'table-33'"),
        (["aqa", "table-3"], "no model: name one with --model"),
        (["mango", "table-13", "-m", "waybench/oracle"], "is not made by running models: not yet: agreement of two"),
    ],
)
def test_what_the_user_can_mend_is_one_line(command: Command, args: list[str], expected: str, tmp_path: Path) -> None:
    result = command("reproduce", *args, *(["--out", tmp_path / "out", "--limit", 1] if "-m" in args else []))
    assert expected in one_line_error(result)


def test_an_unknown_player_is_told_by_run_itself(command: Command, tmp_path: Path) -> None:
    result = command("reproduce", "aliciabench", "home", "-m", "waybench/nobody", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "nobody" in result.stderr
    # How far a ladder goes depends on the player.
    assert result.stdout.startswith("an unknown number of episodes in 1 run of tasks, for each of 1 model;")


def test_a_table_is_run_and_printed_beside_the_published_one(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAYBENCH_DATA", str(shared("WAYBENCH_DATA", "data")))
    told = command(
        "reproduce",
        "aqa",
        "table-3",
        "-m",
        "waybench/oracle",
        "--limit",
        2,
        "--out",
        tmp_path / "out",
        "--",
        "--display",
        "none",
    ).stdout
    assert "6 episodes in 3 runs of tasks, for each of 1 model" in told
    after = told.partition("Depth-first search (AQA-Bench): EASY, no examples")[2].partition("\n\n")[0]
    assert "Table 3, published (not run here):" in after
    ours, theirs = after.split("published (not run here)")
    name, _, _, missed, _, accuracy = ours.splitlines()[2].split()
    assert (name, missed, accuracy) == ("waybench/oracle", "0.000", "1.000")
    assert any(line.split() == ["GPT-4-Turbo", "0.030", "3.93", "0.940"] for line in theirs.splitlines())
    assert "How far they can agree: The cases, the parsing and the scores" in told
    assert list((tmp_path / "out").glob("*.eval"))
