"""`waybench reproduce` of every table and figure, with the null player and the oracle, from an empty folder."""

from pathlib import Path

import pytest

from tests.cli.support import Command
from tests.conftest import shared
from waybench.results.papers import papers

ENTRIES = [(paper.name, table.id) for paper in papers() for table in paper.tables]
# One item of each level, set or map; and of the longest tasks the first steps alone.
SHORTER = {"aliciabench": ["-T", "max_dimension=5"], "mango": ["-T", "games=905,night"]}
STEPS = {"table-3", "figure-2", "figure-3"}  # of SmartPlay, with Crafter in one task with the others


@pytest.mark.slow
@pytest.mark.parametrize(("paper", "table"), ENTRIES, ids=[f"{paper}-{table}" for paper, table in ENTRIES])
def test_an_entry_runs_to_its_end(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, paper: str, table: str
) -> None:
    monkeypatch.setenv("WAYBENCH_DATA", str(shared("WAYBENCH_DATA", "data")))
    monkeypatch.chdir(tmp_path)
    shorter = ["-T", "crafter_steps=20"] if paper == "smartplay" and table in STEPS else SHORTER.get(paper, [])
    shorter = [] if (paper, table) == ("mango", "section-c4") else shorter
    models = ["-m", "waybench/null", "-m", "waybench/oracle", "--limit", 1]
    done = command("reproduce", paper, table, *models, "--", "--display", "none", *shorter)
    assert done.exit_code == 0, done.output
    assert "How far they can agree: " in done.stdout
    assert "skipped" not in done.stderr and "could not be read" not in done.stderr
    left_out = [line for line in done.stdout.splitlines() if line.startswith("left out: ")]
    reasons = ("minedojo is not installed here", "a person plays", " first")
    assert all(any(reason in line for reason in reasons) for line in left_out)
