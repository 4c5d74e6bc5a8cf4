"""Items as Inspect samples, and episodes out of samples' metadata and store."""

from collections.abc import Mapping
from typing import Any, Protocol

from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageSystem, ChatMessageUser
from inspect_ai.util import Store

from waybench.core import Environment, Episode, EpisodeRecord, Item, Json, Message
from waybench.envs import registry

KEY = "waybench"  # where a sample's metadata has the episode's head, and its store the episode's progress


def to_sample(
    environment: Environment[Any, Any, Any], item: Item[Any], options: Mapping[str, Json], attempt: int
) -> Sample:
    """Make the sample of one attempt at one item; its id is the item's id and the attempt, as in "501-1"."""
    episode = Episode(environment, item, options, attempt=attempt)
    head, _ = episode.record().parts()
    return Sample(
        id=f"{item.id}-{attempt}",
        input=to_chat(episode.messages, {}),
        metadata={"level": item.level, "item": item.id, "attempt": attempt, KEY: head},
    )


def open_episode(metadata: Mapping[str, Json], player: str) -> Episode[Any, Any, Any]:
    """Start the episode that a sample's metadata describes."""
    head = metadata[KEY]
    environment = registry.load(f"{head['env']}@{head['env_version']}")
    item = Item(environment.decode(head["instance"]), **head["item"], proof=head["proof"])
    return Episode(environment, item, head["options"], attempt=head["attempt"], player=player)


def store_episode(store: Store, episode: Episode[Any, Any, Any]) -> None:
    """Write an episode's progress to its sample's store, where neither a limit nor an error can lose it."""
    store.set(KEY, episode.record().parts()[1])


class _Readable(Protocol):
    def get(self, key: str, default: Any = None, /) -> Any: ...


def stored_record(metadata: Mapping[str, Json], store: _Readable) -> EpisodeRecord:
    """Put the record of a sample's episode together.

    Args:
        metadata: The sample's metadata.
        store: Its store; without an episode's progress the record is that of an episode not begun.
    """
    return EpisodeRecord.from_json({"turns": [], "end": None, **metadata[KEY], **(store.get(KEY) or {})})


def to_chat(messages: list[Message], said: Mapping[int, ChatMessageAssistant]) -> list[ChatMessage]:
    """Turn messages into Inspect's.

    Args:
        messages: The messages.
        said: The model's own messages by turn, which are sent back as they came (some providers want their reasoning
            returned to them).
    """
    chat: list[ChatMessage] = []
    for role, text, turn in messages:
        if role == "assistant":
            chat.append(said[turn] if turn is not None and turn in said else ChatMessageAssistant(content=text))
        else:
            chat.append(ChatMessageSystem(content=text) if role == "system" else ChatMessageUser(content=text))
    return chat
