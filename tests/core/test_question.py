"""A question with one answer: its environment passes the contract, and its replies are read strictly and fairly."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from waybench.cli._check import find_environment
from waybench.core import (
    AnswerState,
    DataError,
    DataInstance,
    End,
    Environment,
    Invalid,
    Question,
    Stream,
    UsageError,
    play_out,
    policy,
    question_environment,
)
from waybench.testing import check_environment, find_breaches

SUMS = '''"""Sums of several numbers."""

from dataclasses import dataclass

import waybench.core as wb


@dataclass(frozen=True, slots=True)
class Sum(wb.DataInstance):
    """The numbers to add."""

    numbers: tuple[int, ...]


def draw(rng: wb.Stream, level: int) -> Sum:
    return Sum(tuple(10 + rng.below(90) for _ in range(level)))


def prompt(instance: Sum) -> str:
    return f"What is {' + '.join(map(str, instance.numbers))}?"


ENVIRONMENT = wb.question_environment(
    wb.Question(prompt, answer=lambda instance: sum(instance.numbers)),
    Sum,
    draw,
    lambda instance: len(instance.numbers),
    id="sums/answer",
    title="Sums",
    about="A player adds numbers of two digits. It measures how many of them it can add without a mistake.",
    sample_levels=(2, 5),
    highest_level=50,
    public_key="sums-v1",
    level="numbers",
    level_doc="Numbers to add.",
    horizon=(2, 4, 8, 16, 32),
)
'''
PLACES = ("Oak Hall", "oak", "St. John's", "the North-East Gate")


@dataclass(frozen=True, slots=True)
class Where(DataInstance):
    """The number of a place, and what else there is to know."""

    place: int
    pair: tuple[tuple[str, bool], ...] = ()


WHERE: Question[Where, str] = Question(
    lambda where: f"Where is number {where.place}?", lambda where: PLACES[where.place], choices=lambda where: PLACES
)


def half(where: Where, answer: str) -> float:
    return 1.0 if answer == PLACES[where.place] else 0.5


OPEN = replace(WHERE, is_open=True, judge=half)


def places(question: Question[Where, str]) -> Environment[Where, AnswerState[Where], Any]:
    return question_environment(
        question,
        Where,
        lambda rng, level: Where(rng.below(len(PLACES)), tuple(("x", rng.below(2) == 1) for _ in range(level))),
        lambda where: len(where.pair),
        id="test/places",
        title="Places",
        about="A player says which place has a number. It measures nothing, and is for tests of the kit alone.",
        sample_levels=(1, 3),
        highest_level=6,
        public_key="places-v1",
    )


def read(question: Question[Where, str], reply: str, place: int = 0) -> object:
    environment = places(question)
    return environment.playing.play({}).wording.parse(reply, AnswerState(Where(place, (("x", True),))))


def test_an_environment_in_forty_lines_passes_the_check(tmp_path: Path) -> None:
    assert len(SUMS.splitlines()) <= 40
    path = tmp_path / "sums_of_numbers.py"
    path.write_text(SUMS)
    environment = find_environment(str(path))
    assert find_breaches(environment, (2, 50)) == []
    item = environment.source(level=5).item(0)
    numbers = item.instance.to_json()["numbers"]
    oracle = play_out(environment, item, policy("oracle"))
    assert (oracle.turns[0].reply, oracle.record().end) == (str(sum(numbers)), End.SOLVED)
    assert " + ".join(map(str, numbers)) in oracle.messages[0].text


@pytest.mark.parametrize("question", [WHERE, OPEN], ids=["closed", "open"])
def test_texts_pass_the_contract_with_choices_and_without(question: Question[Where, str]) -> None:
    check_environment(places(question))


@pytest.mark.parametrize(
    "reply",
    [
        "Oak Hall",
        "oak  hall.",
        "Let me think: it is not the oak.\nOak Hall\n",
        "Answer: Oak Hall",
        "**Final answer:** Oak Hall\n\nThe oak is elsewhere.",
        "Answer: oak\nNo, wait.\nThe answer is: 'Oak Hall'",
        "Answer: oak\nAnswer: Oak Hall\nThat is all.",
        "```\nOak Hall\n```",
        "\uff2fak Hall",
    ],
)
def test_replies_that_are_read(reply: str) -> None:
    assert read(WHERE, reply) == read(OPEN, reply) == "Oak Hall"


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "Answer:",
        "I think it is Oak Hall",
        "Oak Hall, oak",
        "Oak Hall or oak",
        "Oak Hall\nThat is my last word.",
        "Answer: Oak Hall\nAnswer: I am not sure",
        "Elm Hall",
        "x" * 1_001,
        "Oak Hall " + " " * 1_000 + "oak",
        "x\n" * 600_000,
    ],
)
def test_replies_that_are_not_read(reply: str) -> None:
    assert isinstance(read(WHERE, reply), Invalid)


def test_the_last_line_comes_first_where_it_is_an_answer() -> None:
    reply = "Answer: not the oak, I think.\nSo it is:\nOak Hall"
    assert read(WHERE, reply) == read(WHERE, "Answer: oak\nOak Hall") == "Oak Hall"
    assert read(OPEN, "Answer: Elm Hall\nI am sure.") == "Elm Hall"


def test_names_keep_what_stands_in_them() -> None:
    assert read(WHERE, "st. john\u2019s") == "St. John's"
    assert read(WHERE, "The North\u2011East Gate") == "the North-East Gate"


@pytest.mark.parametrize(
    ("reply", "value"),
    [("12", 12), ("So 5 + 7 =\n**12**.", 12), ("answer: -12", -12), ("\u221212", -12), ("\uff11\uff12", 12)]
    + [
        (reply, None)
        for reply in ("1,200", "12 or 13", "12.5", "1e3", "0x10", "twelve", "9" * 19, "\u0661\u0662", "5=5")
    ],
)
def test_numbers(reply: str, value: int | None) -> None:
    number: Question[Where, int] = Question(lambda where: "?", lambda where: 12)
    wording = question_environment(
        number, Where, lambda rng, level: Where(level), lambda where: where.place, id="test/numbers", title="N",
        about="N.", sample_levels=(1,), highest_level=1, public_key="n",
    ).playing.play({}).wording  # fmt: skip
    answer = wording.parse(reply, AnswerState(Where(1)))
    assert isinstance(answer, Invalid) if value is None else answer == value


def test_scores() -> None:
    assert [WHERE.score(Where(0), text) for text in ("Oak Hall", "oak", "Elm Hall")] == [1, 0, 0]
    assert [OPEN.score(Where(0), text) for text in ("Oak Hall", "oak", "Elm Hall")] == [1, 0.5, 0.5]
    number: Question[Where, int] = Question(lambda where: "?", lambda where: -7)
    assert number.guesses(Where(0)) == range(-9, 10)
    assert (number.score(Where(0), -7), number.score(Where(0), 7)) == (1, 0)
    assert number.score(Where(0), "-7") == 0  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="give choices"):
        replace(WHERE, choices=None).guesses(Where(0))


def test_instances_from_outside() -> None:
    environment = places(WHERE)
    good = {"place": 1, "pair": [["x", True]]}
    assert environment.items.decode(good) == Where(1, (("x", True),))
    wrong: list[Any] = [
        {"place": 9},
        {"place": True},
        {"pair": []},
        {"pair": [["x", 1]]},
        {"pair": [["x"]]},
        {"more": 1},
    ]
    for bad in wrong:
        with pytest.raises(DataError):
            environment.items.decode(good | bad)
    wrong = [good | {"place": 10**18}, good | {"pair": [["\ud800", True]]}, {"place": 1}, [], None]
    for bad in wrong:
        with pytest.raises(DataError):
            Where.from_json(json.loads(json.dumps(bad)))
    with pytest.raises(UsageError, match="level 7: give 1 to 6"):
        environment.source(level=7)
    assert Where(1).canonical() != Where(2).canonical()


def test_fields_that_have_no_json_are_refused() -> None:
    @dataclass(frozen=True)
    class Wrong(DataInstance):
        cells: tuple[float, ...]

    with pytest.raises(TypeError, match=r"Wrong\.cells: fields are int, str, bool, and tuples"):
        Wrong((0.5,)).to_json()


def test_items_do_not_depend_on_other_environments() -> None:
    first, second = places(WHERE), places(replace(OPEN))
    assert first.source("k", 3).item(4) == second.source("k", 3).item(4)
    assert first.source("k", 3).item(4).instance == Where(*_drawn(Stream("test/places", "k", 3, 4), 3))  # by key alone


def _drawn(rng: Stream, level: int) -> tuple[int, tuple[tuple[str, bool], ...]]:
    return rng.below(len(PLACES)), tuple(("x", rng.below(2) == 1) for _ in range(level))
