"""Repeats of a whole benchmark, and metrics that are shares of something."""

from dataclasses import replace
from math import sqrt

import pytest

import waybench
from waybench.core import End, play_to_end, policy
from waybench.results import LoggedEpisode, Row, by_level, overall, rows
from waybench.results.estimates._bounds import repeats_of_groups
from waybench.results.estimates._measures import score_tables_text

GTB = waybench.load("tilemap/gtb")


def played(player: str, levels: tuple[int, ...], attempts: int = 1, maps: int = 2) -> list[Row]:
    found: list[LoggedEpisode] = []
    for level in levels:
        for item in GTB.source(level=level).head(maps):
            for attempt in range(1, attempts + 1):
                record = play_to_end(GTB, item, policy(player), {"protocol": "sound"}, attempt=attempt).record()
                found.append(LoggedEpisode(f"model/{player}", "gtb", record))
    return rows(found)


def with_values(row: Row, attempt: int, **metrics: float) -> Row:
    return replace(row, attempt=attempt, metrics={**row.metrics, **metrics})


def test_a_share_is_of_all_objectives_and_not_a_mean_of_maps() -> None:
    first, second = played("oracle", (1,))
    made = [
        replace(with_values(first, 1, top0=1.0), sizes={**first.sizes, "top0": 1.0}),
        replace(with_values(second, 1, top0=0.0), sizes={**second.sizes, "top0": 9.0}),
    ]
    [estimate] = by_level(made)
    assert estimate.metrics["top0"].value == pytest.approx(0.1)
    assert estimate.metrics["top0"].clusters == 2


def test_the_error_over_repeats() -> None:
    first, second = played("oracle", (1,))
    made = [
        with_values(row, attempt, score=score) for row in (first, second) for attempt, score in ((1, 40.0), (2, 60.0))
    ]
    [found] = repeats_of_groups(made)
    assert (found.metrics["score"].mean, found.metrics["score"].repeats) == (50.0, 2)
    assert found.metrics["score"].error == pytest.approx(sqrt(200) / sqrt(2))
    assert found.to_json()["metrics"]["score"]["repeats"] == 2


def test_a_repeat_that_is_not_whole_is_none() -> None:
    first, second = played("oracle", (1,))
    lost = replace(second, attempt=2, error=True, end=End.INFRASTRUCTURE)
    assert repeats_of_groups([first, second, replace(first, attempt=2), lost]) == []


def test_sets_of_several_levels_have_a_column_of_all() -> None:
    made = played("oracle", (1, 2)) + played("stay", (1, 2))
    table = score_tables_text(by_level(made), totals=overall(made))
    head, _, oracle, stay = table.split("\n\n")[0].splitlines()
    assert head.split()[-3:] == ["1", "2", "all"]
    assert oracle.split() == ["model/oracle", "100.0", "100.0", "100.0"]
    every = [row.metrics["score"] or 0.0 for row in made if row.group.model == "model/stay"]
    assert float(stay.split()[-1]) == pytest.approx(sum(every) / len(every), abs=0.05)
