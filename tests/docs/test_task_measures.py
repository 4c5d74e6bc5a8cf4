"""What "Choose a task" says is measured again for some tasks, and every task has its line."""

import importlib
import json
from pathlib import Path
from types import ModuleType

import pytest

from waybench.evaluation.tasks import TASKS

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def measures(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(DOCS))
    return importlib.import_module("task_measures")


@pytest.mark.parametrize("name", ["alicia", "guessnum", "mango_route", "hanoi_3", "messenger_l1", "gtb"])
def test_the_numbers_come_out_again(measures: ModuleType, name: str) -> None:
    stored = json.loads(measures.FILE.read_text(encoding="utf-8"))
    again = measures.measured_lines(measures.measured_tasks()[name])
    assert again
    # As JSON, where the keys and numbers are those of the file.
    assert json.loads(json.dumps(again)) == {line: stored[line] for line in again}


def test_every_task_is_measured_or_listed(measures: ModuleType) -> None:
    stored = json.loads(measures.FILE.read_text(encoding="utf-8"))
    assert {line["task"] for line in stored.values()} == set(measures.measured_tasks())
    page = (DOCS / "tasks.md").read_text(encoding="utf-8")
    assert [task.name for task in TASKS if f"`{task.name}`" not in page] == []


def test_people_have_the_published_scores_alone() -> None:
    page = (DOCS / "tasks.md").read_text(encoding="utf-8")
    people = [line.split("|")[-2].strip() for line in page.splitlines() if line.startswith("| `") and "higher" in line]
    # Table 4 of SmartPlay: the bandit, Rock Paper Scissors, Hanoi, Messenger L1 and L2, Crafter.
    assert [cell for cell in people if cell != "–"] == [
        "45 in 50 steps",
        "43 in 50 steps",
        "3 in 30 steps",
        "1 in 4 steps",
        "1 in 64 steps",
        "2,680 in 10,000 steps",
    ]
