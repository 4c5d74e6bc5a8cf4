"""The messages of an episode: its opening, and each turn as the chat shows it."""

from collections.abc import Mapping, Sequence
from typing import Generic

from waybench.core._environment import Environment, I
from waybench.core._errors import UsageError
from waybench.core._examples import Chat, solved_examples
from waybench.core._game import A, Json, S, Transition
from waybench.core._instance import Item
from waybench.core._options import WORDING
from waybench.core._picture import Picture
from waybench.core._play import Play
from waybench.core._record import TurnRecord
from waybench.core._wording import Invalid, Message, Wording


class Conversation(Generic[I, S, A]):
    """What a player is shown in an episode. Replies and feedback are in its turns, and here is what turns do not have.

    Args:
        environment: What is played.
        item: The instance, with its examples.
        play: How it is played.
        options: Resolved options of play.
        state: The first state.

    Attributes:
        opening: The messages before the first reply.
        replaced: Number of a turn -> the text that the chat shows in the place of its reply.
        has_pictures: Whether messages can have pictures (`picture`).

    Raises:
        UsageError: For examples in a wording with pictures, or of too many characters.
    """

    __slots__ = ("_environment", "_item", "_messages", "_pictures", "_play", "has_pictures", "opening", "replaced")

    def __init__(
        self,
        environment: Environment[I, S, A],
        item: Item[I],
        play: Play[I, S, A],
        options: Mapping[str, Json],
        state: S,
    ) -> None:
        self._environment, self._item, self._play = environment, item, play
        wording = play.wording
        self.replaced: dict[int, str] = {}
        self._messages: list[Message] = []  # the turns as messages, built on demand
        self._pictures: dict[int, Picture] = {}  # by the number of turns before it
        # Most wordings have none, and asking each of them in each turn takes time.
        self.has_pictures = type(wording).picture is not Wording.picture  # pyright: ignore[reportUnknownMemberType]
        self.picture(0, state, None, 0)
        if item.examples and self._pictures:
            raise UsageError(
                f"{WORDING}={options[WORDING]}: solved examples have no pictures; remove them, or choose another "
                "wording"
            )
        self.opening = self._open(wording.observe(state, None, 0), self._pictures.get(0))

    def picture(self, number: int, state: S, last: Transition[S] | Invalid | None, spent: int) -> None:
        """Keep the picture that goes with an observation, if there is one.

        Args:
            number: Number of turns before it.
            state: The state.
            last: The outcome of the last reply; None at the start.
            spent: Number of turns that have counted.
        """
        if self.has_pictures and (picture := self._play.wording.picture(state, last, spent)) is not None:
            self._pictures[number] = picture

    def end(self, number: int) -> None:
        """Note that the episode has ended after so many turns: the last message needs no reply, and no picture."""
        self._pictures.pop(number, None)

    def _open(self, observation: str, picture: Picture | None) -> tuple[Message, ...]:
        """Return rules, examples and an observation, with its picture, as chat turns."""
        wording = self._play.wording
        messages = wording.prompt(wording.rules(self._item.instance), self._examples(), observation)
        return messages if picture is None else (*messages[:-1], messages[-1]._replace(picture=picture))

    def _examples(self) -> Chat:
        shown = self._item.examples
        return solved_examples(self._environment, self._play, shown) if shown else ()

    def default_opening(self) -> tuple[Message, ...]:
        """Return the opening in the default form of `Wording.prompt`, at the start of an episode."""
        wording, instance = self._play.wording, self._item.instance
        observation = wording.observe(self._play.game.start(instance), None, 0)
        return Wording[I, S, A].prompt(wording, wording.rules(instance), self._examples(), observation)

    def messages(self, turns: Sequence[TurnRecord], state: S) -> list[Message]:
        """Return the next prompt as chat turns, cut as the wording's memory says.

        Args:
            turns: The turns so far.
            state: The present state.
        """
        wording = self._play.wording
        memory = wording.memory
        if not turns or memory.kind == "chat":
            return [*self.opening, *self._chat(turns)]
        if memory.kind == "fresh":
            recalled = wording.recall(state)
            before = len(turns) - recalled
            begin = self._open(turns[before - 1].message, self._pictures.get(before)) if before else self.opening
            return [*begin, *(self._chat(turns)[-2 * recalled :] if recalled else ())]
        return [*self.opening, *(self._chat(turns)[-2 * memory.size :] if memory.size else ())]

    def _chat(self, turns: Sequence[TurnRecord]) -> list[Message]:
        # Each message is made once, so that it can be known again.
        for number in range(len(self._messages) // 2, len(turns)):
            turn, text = turns[number], self.replaced.get(number)
            self._messages += (
                Message("assistant", turn.reply, number) if text is None else Message("assistant", text),
                Message("user", turn.message, picture=self._pictures.get(number + 1)),
            )
        return self._messages
