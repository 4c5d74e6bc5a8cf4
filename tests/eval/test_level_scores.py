"""Inspect's score by level: the mean, and how many attempts it lacks."""

from typing import Any

import pytest
from inspect_ai.scorer import SampleScore, Score

from waybench.evaluation._solver import level_scores


def scored(value: float | None, number: int, level: int = 5, lost: list[float | None] | None = None) -> SampleScore:
    metadata: dict[str, Any] = {"env": "maze/alicia", "level": level, "item": str(number)}
    score = Score(value={"score": value, "steps": None}, metadata=None if lost is None else {"lost": lost})
    return SampleScore(score=score, sample_metadata=metadata)


def numbers(scores: list[SampleScore]) -> Any:
    return level_scores()(scores)


def test_lost_attempts_are_counted_and_bound_the_mean() -> None:
    solved = [scored(100.0, number) for number in range(4)]
    lost = [scored(None, number, lost=[0.0, 100.0]) for number in range(4, 10)]
    assert numbers(solved) == {"5_best": 100.0, "5_mean": 100.0}
    assert numbers([*solved, *lost, scored(50.0, 0, level=7)]) == {
        **{"5_best": 100.0, "5_mean": 100.0, "5_n": 4.0, "5_planned": 10.0, "5_lowest": 40.0, "5_highest": 100.0},
        **{"7_best": 50.0, "7_mean": 50.0},
    }


def test_all_lost_has_bounds_and_no_mean() -> None:
    lost = [scored(None, number, lost=[0.0, 100.0]) for number in range(2)]
    assert numbers(lost) == {"5_n": 0.0, "5_planned": 2.0, "5_lowest": 0.0, "5_highest": 100.0}


def test_without_a_greatest_value_there_is_no_upper_bound() -> None:
    found = numbers([scored(4.0, 0), scored(None, 1, lost=[0.0, None])])
    assert (found["5_lowest"], found["5_n"]) == (pytest.approx(2.0), 1.0)
    assert "5_highest" not in found


def test_one_of_two_attempts_can_only_raise_the_best_of_them() -> None:
    found = numbers([scored(30.0, 0), scored(None, 0, lost=[0.0, 100.0])])
    assert (found["5_best"], found["5_lowest"], found["5_highest"]) == (30.0, 30.0, 100.0)
