"""The lines that `waybench generate` writes of an item."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from waybench.cli._items import ItemChoice
from waybench.cli._output import dumps
from waybench.core import (
    NOTHING,
    Environment,
    Episode,
    Item,
    Json,
    ToolWording,
    UsageError,
    object_schema,
    policy,
    read_calls,
)
from waybench.ext.train import split_of


def line_writer(kind: str, player: str, reasoning: str) -> Callable[[ItemChoice], Iterator[str]]:
    """Return the function that writes an item's lines.

    Args:
        kind: "instances", "prompts" or "solutions".
        player: Who plays the chats of solutions.
        reasoning: Where the reasoning is in them.
    """
    if kind == "prompts":
        return prompt_lines
    return partial(solution_lines, player=player, reasoning=reasoning) if kind == "solutions" else _instance_lines


def _instance_lines(choice: ItemChoice) -> Iterator[str]:
    yield instance_line(choice.environment, choice.item)


def instance_line(environment: Environment[Any, Any, Any], item: Item[Any], more: Mapping[str, Json] = NOTHING) -> str:
    """Return the line of an instance with its proof."""
    return dumps(
        {
            "env": environment.id,
            "version": environment.version,
            "id": item.id,
            "level": item.level,
            "key": item.key_label,
            "index": item.index,
            "instance": item.instance.to_json(),
            "hash": item.instance.hash,
            "proof": dict(item.proof),
            **more,
        }
    )


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
            "messages": _chat(episode),
            **_tools(episode),
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


def solution_lines(choice: ItemChoice, player: str = "oracle", reasoning: str = "none") -> Iterator[str]:
    """Yield the chats in which a reference player plays an item, each as a line that ends with a reply.

    It is one chat where the player sees the whole conversation. Where each prompt is written anew, no chat has all of
    them, and each reply has a line with its own prompt.

    Args:
        choice: The item.
        player: "oracle" or "heuristic".
        reasoning: Where the oracle's reasoning stands: "none", "field" (`reasoning_content` of a message) or "think"
            (before the reply, between <think> and </think>).

    Raises:
        UsageError: If the environment has no reasoning, or the reasoning is of another player.
    """
    environment, item = choice.environment, choice.item
    explain = environment.players.reasoning
    if reasoning != "none" and (explain is None or player != "oracle"):
        raise UsageError(
            f"--reasoning: {environment.id} writes none; leave it out"
            if explain is None
            else "--reasoning is the oracle's: leave --player out"
        )
    episode: Episode[Any, Any, Any] = Episode(environment, item, choice.options, player=player)
    plays, whole = policy(player), episode.play.wording.memory.kind == "chat"
    about = {
        **_tools(episode),
        "env": environment.id,
        "id": item.id,
        "level": item.level,
        "key": item.key_label,
        "index": item.index,
        "hash": item.instance.hash,
        "split": split_of(item.instance),
    }
    before_hand_over = len(episode.turns)
    thoughts: list[str] = []
    while not episode.done:
        prompt = _chat(episode)
        before, reply = len(prompt), plays.reply(episode)
        thoughts.append("" if explain is None or reasoning == "none" else explain(episode.state))
        episode.step(reply)
        if not whole:
            said = _said(episode, reply, before)
            yield dumps({"messages": [*prompt, _with_thought(said, thoughts[-1], reasoning)], **about})
    if whole and episode.turns:
        chat = _chat(episode)[:-1]  # the last message is feedback that needs no reply
        own = iter(thoughts)
        opening = len(episode.messages) - 2 * (len(episode.turns) - before_hand_over)
        for number, message in enumerate(chat[opening:], start=opening):
            if message["role"] == "assistant":
                chat[number] = _with_thought(message, next(own), reasoning)
        yield dumps({"messages": chat, **about})


def _with_thought(message: dict[str, Json], thought: str, reasoning: str) -> Json:
    if reasoning == "field":
        return {**message, "reasoning_content": thought}
    reply = message["content"]
    return {**message, "content": f"<think>\n{thought}\n</think>\n\n{reply}"} if reasoning == "think" else message


def _chat(episode: Episode[Any, Any, Any]) -> list[dict[str, Json]]:
    """Return an episode's messages as chat models take them, with calls of tools and their results."""
    chat: list[dict[str, Json]] = []
    for number, message in enumerate(episode.messages):
        if message.picture is not None:
            raise UsageError("chats are written as text: choose a wording without pictures")
        calls = chat[-1].get("tool_calls", ()) if chat else ()
        if message.role == "assistant":
            chat.append(_said(episode, message.text, number))
        elif calls:  # a reference player makes one call
            chat.append({"role": "tool", "tool_call_id": calls[0]["id"], "content": message.text})
        else:
            chat.append({"role": message.role, "content": message.text})
    return chat


def _said(episode: Episode[Any, Any, Any], reply: str, number: int) -> dict[str, Json]:
    """Return a reply as the message of this number in a chat."""
    text, calls = read_calls(reply) if isinstance(episode.play.wording, ToolWording) else (reply, ())
    functions = [{"name": call.name, "arguments": json.dumps(call.arguments)} for call in calls]
    listed = [{"id": f"call_{number}", "type": "function", "function": function} for function in functions]
    return {"role": "assistant", "content": text, **({"tool_calls": listed} if listed else {})}


def _tools(episode: Episode[Any, Any, Any]) -> dict[str, Json]:
    """Return the tools of an episode as chat models take them; nothing where replies are text."""
    if not isinstance(episode.play.wording, ToolWording):
        return {}
    tools = episode.play.wording.tools(episode.state)
    functions = [
        {"name": tool.name, "description": tool.doc, "parameters": object_schema(tool.parameters)} for tool in tools
    ]
    return {"tools": [{"type": "function", "function": function} for function in functions]}
