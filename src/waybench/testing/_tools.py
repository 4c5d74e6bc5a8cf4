"""Checks of the tools that wordings declare for `interface=tools`."""

import re
from collections.abc import Mapping
from typing import Any

from waybench.core import INTERFACE, TOOLS, Invalid, Json, ToolCall, write_calls
from waybench.testing._hostile import BAD_JSON
from waybench.testing._require import AnyEnvironment, ContractError, Message, brief, require
from waybench.testing._walks import actions, items, states, way_of, ways

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")  # what providers take
_STATES = 8


def check_tools(environment: AnyEnvironment, level: int) -> None:
    """With `interface=tools` each action is a call that is read as this action, and malformed calls are refused."""
    item = items(environment, level, 1)[0]
    for options in ways(environment):
        play = way_of(environment, {**options, INTERFACE: TOOLS})
        game, wording, what = play.game, play.wording, Message("{}", options)
        asked = [state for state in states(environment, item, game) if not game.terminal(state)]
        for state in [state for state in asked if not wording.thought_question(state)][:_STATES]:
            tools = wording.tools(state)
            require(bool(tools), "{}: there is no tool", what)
            for tool in tools:
                require(_NAME.fullmatch(tool.name) is not None and bool(tool.doc), "{}: tool {!r}", what, tool.name)
                for name, schema in tool.parameters.items():
                    require(bool(schema.get("description")), "{}: {} of {} has no description", what, name, tool.name)
                    _require_schema(schema, Message("{}: {} of {}", options, name, tool.name))
                    for bad in BAD_JSON:
                        _require_survived(wording, ToolCall(tool.name, {name: bad}), state, what)
            for action in actions(game, state):
                reply = wording.render(action, state)
                found = wording.parse(reply, state)
                require(
                    found == action, "{}: the call {} is read as {}, not {}", what, reply, brief(found), brief(action)
                )


def _require_schema(schema: Mapping[str, Json], what: Message) -> None:
    kind = schema.get("type")
    require(kind in ("string", "integer", "array", "object"), "{}: the type {!r} is not known", what, kind)
    if kind == "array":
        _require_schema(schema["items"], what)
    if kind == "object":
        require(list(schema["required"]) == list(schema["properties"]), "{}: not all properties are required", what)
        for inner in schema["properties"].values():
            _require_schema(inner, what)


def _require_survived(wording: Any, call: ToolCall, state: Any, what: Message) -> None:
    reply = write_calls("", [call])
    try:
        found = wording.parse(reply, state)
    except Exception as error:
        raise ContractError(f"{what}: the call {reply[:80]}: {type(error).__name__}: {str(error)[:200]}") from error
    if isinstance(found, Invalid):
        require(bool(found.reason), "{}: a call is refused without a reason", what)
