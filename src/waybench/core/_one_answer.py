"""Games of one turn: a question, whose answer is judged."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple

from waybench.core._game import NOTHING, A, End, Game, GameProperties, I, Json, Outcome, Stream, Transition
from waybench.core._wording import Invalid, Wording


@dataclass(frozen=True, slots=True)
class AnswerState(Generic[I]):
    """A question and how its game ended.

    Attributes:
        instance: The question.
        end: SOLVED or FAILED; None before the answer.
    """

    instance: I
    end: End | None = None


class Judgement(NamedTuple):
    """The score of an answer.

    Attributes:
        success: From 0 to 1, which is a right answer.
        events: Further events to record.
        outcome: The outcome of the turn if the answer is not right.
    """

    success: float
    events: Mapping[str, Json] = NOTHING
    outcome: Outcome = Outcome.UNPRODUCTIVE


class OneAnswerGame(Game[I, AnswerState[I], A]):
    """A game of one turn: it is solved if the answer has success 1."""

    properties = GameProperties(deterministic=True, turns=1)

    @abstractmethod
    def answers(self, instance: I) -> Sequence[A]:
        """Return the answers that a random player guesses from."""

    @abstractmethod
    def judge(self, instance: I, answer: A) -> Judgement:
        """Return the success of an answer, with its events and outcome."""

    def start(self, instance: I) -> AnswerState[I]:
        """Return the state before the answer."""
        return AnswerState(instance)

    def legal(self, state: AnswerState[I]) -> Sequence[A]:
        """Return the answers that a random player guesses from; () after the answer."""
        return () if state.end is not None else self.answers(state.instance)

    def apply(self, state: AnswerState[I], action: A, rng: Stream) -> Transition[AnswerState[I]]:
        """Return the end of the game after an answer, with its success as the reward."""
        success, events, outcome = self.judge(state.instance, action)
        is_right = success == 1
        after = AnswerState(state.instance, End.SOLVED if is_right else End.FAILED)
        return Transition(after, success, {"success": success, **events}, Outcome.OK if is_right else outcome)

    def forfeit(self, state: AnswerState[I]) -> AnswerState[I]:
        """Return the state in which an answer that cannot be read counts as wrong."""
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
