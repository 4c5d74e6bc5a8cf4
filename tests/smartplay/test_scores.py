"""Scores on common scales, against the figures that the paper prints."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.smartplay.stairs import episode
from waybench.envs.smartplay import HUMANS, best_action_and_gaps, human_metric, scaled_metric

COLUMNS = ("BanditTwoArmedHighLowFixed", "RockPaperScissorBasic", "Hanoi3Disk", "MessengerL1", "MessengerL2")


def table(text: str, after: str) -> dict[str, list[float]]:
    """Return a table of the paper: model -> figures."""
    rows: dict[str, list[float]] = {}
    for line in text[text.index(after) :].splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        if re.fullmatch(r"-?[\d.]+", cells[-1]):
            rows[cells[0]] = [float(cell) for cell in cells[1:]]
        elif rows and "---" not in line:
            return rows
    return rows


def test_humans_are_those_of_table_4(paper: Callable[[str], str]) -> None:
    people = table(paper("smartplay.txt"), "### D.3 Raw scores")["Human Baseline"]
    assert [HUMANS[name].human for name in (*COLUMNS, "Crafter", "MinedojoCreative0")] == people


def test_table_2_is_table_4_on_the_human_scale(paper: Callable[[str], str]) -> None:
    text = paper("smartplay.txt")
    raw, normalised = table(text, "### D.3 Raw scores"), table(text, "### 5.1 Quantitative Analysis")
    compared = 0
    for model, figures in raw.items():
        for number, name in enumerate(COLUMNS):
            metric = human_metric(lambda record, name=name: name, anything, lambda record, value=figures[number]: value)
            found = metric.of(record(None))
            # Both tables are rounded: the scores to hundredths, or as they come out of so few trials.
            assert found == pytest.approx(normalised[model][number], abs=0.0061), (model, name)
            compared += 1
    assert compared == 9 * 5


def anything(record: Any) -> tuple[None, None]:
    return None, None


def record(steps: int | None) -> Any:
    made = episode().record()
    return replace(made, options={**made.options, "steps": steps})


def test_the_human_scale_is_only_for_what_was_recorded() -> None:
    metric = human_metric(lambda record: "RockPaperScissorBasic", lambda record: (0, 50), lambda record: 21.5)
    assert metric.of(record(50)) == 0.5
    assert metric.of(record(None)) == 0.5
    assert metric.range_of(record(50)) == (0, 50 / 43)
    assert metric.of(record(49)) is None
    assert metric.range_of(record(49)) == (None, None)
    assert human_metric(lambda record: "Hanoi4Disk", anything).of(record(30)) is None
    assert human_metric(lambda record: None, anything).of(record(30)) is None


def test_the_human_scale_begins_at_the_least_score() -> None:
    metric = human_metric(lambda record: "MessengerL2", lambda record: (-1, 1), lambda record: -0.21)
    assert metric.of(record(64)) == pytest.approx((-0.21 + 1) / 2)
    assert metric.range_of(record(64)) == (0, 1)


@pytest.mark.parametrize(("score", "value"), [(10, 0), (30, 1), (25, 0.75), (0, -0.5)])
def test_the_scale_from_chance_to_the_optimum(score: float, value: float) -> None:
    assert scaled_metric(lambda record: (10.0, 30.0), "", anything, lambda record: score).of(record(5)) == value
    assert scaled_metric(lambda record: None, "", anything, lambda record: score).of(record(5)) is None


def test_the_first_of_the_best() -> None:
    assert best_action_and_gaps([1.0, 3.0, 3.0]) == (1, (2.0, 0.0, 0.0))
