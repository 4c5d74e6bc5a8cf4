"""Belief probes: questions, each in a fork of the conversation that is thrown away (`--probe every:5`)."""

from collections.abc import Sequence
from dataclasses import dataclass

from inspect_ai.model import ChatMessage, ChatMessageUser, ContentText

from waybench.core import UsageError

_HIGHEST = 1_000_000  # number of a turn
_MOST = 1_000  # turns that can be listed
_EVERY = "every:"


@dataclass(frozen=True, slots=True)
class ProbePlan:
    """Before which turns belief probes are asked.

    Attributes:
        every: Before each turn whose number is a multiple of this; 0 for the listed turns.
        turns: The numbers of the turns, from 1.
    """

    every: int = 0
    turns: frozenset[int] = frozenset()

    def asks(self, turn: int) -> bool:
        """Return whether the player is asked before a turn.

        Args:
            turn: Its number, from 0.
        """
        return (turn + 1) % self.every == 0 if self.every else turn + 1 in self.turns


def read_plan(text: str) -> ProbePlan:
    """Read "every:5", or the numbers of turns from 1, as in "1,5,10".

    Raises:
        UsageError: If it has another form.
    """
    every, listed = text.startswith(_EVERY), text.removeprefix(_EVERY).split(",")
    numbers = [int(each) for each in map(str.strip, listed) if each.isascii() and each.isdigit() and len(each) < 8]
    if len(numbers) < len(listed) or len(numbers) > (1 if every else _MOST) or not 1 <= min(numbers) <= _HIGHEST:
        raise UsageError(
            f"probe={text[:60]!r}: give every:N to ask before turns N, 2N, ..., or at most {_MOST:,} numbers of turns "
            "from 1, as in 1,5,10"
        )
    return ProbePlan(numbers[0]) if every else ProbePlan(turns=frozenset(numbers))


def forked(messages: Sequence[ChatMessage], question: str) -> list[ChatMessage]:
    """Return a conversation that goes on with a question.

    The question ends the last message where that is the user's, for many models take no two of these in a row.

    Args:
        messages: The conversation; it is not changed.
        question: The question.
    """
    *before, last = messages
    if not isinstance(last, ChatMessageUser):
        return [*messages, ChatMessageUser(content=question)]
    if isinstance(last.content, str):
        return [*before, ChatMessageUser(content=f"{last.content}\n\n{question}")]
    # Inspect joins the texts of a message by lines: so it is the same text with and without a picture in it.
    return [*before, ChatMessageUser(content=[*last.content, ContentText(text=f"\n{question}")])]
