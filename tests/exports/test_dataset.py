"""Data sets for the Hugging Face Hub: rows, card, eval.yaml and checksums; what is private or not ours is in none."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from click.testing import CliRunner, Result
from yaml import safe_load

import waybench
from tests.conftest import ROOT
from waybench.cli import main
from waybench.ext.publish.exports._dataset import CANARY

LADDER = ("-T", "max_dimension=7", "-T", "limit=2")


def export(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["export", *map(str, arguments), "--format", "dataset"])


def rows(folder: Path, task: str) -> list[dict[str, Any]]:
    return pyarrow.parquet.read_table(folder / task / "test-00000-of-00001.parquet").to_pylist()


def snippet(card: str, first: str) -> str:
    """Return the card's example that begins with a line."""
    return next(code for code in re.findall(r"```python\n(.*?)```", card, re.DOTALL) if code.startswith(first))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("hub") / "mazes"
    done = export("alicia", *LADDER, "--out", out)
    assert done.exit_code == 0, done.output
    assert "4 items of 1 task" in done.stdout and "without answers" in done.stdout
    return out


def test_the_card_declares_what_the_files_hold(folder: Path) -> None:
    _, header, text = (folder / "README.md").read_text("utf-8").split("---\n", 2)
    card = safe_load(header)
    assert card["license"] == "mit" and card["size_categories"] == ["n<1K"]
    (config,) = card["configs"]
    assert config["config_name"] == "alicia"
    (split,) = config["data_files"]
    assert split["split"] == "test" and (folder / split["path"]).is_file()
    (info,) = card["dataset_info"]
    assert info["splits"][0]["num_examples"] == len(rows(folder, "alicia")) == 4
    assert info["download_size"] == (folder / split["path"]).stat().st_size
    assert "| `alicia` | 4 | 5 to 7 | `maze/alicia` 1 |" in text and CANARY in text
    benchmark = safe_load((folder / "eval.yaml").read_text("utf-8"))
    assert benchmark["tasks"] == [{"id": "alicia", "config": "alicia", "split": "test"}]
    listed = dict(line.split("  ")[::-1] for line in (folder / "SHA256SUMS").read_text("ascii").splitlines())
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    assert listed.keys() == files.keys() - {"SHA256SUMS"}
    assert all(hashlib.sha256(files[name].read_bytes()).hexdigest() == digest for name, digest in listed.items())


def test_a_ladder_s_rows_are_the_items_of_its_run(folder: Path, tmp_path: Path) -> None:
    result = waybench.evaluate("alicia", "waybench/oracle", out=tmp_path, limit=2, max_dimension=7, attempts=1)
    played = {row["item"]: row["instance"] for row in result.episodes.to_pylist()}
    exported = rows(folder, "alicia")
    assert {row["id"]: row["hash"] for row in exported} == played
    assert all(row["canary"] == CANARY for row in exported)
    assert CANARY in (ROOT / "docs" / "security.md").read_text("utf-8")


def test_the_command_on_the_card_writes_the_same_bytes(folder: Path, tmp_path: Path, monkeypatch: Any) -> None:
    command = re.search(r"```sh\nwaybench (export .*)\n```", (folder / "README.md").read_text("utf-8"))
    assert command is not None
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(main, command[1].split()).exit_code == 0
    for path in folder.rglob("*"):
        if path.is_file():
            assert (tmp_path / folder.name / path.relative_to(folder)).read_bytes() == path.read_bytes()


def score(card: str, row: dict[str, Any], replies: list[str]) -> Any:
    """Run the card's example of scoring."""
    printed: list[Any] = []
    code = snippet(card, "import json, waybench").replace('replies = ["..."]', "replies = given")
    exec(code, {"data": [row], "given": replies, "print": printed.append})
    return printed[0]


def test_rows_are_scored_as_the_card_says_with_answers_and_without(folder: Path, tmp_path: Path) -> None:
    done = export("alicia", "dfs", "-T", "limit=2", "-T", "protocol=sound", "--answers", "--out", tmp_path / "x")
    assert done.exit_code == 0 and "with answers" in done.stdout, done.output
    card = (tmp_path / "x" / "README.md").read_text("utf-8")
    (maze, *_), (tree, *_) = (rows(tmp_path / "x", task) for task in ("alicia", "dfs"))
    hidden = {"instance", "examples", "proof", "answer"}
    for row, replies in ((maze, [maze["answer"]]), (tree, json.loads(tree["answer"]))):
        metrics = score(card, row, replies)
        assert score(card, {name: row[name] for name in row.keys() - hidden}, replies) == metrics
        assert score(card, row, [""]) != metrics
    assert score(card, maze, [maze["answer"]])["score"] == 100
    assert not hidden & rows(folder, "alicia")[0].keys()
    assert "columns of their own" in card and "left out" in (folder / "README.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("alicia", "--key", "env:KEY"), "public sets alone"),
        (("alicia", "-T", "key=mine"), "leave it out"),
        (("alicia", "-T", "source=mazes.jsonl"), "that waybench draws"),
        (("mango_route", "-T", "source=published"), "that waybench draws"),
        (("horizon_maze",), "searches for a horizon"),
        (("alicia", "--level", "7"), "-T level=7"),
        (("alicia", "--count", "7"), "-T limit=20"),
        (("alicia", "-T", "wording=image", *LADDER), "without pictures"),
        (("alicia", "--dataset", "../x"), "owner/name"),
        (("nothing",), "nothing"),
    ],
)
def test_what_is_private_or_not_ours_is_refused_in_one_line(
    arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    done = export(*arguments, "--out", tmp_path / "out")
    assert done.exit_code == 2 and message in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_an_earlier_export_is_not_mixed_with(folder: Path) -> None:
    done = export("dfs", "--out", folder)
    assert done.exit_code == 2 and "not empty" in done.stderr
    assert not (folder / "dfs").exists()
