"""Episodes of one turn, and environments of one question and one answer (`Question`)."""

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from waybench.core._choices import LONGEST_REPLY
from waybench.core._data_instance import DataInstance
from waybench.core._datasets import HorizonSpec
from waybench.core._environment import Environment
from waybench.core._errors import DataError
from waybench.core._game import (
    NOTHING,
    A,
    End,
    Game,
    GameProperties,
    I,
    Json,
    Limits,
    Outcome,
    Stream,
    Transition,
)
from waybench.core._items import KeyedSource, nothing_known
from waybench.core._json import MAX_DIGITS
from waybench.core._metrics import Metric, level_axis
from waybench.core._parts import Difficulty, Items, Players, Playing, Scoring
from waybench.core._play import Play
from waybench.core._presentation import Presentation
from waybench.core._record import EpisodeRecord
from waybench.core._replies import fold_typography, normal_name
from waybench.core._wording import ActionTool, Field, Invalid, ToolCall, Wording


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
        return self.texts["answer.right" if last.events["success"] == 1 else "answer.wrong"]


R = TypeVar("R", str, int)  # an answer to a `Question`
Q = TypeVar("Q", bound=DataInstance)  # what it is asked of
LONGEST_ANSWER = 200  # characters
_LONGEST_LINE = 1_000  # characters of a line that is read
_MARKS = " \t.,;:!?\"'`*_()[]{}<>"  # around an answer, which they do not change
_LABELLED = re.compile(r"^[ \t*_`#>\"'(\[]*+(?:(?:the|my|final) )*+answer(?: is)?[ \t*_`]*+[:\uff1a](.*)$", re.I | re.M)
_NUMBER = re.compile(rf"-?[0-9]{{1,{MAX_DIGITS}}}")


def answer_lines(reply: str) -> list[str] | Invalid:
    """Return where the answer of a reply can stand, without differences of width, blanks and typography.

    These are the last line, without "answer:" at its start, and if it has none what follows "answer:" in the last line
    that begins with it. Lines of marks alone, such as the end of a code block, are passed over.

    Args:
        reply: The reply, without its reasoning.
    """
    if len(reply) > LONGEST_REPLY:
        return Invalid(f"The reply has {len(reply)} characters; at most {LONGEST_REPLY} are read.")
    last = next((line for line in reversed(reply.splitlines()) if line.strip(_MARKS)), "")
    labelled: str | None = None
    for match in _LABELLED.finditer(reply):
        labelled = match[1]
    own_label = _LABELLED.match(last)
    lines = [own_label[1]] if own_label else [last] if labelled is None else [last, labelled]
    return [fold_typography(line) if len(line) <= _LONGEST_LINE else "" for line in lines]


@dataclass(frozen=True)  # with slots, Python 3.11 cannot call Question[...]
class Question(Generic[I, R]):
    """A question with one answer, a text or a whole number; `question_environment` makes an environment of it.

    A reply may have any length: what counts is its last line, or if that is no answer what follows the last "answer:"
    (`answer_lines`). It has to be the answer and nothing else, up to case, width, blanks, typography and the marks
    around it. Where any text is an answer (`is_open`), "answer:" comes first.

    Attributes:
        prompt: Instance -> the question. How to reply is added to it.
        answer: Instance -> the right answer, or the best of them.
        judge: (instance, answer) -> the success of an answer, from 0 to 1, which is 1 for the right one. By default
            only the right answer has any. It is called with choices alone, where other texts are no answers.
        choices: Instance -> the answers to choose from, which the prompt lists, or for numbers and with `is_open` those
            that a random player guesses; the right one is among them. Texts need them. Numbers have by default all
            those with as many digits as the right one, or fewer.
        is_open: Whether texts that are no choices are answers, too. Then the prompt does not list the choices.
    """

    prompt: Callable[[I], str]
    answer: Callable[[I], R]
    judge: Callable[[I, R], float] | None = None
    choices: Callable[[I], Sequence[R]] | None = None
    is_open: bool = False

    def guesses(self, instance: I) -> Sequence[Any]:
        """Return the choices, or by default the numbers with as many digits as the right one.

        Raises:
            TypeError: If the right answer is a text, and there are no choices.
        """
        if self.choices is not None:
            return self.choices(instance)
        right = self.answer(instance)
        if not isinstance(right, int):
            raise TypeError("Question: give choices, since the answer is a text")
        most = 10 ** len(str(abs(right)))
        return range(1 - most if right < 0 else 0, most)

    def score(self, instance: I, answer: R) -> float:
        """Return the success of an answer; what is no answer to this question has none."""
        right = self.answer(instance)
        if type(answer) is not type(right) or (self._is_closed(right) and answer not in self.guesses(instance)):
            return 0.0
        if self.judge is not None:
            return self.judge(instance, answer)
        if isinstance(answer, str) and isinstance(right, str):
            return float(normal_name(answer) == normal_name(right))
        return float(answer == right)

    def _is_closed(self, right: str | int) -> bool:
        return isinstance(right, str) and not self.is_open

    def form(self, instance: I) -> str:
        """Return how to reply, in a sentence."""
        right = self.answer(instance)
        if isinstance(right, int):
            what = "a whole number in digits, and nothing else"
        elif self.is_open:
            what = "your answer, and nothing else"
        else:
            what = f"one of these answers, and nothing else: {', '.join(self.guesses(instance))}"
        return f"The last line of your reply has to be {what}."

    def read(self, text: str, instance: I) -> Any:
        """Read the answer that a text is, and nothing else.

        Args:
            text: One line, as `answer_lines` returns it.
            instance: What is asked.

        Returns:
            The answer, or as `Invalid` why there is none.
        """
        right, plain = self.answer(instance), text.strip(_MARKS)
        if isinstance(right, int):
            return int(plain) if _NUMBER.fullmatch(plain) else Invalid(self.form(instance))
        by_name = {normal_name(choice): choice for choice in self.guesses(instance)}
        if (choice := by_name.get(normal_name(text))) is not None:
            return choice
        same = [choice for name, choice in by_name.items() if name.strip(_MARKS) == normal_name(plain)]
        if plain and len(same) == 1:
            return same[0]
        if self.is_open and 1 <= len(plain) <= LONGEST_ANSWER and plain.isprintable():
            return plain
        return Invalid(self.form(instance))


class QuestionGame(OneAnswerGame[I, Any]):
    """The rules of a question: an answer is a text or a whole number."""

    def __init__(self, question: Question[I, Any]) -> None:
        self._question = question

    def answers(self, instance: I) -> Sequence[Any]:
        """Return what a random player guesses."""
        return self._question.guesses(instance)

    def judge(self, instance: I, answer: Any) -> Judgement:
        """Score an answer."""
        return Judgement(self._question.score(instance, answer))

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

    def __init__(self, question: Question[I, Any]) -> None:
        self._question = question
        self.rule_fields = (
            Field[I]("question", "The question.", question.prompt),
            Field[I]("form", "How to reply, in a sentence.", question.form),
        )

    def rules(self, instance: I) -> str:
        """Return the question, and how to reply."""
        return f"{self._question.prompt(instance)}\n{self._question.form(instance)}"

    def parse(self, reply: str, state: AnswerState[I]) -> Any:
        """Read the answer in a reply (`answer_lines`)."""
        lines = answer_lines(reply)
        if isinstance(lines, Invalid):
            return lines
        answers = [self._question.read(line, state.instance) for line in lines]
        if self._question.is_open:
            return answers[-1]
        return next((answer for answer in answers if not isinstance(answer, Invalid)), answers[-1])

    def render(self, action: Any, state: AnswerState[I]) -> str:
        """Return the answer."""
        return str(action)

    def tools(self, state: AnswerState[I]) -> Sequence[ActionTool]:
        """Return the tool that takes the answer."""
        question, instance = self._question, state.instance
        schema: dict[str, Json] = {"type": "string", "description": "The answer."}
        if isinstance(question.answer(instance), int):
            schema["type"] = "integer"
        elif not question.is_open:
            schema["enum"] = list(question.guesses(instance))
        return (ActionTool("answer", "Answer the question.", {"answer": schema}),)

    def parse_call(self, call: ToolCall, state: AnswerState[I]) -> Any:
        """Read the answer of a call."""
        text = str(call.arguments["answer"])
        return self._question.read(fold_typography(text[:_LONGEST_LINE]), state.instance)

    def render_call(self, action: Any, state: AnswerState[I]) -> ToolCall:
        """Return the call with an answer."""
        return ToolCall("answer", {"answer": action})


class _Drawn(KeyedSource[Q]):
    """Instances that a function draws."""

    def __init__(
        self,
        env_id: str,
        draw: Callable[[Stream, int], Q],
        key: str,
        level: int,
        prove: Callable[[Q], Mapping[str, Json]],
    ) -> None:
        super().__init__(key, level, prove)
        self._env_id, self._draw = env_id, draw

    def instance(self, index: int) -> Q:
        """Return the instance of this number, from 0."""
        return self._draw(Stream(self._env_id, self.key, self.level, index), self.level)


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
    prove: Callable[[Q], Mapping[str, Json]] = nothing_known,
    version: int = 1,
) -> Environment[Q, AnswerState[Q], Any]:
    """Return the environment of a question, which is solved by an answer whose success is 1.

    Take its parts apart with `dataclasses.replace` to change any of them.

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
        level_doc: What that is, in a sentence.
        horizon: The levels on which a model's horizon is searched for; empty if there is no such search. A random
            player must answer at most half of the questions of the two easiest ones.
        heuristic: Instance -> what a simple player answers; by default it guesses.
        prove: Instance -> what is known of its solution; by default nothing is.
        version: Raised whenever a score can move.
    """
    lowest = sample_levels[0]

    def decode(data: Json) -> Q:
        result = instance.from_json(data)
        try:
            is_whole = lowest <= level_of(result) <= highest_level and question.prompt(result)
            is_whole = is_whole and question.answer(result) in question.guesses(result)
        except (ArithmeticError, LookupError, ValueError) as error:  # of fields that fit their types alone
            raise DataError(f"instance: there is no such question ({type(error).__name__})") from error
        if not is_whole:
            raise DataError(f"instance: its level is not from {lowest} to {highest_level}, or it has no answer")
        return result

    def oracle(state: AnswerState[Q], rng: Stream) -> Any:
        """Return the right answer."""
        return question.answer(state.instance)

    def simple(state: AnswerState[Q], rng: Stream) -> Any:
        """Return what the heuristic says, or else a guess."""
        return rng.choice(question.guesses(state.instance)) if heuristic is None else heuristic(state.instance)

    way: Play[Q, AnswerState[Q], Any] = Play(QuestionGame(question), QuestionWording(question), Limits(turns=1))
    return Environment(
        id=id,
        version=version,
        title=title,
        about=about,
        items=Items(
            make_source=lambda key, level, options: _Drawn(id, draw, key, level, prove),
            decode=decode,
            public_key=public_key,
            sample_levels=sample_levels,
            highest_level=highest_level,
            level_of=level_of,
            prove=prove,
        ),
        playing=Playing(play=lambda options: way, takes_context=True),
        scoring=Scoring(metrics=(_SCORE,)),
        difficulty=Difficulty(
            axes=(level_axis(level, level_doc),) if horizon else (),
            success="the answer is right" if horizon else "",
            horizon=HorizonSpec(levels=horizon) if horizon else None,
        ),
        players=Players(policies={"oracle": oracle, "heuristic": simple}, oracle_is_ceiling=lambda record: True),
        presentation=Presentation(level=level, levels=level, item="question", metrics=("score",)),
    )


def _success(record: EpisodeRecord) -> float:
    return float(record.turns[-1].events.get("success", 0.0)) if record.turns else 0.0


_SCORE = Metric(
    name="score",
    of=_success,
    title="Score",
    doc="The success of the answer: 1 for a right one, 0 for one that cannot be read.",
    low=0,
    high=1,
)
