"""Difficulty indices of real items: oracles that err at a rate in each step of a maze."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.analysis.episodes import MAZE, logged
from tests.report.pages import Page
from waybench.cli._output import level_tables_text
from waybench.core import ItemIndex, play_to_end, policy
from waybench.reporting import write_report
from waybench.reporting._format import TaskView
from waybench.reporting.tables._variation import difficulty_table
from waybench.results import LoggedEpisode, Row, rows
from waybench.results.estimates import item_difficulties
from waybench.results.estimates._difficulty import difficulty_text


@pytest.fixture(scope="module")
def episodes() -> list[LoggedEpisode]:
    return [
        logged(play_to_end(MAZE, maze, policy(f"noisy-{rate}"), {"requests": 1}).record(), f"vendor/{rate}")
        for level in (7, 15, 21)
        for maze in MAZE.source(level=level).head(30)
        for rate in (0.03, 0.06)
    ]


@pytest.fixture(scope="module")
def measured(episodes: list[LoggedEpisode]) -> list[Row]:
    return rows(episodes)


def test_index_of_mazes(measured: list[Row]) -> None:
    (found,) = item_difficulties(measured)
    assert (found.env, found.axis) == ("maze/alicia", "dimension")
    assert found.gain is not None
    assert (found.gain.attempts, found.gain.players, found.gain.clusters) == (180, 2, 90)
    # Every step is a chance to err, so that a longer way is harder in a maze of the same dimension.
    assert found.weights["minimum"] > 0
    values = found.to_json()
    assert values["ratio"] == pytest.approx(values["conditional"] / values["marginal"])
    assert set(values["weights"]) == {each.name for each in MAZE.difficulty.item_variables}
    # What a search takes is the index that was fitted, rounded to a twentieth of a doubling.
    index = ItemIndex.read(values["index"], values["weights"])
    assert index == found.index
    for each in measured[:20]:
        of_variables = np.array([[each.variables[name] for name in found.variables]], dtype=np.float64)
        level = 2 ** float(found.gain.index.evaluate(np.array([float(each.level)]), of_variables)[0])
        assert index.equivalent_level(each.level, each.variables) == pytest.approx(level, rel=0.018)


def test_equivalent_level_of_an_item(measured: list[Row]) -> None:
    (found,) = item_difficulties(measured)
    ways = {row.instance: row for row in measured if row.level == 21}.values()
    # The same item with a longer way is as hard as an average maze of a greater dimension.
    row = next(iter(ways))
    longer = replace(row, variables={**row.variables, "minimum": 2 * (row.variables["minimum"] or 0) + 1})
    near, far = found.equivalent_level(row), found.equivalent_level(longer)
    assert near is not None and far is not None
    assert far / near == pytest.approx(2 ** found.weights["minimum"], rel=0.04)  # rounded
    assert found.equivalent_level(replace(row, axes={})) is None


def test_no_index_of_few_items(episodes: list[LoggedEpisode]) -> None:
    few = [each for each in episodes if each.record.item["index"] < 3]
    (found,) = item_difficulties(rows(few))
    assert found.gain is None and found.why
    assert found.to_json()["ratio"] is None
    assert difficulty_text([found]) == ""


def test_gain_is_shown(episodes: list[LoggedEpisode], measured: list[Row]) -> None:
    (found,) = item_difficulties(measured)
    assert found.gain is not None
    assert f"{found.gain.ratio:.2f} times as steeply" in level_tables_text(episodes)
    (line,) = difficulty_text([found]).splitlines()
    assert line.startswith("Mazes (AliciaBench): success falls ") and "90 mazes" in line
    table = difficulty_table(TaskView(MAZE, MAZE.presentation, {}), [found])
    assert table is not None and table.title == "What makes one maze harder than another"
    assert f"{found.gain.ratio:.2f} times as steeply" in table.caption[0].text
    (group,) = table.groups
    assert [row.head.text for row in group.rows] == [each.title for each in MAZE.difficulty.item_variables]


@pytest.mark.slow
def test_gain_in_a_report(episodes: list[LoggedEpisode], tmp_path: Path) -> None:
    write_report(episodes, tmp_path)
    page = Page((tmp_path / "tasks" / "maze-alicia.html").read_text(encoding="utf-8"))
    assert "What makes one maze harder than another" in page.text
    (found,) = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))["item_difficulty"]
    assert found["ratio"] == pytest.approx(found["conditional"] / found["marginal"])
