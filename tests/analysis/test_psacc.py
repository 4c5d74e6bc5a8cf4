"""PSACC is one number, by equation 7 of AQA-Bench: in the terminal, the report, `reproduce` and `compare`."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import zip_longest

import pytest

import waybench
from tests.analysis.episodes import logged
from waybench.core import play_to_end, policy
from waybench.results import by_level, overall
from waybench.results.comparisons._item_scores import item_scores
from waybench.results.comparisons._models import compare_sides
from waybench.results.estimates._summary import summary_table
from waybench.results.papers import find_paper, find_table
from waybench.results.published import match_published
from waybench.results.results import Row, rows

DFS = waybench.load("search/dfs")
PLAYERS = ("heuristic", "random")


@pytest.fixture(scope="module")
def guided() -> list[Row]:
    """Return the episodes of two players with a teacher on trees whose optimal runs are of different lengths."""
    return rows(
        logged(play_to_end(DFS, item, policy(player), {"teacher_guided": True}).record(), f"vendor/{player}", "dfs")
        for player in PLAYERS
        for item in DFS.source(level=8).head(12)
    )


def equation_7(marks: Sequence[Sequence[float]]) -> Fraction:
    """Return the mean over k of N_k / N^_k: of the cases whose optimal run has k steps, those that follow at step k."""
    steps = [[Fraction(int(mark)) for mark in step if mark is not None] for step in zip_longest(*marks)]
    means = (sum(step, Fraction()) / len(step) for step in steps)
    return sum(means, Fraction()) / len(steps)


def test_several_levels_have_one_number_too() -> None:
    """It was a dash: a curve was made of one level only."""
    levels = (5, 9)
    episodes = [
        logged(play_to_end(DFS, item, policy("random"), {"teacher_guided": True}).record(), "vendor/random", "dfs")
        for level in levels
        for item in DFS.source(level=level).head(6)
    ]
    measured = rows(episodes)
    expected = float(equation_7([row.series["follows"] for row in measured]))
    [total] = overall(measured)
    assert total.curves["follows"].average.value == pytest.approx(expected)
    [line] = [line for line in summary_table(measured).splitlines() if line.strip().startswith("vendor/random")]
    assert f" {expected:.3f} " in line


def test_psacc_is_the_same_number_everywhere(guided: list[Row]) -> None:
    series = {player: [r.series["follows"] for r in guided if r.group.model.endswith(player)] for player in PLAYERS}
    expected = {player: float(equation_7(marks)) for player, marks in series.items()}
    assert len({len(marks) for marks in series["random"]}) > 1  # otherwise every mean of means is the same
    levels, totals = by_level(guided), overall(guided)
    assert {e.group.model.removeprefix("vendor/"): e.curves["follows"].average.value for e in levels} == {
        player: pytest.approx(value) for player, value in expected.items()
    }
    text = summary_table(guided)
    assert "PSACC, with a teacher" in text
    for player, value in expected.items():
        [line] = [line for line in text.splitlines() if line.strip().startswith(f"vendor/{player}")]
        assert f" {value:.3f} " in line
    first, second = ([side for side in item_scores(guided) if side.model.endswith(player)] for player in PLAYERS)
    [comparison], unpaired = compare_sides(first, second)
    assert unpaired == []
    assert comparison.first_mean.value == pytest.approx(expected["heuristic"])
    assert comparison.second_mean.value == pytest.approx(expected["random"])
    assert comparison.difference.value == pytest.approx(expected["heuristic"] - expected["random"])
    aqa = find_paper("aqa")
    [block] = [b for b in match_published(levels, totals, [(aqa, find_table(aqa, "table-7"))], {}) if b.results]
    assert [(metric.title, metric.name) for metric in block.metrics] == [("PSACC", "follows")]
    assert len(block.results) == 2 and len(block.rows) == 13
