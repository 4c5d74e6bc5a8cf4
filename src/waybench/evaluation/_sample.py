"""Inspect samples from items, episodes from samples, and belief probes in forks of the conversation."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentText,
)
from inspect_ai.util import Store

from waybench.core import NOTHING, Environment, Episode, EpisodeRecord, Item, Json, Message, UsageError, calls_in_reply
from waybench.core._designs import DESIGN
from waybench.envs import registry
from waybench.evaluation._agents import content_image
from waybench.evaluation._provider import inspect_tool_calls, tool_result_messages
from waybench.evaluation._sent_form import sendable_reply

KEY = "waybench"  # where a sample's metadata has the episode's head, and its store the episode's progress
DRAWN = "waybench_drawn"  # where a sample's metadata has how its item was drawn, as JSON
METRICS = "metrics"  # where the metadata of a sample's score have all metrics of the environment by name
SENT = "waybench_sent"  # where a sample's store has the form in which the conversation was sent, if it is unusual


def to_sample(
    environment: Environment[Any, Any, Any],
    item: Item[Any],
    options: Mapping[str, Json],
    attempt: int,
    design: Mapping[str, Json] = NOTHING,
    drawn: Mapping[str, Json] = NOTHING,
) -> Sample:
    """Return the Inspect sample of one attempt at an item; its id is the item's id and the attempt, as in "501-1".

    Its metadata have what the run declares of its design, if anything, the options with which the item was drawn, and
    the cluster that it shares with items that are no independent observations beside it.
    """
    episode = Episode(environment, item, options, attempt=attempt)
    record, cluster = episode.record(), environment.items.cluster
    return Sample(
        id=f"{item.id}-{attempt}",
        input=Chat(with_pictures=False).messages(episode),  # which nothing sends; the solver draws what it sends
        # As one text, for the engine walks through structured metadata value by value, many times; and in a list, for
        # it breaks long texts into lines for the summary of a sample, and leaves other long values out.
        metadata={
            "env": environment.id,
            "level": item.level,
            "item": item.id,
            "attempt": attempt,
            "cluster": record.instance_hash if cluster is None else cluster(record),
            KEY: [record.head_json()],
            DRAWN: json.dumps(dict(drawn), sort_keys=True, default=str),
            **({DESIGN: json.dumps(dict(design), sort_keys=True)} if design else {}),
        },
    )


def start_episode(metadata: Mapping[str, Json], player: str) -> Episode[Any, Any, Any]:
    """Start the episode that a sample's metadata describes."""
    record = EpisodeRecord.from_parts(metadata[KEY])
    environment = registry.load(f"{record.env}@{record.env_version}")
    examples = tuple(environment.items.decode(example) for example in record.examples)
    item = Item(environment.items.decode(record.instance), **record.item, proof=record.proof, examples=examples)
    return Episode(environment, item, record.options, attempt=record.attempt, player=player)


def store_episode(store: Store, episode: Episode[Any, Any, Any], agent: str = "") -> None:
    """Write an episode's turns, end and error to its sample's store; `agent` is "" if none works out the replies."""
    end = None if episode.end_reason is None else str(episode.end_reason)
    turns, probes = ([record.dumps() for record in records] for records in (episode.turns, episode.probes))
    progress = {"player": episode.player, "turns": turns, "end": end, "error": episode.error}
    optional_fields = {
        "agent": agent,
        "probes": probes,
        "reasoning_returned": episode.reasoning_returned,
        "reasoning_sent_back": episode.reasoning_sent_back,
    }
    store.set(KEY, progress | {name: value for name, value in optional_fields.items() if value})


class _Readable(Protocol):
    """A sample's store: Inspect's own, or the mapping in a log."""

    def get(self, key: str, default: Any = None, /) -> Any: ...


def stored_record(metadata: Mapping[str, Json], store: _Readable) -> EpisodeRecord:
    """Return the record of a sample's episode from its metadata and store; without turns if it has not begun."""
    return EpisodeRecord.from_parts(metadata[KEY], store.get(KEY))


def finished_record(sample: EvalSample) -> EpisodeRecord:
    """Return the record of a sample in a log.

    Of a sample that the engine saved from a killed run the store can be empty; the score has the progress too.
    """
    scores = (sample.scores or {}).values()
    progress_in_score = next(
        (score.metadata[KEY] for score in scores if score.metadata and KEY in score.metadata), None
    )
    return EpisodeRecord.from_parts(sample.metadata[KEY], sample.store.get(KEY) or progress_in_score)


class Chat:
    """Converts an episode's messages to Inspect's, each once, so that the log can refer to earlier ones.

    Where the player acts by tools, a reply becomes a message with its calls, and the message after it their results.
    """

    def __init__(self, *, with_pictures: bool = True) -> None:
        """Create a converter; without pictures a message has its text alone."""
        self._with_pictures = with_pictures
        self._converted_by_id: dict[int, tuple[Message, list[ChatMessage]]] = {}
        self._replies_by_turn: dict[int, ChatMessageAssistant] = {}
        self._results: dict[str, ChatMessage] = {}  # id of the message with the tool call -> its result
        self.has_placeholder = False  # whether a message without text was replaced

    def add_reply(self, turn: int, message: ChatMessageAssistant) -> None:
        """Keep the model's own message for a turn, to be sent back in later requests as `sendable_reply` returns it."""
        self._replies_by_turn[turn] = self._sendable_reply(message)

    def add_result(self, message: ChatMessageAssistant, result: ChatMessage | None) -> None:
        """Keep Inspect's result of the tool call in a message."""
        if result is not None and message.id is not None:
            self._results[message.id] = result

    def messages(self, episode: Episode[Any, Any, Any]) -> list[ChatMessage]:
        """Return the conversation to send for the next reply."""
        by_tools = episode.play.wording.acts_by_tools
        chat: list[ChatMessage] = []
        for message in episode.messages:
            # By identity, not by value: the same words said twice are two messages.
            original, converted = self._converted_by_id.get(id(message), (None, list[ChatMessage]()))
            if original is not message:
                converted = self._convert_message(message, chat[-1] if chat and by_tools else None, by_tools)
                self._converted_by_id[id(message)] = message, converted
            chat += converted
        return chat

    def _convert_message(self, message: Message, previous: ChatMessage | None, by_tools: bool) -> list[ChatMessage]:
        """Return a message in Inspect's form, given the one before it; several if it answers several tool calls."""
        reply = None if message.turn is None else self._replies_by_turn.get(message.turn)
        if reply is not None:
            return [reply]
        if by_tools and message.role == "assistant":
            text, calls = calls_in_reply(message.text)
            calls_of_engine = inspect_tool_calls(calls, "e", len(self._converted_by_id)) or None
            return [self._sendable_reply(ChatMessageAssistant(content=text, tool_calls=calls_of_engine))]
        if isinstance(previous, ChatMessageAssistant) and previous.tool_calls and message.role == "user":
            result = self._results.get(previous.id or "")
            return tool_result_messages(previous, message.text) if result is None else [result]
        content: str | list[Content] = message.text
        if message.picture is not None and self._with_pictures:
            content = [ContentText(text=message.text), content_image(message.picture)]
        converted = _MESSAGE_CLASSES[message.role](content=content)
        return [self._sendable_reply(converted) if isinstance(converted, ChatMessageAssistant) else converted]

    def _sendable_reply(self, message: ChatMessageAssistant) -> ChatMessageAssistant:
        """Return a message as it can be sent back (`sendable_reply`), and note whether it got a placeholder."""
        converted = sendable_reply(message)
        self.has_placeholder |= converted.text != message.text
        return converted


_MESSAGE_CLASSES: dict[str, type[ChatMessageSystem | ChatMessageUser | ChatMessageAssistant]] = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}


_HIGHEST_TURN, _DIGITS = 1_000_000, 7  # number of a turn
_MOST_TURNS = 1_000  # turns that can be listed
_EVERY_PREFIX = "every:"


@dataclass(frozen=True, slots=True)
class ProbePlan:
    """Before which turns belief probes are asked.

    Attributes:
        every: Before each turn whose number is a multiple of this; 0 for the listed turns.
        turns: The numbers of the turns, from 1.
    """

    every: int = 0
    turns: frozenset[int] = frozenset()

    def asks_before(self, turn: int) -> bool:
        """Return whether belief probes are asked before a turn, counted from 0."""
        return (turn + 1) % self.every == 0 if self.every else turn + 1 in self.turns


def parse_probe_plan(text: str) -> ProbePlan:
    """Parse "every:5", or a list of turn numbers from 1, as "1,5,10"; raise a UsageError for another form."""
    has_every = text.startswith(_EVERY_PREFIX)
    words = [word.strip() for word in text.removeprefix(_EVERY_PREFIX).split(",")]
    are_numbers = all(word.isascii() and word.isdigit() and len(word) <= _DIGITS for word in words)
    numbers = [int(word) for word in words] if are_numbers else []
    most = 1 if has_every else _MOST_TURNS
    if not 0 < len(numbers) <= most or not 1 <= min(numbers) <= _HIGHEST_TURN:
        raise UsageError(
            f"probe={text[:60]!r}: give every:N to ask before turns N, 2N, ..., or at most {_MOST_TURNS:,} numbers of "
            "turns from 1, as in 1,5,10"
        )
    return ProbePlan(numbers[0]) if has_every else ProbePlan(turns=frozenset(numbers))


def fork_conversation(messages: Sequence[ChatMessage], question: str) -> list[ChatMessage]:
    """Return a new conversation that ends with a question, joined to the last message if that is the user's.

    Many models take no two of the user's messages in a row.
    """
    *earlier_messages, last_message = messages
    if not isinstance(last_message, ChatMessageUser):
        return [*messages, ChatMessageUser(content=question)]
    if isinstance(last_message.content, str):
        return [*earlier_messages, ChatMessageUser(content=f"{last_message.content}\n\n{question}")]
    # Inspect joins the texts of a message by lines: so it is the same text with and without a picture in it.
    return [*earlier_messages, ChatMessageUser(content=[*last_message.content, ContentText(text=f"\n{question}")])]
