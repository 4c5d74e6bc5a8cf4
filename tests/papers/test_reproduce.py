"""What the papers' tables can be made of without a model, and the agreement that is stated.

What embedded players come to is computed again over the published data, by the items, options and estimates of the
tables' commands; some commands are run as a user runs them.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import Command, lines_of, plan
from tests.conftest import shared
from tests.papers.embedded import came_out, measured_rows
from waybench.results import overall
from waybench.results.papers import Embedded, PaperTable, find_paper, find_table, papers

PLAYED = [(paper.name, table, each) for paper in papers() for table in paper.tables for each in table.embedded]


@pytest.fixture(autouse=True)
def published_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Find the published data where the tests have it."""
    monkeypatch.setenv("WAYBENCH_DATA", str(shared("WAYBENCH_DATA", "data")))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "one"),
    [(table, one) for _, table, one in PLAYED],
    ids=[f"{name}-{table.id}-{one.player}-{one.env}" for name, table, one in PLAYED],
)
def test_embedded_players_come_to_what_is_stated(table: PaperTable, one: Embedded) -> None:
    assert one.values
    assert came_out(table, one) == {name: pytest.approx(value, abs=one.tolerance) for name, value in one.values.items()}


def test_published_minigames_are_measured() -> None:
    table = find_table(find_paper("mango"), "table-14")
    one = Embedded(player="oracle", env="textmap/minigame", values={"success": 1}, parameters={"games": "905"})
    assert came_out(table, one) == {"success": 1}


def test_an_extraction_of_several_games_is_one_row_and_the_oracle_solves_all() -> None:
    table = find_table(find_paper("mango"), "section-c4")
    # The walkthrough of partyfoul has 56 steps, those of the others more than the 70 that are shown.
    one = Embedded(player="oracle", env="textmap/extract", values={}, parameters={"games": "night,partyfoul"})
    measured = measured_rows(table, one)
    assert {row.end for row in measured} == {"solved"}
    [total] = overall(measured)
    assert (total.items, total.metrics["triplets"].value) == (2, 1)


def test_maze_501_as_described(command: Command, maze_501: dict[str, Any], tmp_path: Path) -> None:
    table = find_table(find_paper("aliciabench"), "maze-501")
    [numbers], [maze] = table.numbers, table.commands
    # "3 cells down, 2 cells to the left, 1 cell down"
    lines = {"env": "maze/alicia", "instance": maze_501, "replies": [plan(("down", 3), ("left", 2), ("down", 1))]}
    [text] = maze.files.values()
    assert {name: json.loads(text)[name] for name in lines} == lines
    path = tmp_path / "replies.jsonl"
    path.write_text(text, encoding="utf-8")
    [scored] = lines_of(command("score", path))
    assert numbers.rows == (("maze 501", tuple(scored["metrics"][name] for name in numbers.columns)),)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("paper", "table", "options", "shown"),
    [
        ("aqa", "table-14", [], "Table 14, published (not run here)"),
        ("aqa", "table-14", ["--attempts", 2], "12 episodes in 3 runs of tasks, for each of 1 model"),
        ("mango", "table-1", ["-T", "games=905,night"], "Llama-2, where RWKV answered too"),
        ("mango", "table-14", ["-T", "games=905"], "published numbers of single maps"),
        ("gtb", "leaderboard", [], "GPT-4-Turbo"),
        ("smartplay", "figure-3", ["-T", "crafter_steps=20"], "up to six players in one radar"),
        ("aliciabench", "home", ["-T", "max_dimension=5"], "How far they can agree"),
    ],
)
def test_commands_run_to_their_end(
    command: Command, tmp_path: Path, paper: str, table: str, options: list[str], shown: str
) -> None:
    args = [paper, table, "-m", "waybench/oracle", "--limit", 2, "--out", tmp_path, "--", "--display", "none", *options]
    done = command("reproduce", *args)
    assert done.exit_code == 0
    assert shown in done.stdout
    assert "skipped" not in done.stderr and "could not be read" not in done.stderr
