"""Episodes as tools: the model replies by calling one, and its results are the environment's answers."""

import itertools
from collections.abc import Callable, Mapping
from inspect import Parameter, Signature
from typing import Any

from datasets import Dataset

from waybench.core import INTERFACE, TOOLS, ActionTool, Json, ToolCall, UsageError, write_calls
from waybench.ext.train._session import Session

_OVER = "The episode is over."


def environment_factory(env: str, **settings: Any) -> Callable[[], Any]:
    """Return an `environment_factory` for `GRPOTrainer`: each reply is a call of a tool that the environment declares.

    This is `interface=tools`, a wording of its own whose rules say so; records name it ("tools:..."), so that it is
    never mixed with replies as text. The reward of an episode is the sum of the environment's rewards (`get_reward`).

    Args:
        env: The environment's id.
        **settings: As `waybench.ext.train.Session`; `wording` is what the form is based on.

    Raises:
        UsageError: For a wrong setting, an environment whose prompts are no growing conversation, or one that asks for
            thoughts, which no tool takes.
    """
    settings = {**settings, INTERFACE: TOOLS, "legal_actions": 0}
    session = Session(env, **settings)
    session.start(0)
    episode = session.episode
    if not session.grows or episode is None or episode.play.wording.thought_question(episode.state):
        raise UsageError(
            f"{env} shows a new prompt in each turn with these options, and tools are called in one growing "
            "conversation: choose another wording or protocol"
        )
    attempts = itertools.count(1)

    class Tools:
        """One episode at a time; every public method is a tool."""

        def __init__(self) -> None:
            self._session = Session(env, **settings)
            self._reward = 0.0

        def reset(self, item: int = 0, **row: Any) -> str:
            """Start an episode on the row's item and return its prompt."""
            self._reward = 0.0
            return self._session.start(int(item), next(attempts), player="trl").text

        def _call(self, name: str, arguments: Mapping[str, Json]) -> str:
            episode = self._session.episode
            if episode is None or episode.done:
                return _OVER
            turn = self._session.reply(write_calls("", [ToolCall(name, arguments)]))
            self._reward += turn.reward
            return turn.text or _OVER

        def get_reward(self) -> float:
            """Return the sum of the episode's rewards."""
            return self._reward

        @property
        def record(self) -> Any:
            """The episode's record."""
            return self._session.record()

    for tool in episode.play.wording.tools(episode.state):
        setattr(Tools, tool.name, _method(tool))
    return Tools


def tool_prompts(*, count: int, start: int = 0) -> Dataset:
    """Return rows for `environment_factory`, one for each item; the environment writes the prompt when it starts.

    Args:
        count: The number of items.
        start: The number of the first one.
    """
    empty = [{"role": "user", "content": ""}]
    return Dataset.from_list([{"prompt": empty, "item": index} for index in range(start, start + count)])


def _method(tool: ActionTool) -> Callable[..., str]:
    """Return a tool as a method; the trainer reads its schema from the annotations and the docstring."""

    def method(self: Any, **arguments: Any) -> str:
        return self._call(tool.name, arguments)

    kinds = {name: _annotation(schema) for name, schema in tool.parameters.items()}
    listed = [Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind) for name, kind in kinds.items()]
    this = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    method.__name__ = method.__qualname__ = tool.name
    method.__annotations__ = {**kinds, "return": str}
    method.__signature__ = Signature([this, *listed], return_annotation=str)  # pyright: ignore[reportFunctionMemberAccess]
    lines = [f"    {name}: {_description(schema)}" for name, schema in tool.parameters.items()]
    method.__doc__ = "\n".join((tool.doc, "", "Args:", *lines))
    return method


def _annotation(schema: Mapping[str, Json]) -> Any:
    match schema["type"]:
        case "array":
            return list[_annotation(schema["items"])]
        case "object":
            return dict[str, Any]
        case "integer":
            return int
        case _:  # which texts there are can differ between items, and the rules say it
            return str


def _description(schema: Mapping[str, Json]) -> str:
    """Return what an argument is, with the fields of the objects in it, which annotations do not have."""
    fields: Mapping[str, Json] = schema.get("items", schema).get("properties", {})
    if not fields:
        return str(schema["description"])
    listed = "; ".join(f'"{name}" ({inner["type"]}): {inner["description"]}' for name, inner in fields.items())
    return f"{schema['description']} Each is an object with {listed}"
