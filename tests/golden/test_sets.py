"""The golden tests take any set of the schema: what it does not have is not asked for, and a wrong value fails."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.golden import test_mango as mango
from tests.golden.test_mango import Ask, Case, place_map, tied
from waybench.envs.textmap._answers import read_trajectory

pytest_plugins = ["pytester"]

GAME = "905"
OVER_CASES = [
    mango.test_answers_are_read_as_published,
    mango.test_sound_reads_what_is_well_formed,
    mango.test_destinations,
    mango.test_routes,
    mango.test_sound_routes,
    mango.test_reasoning,
    mango.test_weights,
    mango.test_answerable_and_difficulty,
]


def case(said: str, **published: Any) -> Case:
    """Make a case of one move from a place of a published map to where it leads, with what was said for the move."""
    map_ = place_map(GAME)
    edge = next(edge for edge in map_.edges if edge.action == "east")
    answer = read_trajectory([{"location_before": edge.source, "action": said, "location_after": edge.target}])
    golden = {
        **{"task": "rf", "case_id": 1, "game": GAME, "parse_ok": True, "answerable": True},
        **{"ref": {"id_error": False, "loose_score": 1.0}, "expected_success_paper": 1},
        **{"rf_loose_on_validated_edges_only": 1.0, **published},
    }
    return Case(golden, map_, Ask(edge.source, edge.target), answer)


def check(test: Callable[..., None], cases: list[Case], monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Run a golden test over some cases; return what it counted."""
    counts: dict[str, int] = {}
    monkeypatch.setattr(mango, "cases", lambda: tuple(cases))
    test(lambda _, kind, count: counts.update({kind: count}))
    return counts


@pytest.mark.parametrize("test", OVER_CASES)
def test_no_class_of_difference_has_to_be_there(test: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    assert not any(check(test, [], monkeypatch).values())


@pytest.mark.parametrize("test", [mango.test_routes, mango.test_sound_routes])
def test_a_wrong_value_fails(test: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    assert 1 in check(test, [case("east")], monkeypatch).values()
    for wrong in ({"expected_success_paper": 0}, {"rf_loose_on_validated_edges_only": 0.5}):
        if test is mango.test_routes or "rf_loose_on_validated_edges_only" in wrong:
            with pytest.raises(AssertionError):
                check(test, [case("east", **wrong)], monkeypatch)


@pytest.mark.parametrize("published", [{}, {"expected_success_paper": 0}, {"rf_loose_on_validated_edges_only": 0.25}])
@pytest.mark.parametrize("test", [mango.test_routes, mango.test_sound_routes])
def test_an_ambiguous_route_is_not_compared(
    test: Callable[..., None], published: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    ambiguous = case("est", **published)  # as close to "east" as to "west"
    assert not isinstance(ambiguous.answer, tuple) or tied(ambiguous, ambiguous.answer)
    assert {"east", "west"} <= set(ambiguous.map.actions)
    counts = check(test, [ambiguous], monkeypatch)
    assert counts.pop("routes that differ by FIXED_TIES", 1) == 1
    assert not any(counts.values())


def test_a_test_that_compares_nothing_is_skipped_and_says_so(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(Path(__file__).with_name("conftest.py").read_text(encoding="utf-8"))
    pytester.makepyfile(
        """
        def test_nothing(compared):
            compared("family", "things", 0)

        def test_something(compared):
            compared("family", "things", 2)
            compared("family", "others", 0)

        def test_wrong(compared):
            compared("family", "things", 0)
            assert False
        """
    )
    result = pytester.runpytest_inprocess("-rs", "-p", "no:cacheprovider")
    result.assert_outcomes(skipped=1, passed=1, failed=1)
    result.stdout.fnmatch_lines(["*the golden files at hand have nothing of what this test compares*"])
