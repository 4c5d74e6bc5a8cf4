"""The spread over attempts at the same cases (AQA-Bench, Tables 8 and 9)."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.analysis.searches import items, searched
from tests.report.pages import site
from waybench.core import End
from waybench.results import LoggedEpisode, Row, rows
from waybench.results.estimates._difficulty import spreads_over_attempts


def tried(scores: dict[int, list[float]], level: int = 15) -> list[Row]:
    """Return rows of three attempts at two cases: attempt -> the value of err_min at each."""
    found = rows(searched("null", "guessnum", count=2, model="m", level=level))
    return [
        replace(row, attempt=attempt, metrics={**row.metrics, "err_min": value})
        for attempt, values in scores.items()
        for row, value in zip(found, values, strict=True)
    ]


def test_the_margins_are_of_the_attempts_means() -> None:
    (found,) = spreads_over_attempts(tried({1: [0.0, 0.2], 2: [0.3, 0.5], 3: [0.1, 0.4]}))
    spread = found.metrics["err_min"]
    assert (found.keys, spread.sets) == (("1", "2", "3"), 3)
    assert spread.average == pytest.approx(0.25)  # of 0.1, 0.4 and 0.25
    assert (spread.margin_min, spread.margin_max) == pytest.approx((0.15, 0.15))


def test_levels_are_apart_and_one_attempt_has_no_spread() -> None:
    both = [*tried({1: [0.0, 0.0], 2: [1.0, 1.0]}), *tried({1: [0.0, 0.0]}, level=25)]
    assert [found.level for found in spreads_over_attempts(both)] == [15]


def test_an_attempt_that_is_missing_somewhere_is_left_out() -> None:
    *some, last = tried({1: [0.0, 0.2], 2: [0.3, 0.5], 3: [0.1, 0.4]})
    (found,) = spreads_over_attempts([*some, replace(last, error=True, end=End.INFRASTRUCTURE)])
    assert found.keys == ("1", "2")
    assert found.metrics["err_min"].average == pytest.approx(0.25)


@pytest.mark.slow
def test_the_task_s_page_has_the_table(tmp_path: Path) -> None:
    from waybench import load
    from waybench.core import play_to_end, policy

    environment = load("search/dfs")
    episodes = [
        LoggedEpisode("m", "dfs", play_to_end(environment, item, policy("noisy-0.4"), attempt=attempt).record())
        for item in items("dfs", 6, level=8)
        for attempt in (1, 2, 3)
    ]
    (found,) = spreads_over_attempts(rows(episodes))
    (page,) = site(tmp_path, episodes).tasks.values()
    table = page.table("Spread over several attempts at the same cases.")
    assert table[0][:3] == ["Model", "Level", "Attempts"]
    row = next(line for line in table if line[0] == "m")
    spread = found.metrics["g_min"]
    assert row[1:3] == ["8", "3"]
    assert row[3].split()[0] == f"{spread.average:.3f}"
    assert f"−{spread.margin_min:.3f} / +{spread.margin_max:.3f}" in row[3]
