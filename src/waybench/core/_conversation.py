"""The messages of an episode: its in-context examples, its opening, and each turn as the chat shows it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Generic

from waybench.core._environment import AnyEnvironment, AnyPlay, Environment, I
from waybench.core._errors import UsageError, plural
from waybench.core._game import A, Json, S, Stream, Transition
from waybench.core._items import Item, Source
from waybench.core._play import WORDING, Play
from waybench.core._record import TurnRecord
from waybench.core._wording import Invalid, Message, Picture, Wording

_FAR_INDEX = 10**9  # the item from which the first examples of a source without an end are counted back
_MOST_DRAWS = 1000  # examples that are drawn for one item, at most
LONGEST_EXAMPLES = 4_000_000  # characters of all examples of an episode, which is more than any model reads
_MOST_TURNS = 1000  # turns in which a game that can end by itself has done so, whatever the limit on turns is

Chat = tuple[tuple[str, str], ...]
"""Turns of a chat, as (role, text)."""


def with_examples(
    source: Source[I],
    indices: Iterable[int],
    count: int,
    *,
    protocol: str,
    source_of_similar: Callable[[Item[I]], Source[I]],
    size: int | None = None,
    noun: str = "item",
) -> Iterator[Item[I]]:
    """Yield items of a source, each with its in-context examples (the parameter `icl` of tasks).

    In "paper", as AQA-Bench publishes it, the examples are the `count` items before the item. Items before the first
    one are the last items of a file, or, where there is no last one, items far beyond those that are played. Where a
    level has few different items, an example can be the same as the item. In "sound" each item has examples of its
    own, all different and none the same as the item.

    Args:
        source: The source of the items.
        indices: The numbers of the items that are played.
        count: Number of examples of each item.
        protocol: "paper" or "sound".
        source_of_similar: Item -> a source of items of its level, for "sound".
        size: Number of items of a file; None for a source without an end.
        noun: What an item is called in messages.

    Raises:
        UsageError: If an item's level has fewer than `count` other items, or a file not more than `count` items.
    """

    @lru_cache(maxsize=256)
    def instance_at(index: int) -> I:
        """Return the instance of an item; an index below 0 counts back from the end."""
        return source.item(index if index >= 0 else (size or _FAR_INDEX) + index).instance

    if protocol == "paper" and size is not None and count >= size:
        raise UsageError(f"icl={count}: the file has only {plural(size, noun)}; lower icl")
    for index in indices:
        item = source.item(index)
        if not count:
            yield item
        elif protocol == "paper":
            yield replace(item, examples=tuple(instance_at(before) for before in range(index - count, index)))
        else:
            yield replace(item, examples=_draw_sound_examples(source_of_similar, index, item, count, noun))


def _draw_sound_examples(
    source_of_similar: Callable[[Item[I]], Source[I]], index: int, item: Item[I], count: int, noun: str
) -> tuple[I, ...]:
    """Return `count` different examples from items similar to `item`, none the same as it."""
    try:
        source = source_of_similar(item)
    except UsageError as error:
        raise UsageError(
            f"icl with protocol=sound draws examples similar to {noun} {item.id}, and that cannot be done ({error}): "
            "use protocol=paper, or remove icl"
        ) from None
    chosen: dict[str, I] = {}
    for number in range(_MOST_DRAWS):
        example = source.item(index * _MOST_DRAWS + number).instance
        if example.hash != item.instance.hash:
            chosen.setdefault(example.hash, example)
        if len(chosen) == count:
            return tuple(chosen.values())
    raise UsageError(
        f"icl={count}: level {item.level} does not have enough different {noun}s; lower icl or raise the level"
    )


def oracle_conversations(environment: AnyEnvironment, play: AnyPlay, instances: Sequence[Any]) -> Chat:
    """Return the chats of the oracle's episodes on some instances, as one chat.

    Some games, such as slot machines, end by the limit on turns alone: an episode that has no end of its own within
    that limit, and within 1,000 turns where the limit is lower, is cut at the limit.

    Raises:
        UsageError: If the chats have more than 4 million characters.
    """
    messages: list[tuple[str, str]] = []
    characters, oracle = 0, environment.players.policies["oracle"]
    for instance in instances:
        example_chat = _oracle_conversation(
            environment.id, play.game, play.wording, oracle, instance, play.most_turns(instance)
        )
        characters += sum(len(text) for _, text in example_chat)
        _check_examples_size(characters)
        messages += example_chat
    return tuple(messages)


@lru_cache(maxsize=128)  # many episodes show the same examples
def _oracle_conversation(env_id: str, game: Any, wording: Any, oracle: Any, instance: Any, max_turns: int) -> Chat:
    """Return the chat of the oracle's episode on an instance, cut at `max_turns` turns if the game does not end."""
    state, turn = game.start(instance), 0
    messages = [("user", wording.observe(state, None, 0))]
    characters = len(messages[0][1])
    while not (over := game.terminal(state)) and turn < max(max_turns, _MOST_TURNS):
        rng = Stream(env_id, instance.hash, "example", turn)
        action = oracle(state, rng)
        messages.append(("assistant", wording.render(action, state)))
        turn += 1
        transition = game.apply(state, action, rng)
        state = transition.state
        messages.append(("user", wording.observe(state, transition, turn)))
        characters += len(messages[-2][1]) + len(messages[-1][1])
        if turn <= max_turns:  # later turns may be cut off below
            _check_examples_size(characters)
    if not over:
        del messages[1 + 2 * max_turns :]  # a turn has two messages; the first observation comes before them
    if wording.closing_answer:
        messages.append(("assistant", ""))
    return tuple(messages)


def _check_examples_size(characters: int) -> None:
    """Raise a UsageError for examples of more than `LONGEST_EXAMPLES` characters."""
    if characters > LONGEST_EXAMPLES:
        raise UsageError(
            f"the examples have more than {LONGEST_EXAMPLES // 10**6} million characters: use fewer or easier examples"
        )


def options_that_repeat_replies(environment: AnyEnvironment, options: Mapping[str, Json]) -> list[str] | None:
    """Return single changes of options after which prompts repeat the player's earlier replies.

    Returns:
        The changes as NAME=VALUE; [] where no single option brings it about. None if the prompts repeat the replies
        already, or if there is only one turn.
    """
    resolved = environment.resolve_options(options)
    play = environment.play_with(resolved)
    if play.wording.repeats_replies or not _can_have_several_turns(play):
        return None
    return [
        f"{option.name}={value}"
        for option in environment.playing.options
        for value in option.choices
        if option.name in resolved and _repeats_all_replies(environment.play_with({**resolved, option.name: value}))
    ]


def _can_have_several_turns(play: AnyPlay) -> bool:
    """Return whether an episode can have more than one turn, as any can whose limit depends on its instance."""
    limit_depends_on_instance = play.turns is not None
    return limit_depends_on_instance or play.limits.turns > 1


def _repeats_all_replies(play: AnyPlay) -> bool:
    """Return whether each prompt of an episode repeats all of the player's replies."""
    return _can_have_several_turns(play) and play.wording.repeats_replies and play.wording.memory.kind == "chat"


class Conversation(Generic[I, S, A]):
    """The messages that a player is shown in an episode. Turns keep replies and feedback, this class all the rest.

    Attributes:
        opening: The messages before the first reply.
        replaced: Number of a turn -> the text that the chat shows in the place of its reply.
        has_pictures: Whether the wording defines `Wording.picture`, so that messages can have pictures.

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
        # Most wordings have no pictures, and to ask for one in each turn takes time.
        self.has_pictures = type(wording).picture is not Wording.picture  # pyright: ignore[reportUnknownMemberType]
        self.keep_picture(0, state, None, 0)
        if item.examples and self._pictures:
            raise UsageError(
                f"{WORDING}={options[WORDING]}: solved examples have no pictures; remove them, or choose another "
                "wording"
            )
        self.opening = self._opening_messages(wording.observe(state, None, 0), self._pictures.get(0))

    def keep_picture(
        self, turns_before: int, state: S, last: Transition[S] | Invalid | None, turns_counted: int
    ) -> None:
        """Keep the picture that goes with an observation, if there is one.

        `turns_before` is the number of all turns before the observation, and `turns_counted` the number of those that
        are no forgiven replies; `last` is the outcome of the last reply, None at the start.
        """
        if self.has_pictures and (picture := self._play.wording.picture(state, last, turns_counted)) is not None:
            self._pictures[turns_before] = picture

    def drop_picture_at_end(self, n_turns: int) -> None:
        """Drop the picture after the last turn of an episode: nobody replies to the message that shows it."""
        self._pictures.pop(n_turns, None)

    def _opening_messages(self, observation: str, picture: Picture | None) -> tuple[Message, ...]:
        """Return the rules, the examples and an observation, with its picture, as chat messages."""
        wording = self._play.wording
        messages = wording.prompt(wording.rules(self._item.instance), self._example_conversations(), observation)
        return messages if picture is None else (*messages[:-1], messages[-1]._replace(picture=picture))

    def _example_conversations(self) -> Chat:
        """Return the chats of the oracle's episodes on the item's examples; () without examples."""
        examples = self._item.examples
        return oracle_conversations(self._environment, self._play, examples) if examples else ()

    def default_opening(self) -> tuple[Message, ...]:
        """Return the opening as `Wording.prompt` forms it, whatever form this wording gives it."""
        wording, instance = self._play.wording, self._item.instance
        observation = wording.observe(self._play.game.start(instance), None, 0)
        return Wording[I, S, A].prompt(wording, wording.rules(instance), self._example_conversations(), observation)

    def prompt_messages(self, turns: Sequence[TurnRecord], state: S) -> list[Message]:
        """Return the messages of the next prompt, cut as the wording's memory says."""
        wording = self._play.wording
        memory = wording.memory
        if not turns or memory.kind == "chat":
            return [*self.opening, *self._turn_messages(turns)]
        if memory.kind == "fresh":
            n_recalled = wording.recall(state)
            n_forgotten = len(turns) - n_recalled
            opening = self.opening
            if n_forgotten:  # the prompt begins with the observation after the last forgotten turn
                opening = self._opening_messages(turns[n_forgotten - 1].message, self._pictures.get(n_forgotten))
            return [*opening, *self._last_turn_messages(turns, n_recalled)]
        return [*self.opening, *self._last_turn_messages(turns, memory.size)]

    def _last_turn_messages(self, turns: Sequence[TurnRecord], n_last: int) -> list[Message]:
        """Return the messages of the last `n_last` turns, two of each turn."""
        return self._turn_messages(turns)[-2 * n_last :] if n_last else []

    def _turn_messages(self, turns: Sequence[TurnRecord]) -> list[Message]:
        """Return the messages of all turns: the reply and the environment's message of each."""
        # Each message is made once: callers recognise a message that they have seen by its identity.
        for number in range(len(self._messages) // 2, len(turns)):
            turn, text = turns[number], self.replaced.get(number)
            self._messages += (
                Message("assistant", turn.reply, number) if text is None else Message("assistant", text),
                Message("user", turn.message, picture=self._pictures.get(number + 1)),
            )
        return self._messages
