"""`waybench report`: what it says on the terminal."""

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.analysis.episodes import logged, played
from waybench.cli import main


def test_it_warns_of_episodes_that_count_in_no_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    episodes = played("oracle", levels=(5,), mazes=2)
    claimed = replace(episodes[0].record, instance_hash="0" * 64)
    listed = [logged(claimed, "waybench/oracle"), *episodes[1:]]
    monkeypatch.setattr("waybench.analysis.read_logs", lambda *folders, **told: iter(listed))
    done = CliRunner().invoke(main, ["report", str(tmp_path)])
    assert done.exit_code == 0
    assert done.stdout.strip() == f"report: {tmp_path / 'site' / 'index.html'}"
    (warning,) = (line for line in done.stderr.splitlines() if not line.startswith("report: "))
    assert warning.startswith(f"warning: 1 of {len(listed)} episodes excluded from all results")
    monkeypatch.setattr("waybench.analysis.read_logs", lambda *folders, **told: iter(episodes))
    again = CliRunner().invoke(main, ["report", str(tmp_path)]).stderr.splitlines()
    assert [line for line in again if not line.startswith("report: ")] == []  # how far it has come, on a busy machine
