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
METRICS = "metrics"  # where the metadata of its score has all metrics of the environment by name
SENT = "waybench_sent"  # where it has the form in which the conversation was sent, if that is not the usual one


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
    head = EpisodeRecord.from_parts(metadata[KEY])
    environment = registry.load(f"{head.env}@{head.env_version}")
    examples = tuple(environment.items.decode(example) for example in head.examples)
    item = Item(environment.items.decode(head.instance), **head.item, proof=head.proof, examples=examples)
    return Episode(environment, item, head.options, attempt=head.attempt, player=player)


def store_episode(store: Store, episode: Episode[Any, Any, Any], agent: str = "") -> None:
    """Write an episode's turns, end and error to its sample's store; `agent` is "" if none works out the replies."""
    end = None if episode.end_reason is None else str(episode.end_reason)
    turns, probes = ([part.dumps() for part in parts] for parts in (episode.turns, episode.probes))
    progress = {"player": episode.player, "turns": turns, "end": end, "error": episode.error}
    some = {
        "agent": agent,
        "probes": probes,
        "reasoning_returned": episode.reasoning_returned,
        "reasoning_sent_back": episode.reasoning_sent_back,
    }
    store.set(KEY, progress | {name: value for name, value in some.items() if value})


class _Readable(Protocol):
    def get(self, key: str, default: Any = None, /) -> Any: ...


def stored_record(metadata: Mapping[str, Json], store: _Readable) -> EpisodeRecord:
    """Return the record of a sample's episode from its metadata and store; without turns if it has not begun."""
    return EpisodeRecord.from_parts(metadata[KEY], store.get(KEY))


def finished_record(sample: EvalSample) -> EpisodeRecord:
    """Return the record of a sample in a log.

    Of a sample that the engine saved from a killed run the store can be empty; the score has the progress too.
    """
    scores = (sample.scores or {}).values()
    scored = next((score.metadata[KEY] for score in scores if score.metadata and KEY in score.metadata), None)
    return EpisodeRecord.from_parts(sample.metadata[KEY], sample.store.get(KEY) or scored)


class Chat:
    """Converts an episode's messages to Inspect's, each once, so that the log can refer to earlier ones.

    Where the player acts by tools, a reply becomes a message with its calls, and the message after it their results.
    """

    def __init__(self, *, with_pictures: bool = True) -> None:
        """Create a converter; without pictures a message has its text alone."""
        self._with_pictures = with_pictures
        self._made: dict[int, tuple[Message, list[ChatMessage]]] = {}
        self._said: dict[int, ChatMessageAssistant] = {}
        self._results: dict[str, ChatMessage] = {}  # by the id of the message that called
        self.has_placeholder = False  # whether a message that says nothing was replaced

    def add_reply(self, turn: int, message: ChatMessageAssistant) -> None:
        """Keep the model's own message for a turn, to be sent back in later requests as `sendable_reply` returns it."""
        self._said[turn] = self._sendable_reply(message)

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
            converted = self._made.get(id(message))
            if converted is None or converted[0] is not message:
                messages = self._convert_message(message, chat[-1] if chat and by_tools else None, by_tools)
                converted = self._made[id(message)] = message, messages
            chat += converted[1]
        return chat

    def _convert_message(self, message: Message, before: ChatMessage | None, by_tools: bool) -> list[ChatMessage]:
        """Return a message in Inspect's form, given the one before it; several if it answers several tool calls."""
        reply = None if message.turn is None else self._said.get(message.turn)
        if reply is not None:
            return [reply]
        if by_tools and message.role == "assistant":
            text, calls = calls_in_reply(message.text)
            calls_of_engine = inspect_tool_calls(calls, "e", len(self._made)) or None
            return [self._sendable_reply(ChatMessageAssistant(content=text, tool_calls=calls_of_engine))]
        if isinstance(before, ChatMessageAssistant) and before.tool_calls and message.role == "user":
            executed = self._results.get(before.id or "")
            return tool_result_messages(before, message.text) if executed is None else [executed]
        sent = _KINDS[message.role](content=self._message_content(message))
        return [self._sendable_reply(sent) if isinstance(sent, ChatMessageAssistant) else sent]

    def _sendable_reply(self, message: ChatMessageAssistant) -> ChatMessageAssistant:
        """Return a message as it can be sent back (`sendable_reply`), and note whether it got a placeholder."""
        sent = sendable_reply(message)
        self.has_placeholder |= sent.text != message.text
        return sent

    def _message_content(self, message: Message) -> Any:
        """Return a message's text, or text and image if it has a picture."""
        if message.picture is None or not self._with_pictures:
            return message.text
        return [ContentText(text=message.text), content_image(message.picture)]


_KINDS: dict[str, type[ChatMessageSystem | ChatMessageUser | ChatMessageAssistant]] = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}


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

    def asks_before(self, turn: int) -> bool:
        """Return whether belief probes are asked before a turn, counted from 0."""
        return (turn + 1) % self.every == 0 if self.every else turn + 1 in self.turns


def parse_probe_plan(text: str) -> ProbePlan:
    """Parse "every:5", or a list of turn numbers from 1, as "1,5,10"; raise a UsageError for another form."""
    every, texts = text.startswith(_EVERY), text.removeprefix(_EVERY).split(",")
    numbers = [int(text) for text in map(str.strip, texts) if text.isascii() and text.isdigit() and len(text) < 8]
    if len(numbers) < len(texts) or len(numbers) > (1 if every else _MOST) or not 1 <= min(numbers) <= _HIGHEST:
        raise UsageError(
            f"probe={text[:60]!r}: give every:N to ask before turns N, 2N, ..., or at most {_MOST:,} numbers of turns "
            "from 1, as in 1,5,10"
        )
    return ProbePlan(numbers[0]) if every else ProbePlan(turns=frozenset(numbers))


def fork_conversation(messages: Sequence[ChatMessage], question: str) -> list[ChatMessage]:
    """Return a new conversation that ends with a question, joined to the last message if that is the user's.

    Many models take no two of the user's messages in a row.
    """
    *before, last = messages
    if not isinstance(last, ChatMessageUser):
        return [*messages, ChatMessageUser(content=question)]
    if isinstance(last.content, str):
        return [*before, ChatMessageUser(content=f"{last.content}\n\n{question}")]
    # Inspect joins the texts of a message by lines: so it is the same text with and without a picture in it.
    return [*before, ChatMessageUser(content=[*last.content, ContentText(text=f"\n{question}")])]
