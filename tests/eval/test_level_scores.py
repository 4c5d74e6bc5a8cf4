"""Inspect's success by level: the share of items that are solved, and how many attempts it lacks."""

from typing import Any

import pytest
from inspect_ai.scorer import SampleScore, Score

from waybench.evaluation._scores import level_scores


def scored(value: float | None, number: int, level: int = 5, *, last: bool = False) -> SampleScore:
    metadata: dict[str, Any] = {"env": "maze/alicia", "level": level, "item": str(number)}
    if value is None:
        return SampleScore(score=Score(value={"value": None}, metadata={"lost": True}), sample_metadata=metadata)
    score = Score(value=value, metadata={"perfect": True} if last else None)
    return SampleScore(score=score, sample_metadata=metadata)


def numbers(scores: list[SampleScore]) -> Any:
    summary: Any = level_scores()
    return summary(scores)


def test_lost_attempts_are_counted_and_bound_the_share() -> None:
    solved = [scored(1.0, number) for number in range(4)]
    lost = [scored(None, number) for number in range(4, 10)]
    assert numbers(solved) == {"rate": 1.0, "5_best": 1.0, "5_mean": 1.0}
    assert numbers([*solved, *lost, scored(0.0, 0, level=7)]) == {
        "rate": 0.8,
        **{"5_best": 1.0, "5_mean": 1.0, "5_n": 4.0, "5_planned": 10.0, "5_lowest": 0.4, "5_highest": 1.0},
        **{"7_best": 0.0, "7_mean": 0.0},
    }


def test_all_lost_has_bounds_and_no_share() -> None:
    found = numbers([scored(None, number) for number in range(2)])
    assert found.pop("rate") != found.get("rate")  # not a number
    assert found == {"5_n": 0.0, "5_planned": 2.0, "5_lowest": 0.0, "5_highest": 1.0}


def test_one_of_two_attempts_can_only_raise_the_best_of_them() -> None:
    found = numbers([scored(0.0, 0), scored(None, 0)])
    assert (found["5_best"], found["5_lowest"], found["5_highest"]) == (0.0, 0.0, 1.0)


def test_attempts_after_a_perfect_one_are_not_missed_by_the_rate() -> None:
    """The item that is solved at once has one attempt, the other one three: both weigh the same."""
    scores = [scored(1.0, 0, last=True), scored(0.0, 1), scored(1.0, 1), scored(1.0, 1, last=True)]
    assert numbers(scores)["rate"] == pytest.approx((1.0 + 0.5) / 2)
