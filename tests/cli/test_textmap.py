"""`waybench textmap`, with games that are tables in the place of an interpreter."""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.cli.support import Command, one_line_error
from tests.contrib.game_maps import TableEngine
from waybench.core import UsageError
from waybench.envs.textmap._place_map import load_map

WAYS = {1: {"north": 2, "down": 3}, 2: {"south": 1, "north": 4}, 3: {"north": 1}, 4: {"south": 2, "east": -1}}
TITLES = {1: "Foyer", 2: "Hall", 3: "Pit", 4: "Hall"}


class Table:
    """A game file's stand-in."""

    walkthrough: tuple[str, ...] = ()

    def __init__(self, path: Path) -> None:
        if not path.exists():
            raise UsageError(f"cannot read {path}")

    def open_game(self, commands: Sequence[str]) -> TableEngine:
        return TableEngine(WAYS, TITLES)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder, the current one, with a game and a list of commands."""
    monkeypatch.setattr("waybench.ext.author.game_maps._command.GameFile", Table)
    monkeypatch.chdir(tmp_path)
    Path("table.z5").touch()
    Path("walk.txt").write_text("n\n\ngo south\nd\nn\nn\nn\n")
    return tmp_path


BUILD = ("textmap", "build", "table.z5", "--commands", "walk.txt")


def test_the_files_of_a_map_are_written(command: Command, home: Path) -> None:
    result = command(*BUILD)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[:2] == [
        "table: 4 places, 6 moves (5 walked, 1 inferred), 6 steps",
        "questions: 12 destinations (9 easy, 3 hard), 12 routes (9 easy, 3 hard)",
    ]
    place_map = load_map(home / "table", "table")
    assert place_map.places == ("foyer", "hall", "hall (2)", "pit")
    assert json.loads(Path("table/table.code2anno.json").read_text())["4"] == "hall (2)"
    kinds = ("walkthrough", "locations.json", "actions.json", "edges.json", "all_pairs.jsonl", "all2all.jsonl")
    assert {path.name for path in Path("table").iterdir()} == {
        *(f"table.{kind}" for kind in kinds),
        *("table.anno2code.json", "table.code2anno.json"),
    }
    assert result.stdout.splitlines()[-1].startswith("files in table: table.walkthrough, ")


def test_names_that_were_written_can_be_changed_and_given(command: Command, home: Path) -> None:
    assert command(*BUILD).exit_code == 0
    names = json.loads(Path("table/table.code2anno.json").read_text())
    Path("names.json").write_text(json.dumps({**names, "4": "hall"}))
    result = command(*BUILD, "--names", "names.json", "--name", "other", "--out", "table", "--steps", "4")
    assert result.stdout.startswith("other: 3 places, 4 moves (4 walked, 0 inferred), 6 steps\n")
    assert json.loads(Path("table/other.anno2code.json").read_text())["hall"] == ["2", "4"]


def test_what_is_left_out_is_said(command: Command, home: Path) -> None:
    result = command(*BUILD, "--paths", "3")
    assert "table.all2all.jsonl not written: it would have " in result.stdout
    assert "the limit is 3; raise --paths to include them\n" in result.stdout
    assert not Path("table/table.all2all.jsonl").exists() and Path("table/table.all_pairs.jsonl").exists()


def test_the_end_of_the_game_is_said(command: Command, home: Path) -> None:
    Path("walk.txt").write_text("n\nn\neast\nwait\nwait\n")
    assert "the game ended at step 3: 2 commands were not used\n" in command(*BUILD).stdout


def test_the_games_own_walkthrough_serves(command: Command, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Table, "walkthrough", ("n", "s"))
    assert command(*BUILD[:3]).stdout.startswith("table: 2 places, 2 moves (2 walked, 0 inferred), 2 steps\n")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("table.z5",), "jericho has no walkthrough of this game; give --commands"),
        (("none.z5", "--commands", "walk.txt"), "cannot read none.z5"),
        (("table.z5", "--commands", "none"), "cannot read none: No such file or directory"),
        (("table.z5", "--commands", "table.z5"), "the file has no commands; write one per line"),
        (("table.z5", "--commands", "walk.txt", "--names", "walk.txt"), "walk.txt: line 1: not JSON"),
        (("table.z5", "--commands", "walk.txt", "--name", "../up"), "is not a valid map name"),
        (("table.z5", "--commands", "walk.txt", "--out", "walk.txt"), "choose another folder with --out"),
        (("table.z5", "--commands", "walk.txt", "--steps", "0"), "--steps"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(args: tuple[str, ...], message: str, command: Command, home: Path) -> None:
    assert message in one_line_error(command("textmap", "build", *args))
    assert not (home / "table").exists()


def test_no_map_is_overwritten(command: Command, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert command(*BUILD).exit_code == 0
    monkeypatch.setattr(
        "waybench.ext.author.game_maps._command.GameFile", None
    )  # the check comes before the game is played
    assert "exists already: choose another folder with --out, or another --name" in one_line_error(command(*BUILD))


def test_without_jericho_the_extra_is_named(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jericho", None)
    monkeypatch.chdir(tmp_path)
    Path("walk.txt").write_text("n\n")
    Path("table.z5").write_bytes(bytes([5, *[0] * 3, *[1] * 12, *[0] * 10, *[1] * 1_002]))
    assert "pip install 'waybench[jericho]'" in one_line_error(command(*BUILD))


@pytest.mark.parametrize(("labels", "rule"), [("released", "data_rule"), ("paper", "paper_rule")])
def test_questions_are_counted_as_in_the_papers_tables(
    labels: str, rule: str, command: Command, data_dir: Callable[..., Path], golden_dir: Callable[..., Path]
) -> None:
    golden = json.loads(golden_dir("mango", "game_counts.json").read_text())
    names = ("905", "awaken", "dragon", "zork1")
    given = ("--data-dir", str(data_dir("mango")), "--games", ",".join(names), "--labels", labels)
    for steps in ("20", "45", "70"):
        rows = json.loads(command("textmap", "counts", *given, "--prefix-steps", steps, "--format", "json").stdout)
        assert [row["game"] for row in rows] == list(names)
        for row in rows:
            expected = golden[row["game"]]
            cutoff = min(int(steps), expected["max_step"] - 1)
            assert row["walkthrough"] == expected["max_step"]
            # Names of this output -> those of the golden file.
            assert {
                **{"locs": row["locations"], "edges": row["edges"], "avglen": row["average_path_length"]},
                "steps": row["steps"],
                **{"df_e": row["df_easy"], "df_h": row["df_hard"], "rf_e": row["rf_easy"], "rf_h": row["rf_hard"]},
            } == expected["at"][str(cutoff)][rule]
    # Table 6 (70 steps) of the paper, under its own rule.
    if labels == "paper":
        lines = command("textmap", "counts", *given).stdout.splitlines()
        zork = [float(cell) for cell in lines[4].split()[1:]]
        assert [*zork[:4], *zork[5:]] == golden["zork1"]["table6_paper"]
        assert lines[5].split()[0] == "total"


def test_questions_about_own_maps_are_counted(command: Command, home: Path) -> None:
    assert command(*BUILD).exit_code == 0
    assert command("textmap", "counts", "table", "--format", "csv").stdout.splitlines() == [
        "game,locations,edges,average_path_length,steps,walkthrough,df_easy,df_hard,rf_easy,rf_hard",
        # The questions that `build` wrote; four places in a row have paths of (6 * 1 + 4 * 2 + 2 * 3) / 12 moves.
        "table,4,6,1.67,6,6,9,3,9,3",
    ]
    assert "a folder with maps" in one_line_error(command("textmap", "counts", "none"))
    assert "the published maps end at step 70" in one_line_error(command("textmap", "counts", "--prefix-steps", "71"))
    assert "give it or FOLDER" in one_line_error(command("textmap", "counts", "table", "--data-dir", "."))


def test_a_line_of_commands_is_split(command: Command, home: Path) -> None:
    Path("walk.txt").write_text("n. s, d then n. n. n\n")
    result = command(*BUILD)
    assert result.stdout.startswith("table: 4 places, 6 moves (5 walked, 1 inferred), 6 steps\n")


def test_help_needs_no_game(command: Command) -> None:
    assert "build" in command("textmap").stdout
    assert "--commands" in command("textmap", "build", "--help").stdout
