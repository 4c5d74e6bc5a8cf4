"""Horizons at budgets of reply tokens, and the dimension reached by tokens, from episodes whose tokens are given."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.analysis.episodes import MAZE, logged
from waybench.core import Usage, play_to_end, policy
from waybench.reporting import write_report
from waybench.results import LoggedEpisode, Row, rows
from waybench.results.horizons._budgets import BudgetHorizon, budget_horizons, reached_by_tokens

LEVELS = (5, 7, 9, 11, 13)


def spent(player: str, model: str, per_level: int, mazes: int = 6) -> list[LoggedEpisode]:
    """Return mazes of a player that spends so many tokens for each cell of the dimension, all in its first reply."""
    episodes: list[LoggedEpisode] = []
    for level in LEVELS:
        for item in MAZE.source(level=level).head(mazes):
            record = play_to_end(MAZE, item, policy(player), {}).record()
            turns = tuple(
                turn._replace(usage=Usage(100, per_level * level if not number else 0))
                for number, turn in enumerate(record.turns)
            )
            episodes.append(logged(replace(record, turns=turns), model))
    return episodes


@pytest.fixture(scope="module")
def episodes() -> list[LoggedEpisode]:
    return [*spent("oracle", "lab/terse", 10), *spent("oracle", "lab/wordy", 100), *spent("null", "lab/none", 50)]


@pytest.fixture(scope="module")
def played(episodes: list[LoggedEpisode]) -> list[Row]:
    return rows(episodes)


def at(budgets: list[BudgetHorizon], model: str, budget: int | None) -> BudgetHorizon:
    [found] = [result for result in budgets if result.group.model == model and result.budget == budget]
    return found


def test_the_dimension_reached_by_tokens(played: list[Row]) -> None:
    reached = {group.model: points for group, points in reached_by_tokens(played).items()}
    assert reached == {
        "lab/terse": [(10 * level, level) for level in LEVELS],
        "lab/wordy": [(100 * level, level) for level in LEVELS],
    }


def test_horizons_at_budgets(played: list[Row]) -> None:
    budgets = budget_horizons(played)
    amounts = sorted({result.budget for result in budgets if result.budget is not None})
    assert amounts == [50, 100, 200, 500, 1000]
    free = at(budgets, "lab/wordy", None)
    assert (free.within, free.reached, free.horizon.side) == (1, 13, "beyond")
    tight = at(budgets, "lab/wordy", 1000)  # 500, 700 and 900 tokens are within it, 1100 and 1300 are not
    assert (tight.within, tight.reached) == (0.6, 9)
    assert tight.horizon.value is not None and 9 < tight.horizon.value < 11
    assert tight.horizon.low is not None and tight.horizon.high is not None
    assert at(budgets, "lab/terse", 1000).horizon.side == "beyond"
    nothing = at(budgets, "lab/none", None)
    assert (nothing.reached, nothing.horizon.side) == (None, "below")


def test_without_tokens_there_is_nothing(episodes: list[LoggedEpisode]) -> None:
    bare = [
        replace(one, record=replace(one.record, turns=tuple(t._replace(usage=None) for t in one.record.turns)))
        for one in episodes
    ]
    assert budget_horizons(rows(bare)) == [] and reached_by_tokens(rows(bare)) == {}


@pytest.mark.slow
def test_the_report_has_a_chart_a_table_and_a_file(episodes: list[LoggedEpisode], tmp_path: Path) -> None:
    write_report(episodes, tmp_path)
    [page] = [path.read_text() for path in (tmp_path / "tasks").glob("*.html")]
    assert "Horizon at a budget of reply tokens" in page and "60 % within" in page and "reached 9" in page
    [chart] = (tmp_path / "charts").glob("*reached-by-tokens*.json")
    values = json.loads(chart.read_text())["data"]["values"]
    assert [(value["at"], value["score"]) for value in values if value["series"] == "wordy"] == [
        (100 * level, level) for level in LEVELS
    ]
    assert len((tmp_path / "data" / "budgets.csv").read_text().splitlines()) == 1 + 3 * 6
