"""Prompts and solutions of items as chats, for other programs."""

from collections.abc import Iterable, Iterator
from typing import Any

from waybench.cli._items import ItemChoice
from waybench.cli._output import dumps
from waybench.core import Episode, Json, Message, policy


def prompt_lines(choice: ItemChoice) -> Iterator[str]:
    """Yield the line with the messages before the first reply, and all that `waybench score` needs besides replies.

    The proof is not in it, for it gives the solution away.
    """
    environment, item = choice.environment, choice.item
    episode: Episode[Any, Any, Any] = Episode(environment, item, choice.options)
    examples = [example.to_json() for example in item.examples]
    yield dumps(
        {
            "id": item.id,
            "messages": _chat(episode.messages),
            "env": environment.id,
            "version": environment.version,
            "task": choice.task,
            "level": item.level,
            "key": item.key_label,
            "index": item.index,
            "instance": item.instance.to_json(),
            "hash": item.instance.hash,
            "options": dict(episode.options),
            "settings": dict(choice.settings),
            **({"examples": examples} if examples else {}),
        }
    )


def solution_lines(choice: ItemChoice) -> Iterator[str]:
    """Yield the chats in which the oracle solves an item, each as a line that ends with a reply.

    It is one chat where the player sees the whole conversation. Where each prompt is written anew, no chat has all of
    them, and each reply has a line with its own prompt.
    """
    episode: Episode[Any, Any, Any] = Episode(choice.environment, choice.item, choice.options, player="oracle")
    oracle, whole = policy("oracle"), episode.play.wording.memory.kind == "chat"
    while not episode.done:
        prompt, reply = _chat(episode.messages), oracle.reply(episode)
        episode.step(reply)
        if not whole:
            yield dumps({"messages": [*prompt, {"role": "assistant", "content": reply}]})
    if whole and episode.turns:
        yield dumps({"messages": _chat(episode.messages)[:-1]})  # the last message is feedback that needs no reply


def _chat(messages: Iterable[Message]) -> list[Json]:
    return [{"role": message.role, "content": message.text} for message in messages]
