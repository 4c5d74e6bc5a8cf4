"""`waybench reproduce`: a paper's tables by a command, beside the published numbers."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import Command, one_line_error
from tests.conftest import shared
from waybench.results.papers import PAPERS


def test_papers_and_tables_are_listed(command: Command) -> None:
    papers = command("reproduce").stdout
    assert [line.split()[0] for line in papers.splitlines()] == ["aliciabench", "aqa", "mango", "gtb", "smartplay"]
    tables = command("reproduce", "aqa").stdout
    assert "\ntable-15 " in tables and "\nfigure-6 " in tables


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
        (["aqa", "table-3", "-m", "waybench/nobody"], "unknown"),
    ],
)
def test_what_the_user_can_mend_is_one_line(command: Command, args: list[str], expected: str, tmp_path: Path) -> None:
    result = command("reproduce", *args, *(["--out", tmp_path / "out", "--limit", 1] if "-m" in args else []))
    assert expected in one_line_error(result)


LOGS = "waybench-reproduce/small/table-1"
SMALL: dict[str, Any] = {
    "title": "T",
    "source": "S",
    "tables": (
        {
            "id": "table-1",
            "shows": "s",
            "report": "r",
            "agreement": "a",
            "commands": (
                {"tasks": ("voxel_find",), "parameters": {"engine": "minedojo"}},
                {"tasks": ("messenger_l1",), "parameters": {"source": "published"}},
                {"tasks": ("hanoi_3",)},
                {
                    "line": f"waybench report {LOGS} --models models.toml",
                    "needs": ("models.toml",),
                },
                {"line": f"waybench report {LOGS} --out {LOGS}/site"},
                {"line": "waybench play hanoi", "by_hand": "a person plays"},
            ),
            "published": (
                {"env": "hanoi/rods", "setting": "three disks", "metrics": ("score",), "rows": (("Ada", 3),)},
                {"env": "voxel/find", "setting": "plains", "metrics": ("score",), "rows": (("Bob", Decimal("0.50")),)},
            ),
        },
    ),
}


@pytest.mark.slow
def test_what_cannot_run_is_named_before_the_first_request_and_the_rest_is_printed(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAYBENCH_DATA", str(tmp_path / "none"))
    monkeypatch.setenv("WAYBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(PAPERS, "small", lambda: SMALL)
    out = tmp_path / "out"
    args = ["-m", "waybench/null", "-m", "waybench/oracle", "--limit", 1, "--out", out, "--", "--display", "none"]
    result = command("reproduce", "small", "table-1", *args)
    assert result.exit_code == 0
    before, _, after = result.stdout.partition("\n$ ")
    left_out = [line.removeprefix("left out: waybench ") for line in before.splitlines()[:-1]]
    assert [line.split()[:2] for line in left_out] == [
        ["run", "voxel_find"],
        ["run", "messenger_l1"],
        ["report", str(out)],
        ["play", "hanoi:"],
    ]
    expected = (
        "minedojo is not installed here",
        "waybench data fetch smartplay",
        "write models.toml first",
        "a person plays",
    )
    assert all(reason in line for reason, line in zip(expected, left_out, strict=True))
    assert before.splitlines()[-1].startswith("1 episode in 1 run of tasks, for each of 2 models")
    assert after.startswith("waybench run hanoi_3 ")
    # The other commands ran, and all published rows are there.
    assert (out / "site" / "index.html").is_file()
    assert after.index("waybench/oracle (1 item)") < after.index("  Ada") < after.index("  Bob ")


@pytest.mark.slow
def test_all_tables_run_what_they_share_once_and_name_what_is_left_out(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAYBENCH_DATA", str(tmp_path / "none"))
    monkeypatch.setenv("WAYBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    [table] = SMALL["tables"]
    hanoi = {**table, "id": "figure-1", "commands": ({"tasks": ("hanoi_3",)},)}
    lost = {
        **table,
        "id": "table-2",
        "commands": ({"tasks": ("messenger_l1",), "parameters": {"source": "published"}},),
    }
    bad = {"tasks": ("hanoi_3",), "parameters": {"disks": "many"}}
    refused = {**table, "id": "table-3", "commands": (bad,)}
    tables = {"other": (hanoi, lost, {**hanoi, "id": "figure-2"}), "small": (table, refused)}
    contents = {name: lambda part=part: {**SMALL, "tables": part} for name, part in tables.items()}
    monkeypatch.setattr("waybench.results.papers.PAPERS", contents)
    args = ["--all", "-m", "waybench/null", "--limit", 1, "--", "--display", "none"]
    result = command("reproduce", *args)
    assert result.exit_code == 0, result.output
    before, *parts = result.stdout.split("\n## ")
    assert before.count("left out: ") == 6 and "2 episodes in 2 runs of tasks" in before
    names = ["other figure-1", "other table-2", "other figure-2", "small table-1", "small table-3"]
    assert [part.partition(":")[0] for part in parts] == names
    runs = ["$ waybench run hanoi_3" in part for part in parts]
    assert runs == [True, False, False, True, False]  # figure-2 has the commands of figure-1, and shows its results
    assert ["waybench/null (1 item)" in part for part in parts] == [True, False, True, True, False]
    assert all("  Ada" in part for part in parts)
    assert result.stdout.splitlines()[-1] == (
        "5 tables and figures of 5 ran to the end; with commands left out: other table-2, small table-1, small table-3"
    )
    folders = sorted(path.parent.as_posix() for path in Path().glob("waybench-reproduce/*/*/*.eval"))
    assert folders == ["waybench-reproduce/other/figure-1", "waybench-reproduce/small/table-1"]
    alone = command("reproduce", "other", "--all", "--dry-run", "--out", "here").stdout
    assert alone.count("waybench run hanoi_3") == 1
    refused_table = command("reproduce", "other", "figure-1", "--all", "--dry-run")
    assert "leave out figure-1" in one_line_error(refused_table)


def test_what_needs_no_model_is_said_and_run(command: Command, tmp_path: Path) -> None:
    scored = command("reproduce", "aliciabench", "maze-501", "--out", tmp_path / "out")
    assert scored.exit_code == 0
    said, metrics, *_ = scored.stdout.strip().splitlines()
    assert said == f"$ waybench score {tmp_path / 'out' / 'replies.jsonl'}"
    assert json.loads(metrics)["metrics"]["minimum"] == 6 and json.loads(metrics)["metrics"]["score"] == 100


def test_what_only_a_person_can_do_is_named_beside_the_published_rows(command: Command) -> None:
    result = command("reproduce", "mango", "table-2")
    assert result.exit_code == 0
    assert result.stdout.count("left out: waybench play ") == 2
    assert any(line.split()[:2] == ["People", "0.8211"] for line in result.stdout.splitlines())


@pytest.mark.slow
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
    assert any(line.split() == ["GPT-4-Turbo", "0.03", "3.93", "0.94"] for line in theirs.splitlines())
    assert "How far they can agree: The cases, the parsing and the scores" in told
    assert list((tmp_path / "out").glob("*.eval"))
