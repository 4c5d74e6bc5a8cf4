"""The items that `play` and `generate` take, and the lines that `generate` writes of them."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from waybench.cli._options import ItemSettings
from waybench.cli._output import dumps
from waybench.cli._run_settings import read_assignments
from waybench.core import (
    NOTHING,
    Environment,
    Episode,
    Item,
    Json,
    Source,
    UsageError,
    calls_in_reply,
    object_schema,
    policy,
    read_key,
    resolve,
)
from waybench.evaluation.tasks import TaskEntry, find_task, resolve_environment, resolve_key
from waybench.evaluation.tasks._catalogue import all_tasks, environment_names
from waybench.evaluation.tasks._items import task_items
from waybench.ext.train import SplitSource, split_of


class ItemChoice(NamedTuple):
    """What a command plays.

    Attributes:
        settings: How the item was generated, for the record; nothing that is a default.
        attempts: How many attempts at an item the task has.
    """

    task: str
    environment: Environment[Any, Any, Any]
    options: Mapping[str, Json]
    item: Item[Any]
    settings: Mapping[str, Json]
    attempts: int = 1


class ItemChoices:
    """The items of a task or an environment, as the options of a command choose them.

    Args:
        name: An environment, its family or a task.
        split: The split whose items are meant; all items if None.
        protocol: The protocol for which an environment's source generates items; the one that is played if None.

    Attributes:
        play_options: The options of play that are given for an environment; parameters of a task are not among them.

    Raises:
        UsageError: If a name or a value is unfit.
    """

    def __init__(
        self,
        name: str,
        settings: ItemSettings,
        protocol: str | None = None,
        split: str | None = None,
    ) -> None:
        settings = _with_environment_options(name, settings)
        if settings.parameters:
            if split is not None:
                raise UsageError("--split divides the items of a key and level: leave the task's parameters out")
            self.task = _task_named(name)
            self.play_options: tuple[str, ...] = ()
            self._settings: Mapping[str, Json] = _task_arguments(self.task, settings)
            self._task_items = list(task_items(self.task.parts, self._settings))
            self._source: Source[Any] | None = None
        else:
            environment = resolve_environment(name)
            self.task = _task_named(name)
            self._environment = environment
            options = read_assignments(settings.options, "-O")
            self.play_options = tuple(options)
            self._options = environment.resolve_options(options)
            self._settings = resolve(
                environment.items.options, read_assignments(settings.settings, "-S"), "source option"
            )
            reference = settings.key_reference
            self._source = environment.source(
                None if reference is None else read_key(reference),
                settings.level,
                protocol=str(self._options["protocol"]) if protocol is None else protocol,
                **self._settings,
            )
            if split is not None:
                self._source = SplitSource(self._source, split)

    @property
    def is_list(self) -> bool:
        """Whether the items are a task's list of `space` items; a source goes on and repeats some."""
        return self._source is None

    @property
    def space(self) -> int | None:
        """The number of different items; None if it is not known."""
        return len(self._task_items) if self._source is None else self._source.space

    def choose(self, index: int) -> ItemChoice:
        """Return the item with an index, and the options with which it is played."""
        if self._source is not None:
            return self._item_choice(self._environment, self._options, self._source.item(index))
        if index >= len(self._task_items):
            raise UsageError(
                f"item {index}: these parameters of {self.task.name} give {len(self._task_items)}, from 0; choose a "
                "smaller number or change -T limit"
            )
        task_item = self._task_items[index]
        return self._item_choice(task_item.environment, task_item.options, task_item.item)

    def _item_choice(
        self, environment: Environment[Any, Any, Any], options: Mapping[str, Json], item: Item[Any]
    ) -> ItemChoice:
        """Return an item with its settings and attempts."""
        names = {option.name for option in environment.items.options}
        settings = {name: value for name, value in self._settings.items() if name in names and value is not None}
        defaults = {option.name: option.default for option in self.task.options}
        attempts = self._settings.get("attempts", defaults.get("attempts", 1))
        return ItemChoice(self.task.name, environment, options, item, settings, attempts)


def _task_named(name: str) -> TaskEntry:
    """Return a task by its name; for an environment, the task that plays it alone, without fixed parameters."""
    plain = name.removeprefix("waybench/").partition("@")[0]
    env_id = environment_names().get(plain)
    if env_id is None:
        return find_task(plain)
    tasks_of_environment = [task for task in all_tasks() if task.envs == (env_id,) and not task.searches]
    return next(
        (task for task in tasks_of_environment if not any(part.fixed for part in task.parts)), None
    ) or find_task(env_id)


def _with_environment_options(name: str, settings: ItemSettings) -> ItemSettings:
    """Return settings in which parameters (-T) of an environment are its options of play and of items.

    They stay as they are if the name is a task's, or if a parameter is one that only tasks have, such as `source`: then
    the parameters choose the items.
    """
    parameters = read_assignments(settings.parameters, "-T", "key=value")
    if not parameters or name.removeprefix("waybench/").partition("@")[0] not in environment_names():
        return settings
    environment = resolve_environment(name)
    play_names = {option.name for option in environment.play_options}
    if not parameters.keys() <= play_names | {option.name for option in environment.items.options}:
        return settings
    texts = {key: f"{key}={value}" for key, value in parameters.items()}
    return replace(
        settings,
        options=(*settings.options, *(text for key, text in texts.items() if key in play_names)),
        settings=(*settings.settings, *(text for key, text in texts.items() if key not in play_names)),
        parameters=(),
    )


def _task_arguments(task: TaskEntry, settings: ItemSettings) -> Mapping[str, Any]:
    """Return a task's resolved arguments, from -T, -O, -S, --key and --level."""
    level = settings.level
    args = {**read_assignments(settings.options, "-O"), **read_assignments(settings.settings, "-S")}
    args |= {name: value for name, value in (("key", settings.key_reference), ("level", level)) if value is not None}
    args |= read_assignments(settings.parameters, "-T", "key=value")
    if task.searches:
        raise UsageError(f"{task.name} chooses its items while it runs: name one of {', '.join(task.envs)}")
    if task.climb is not None and level is not None:  # a ladder has no parameter of this name
        del args["level"]
    resolved = resolve_key(task.resolve(args))
    if task.climb is not None:
        resolved["level"] = resolved[task.climb.first] if level is None else level
    return resolved


def line_writer(kind: str, player: str, reasoning: str) -> Callable[[ItemChoice], Iterator[str]]:
    """Return the function that yields an item's lines; `kind` is "instances", "prompts" or "solutions"."""
    if kind == "prompts":
        return prompt_lines
    if kind == "solutions":
        return partial(solution_lines, player=player, reasoning=reasoning)
    return lambda choice: iter((instance_line(choice.environment, choice.item),))


def instance_line(
    environment: Environment[Any, Any, Any], item: Item[Any], extra_fields: Mapping[str, Json] = NOTHING
) -> str:
    """Return an item as a JSON line, with its proof."""
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
            **extra_fields,
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
            "messages": _chat_messages(episode),
            **_tool_schemas(episode),
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

    `player` is "oracle" or "heuristic". `reasoning` says where the oracle's reasoning stands: "none", "field"
    (`reasoning_content` of a message) or "think" (before the reply, between <think> and </think>).
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
    reference_player, is_chat = policy(player), episode.play.wording.memory.kind == "chat"
    item_fields = {
        **_tool_schemas(episode),
        "env": environment.id,
        "id": item.id,
        "level": item.level,
        "key": item.key_label,
        "index": item.index,
        "hash": item.instance.hash,
        "split": split_of(item.instance),
    }
    n_prefix_turns = len(episode.turns)
    thoughts: list[str] = []
    while not episode.done:
        prompt = _chat_messages(episode)
        n_before, reply = len(prompt), reference_player.reply(episode)
        thoughts.append("" if explain is None or reasoning == "none" else explain(episode.state))
        episode.step(reply)
        if not is_chat:
            message_of_reply = _reply_message(episode, reply, n_before)
            yield dumps(
                {"messages": [*prompt, _with_reasoning(message_of_reply, thoughts[-1], reasoning)], **item_fields}
            )
    if is_chat and episode.turns:
        chat = _chat_messages(episode)[:-1]  # the last message is feedback that needs no reply
        remaining_thoughts = iter(thoughts)
        # Each of the player's turns has added its reply and an answer to it.
        n_opening = len(episode.messages) - 2 * (len(episode.turns) - n_prefix_turns)
        for index, message in enumerate(chat[n_opening:], start=n_opening):
            if message["role"] == "assistant":
                chat[index] = _with_reasoning(message, next(remaining_thoughts), reasoning)
        yield dumps({"messages": chat, **item_fields})


def _with_reasoning(message: dict[str, Json], thought: str, reasoning_format: str) -> Json:
    """Return a message with the reasoning in the place that the format names ("none", "field" or "think")."""
    if reasoning_format == "field":
        return {**message, "reasoning_content": thought}
    if reasoning_format == "think":
        return {**message, "content": f"<think>\n{thought}\n</think>\n\n{message['content']}"}
    return message


def _chat_messages(episode: Episode[Any, Any, Any]) -> list[dict[str, Json]]:
    """Return an episode's messages in the chat format of APIs, with tool calls and their results."""
    chat: list[dict[str, Json]] = []
    for index, message in enumerate(episode.messages):
        if message.picture is not None:
            raise UsageError("chats are written as text: choose a wording without pictures")
        calls = chat[-1].get("tool_calls", ()) if chat else ()
        if message.role == "assistant":
            chat.append(_reply_message(episode, message.text, index))
        elif calls:  # a reference player makes one call
            chat.append({"role": "tool", "tool_call_id": calls[0]["id"], "content": message.text})
        else:
            chat.append({"role": message.role, "content": message.text})
    return chat


def _reply_message(episode: Episode[Any, Any, Any], reply: str, index: int) -> dict[str, Json]:
    """Return a reply as a chat message; its index becomes the id of its tool calls."""
    text, calls = calls_in_reply(reply) if episode.play.wording.acts_by_tools else (reply, ())
    functions = [{"name": call.name, "arguments": json.dumps(call.arguments)} for call in calls]
    tool_calls = [{"id": f"call_{index}", "type": "function", "function": function} for function in functions]
    return {"role": "assistant", "content": text, **({"tool_calls": tool_calls} if tool_calls else {})}


def _tool_schemas(episode: Episode[Any, Any, Any]) -> dict[str, Json]:
    """Return `{"tools": [...]}` in the chat format of APIs; `{}` if replies are text."""
    if not episode.play.wording.acts_by_tools:
        return {}
    tools = episode.play.wording.tools(episode.state)
    functions = [
        {"name": tool.name, "description": tool.doc, "parameters": object_schema(tool.parameters)} for tool in tools
    ]
    return {"tools": [{"type": "function", "function": function} for function in functions]}
