"""`waybench report`: what it says on the terminal."""

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.analysis.episodes import played
from waybench.cli import main


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["report", str(tmp_path / "nowhere")])
    assert done.exit_code == 2
    assert f"Error: no folder {tmp_path / 'nowhere'}: give the folder that `waybench run --out` wrote" in done.stderr
    assert not [*tmp_path.iterdir()]


def test_without_a_folder_it_is_that_of_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("report", "prices", "profile"):
        done = CliRunner().invoke(main, [name])
        assert done.exit_code == 2
        assert "waybench-out" in done.stderr


def test_it_warns_of_episodes_that_count_in_no_number(tmp_path: Path) -> None:
    episodes = played("oracle", levels=(5,), mazes=2)
    claimed = replace(episodes[0].record, instance_hash="0" * 64)
    listed = [claimed, *(episode.record for episode in episodes[1:])]
    records = tmp_path / "records.jsonl"
    records.write_text("".join(f"{record.dumps()}\n" for record in listed))
    done = CliRunner().invoke(main, ["report", str(tmp_path)])
    assert done.exit_code == 0
    assert done.stdout.strip() == f"report: {tmp_path / 'site' / 'index.html'}"
    (warning,) = (line for line in done.stderr.splitlines() if not line.startswith("report: "))
    assert warning.startswith(f"warning: 1 of {len(listed)} episodes excluded from all results")
    records.write_text("".join(f"{episode.record.dumps()}\n" for episode in episodes))
    again = CliRunner().invoke(main, ["report", str(tmp_path)]).stderr.splitlines()
    assert [line for line in again if not line.startswith("report: ")] == []  # how far it has come, on a busy machine
