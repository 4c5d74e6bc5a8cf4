"""Runs whose first steps are a teacher's: groups of their own, scored as free play."""

from tests.analysis.searches import searched
from waybench.results import rows
from waybench.results.estimates._estimates import estimate


def test_one_step_of_a_teacher_is_another_group_than_a_teacher() -> None:
    episodes = [each for value in (True, 1, False, 3) for each in searched("random", "dfs", teacher_guided=value)]
    found = estimate(episodes)
    assert {dict(one.group.options)["teacher_guided"] for one in found} == {True, "1", False, "3"}
    guided = {dict(one.group.options)["teacher_guided"]: one.guided for one in found}
    assert guided == {True: True, "1": False, False: False, "3": False}


def test_a_failure_after_a_teacher_s_steps_has_its_kind() -> None:
    (row,) = rows(searched("null", "dfs", count=1, teacher_guided=2))
    assert row.failure == "unparsed"
