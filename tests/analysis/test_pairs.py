"""Models two by two, on the questions that both answered (MANGO, Table 1)."""

import json

import pytest

from tests.analysis.maps import answered, corridor, easy
from waybench.envs.textmap._items import MapQuestion
from waybench.results import rows
from waybench.results.comparisons._comparison import Comparison
from waybench.results.comparisons._item_scores import match_groups
from waybench.results.comparisons._models import compare_all_pairs
from waybench.results.comparisons._text import comparison_json

MAPS = [corridor(f"m{places}", places) for places in (3, 4, 5)]
PARTS = ("mango_success_easy", "mango_success_hard")


def first_room(question: MapQuestion) -> str:
    """Answer only what begins in the first room or ends there."""
    return "oracle" if "room 0" in (question.source, question.target) else ""


def wrong_far(question: MapQuestion) -> str:
    """Be wrong about what is more than a move away: a made-up move leads nowhere."""
    near = abs(int(question.source[5:]) - int(question.target[5:])) == 1
    return "oracle" if near else "constant"


def by_metric(found: list[Comparison]) -> dict[str, Comparison]:
    return {pair.metric.name: pair for pair in found}


def test_only_questions_that_both_answered_by_hand() -> None:
    made = rows([*answered(first_room, MAPS, model="a"), *answered(wrong_far, MAPS, model="b")])
    found = by_metric(compare_all_pairs(made, PARTS))
    assert list(found) == list(PARTS)
    pair = found["mango_success_easy"]
    # Of n places in a row, the first has n - 1 easy questions, one of them of a single move.
    assert pair.items == 2 + 3 + 4
    assert pair.first_mean.value == 1
    # The constant answer is "east" once, which is a way of one move.
    assert pair.second_mean.value == pytest.approx(3 / 9)
    assert pair.difference.value == pytest.approx(6 / 9)
    assert pair.difference.clusters == 3
    assert pair.difference.low is not None
    assert found["mango_success_hard"].difference.n == 9
    assert (pair.first.model, pair.second.model) == ("a", "b")


@pytest.mark.parametrize("protocol", ["paper", "sound"])
def test_success_counts_what_could_not_be_read(protocol: str) -> None:
    made = rows(
        [
            *answered(first_room, MAPS, model="a", protocol=protocol),
            *answered("oracle", MAPS, model="b", protocol=protocol),
        ]
    )
    (pair,) = compare_all_pairs(made, ["success_easy"])
    assert pair.items == 3 + 6 + 10
    assert pair.first_mean.value == pytest.approx(9 / 19)
    assert pair.difference.value == pytest.approx(-10 / 19)


def test_no_common_question_no_pair() -> None:
    made = rows(
        [
            *answered(lambda question: "oracle" if easy(question) else "", MAPS, model="a"),
            *answered(lambda question: "" if easy(question) else "oracle", MAPS, model="b"),
        ]
    )
    assert compare_all_pairs(made, PARTS) == []


def test_three_models_make_three_pairs_of_each_metric() -> None:
    made = rows(episode for model in "abc" for episode in answered("oracle", MAPS, model=model))
    found = compare_all_pairs(made, (*PARTS, "reasoning_easy", "nothing", "success"))
    assert {(pair.first.model, pair.second.model) for pair in found} == {("a", "b"), ("a", "c"), ("b", "c")}
    assert {pair.metric.name for pair in found} == {*PARTS, "reasoning_easy"}
    assert all((pair.difference.value, pair.first_mean.value) == (0, 1) for pair in found)
    assert json.dumps([comparison_json(pair) for pair in found])


def test_only_what_was_asked_alike_is_compared() -> None:
    groups = [
        *answered("oracle", MAPS, model="a", settings={"temperature": 1.0}, most=1),
        *answered("oracle", MAPS, model="b", most=1),
        *answered("oracle", MAPS, model="c", most=1, protocol="sound"),
        *answered("oracle", MAPS, model="d", most=1, key="other"),
        *answered("oracle", MAPS, "destination", model="e", most=1),
    ]
    made = rows(groups)
    together = match_groups(dict.fromkeys(row.group for row in made))
    assert [[group.model for group in some] for some in together] == [["a", "b"], ["c"], ["d"], ["e"]]
    assert {(pair.first.model, pair.second.model) for pair in compare_all_pairs(made, PARTS)} == {("a", "b")}
