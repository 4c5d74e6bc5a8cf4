"""Belief probes: questions about what a player knows in the middle of an episode."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic

from waybench.core._game import Json, S
from waybench.core._json import MAX_DIGITS, is_array
from waybench.core._json_reply import json_excerpt, last_json_object
from waybench.core._wording import Invalid

MOST_NUMBERS = 20_000  # in one answer
MOST_CHARACTERS = 200_000  # of the rows in one answer
_INTRODUCTION = (
    "Before you go on, answer a question. It is no turn, nothing happens, and neither the question nor your answer "
    "will be shown again."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief(Generic[S]):
    """A question about a part of the state that follows from what the player has been shown.

    Attributes:
        name: Its name, unique in its environment; also the key of the JSON object that answers it.
        title: Its name for people.
        doc: The value that is asked for, in a sentence.
        question: The question, in the terms of the prompts.
        form: The form of the answer's value, for the player, such as "[x, y]".
        expected: State -> the right value, as JSON values.
        read: A value of a player's JSON -> the value in the form of `expected`, or why it is no answer; see
            `read_numbers`, `read_number_lists` and `read_drawing_rows`.
        is_shown: (resolved options of play, state) -> whether the value follows from what the player has been shown.
            Where it does not, the question is not asked. By default it always follows.
        share: (expected, answer) -> the share of the answer that is right; None if an answer is right or wrong as a
            whole.
    """

    name: str
    title: str
    doc: str
    question: str
    form: str
    expected: Callable[[S], Json]
    read: Callable[[Json], Json | Invalid]
    is_shown: Callable[[Mapping[str, Json], S], bool] = lambda options, state: True
    share: Callable[[Json, Json], float] | None = None

    @property
    def text(self) -> str:
        """The question to the player, with the requested form of its answer."""
        return f'{_INTRODUCTION}\n{self.question}\nAnswer only with JSON of the form {{"{self.name}": {self.form}}}.'

    def parse(self, reply: str) -> Json | Invalid:
        """Return the value of the probe's name in the last JSON object of a reply, or why there is none."""
        answer = last_json_object(reply, self.name, unique=True)
        return answer if isinstance(answer, Invalid) else self.read(answer[self.name])

    def render(self, value: Json) -> str:
        """Return an answer as a reply in the requested form."""
        return json.dumps({self.name: value})


def read_numbers(value: Json, count: int | None = None) -> list[int] | Invalid:
    """Return a list of whole numbers from a player's JSON value, or why it is none.

    `count` is the length that the list must have; None for any length up to `MOST_NUMBERS`.
    """
    if not is_array(value):
        return Invalid(f"The answer must be a list of whole numbers, not {json_excerpt(value)}.")
    if len(value) > MOST_NUMBERS or (count is not None and len(value) != count):
        wanted = f"{count}" if count is not None else f"at most {MOST_NUMBERS}"
        return Invalid(f"The list has {len(value)} values in place of {wanted}.")
    numbers: list[int] = []
    for element in value:
        is_whole_float = type(element) is float and element.is_integer() and abs(element) < 10**MAX_DIGITS
        number = int(element) if is_whole_float else element
        if type(number) is not int:
            return Invalid(f"The list has {json_excerpt(element)} in place of a whole number.")
        numbers.append(number)
    return numbers


def read_number_lists(value: Json, count: int) -> list[list[int]] | Invalid:
    """Return `count` lists of whole numbers from a player's JSON value, or why they are none."""
    if not is_array(value) or len(value) != count:
        return Invalid(f"The answer must be {count} lists of whole numbers.")
    lists: list[list[int]] = []
    for element in value:
        numbers = read_numbers(element)
        if isinstance(numbers, Invalid):
            return numbers
        lists.append(numbers)
    return lists


def read_drawing_rows(value: Json) -> list[str] | Invalid:
    """Return the rows of a drawing from a player's JSON value, or why it has none."""
    if not is_array(value) or not all(isinstance(row, str) for row in value):
        return Invalid("The answer must be a list of rows, each a text.")
    if len(value) > MOST_NUMBERS or sum(map(len, value)) > MOST_CHARACTERS:
        return Invalid(f"The drawing has more than {MOST_CHARACTERS} characters.")
    return list(value)


def share_of_right_cells(expected: list[str], answer: list[str]) -> float:
    """Return the share of the cells of the expected drawing that an answer has right; both are rows of characters."""
    n_right = 0
    for expected_row, row in zip(expected, answer, strict=False):
        n_right += sum(expected_cell == cell for expected_cell, cell in zip(expected_row, row, strict=False))
    return n_right / max(sum(map(len, expected)), 1)
