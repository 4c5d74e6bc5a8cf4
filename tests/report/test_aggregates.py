"""The tables of the Crafter score: on the task's page with models side by side, and on that of a model's results."""

import json
from pathlib import Path

import pytest

from tests.analysis.episodes import estimate
from tests.analysis.test_aggregates import AGGREGATE, played
from tests.report.pages import site
from waybench.envs.crafter._ids import ACHIEVEMENTS
from waybench.results import Estimate
from waybench.results.stats import IntervalEstimate

MARKER = "Below it, the means over worlds"
HOSTILE = 'vendor/<img src=x onerror="alert(1)">\u202e'


def told(mean: IntervalEstimate | None, times: float = 1.0) -> str:
    assert mean is not None
    if mean.is_few:
        return f"{times * mean.value:.1f} n = {mean.n}"
    ends = "" if mean.low is None or mean.high is None else f" {times * mean.low:.1f} – {times * mean.high:.1f}"
    return f"{times * mean.value:.1f}{ends}"


def score(found: Estimate) -> str:
    """Return the Crafter score with its interval, of which so few worlds tell too little."""
    few = "" if found.items < 6 else f" (too few: {found.items} of 100 worlds)"
    return f"{told(found.aggregates['crafter_score'])}{few}"


def column(found: Estimate) -> list[str]:
    """Return what stands in a column below its head, by the estimate alone."""
    rates = [told(found.metrics[f"unlocked_{name}"], 100) for name in ACHIEVEMENTS]
    return [score(found), str(found.items), *rates]


HEADS = ["Crafter score ↑", "Worlds", *(name.replace("_", " ").capitalize() for name in ACHIEVEMENTS)]


@pytest.mark.slow
def test_models_side_by_side(tmp_path: Path) -> None:
    episodes = [*played("oracle", 6, 100), *played("random", 6, 100, "vendor/other")]
    made = site(tmp_path, episodes)
    table = made.task.table(MARKER)
    found = {each.group.model: each for each in estimate(episodes)}
    assert found["vendor/model"].aggregates["crafter_score"].low is not None
    assert table[0] == ["Achievement", "vendor/ model", "vendor/ other"]
    assert [row[0] for row in table[1:]] == HEADS
    assert [row[1] for row in table[1:]] == column(found["vendor/model"])
    assert [row[2] for row in table[1:]] == column(found["vendor/other"])
    # The family's table has the number too.
    overview = made.family.table("Crafter (SmartPlay), Level 1.")
    place = overview[0].index("Crafter score ↑")
    assert [row[place] for row in overview[1:]] == [score(found[name]) for name in ("vendor/model", "vendor/other")]
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    values = {each["group"]["model"]: each["aggregates"]["crafter_score"]["value"] for each in summary["levels"]}
    assert values == {name: each.aggregates["crafter_score"].value for name, each in found.items()}


def test_a_page_of_results(tmp_path: Path) -> None:
    episodes = played("oracle", 3)
    page = site(tmp_path, episodes).result
    [found] = estimate(episodes)
    table = page.table(MARKER)
    assert table[0] == ["Achievement", "All worlds"]
    assert [row[0] for row in table[1:]] == HEADS
    assert [row[1] for row in table[1:]] == column(found)
    # They are not in the table by level as well, which has all others.
    heads = " ".join(page.table("By level.")[0])
    assert "Achievements ↑" in heads
    assert not [name for name in HEADS[2:] if name in heads]


def test_too_few_worlds_are_said_beside_the_score(tmp_path: Path) -> None:
    episodes = played("oracle", 3)
    page = site(tmp_path, episodes).result
    [note] = [str(one) for one in estimate(episodes)[0].too_few.values()]
    assert note.startswith("Crafter score: its interval takes 100 worlds, and there are 3. With 10 worlds, ")
    assert note in page.text
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert summary["levels"][0]["too_few"] == {"crafter_score": note}


def test_hostile_names_are_text(tmp_path: Path) -> None:
    made = site(tmp_path, played("random", 2, 20, HOSTILE))
    [head] = [head for head in made.task.table(MARKER)[0] if "vendor" in head]
    assert "<img src=x onerror=" in head
    for page in made.pages:
        assert "<img" not in page.html
        assert "\u202e" not in page.html


def test_without_aggregates_there_is_no_table(tmp_path: Path) -> None:
    from tests.analysis.episodes import played as mazes

    made = site(tmp_path, mazes("oracle", (5,)))
    shown = (made.home, made.task, made.result, *made.models)
    assert not [page for page in shown if AGGREGATE.title in page.text or "made of" in page.text]
