"""Questions: episodes of one turn, and belief probes of what a player knows in the middle of an episode."""

import json
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple

from waybench.core._game import NOTHING, A, End, Game, GameProperties, I, Json, Outcome, S, Stream, Transition
from waybench.core._json import is_array
from waybench.core._json_reply import json_excerpt, last_object
from waybench.core._wording import Invalid, Wording

MOST_NUMBERS = 20_000  # in one answer
MOST_CHARACTERS = 200_000  # of the rows in one answer
_INTRODUCTION = (
    "Before you go on, answer a question. It is no turn, nothing happens, and neither the question nor your answer "
    "will be shown again."
)


@dataclass(frozen=True, slots=True)
class AnswerState(Generic[I]):
    """A question and the outcome of the answer.

    Attributes:
        instance: The question.
        end: None before the answer.
    """

    instance: I
    end: End | None = None


class Judgement(NamedTuple):
    """The score of an answer.

    Attributes:
        success: 1 for a right answer.
        events: Further events to record.
        outcome: The outcome of a wrong answer.
    """

    success: float
    events: Mapping[str, Json] = NOTHING
    outcome: Outcome = Outcome.UNPRODUCTIVE


class OneAnswerGame(Game[I, AnswerState[I], A]):
    """A game of one turn: it is solved if the answer has success 1."""

    properties = GameProperties(deterministic=True, turns=1)

    @abstractmethod
    def answers(self, instance: I) -> Sequence[A]:
        """Return the simplest answers to a question."""

    @abstractmethod
    def judge(self, instance: I, answer: A) -> Judgement:
        """Score an answer."""

    def start(self, instance: I) -> AnswerState[I]:
        """Return the state before the answer."""
        return AnswerState(instance)

    def legal(self, state: AnswerState[I]) -> Sequence[A]:
        """Return the simplest answers; empty after the answer."""
        return () if state.end is not None else self.answers(state.instance)

    def apply(self, state: AnswerState[I], action: A, rng: Stream) -> Transition[AnswerState[I]]:
        """Judge an answer."""
        success, events, outcome = self.judge(state.instance, action)
        right = success == 1
        after = AnswerState(state.instance, End.SOLVED if right else End.FAILED)
        return Transition(after, success, {"success": success, **events}, Outcome.OK if right else outcome)

    def forfeit(self, state: AnswerState[I]) -> AnswerState[I]:
        """Count an answer that cannot be read as wrong."""
        return AnswerState(state.instance, End.FAILED)

    def terminal(self, state: AnswerState[I]) -> End | None:
        """Return the end of the game; None before the answer."""
        return state.end


class OneAnswerWording(Wording[I, AnswerState[I], A]):
    """A wording with the whole prompt in the rules, and feedback after the answer."""

    def observe(self, state: AnswerState[I], last: Transition[AnswerState[I]] | Invalid | None, turn: int) -> str:
        """Return an empty text before the answer, and the feedback after it."""
        if last is None:
            return ""
        if isinstance(last, Invalid):
            return last.reason
        return "Right." if last.events["success"] == 1 else "Wrong."


def _always(options: Mapping[str, Json], state: Any) -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief(Generic[S]):
    """A question for a part of the state that follows from what the player has been shown.

    Attributes:
        name: Its name, unique in its environment; also the key of the JSON object that answers it.
        title: Its name for people.
        doc: What is asked for, in a sentence.
        question: The question, in the terms of the prompts.
        form: What the answer's value looks like, for the player, such as "[x, y]".
        expected: State -> the right value, as JSON values.
        read: A value of a player's JSON -> the same as `expected` would write it, or why it is no answer; see
            `read_numbers`, `read_lists` and `read_rows`.
        is_shown: (resolved options of play, state) -> whether the value follows from what the player has been shown;
            otherwise it is not asked for. By default it always does.
        share: (expected, answer) -> the share of the answer that is right, where that is natural; None if an answer is
            right or wrong as a whole.
    """

    name: str
    title: str
    doc: str
    question: str
    form: str
    expected: Callable[[S], Json]
    read: Callable[[Json], Json | Invalid]
    is_shown: Callable[[Mapping[str, Json], S], bool] = _always
    share: Callable[[Json, Json], float] | None = None

    @property
    def text(self) -> str:
        """What the player is asked."""
        return f'{_INTRODUCTION}\n{self.question}\nAnswer only with JSON of the form {{"{self.name}": {self.form}}}.'

    def parse(self, reply: str) -> Json | Invalid:
        """Read the last JSON object with the probe's name as a key in a reply (`last_object`).

        Args:
            reply: The raw reply, whatever it is.

        Returns:
            The value, or why there is none.
        """
        answer = last_object(reply, self.name, unique=True)
        return answer if isinstance(answer, Invalid) else self.read(answer[self.name])

    def render(self, value: Json) -> str:
        """Return a value as a reply in the requested form."""
        return json.dumps({self.name: value})


def read_numbers(value: Json, count: int | None = None) -> list[int] | Invalid:
    """Read a list of whole numbers.

    Args:
        value: A value of a player's JSON.
        count: How many there have to be; None for any number up to `MOST_NUMBERS`.
    """
    if not is_array(value):
        return Invalid(f"The answer must be a list of whole numbers, not {json_excerpt(value)}.")
    if len(value) > MOST_NUMBERS or (count is not None and len(value) != count):
        wanted = f"{count}" if count is not None else f"at most {MOST_NUMBERS}"
        return Invalid(f"The list has {len(value)} values in place of {wanted}.")
    numbers: list[int] = []
    for element in value:
        number = int(element) if type(element) is float and element.is_integer() and abs(element) < 1e18 else element
        if type(number) is not int:
            return Invalid(f"The list has {json_excerpt(element)} in place of a whole number.")
        numbers.append(number)
    return numbers


def read_lists(value: Json, count: int) -> list[list[int]] | Invalid:
    """Read some lists of whole numbers.

    Args:
        value: A value of a player's JSON.
        count: How many lists there have to be.
    """
    if not is_array(value) or len(value) != count:
        return Invalid(f"The answer must be {count} lists of whole numbers.")
    lists: list[list[int]] = []
    for element in value:
        numbers = read_numbers(element)
        if isinstance(numbers, Invalid):
            return numbers
        lists.append(numbers)
    return lists


def read_rows(value: Json) -> list[str] | Invalid:
    """Read a drawing as a list of rows, each a text."""
    if not is_array(value) or not all(isinstance(row, str) for row in value):
        return Invalid("The answer must be a list of rows, each a text.")
    if len(value) > MOST_NUMBERS or sum(map(len, value)) > MOST_CHARACTERS:
        return Invalid(f"The drawing has more than {MOST_CHARACTERS} characters.")
    return list(value)


def share_of_cells(expected: list[str], answer: list[str]) -> float:
    """Return the share of the cells of a drawing that are right; cells that the answer lacks are wrong.

    Args:
        expected: The rows of the right drawing.
        answer: The rows of the answer.
    """
    lines = zip(expected, answer, strict=False)
    right = sum(sign == other for row, drawn in lines for sign, other in zip(row, drawn, strict=False))
    return right / max(sum(map(len, expected)), 1)
