"""What a person who plays sees and types."""

from collections.abc import Sequence

from waybench.core import Board, TurnRecord, TypedAction
from waybench.envs.graph._game import LONGEST, Answer, GraphState
from waybench.envs.graph._wording import question_text

TYPED_HELP = "Type the nodes of the path with spaces between them, or yes or no."
_WORDS = {"yes": True, "no": False}
_DIGITS = 18


def board(state: GraphState, turns: Sequence[TurnRecord]) -> Board:
    """Return the question; the edges are in the prompt."""
    return Board(notes=[question_text(state.instance)])


def typed_actions(state: GraphState) -> Sequence[TypedAction]:
    """Return yes and no; paths are typed."""
    if state.instance.question == "path":
        return ()
    return [TypedAction(word, key=word[0]) for word in _WORDS]


def parse_typed(text: str, state: GraphState) -> Answer | None:
    """Return the answer that a person has typed; None for what is none."""
    if state.instance.question == "reachable":
        return _WORDS.get(text.strip().lower())
    parts = text.replace(",", " ").split()
    if not 1 <= len(parts) <= LONGEST or not all(
        part.isascii() and part.isdigit() and len(part) <= _DIGITS for part in parts
    ):
        return None
    return tuple(map(int, parts))


def format_typed(answer: Answer) -> Sequence[str]:
    """Return what a person would type."""
    return [" ".join(map(str, answer)) if isinstance(answer, tuple) else ("yes" if answer else "no")]
