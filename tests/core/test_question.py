"""A question with one answer: its environment passes the contract, and its replies are read strictly and fairly."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from waybench.cli._environments import find_environment
from waybench.core import (
    AnswerState,
    DataError,
    DataInstance,
    DefectError,
    End,
    Environment,
    Invalid,
    Question,
    Stream,
    UsageError,
    play_to_end,
    policy,
    question_environment,
)
from waybench.evaluation.tasks._estimate import estimate_of_items
from waybench.evaluation.tasks._items import TaskItem
from waybench.testing import check_environment, find_breaches
from waybench.testing._findings import ADVICE

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


@pytest.mark.slow
def test_an_environment_in_forty_lines_passes_the_check(tmp_path: Path) -> None:
    assert len(SUMS.splitlines()) <= 40
    path = tmp_path / "sums_of_numbers.py"
    path.write_text(SUMS)
    environment = find_environment(str(path))
    assert find_breaches(environment, (2, 50)) == []
    item = environment.source(level=5).item(0)
    numbers = item.instance.to_json()["numbers"]
    oracle = play_to_end(environment, item, policy("oracle"))
    assert (oracle.turns[0].reply, oracle.record().end) == (str(sum(numbers)), End.SOLVED)
    assert " + ".join(map(str, numbers)) in oracle.messages[0].text


@pytest.mark.slow
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
    assert [WHERE.success_of(Where(0), text) for text in ("Oak Hall", "oak", "Elm Hall")] == [1, 0, 0]
    assert [OPEN.success_of(Where(0), text) for text in ("Oak Hall", "oak", "Elm Hall")] == [1, 0.5, 0.5]
    number: Question[Where, int] = Question(lambda where: "?", lambda where: -7)
    assert number.possible_answers(Where(0)) == range(-9, 10)
    assert (number.success_of(Where(0), -7), number.success_of(Where(0), 7)) == (1, 0)
    assert number.success_of(Where(0), "-7") == 0  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="give choices"):
        replace(WHERE, choices=None).possible_answers(Where(0))


def test_an_error_of_data_in_a_question_is_a_defect() -> None:
    def refuse(*_: Any) -> Any:
        raise DataError("there is no such place")

    for part in ("prompt", "judge"):
        parts: dict[str, Any] = {part: refuse}
        environment = places(replace(OPEN, **parts))
        with pytest.raises(DefectError, match=r"^defect in environment test/places: refuse raised DataError: "):
            play_to_end(environment, environment.source().item(0), policy("random"))


def test_a_question_that_lacks_choices_is_refused_before_a_run() -> None:
    environment = places(replace(OPEN, choices=None))
    items = [TaskItem(environment, {}, environment.source().item(0), 1)]
    with pytest.raises(DefectError, match="raised KitError: the right answer is a text, and there are no choices"):
        estimate_of_items(items)


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

    with pytest.raises(TypeError, match=r"Wrong\.cells has a type .*: use int, str, bool, and tuples"):
        Wrong((0.5,)).to_json()


@pytest.mark.parametrize(
    ("old", "new", "check", "problem", "line"),
    [
        ("return Sum(tuple(", "return Sum(1 // 0 or tuple(", "source", "draw raised ZeroDivisionError", "1 // 0"),
        ("return Sum(tuple(10", "return None and (tuple(10", "source", "draw returned None", "def draw"),
        ("return Sum(tuple(10 + rng.below(90) for _ in range(level)))", "return Sum([1] * level)", "source",
         "no hash", "def draw"),
        ("sum(instance.numbers)", "str(len(instance.numbers))", "", "there are no choices", "answer=lambda"),
        ("sum(instance.numbers)", "sum(instance.numbers) / 2", "", "the right answer is", "answer=lambda"),
        ("sum(instance.numbers)", "instance.total", "", "raised AttributeError", "instance.total"),
        ('return f"What', 'f"What', "", "the prompt is None", "def prompt"),
        ("tuple[int, ...]", "list[int]", "", "Sum.numbers has a type", "@dataclass"),
        ("len(instance.numbers),", "len(instance.numbers) + 1,", "source", "of level 3 for level 2", "def draw"),
    ],
)  # fmt: skip
def test_a_defect_is_one_problem_in_the_author_s_file(
    tmp_path: Path, old: str, new: str, check: str, problem: str, line: str
) -> None:
    assert old in SUMS
    path = tmp_path / f"sums_{tmp_path.name}.py"
    path.write_text(SUMS.replace(old, new, 1))
    [breach] = find_breaches(find_environment(str(path)))
    assert problem in breach.problem
    assert breach.check == (check or breach.check)
    assert breach.location is not None and breach.location.path == str(path)
    assert line in path.read_text().splitlines()[breach.location.line - 1]
    others = [ADVICE[name] for name in ("horizon", "options", "presentation")]
    assert breach.advice.endswith(".") and not any(text in breach.advice for text in others)


def test_a_choice_of_two_has_no_horizon(tmp_path: Path) -> None:
    path = tmp_path / "sums_that_are_even.py"
    even = (
        "answer=lambda instance: ('odd', 'even')[sum(instance.numbers) % 2], choices=lambda instance: ('odd', 'even')"
    )
    path.write_text(SUMS.replace("answer=lambda instance: sum(instance.numbers)", even))
    [breach] = find_breaches(find_environment(str(path)))
    assert breach.check == "horizon"
    assert "of 2 answers to choose from" in breach.problem and "leave the horizon out" in breach.problem
    assert "competent" not in breach.problem
    assert breach.location is not None and breach.location.path == str(path)


@pytest.mark.parametrize(
    ("old", "new", "check", "problem"),
    [
        (
            "10 + rng.below(90)",
            "(10 + rng.below(90) if level < 50 else 1 // 0)",
            "levels",
            "level 50, the highest_level",
        ),
        ("horizon=(2, 4, 8, 16, 32)", "horizon=(2, 4, 64)", "horizon", "level 64, which is searched for a horizon,"),
        ("horizon=(2, 4, 8, 16, 32)", "horizon=(1, 2, 4)", "horizon", "level 1, which is searched for a horizon,"),
    ],
)
def test_levels_that_are_declared_exist(tmp_path: Path, old: str, new: str, check: str, problem: str) -> None:
    path = tmp_path / f"sums_{tmp_path.name}.py"
    path.write_text(SUMS.replace(old, new))
    [breach] = find_breaches(find_environment(str(path)))
    assert (breach.check, problem in breach.problem) == (check, True)


def test_items_do_not_depend_on_other_environments() -> None:
    first, second = places(WHERE), places(replace(OPEN))
    assert first.source("k", 3).item(4) == second.source("k", 3).item(4)
    assert first.source("k", 3).item(4).instance == Where(*_drawn(Stream("test/places", "k", 3, 4), 3))  # by key alone


def _drawn(rng: Stream, level: int) -> tuple[int, tuple[tuple[str, bool], ...]]:
    return rng.below(len(PLACES)), tuple(("x", rng.below(2) == 1) for _ in range(level))
