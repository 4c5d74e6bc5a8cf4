"""The play of an episode: game, wording and limits, as its options determine them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Generic, NamedTuple

from waybench.core._game import A, Game, I, Limits, S, Stream
from waybench.core._picture import Picture
from waybench.core._record import TurnRecord
from waybench.core._replies import ReplyParts, split_reasoning
from waybench.core._tool_wording import ToolWording, read_calls, write_calls
from waybench.core._wording import Wording


@dataclass(frozen=True, slots=True)
class Play(Generic[I, S, A]):
    """The play of an episode, as options determine it.

    Attributes:
        game: The rules.
        wording: The words.
        limits: What ends an episode from outside.
        turns: Instance -> most turns, where that depends on the instance; it has the last word over the limits'.
        guide: (state, random stream, turns so far) -> the action of a teacher that is carried out in place of whatever
            the player says (teacher guiding); None to let the player play this turn by itself. The player's reply is
            read and recorded, and in the chat the teacher's answer stands in its place.
        coach: (state, action, turns so far) -> why a legal action is refused, the message to the player; None
            to let it pass. A refused reply costs nothing, so a coach has to give in at some time.
        think_tags: Marks of the player's reasoning in addition to those that waybench knows; None without.
    """

    game: Game[I, S, A]
    wording: Wording[I, S, A]
    limits: Limits
    turns: Callable[[I], int] | None = None
    guide: Callable[[S, Stream, Sequence[TurnRecord]], A | None] | None = None
    coach: Callable[[S, A, Sequence[TurnRecord]], str | None] | None = None
    think_tags: str | None = None

    def most_turns(self, instance: I) -> int:
        """Return the most turns of an episode on an instance."""
        return self.limits.turns if self.turns is None else self.turns(instance)

    def parts_of(self, reply: str) -> ReplyParts:
        """Return a reply's answer, as the wording reads it, and its reasoning; of calls of tools, beside them."""
        if not isinstance(self.wording, ToolWording):
            return split_reasoning(reply, self.think_tags)
        said = read_calls(reply)
        answer, reasoning = split_reasoning(said.text, self.think_tags)
        return ReplyParts(reply if said.calls or not reasoning else write_calls(answer, ()), reasoning)

    def limits_on(self, instance: I) -> Limits:
        """Return the limits of an episode on an instance."""
        return _with_turns(self.limits, self.most_turns(instance))


class PromptKinds(NamedTuple):
    """What a model has to take beside texts of the user.

    Attributes:
        picture: A picture like those of the messages; None if they have none.
        has_tools: Whether the player acts by tools.
        has_system: Whether there are system messages.
    """

    picture: Picture | None = None
    has_tools: bool = False
    has_system: bool = False

    def __or__(self, other: "PromptKinds") -> "PromptKinds":
        """Return what a model has to take for both."""
        return PromptKinds(
            self.picture or other.picture, self.has_tools or other.has_tools, self.has_system or other.has_system
        )


TEXT_PROMPTS = PromptKinds()


@lru_cache(maxsize=256)  # most episodes have those of another one, and `replace` takes long
def _with_turns(limits: Limits, turns: int) -> Limits:
    return replace(limits, turns=turns)
