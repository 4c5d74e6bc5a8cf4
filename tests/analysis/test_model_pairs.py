"""Pairs of models: the same numbers as verdicts and ranks, only what both ran, and what has no order."""

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.analysis.test_matrix import HANOI, MAZE, attempts
from waybench.results import Row
from waybench.results.comparisons import item_scores
from waybench.results.comparisons._models import compare_pairs
from waybench.results.estimates import matrix
from waybench.results.estimates._matrix import Matrix, matrix_text
from waybench.results.estimates._model_pairs import ModelPair, compare_models, model_pairs_text
from waybench.results.stats._verdicts import Verdict


def pair(result: Matrix, first: str, second: str) -> ModelPair:
    (found,) = [pair for pair in result.pairs if {pair.first, pair.second} == {first, second}]
    return found


def noisy(rng: np.random.Generator, base: Sequence[float], shift: float = 0.0) -> list[float]:
    return np.clip(np.asarray(base) + shift + rng.normal(0, 0.1, len(base)), 0, 1).tolist()


def test_ranks_are_read_from_the_pairs() -> None:
    rng = np.random.default_rng(2)
    base = rng.uniform(0.4, 0.9, 36)
    rows = [
        each
        for model, shift in (("good", 0.0), ("same", 0.0), ("poor", -0.3), ("waybench/oracle", 0.5))
        for each in attempts(model, MAZE, noisy(rng, base.tolist(), shift))
    ]
    result = matrix(rows)
    assert len(result.pairs) == 3  # none with a reference player
    ranks = {row.model: row.rank for row in result.rows if row.kind == "model"}
    for model, rank in ranks.items():
        verdicts = [
            (each.verdict is Verdict.FIRST) == (each.first == model)
            for each in result.pairs
            if model in (each.first, each.second) and each.verdict in (Verdict.FIRST, Verdict.SECOND)
        ]
        assert rank == (1 + verdicts.count(False), 3 - verdicts.count(True))
    assert ranks["poor"] == (3, 3)


@pytest.mark.parametrize("gap", [0.0, 0.02, 0.05, 0.1, 0.3])
@pytest.mark.parametrize("kind", ["graded", "solved"])
def test_in_one_task_compare_and_the_pair_are_one_statement(gap: float, kind: str) -> None:
    rng = np.random.default_rng([5, round(100 * gap)])
    rows: list[Row] = []
    for number, model in enumerate("abc"):
        scores = noisy(rng, rng.uniform(0.3, 0.7, 70).tolist(), number * gap)
        if kind == "solved":
            scores = [float(score > 0.5) for score in scores]
        rows += attempts(model, MAZE, scores)
    result = matrix(rows)
    by_model = {scores.model: scores for scores in item_scores(rows)}
    for found in result.pairs:
        sides = [(by_model[each.first], by_model[each.second]) for each in result.pairs]
        (same,) = [
            comparison
            for comparison in compare_pairs(sides)
            if (comparison.first.model, comparison.second.model) == (found.first, found.second)
        ]
        assert found.difference is not None
        assert (found.p, found.adjusted) == (pytest.approx(same.test.p), pytest.approx(same.adjusted_p))
        assert found.difference.value == pytest.approx(same.difference.value)
        assert (found.difference.low, found.difference.high) == pytest.approx(
            (same.difference.low, same.difference.high)
        )
        assert found.verdict is same.verdict


def test_levels_that_count_as_0_enter_no_pair_and_the_page_says_where_that_turns_the_order() -> None:
    rng = np.random.default_rng(4)
    low, high = [0.5, 0.55, 0.45, 1.0, 0.5, 0.4] * 2, [0.7, 0.65, 0.75, 1.0, 0.7, 0.7] * 2
    rows = [*attempts("a", MAZE, high), *attempts("b", MAZE, low)]
    rows += attempts("a", MAZE, [0.0] * 12, 7)  # "a" went on and failed, "b" was not given these
    rows += [each for level in (5, 7, 9) for each in attempts("c", MAZE, rng.uniform(0.8, 0.9, 12).tolist(), level)]
    result = matrix(rows)
    means = {row.model: row.mean.value for row in result.rows if row.mean}
    assert means["a"] == pytest.approx(100 * np.mean(high) / 3) and means["b"] == pytest.approx(100 * np.mean(low))
    found = pair(result, "a", "b")
    assert found.items == 12
    assert found.difference is not None
    assert abs(found.difference.value) == pytest.approx(100 * (np.mean(high) - np.mean(low)))
    note = "At the items that both ran, the order is not that of the means: a is 18.3 above b"
    assert result.order_notes == [note]
    assert note.split()[-1] in matrix_text(result) and "not that of the means" in " ".join(matrix_text(result).split())


def test_pairs_at_different_items_can_go_round_in_a_circle() -> None:
    def levels(model: str, *scores: tuple[int, float]) -> list[Row]:
        return [each for level, score in scores for each in attempts(model, MAZE, [score] * 8, level)]

    rows = [
        *levels("a", (5, 0.9), (7, 0.2)),
        *levels("b", (5, 0.3), (9, 0.8)),
        *levels("c", (7, 0.9), (9, 0.1)),
    ]
    result = matrix(rows)
    signs = {
        (each.first, each.second): each.difference.value > 0 for each in result.pairs if each.difference is not None
    }
    above = {pair if is_above else pair[::-1] for pair, is_above in signs.items()}
    assert above == {("a", "b"), ("b", "c"), ("c", "a")}
    assert "Pairs at different items have no order" in result.order_notes[-1]


def test_on_the_same_items_nothing_is_said_of_the_order() -> None:
    rng = np.random.default_rng(6)
    rows = [each for model in "abcd" for each in attempts(model, MAZE, rng.uniform(0.3, 0.6, 12).tolist())]
    assert matrix(rows).order_notes == []


def test_what_is_not_comparable_says_why() -> None:
    ones = [0.9, 0.8] * 4
    few = [*attempts("a", MAZE, ones[:5]), *attempts("b", MAZE, ones[:5])]
    few += [
        *attempts("a", MAZE, ones, 7),
        *attempts("b", MAZE, ones, 9),
    ]  # none in common
    (found,) = matrix(few).pairs
    assert (found.verdict, found.difference, found.p, found.adjusted) == (None, None, None, None)
    assert found.why_not.startswith("no task in Mazes (AliciaBench) that both ran with equal settings, at 6 common")
    # A family in which one of two has no score: the report does not rank the two, and compare says why.
    first, second = attempts("a", MAZE, ones), [*attempts("b", MAZE, ones), *attempts("b", HANOI, ones, level=3)]
    assert matrix([*first, *second]).pairs == ()
    (found,) = compare_models(first, second, [("a", "b")])
    assert "no task in Tower of Hanoi" in found.why_not
    lost = [*attempts("b", MAZE, ones[:7]), *attempts("b", MAZE, ones)[7:]]
    lost[-1] = replace(lost[-1], error=True, end="infrastructure_error")
    (found,) = compare_models(first, lost, [("a", "b")])
    assert found.why_not == "attempts of b have no result"
    assert found.to_json()["why_not"] == found.why_not


def test_two_sides_can_have_the_same_model() -> None:
    rng = np.random.default_rng(7)
    base = rng.uniform(0.3, 0.6, 20).tolist()
    before, after = attempts("m", MAZE, base), attempts("m", MAZE, noisy(rng, base, 0.2))
    (found,) = compare_models(before, after, [("m", "m")])
    assert found.verdict is Verdict.SECOND
    assert json.loads(json.dumps(found.to_json()))["verdict"] == "second"


def test_text() -> None:
    rng = np.random.default_rng(8)
    base = rng.uniform(0.5, 0.6, 20).tolist()
    result = matrix([*attempts("a", MAZE, base), *attempts("b", MAZE, noisy(rng, base, -0.15))])
    title, head, _, line, note = model_pairs_text(result.pairs).splitlines()
    assert title.startswith("Pairs of models: normalised scores")
    assert head.split()[:5] == ["A", "B", "Families", "Tasks", "Items"]
    assert line.split()[:5] == ["a", "b", "1", "1", "20"] and line.endswith("A better")
    assert "below 50 items" in note
    assert model_pairs_text([]) == ""
