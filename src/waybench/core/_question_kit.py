"""Environments of one question and one answer (`Question`)."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Generic, TypeVar, cast

from waybench.core._choices import LONGEST_REPLY
from waybench.core._datasets import DataInstance, HorizonSpec
from waybench.core._environment import Environment
from waybench.core._errors import DataError, KitError
from waybench.core._game import I, Json, Limits, Stream
from waybench.core._items import KeyedSource, empty_proof
from waybench.core._json import MAX_DIGITS
from waybench.core._metrics import Metric, level_axis
from waybench.core._one_answer import AnswerState, Judgement, OneAnswerGame, OneAnswerWording
from waybench.core._parts import Difficulty, Items, Players, Playing, Scoring
from waybench.core._play import Play
from waybench.core._presentation import Presentation
from waybench.core._record import EpisodeRecord
from waybench.core._replies import fold_typography, normalize_name
from waybench.core._texts import ENGLISH_NAME, QUESTION_TEXTS, Texts, TextTables, kit_tables, texts_in
from waybench.core._wording import ActionTool, Field, Invalid, ToolCall

R = TypeVar("R", str, int)  # an answer to a `Question`
Q = TypeVar("Q", bound=DataInstance)  # what it is asked of
LONGEST_ANSWER = 200  # characters
_LONGEST_LINE = 1_000  # characters; a longer line is no answer
_MARKS = " \t.,;:!?\"'`*_()[]{}<>"  # characters that may stand around an answer
_BEFORE_LABEL = r"^[ \t*_`#>\"'(\[]*+"
_AFTER_LABEL = r"[ \t*_`]*+[:\uff1a](.*)$"
_ENGLISH_LABEL = "(?:(?:the|my|final) )*+answer(?: is)?"
_ENGLISH = texts_in(ENGLISH_NAME, QUESTION_TEXTS)
_NUMBER = re.compile(rf"-?[0-9]{{1,{MAX_DIGITS}}}")


@lru_cache(maxsize=64)
def _answer_label_pattern(label: str) -> re.Pattern[str]:
    """Return the pattern of a line that begins with a label such as "answer:"; its group is the rest of the line.

    A few words may surround a label in other languages, as in "mi respuesta final es:".
    """
    translated_label = rf"(?:\w+ ){{0,2}}{re.escape(label)}(?: \w+){{0,2}}"
    labels = _ENGLISH_LABEL if label == "answer" else f"(?:{_ENGLISH_LABEL}|{translated_label})"
    return re.compile(_BEFORE_LABEL + labels + _AFTER_LABEL, re.I | re.M)


def candidate_answer_lines(reply: str, texts: Texts = _ENGLISH) -> list[str] | Invalid:
    """Return the lines of a reply that can be its answer, with typography normalized.

    The last line comes first, without "answer:" if it begins with that. If it does not, the text after "answer:" in the
    last line that does comes second. "answer:" can be in English or in the language of the texts. Lines without letters
    and digits, such as the end of a code block, are ignored.

    The reply is without its reasoning; `texts` are those of the question.
    """
    if len(reply) > LONGEST_REPLY:
        return Invalid(texts.fill("reply.long", count=len(reply), most=LONGEST_REPLY))
    label_pattern = _answer_label_pattern(texts["form.label"])
    last_line = next((line for line in reversed(reply.splitlines()) if line.strip(_MARKS)), "")
    if label := label_pattern.match(last_line):
        lines = [label[1]]
    else:
        labelled_answers = [label[1] for label in label_pattern.finditer(reply)]
        lines = [last_line, *labelled_answers[-1:]]
    return [fold_typography(line) if len(line) <= _LONGEST_LINE else "" for line in lines]


@dataclass(frozen=True)  # with slots, Python 3.11 cannot call Question[...]
class Question(Generic[I, R]):
    """A question with one answer, a text or a whole number; `question_environment` makes an environment of it.

    A reply may have any length: its last line is read, or if that is no answer the text after the last "answer:"
    (`candidate_answer_lines`). Differences of case, width, blanks, typography and marks around the answer do not count.
    Where any text is an answer (`is_open`), the text after "answer:" is read first.

    Attributes:
        prompt: Instance -> the question; with `texts` (instance, texts in the language of play) -> the question. A
            sentence on how to reply is added to it.
        answer: Instance -> the right answer, or the best of them.
        judge: (instance, answer) -> the success of an answer, from 0 to 1, which is 1 for the right one. By default the
            success of all other answers is 0. Where only choices are answers, it is called with choices alone.
        choices: Instance -> the answers to choose from, the right one among them. The prompt lists them; for numbers
            and with `is_open` they are only the answers that a random player guesses from. Needed for texts. For
            numbers, by default all numbers with at most as many digits as the right one.
        is_open: Whether texts that are no choices are answers, too. Then the prompt does not list the choices.
        texts: The texts by language, English first: language -> name -> text. `prompt` can use any of them;
            "choice.NAME" is the text of the choice NAME, by default NAME in every language.
    """

    prompt: Callable[[I], str] | Callable[[I, Texts], str]
    answer: Callable[[I], R]
    judge: Callable[[I, R], float] | None = None
    choices: Callable[[I], Sequence[R]] | None = None
    is_open: bool = False
    texts: TextTables = field(default_factory=dict[str, Mapping[str, str]])

    @property
    def texts_by_language(self) -> TextTables:
        """All texts by language, for `Playing.texts`; {} if the question is in English only."""
        return kit_tables(QUESTION_TEXTS, {}, self.texts) if self.texts else {}

    def question_text(self, instance: I, texts: Texts) -> str:
        """Return the question; raise a KitError if it is no text."""
        ask: Callable[..., str] = self.prompt
        text = ask(instance, texts) if self.texts else ask(instance)
        if type(text) is not str or not text.strip():
            raise KitError(f"the prompt is {text!r:.80}", "return a text", self.prompt)
        return text

    def right_answer(self, instance: I) -> Any:
        """Return the right answer; raise a KitError if it is neither a text nor a whole number."""
        right_answer: object = self.answer(instance)
        if type(right_answer) not in (str, int):
            raise KitError(f"the right answer is {right_answer!r:.80}", "return a text or a whole number", self.answer)
        return right_answer

    def possible_answers(self, instance: I) -> Sequence[Any]:
        """Return the choices; without choices, all numbers with at most as many digits as the right one.

        Negative numbers are among them only if the right answer is negative.

        Raises:
            KitError: If the right answer is none of the choices, or is a text and there are none.
        """
        right = self.right_answer(instance)
        if self.choices is not None:
            choices = self.choices(instance)
            if right not in choices:
                raise KitError(f"the right answer {right!r:.80} is no choice", "list it in choices", self.answer)
            return choices
        if isinstance(right, str):
            raise KitError("the right answer is a text, and there are no choices", "give choices", self.answer)
        upper_end = 10 ** len(str(abs(right)))
        return range(1 - upper_end if right < 0 else 0, upper_end)

    def success_of(self, instance: I, answer: R) -> float:
        """Return the success of an answer, from 0 to 1; 0 for another type than that of the right one, or no choice."""
        right = self.right_answer(instance)
        if type(answer) is not type(right):
            return 0.0
        only_choices_are_answers = isinstance(right, str) and not self.is_open
        if only_choices_are_answers and answer not in self.possible_answers(instance):
            return 0.0
        if self.judge is not None:
            success: Any = self.judge(instance, answer)
            if not isinstance(success, int | float) or not 0 <= success <= 1 or (answer == right and success != 1):
                raise KitError(
                    f"the success of {answer!r:.80} is {success!r:.80}",
                    "return 0 to 1, and 1 for the right answer",
                    self.judge,
                )
            return float(success)
        if isinstance(answer, str) and isinstance(right, str):
            return float(normalize_name(answer) == normalize_name(right))
        return float(answer == right)

    def answer_text(self, answer: R, texts: Texts) -> str:
        """Return an answer as text in a language."""
        return texts.table.get(f"choice.{answer}", str(answer))

    def reply_instruction(self, instance: I, texts: Texts) -> str:
        """Return the sentence that says how to reply."""
        right = self.right_answer(instance)
        if isinstance(right, int):
            return texts["form.number"]
        if self.is_open:
            return texts["form.open"]
        words = [self.answer_text(choice, texts) for choice in self.possible_answers(instance)]
        return texts.fill("form.choices", choices=", ".join(words))

    def parse_answer(self, text: str, instance: I, texts: Texts) -> Any:
        """Return the answer that a line of `candidate_answer_lines` consists of; `Invalid` if it is no answer."""
        right, bare_text = self.right_answer(instance), text.strip(_MARKS)
        if isinstance(right, int):
            return int(bare_text) if _NUMBER.fullmatch(bare_text) else Invalid(self.reply_instruction(instance, texts))
        choice_by_name = {
            normalize_name(self.answer_text(choice, texts)): choice for choice in self.possible_answers(instance)
        }
        if (choice := choice_by_name.get(normalize_name(text))) is not None:
            return choice
        bare_name = normalize_name(bare_text)
        choices = [choice for name, choice in choice_by_name.items() if name.strip(_MARKS) == bare_name]
        if bare_text and len(choices) == 1:  # choices that differ in their marks alone are ambiguous
            return choices[0]
        if self.is_open and 1 <= len(bare_text) <= LONGEST_ANSWER and bare_text.isprintable():
            return bare_text
        return Invalid(self.reply_instruction(instance, texts))


class QuestionGame(OneAnswerGame[I, Any]):
    """The rules of a question: an answer is a text or a whole number."""

    def __init__(self, question: Question[I, Any]) -> None:
        self._question = question

    def answers(self, instance: I) -> Sequence[Any]:
        """Return the answers that a random player guesses from."""
        return self._question.possible_answers(instance)

    def judge(self, instance: I, answer: Any) -> Judgement:
        """Return the success of an answer."""
        return Judgement(self._question.success_of(instance, answer))

    def encode(self, action: Any) -> Json:
        """Return the answer."""
        return action

    def decode(self, action: Json) -> Any:
        """Read what `encode` wrote."""
        if type(action) is int and abs(action) < 10**MAX_DIGITS:
            return action
        if isinstance(action, str) and 1 <= len(action) <= LONGEST_ANSWER and action.isprintable():
            return action
        raise DataError(f"action: give a whole number, or a text in one line of at most {LONGEST_ANSWER} characters")


class QuestionWording(OneAnswerWording[I, Any]):
    """The words of a question: its prompt, and how to reply."""

    def __init__(self, question: Question[I, Any], texts: Texts) -> None:
        self._question, self.texts = question, texts
        self.rule_fields = (
            Field[I]("question", "The question.", lambda instance: question.question_text(instance, texts)),
            Field[I](
                "form", "How to reply, in a sentence.", lambda instance: question.reply_instruction(instance, texts)
            ),
        )

    def in_language(self, texts: Texts) -> "QuestionWording[I]":
        """Return the same wording with other texts."""
        return QuestionWording(self._question, texts)

    def rules(self, instance: I) -> str:
        """Return the question, and how to reply."""
        question, texts = self._question, self.texts
        return f"{question.question_text(instance, texts)}\n{question.reply_instruction(instance, texts)}"

    def parse(self, reply: str, state: AnswerState[I]) -> Any:
        """Return the answer in a reply (`candidate_answer_lines`), or `Invalid`."""
        lines = candidate_answer_lines(reply, self.texts)
        if isinstance(lines, Invalid):
            return lines
        answers = [self._question.parse_answer(line, state.instance, self.texts) for line in lines]
        if self._question.is_open:  # any last line would be an answer: a labelled one, which is last, goes first
            return answers[-1]
        return next((answer for answer in answers if not isinstance(answer, Invalid)), answers[-1])

    def render(self, action: Any, state: AnswerState[I]) -> str:
        """Return the answer as text."""
        return self._question.answer_text(action, self.texts)

    def tools(self, state: AnswerState[I]) -> Sequence[ActionTool]:
        """Return the tool that takes the answer."""
        question, instance = self._question, state.instance
        schema: dict[str, Json] = {"type": "string", "description": self.texts["tool.argument"]}
        if isinstance(question.right_answer(instance), int):
            schema["type"] = "integer"
        elif not question.is_open:
            schema["enum"] = [
                question.answer_text(choice, self.texts) for choice in question.possible_answers(instance)
            ]
        return (ActionTool("answer", self.texts["tool.description"], {"answer": schema}),)

    def parse_call(self, call: ToolCall, state: AnswerState[I]) -> Any:
        """Return the answer of a call, or `Invalid`."""
        text = str(call.arguments["answer"])
        return self._question.parse_answer(fold_typography(text[:_LONGEST_LINE]), state.instance, self.texts)

    def render_call(self, action: Any, state: AnswerState[I]) -> ToolCall:
        """Return the call with an answer."""
        return ToolCall("answer", {"answer": action if type(action) is int else self.render(action, state)})


class DrawnSource(KeyedSource[Q]):
    """A source whose instances a function `draw` (random stream, level) draws."""

    def __init__(
        self,
        env_id: str,
        draw: Callable[[Stream, int], Q],
        level_of: Callable[[Q], int],
        key: str,
        level: int,
        prove: Callable[[Q], Mapping[str, Json]],
    ) -> None:
        super().__init__(key, level, prove)
        self._env_id, self._draw, self._level_of = env_id, draw, level_of

    def instance(self, index: int) -> Q:
        """Return the instance of this number, from 0; raise a KitError if `draw` returns no instance of the level."""
        drawn: Any = self._draw(Stream(self._env_id, self.key, self.level, index), self.level)
        if not isinstance(drawn, DataInstance):
            raise KitError(f"draw returned {drawn!r:.80}", "return an instance", self._draw)
        try:
            hash(drawn)
        except TypeError as error:
            raise KitError(f"draw returned an instance that has no hash ({error})", "use tuples", self._draw) from None
        if (level := self._level_of(cast("Q", drawn))) != self.level:
            raise KitError(
                f"draw returned an instance of level {level!r:.80} for level {self.level}",
                "return one for which level_of gives the level",
                self._draw,
            )
        return cast("Q", drawn)


def question_environment(
    question: Question[Q, R],
    instance: type[Q],
    draw: Callable[[Stream, int], Q],
    level_of: Callable[[Q], int],
    *,
    id: str,
    title: str,
    about: str,
    sample_levels: tuple[int, ...],
    highest_level: int,
    public_key: str,
    level: str = "level",
    level_doc: str = "The level of the question.",
    horizon: tuple[int, ...] = (),
    heuristic: Callable[[Q], R] | None = None,
    prove: Callable[[Q], Mapping[str, Json]] = empty_proof,
    version: int = 1,
) -> Environment[Q, AnswerState[Q], Any]:
    """Return the environment of a question, which is solved by an answer whose success is 1.

    Change parts of the environment with `dataclasses.replace`.

    Args:
        question: The question.
        instance: The class of instances.
        draw: (stream of random numbers, level) -> an instance of this level.
        level_of: Instance -> its level.
        id: "family/variant".
        title: Its name for people.
        about: What it measures and how.
        sample_levels: A few levels for tests and demonstrations, the easiest of all first.
        highest_level: The hardest level.
        public_key: The key of its public set.
        level: What the level counts, in the plural: "turns". It is the name of the axis of difficulty.
        level_doc: The description of this axis, in a sentence.
        horizon: The levels on which a model's horizon is searched for; empty if there is no such search. A random
            player must answer at most half of the questions of the two easiest levels.
        heuristic: Instance -> the answer of a simple player; by default the player guesses.
        prove: Instance -> what is known of its solution, as JSON values; by default nothing is.
        version: Raised whenever a score can move.
    """
    lowest = sample_levels[0]
    english = texts_in(ENGLISH_NAME, kit_tables(QUESTION_TEXTS, {}, question.texts))

    def decode_question(data: Json) -> Q:
        """Return an instance from JSON; raise a DataError if it has no such level or no answer."""
        decoded = instance.from_json(data)
        try:
            if not lowest <= level_of(decoded) <= highest_level:
                raise DataError(f"instance: its level is not from {lowest} to {highest_level}")
            question.question_text(decoded, english)
            question.possible_answers(decoded)
        except (ArithmeticError, LookupError, ValueError, KitError) as error:  # of fields of the right types
            raise DataError(f"instance: there is no such question ({type(error).__name__})") from error
        return decoded

    def oracle(state: AnswerState[Q], rng: Stream) -> Any:
        """Return the right answer."""
        return question.right_answer(state.instance)

    def heuristic_player(state: AnswerState[Q], rng: Stream) -> Any:
        """Return the answer of `heuristic`; without it, a guess."""
        return rng.choice(question.possible_answers(state.instance)) if heuristic is None else heuristic(state.instance)

    play: Play[Q, AnswerState[Q], Any] = Play(
        QuestionGame(question), QuestionWording(question, english), Limits(turns=1)
    )
    return Environment(
        id=id,
        version=version,
        title=title,
        about=about,
        items=Items(
            make_source=lambda key, level, options: DrawnSource(id, draw, level_of, key, level, prove),
            decode=decode_question,
            public_key=public_key,
            sample_levels=sample_levels,
            highest_level=highest_level,
            level_of=level_of,
            prove=prove,
        ),
        playing=Playing(play=lambda options: play, takes_context=True, texts=question.texts_by_language),
        scoring=Scoring(metrics=(_SCORE,)),
        difficulty=Difficulty(
            axes=(level_axis(level, level_doc),) if horizon else (),
            success="the answer is right" if horizon else "",
            horizon=HorizonSpec(levels=horizon) if horizon else None,
        ),
        players=Players(
            policies={"oracle": oracle, "heuristic": heuristic_player}, oracle_is_ceiling=lambda record: True
        ),
        presentation=Presentation(level=level, levels=level, item="question", metrics=("score",)),
    )


def _success_of_answer(record: EpisodeRecord) -> float:
    """Return the success of the last answer of a record; 0 without a turn."""
    return float(record.turns[-1].events.get("success", 0.0)) if record.turns else 0.0


_SCORE = Metric(
    name="score",
    of=_success_of_answer,
    title="Score",
    doc="The success of the answer: 1 for a right one, 0 for one that cannot be read.",
    low=0,
    high=1,
)
