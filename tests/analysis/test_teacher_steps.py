"""Runs whose first steps are a teacher's: groups of their own, scored as free play."""

from tests.analysis.episodes import estimate
from tests.analysis.searches import searched
from waybench.results import rows
from waybench.results.results import labels
from waybench.results.results._groups import distinguishing_settings


def test_one_step_of_a_teacher_is_another_group_than_a_teacher() -> None:
    episodes = [each for value in (True, 1, False, 3) for each in searched("random", "dfs", teacher_guided=value)]
    found = estimate(episodes)
    assert {dict(one.group.options)["teacher_guided"] for one in found} == {True, "1", False, "3"}
    guided = {dict(one.group.options)["teacher_guided"]: one.guided for one in found}
    assert guided == {True: True, "1": False, False: False, "3": False}


def test_charts_and_tables_say_teacher_steps() -> None:
    episodes = [each for value in (True, 1, 3) for each in searched("random", "dfs", teacher_guided=value)]
    groups = {dict(one.group.options)["teacher_guided"]: one.group for one in estimate(episodes)}
    assert {value: label for value, group in groups.items() for label in [labels(groups.values())[group]]} == {
        True: "waybench/random (teacher guided)",
        "1": "waybench/random (teacher steps: 1)",
        "3": "waybench/random (teacher steps: 3)",
    }
    assert distinguishing_settings(groups["3"], groups.values()) == ["teacher steps: 3"]


def test_a_failure_after_a_teacher_s_steps_has_its_kind() -> None:
    (row,) = rows(searched("null", "dfs", count=1, teacher_guided=2))
    assert row.failure == "unparsed"
