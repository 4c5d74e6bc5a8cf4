"""The tables of the Crafter score: on the first page with models side by side, and on a model's page."""

import json
from html import escape
from pathlib import Path

from tests.analysis.test_aggregates import AGGREGATE, played
from tests.report.pages import read
from tests.report.test_site import rows_of, site
from waybench.analysis import Estimate, Mean, estimate
from waybench.envs.crafter import ACHIEVEMENTS
from waybench.report import write_report

MARKER = "Below it the means over worlds"
HOSTILE = 'vendor/<img src=x onerror="alert(1)">\u202e'


def told(mean: Mean | None, times: float = 1.0) -> str:
    assert mean is not None
    ends = "" if mean.low is None or mean.high is None else f" {times * mean.low:.1f} – {times * mean.high:.1f}"
    return f"{times * mean.value:.1f}{ends}"


def column(found: Estimate) -> list[str]:
    """Return what stands in a column below its head, by the estimate alone."""
    rates = [told(found.metrics[f"unlocked_{name}"], 100) for name in ACHIEVEMENTS]
    return [told(found.aggregates["crafter_score"]), str(found.items), *rates]


HEADS = ["Crafter score ↑", "Worlds", *(name.replace("_", " ").capitalize() for name in ACHIEVEMENTS)]


def test_models_side_by_side(tmp_path: Path) -> None:
    episodes = [*played("oracle", 4, 150), *played("random", 4, 150, "vendor/other")]
    home, _ = site(tmp_path, episodes)
    table = rows_of(home, MARKER)
    found = {each.group.model: each for each in estimate(episodes)}
    assert found["vendor/model"].aggregates["crafter_score"].low is not None
    assert table[0] == ["Achievement", "vendor/ model", "vendor/ other"]
    assert [row[0] for row in table[1:]] == HEADS
    assert [row[1] for row in table[1:]] == column(found["vendor/model"])
    assert [row[2] for row in table[1:]] == column(found["vendor/other"])
    # The family's table has the number too.
    overview = rows_of(home, "Crafter (SmartPlay), Level 1.")
    place = overview[1].index("Crafter score ↑") + 1
    assert [row[place] for row in overview[2:]] == [
        told(found[name].aggregates["crafter_score"]) for name in ("vendor/model", "vendor/other")
    ]
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    values = {each["group"]["model"]: each["aggregates"]["crafter_score"]["value"] for each in summary["levels"]}
    assert values == {name: each.aggregates["crafter_score"].value for name, each in found.items()}


def test_a_models_page(tmp_path: Path) -> None:
    episodes = played("oracle", 3)
    _, [page] = site(tmp_path, episodes)
    [found] = estimate(episodes)
    table = rows_of(page, MARKER)
    assert table[0] == ["Achievement", "All worlds"]
    assert [row[0] for row in table[1:]] == HEADS
    assert [row[1] for row in table[1:]] == column(found)
    # They are not in the table by level as well, which has all others.
    heads = " ".join(rows_of(page, "By level.")[0])
    assert "Achievements ↑" in heads
    assert not [name for name in HEADS[2:] if name in heads]


def test_hostile_names_are_text(tmp_path: Path) -> None:
    home = read(write_report(played("random", 2, 20, HOSTILE), tmp_path))
    [head] = [head for head in rows_of(home, MARKER)[0] if "vendor" in head]
    assert escape("<img src=x onerror=") in head
    assert "<img" not in home.html
    assert "\u202e" not in home.html


def test_without_aggregates_there_is_no_table(tmp_path: Path) -> None:
    from tests.analysis.episodes import played as mazes

    home, [page] = site(tmp_path, mazes("oracle", (5,)))
    assert AGGREGATE.title not in home.text + page.text
    assert "made of" not in home.text + page.text
