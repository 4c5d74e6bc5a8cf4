"""The tools of the server: their schemas, and the check of what an agent calls them with."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from waybench.core import Json, UsageError, is_object, unknown
from waybench.rl._limits import LARGEST_BODY

_SESSION: Json = {"type": "string", "description": "The session, as start has given it."}


class ServerTool(NamedTuple):
    """A tool of the server.

    Attributes:
        doc: What it does.
        parameters: Name -> JSON schema: of the type "string", "integer", "boolean" or "object".
        required: The parameters that have to be given.
    """

    doc: str
    parameters: Mapping[str, Mapping[str, Json]]
    required: tuple[str, ...] = ()

    @property
    def schema(self) -> dict[str, Json]:
        """The JSON schema of the arguments."""
        return {
            "type": "object",
            "properties": {name: dict(schema) for name, schema in self.parameters.items()},
            "required": list(self.required),
            "additionalProperties": False,
        }


TOOLS: Mapping[str, ServerTool] = {
    "list_environments": ServerTool(
        "List the environments; with the id of one, its description, levels and options.",
        {"environment": {"type": "string", "description": "The id of an environment."}},
    ),
    "start": ServerTool(
        "Start an episode. The result is the environment's prompt and the session for the other tools. Each start at "
        "an item is an attempt, which is recorded.",
        {
            "environment": {"type": "string", "description": "The id, as list_environments gives it."},
            "level": {"type": "integer", "description": "The level of difficulty; the smallest by default."},
            "index": {"type": "integer", "description": "The number of the item in its set, from 0.", "default": 0},
            "key": {"type": "string", "description": "The key of the set of items; the public set by default."},
            "options": {
                "type": "object",
                "description": 'Options of the environment, such as {"interface": "tools"}.',
                "additionalProperties": True,
            },
        },
        ("environment",),
    ),
    "look": ServerTool(
        "Show the latest text of the environment again. This costs no turn.",
        {
            "session": _SESSION,
            "whole": {
                "type": "boolean",
                "description": "Show the whole prompt, with rules and turns.",
                "default": False,
            },
        },
        ("session",),
    ),
    "act": ServerTool(
        "Reply to the environment. Give reply, a text in the form that the rules ask for; or action, where start has "
        "given actions. The result is the environment's answer.",
        {
            "session": _SESSION,
            "reply": {"type": "string", "description": "The reply."},
            "action": {
                "type": "object",
                "description": "One of the actions that start has given.",
                "properties": {"name": {"type": "string"}, "arguments": {"type": "object"}},
                "required": ["name"],
            },
        },
        ("session",),
    ),
    "finish": ServerTool(
        "End the session. The result is the outcome of the episode and its record. An episode that is not over is "
        "recorded as unfinished.",
        {"session": _SESSION},
        ("session",),
    ),
}
_TYPES: Mapping[str, tuple[type, str]] = {
    "string": (str, "a text"),
    "integer": (int, "a whole number"),
    "boolean": (bool, "true or false"),
    "object": (dict, "an object"),
}


def check_arguments(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call, without those that are null.

    Raises:
        UsageError: If there is no such tool, or an argument is unknown, missing, too long or of another type.
    """
    if name not in TOOLS:
        raise UsageError(unknown("tool", name[:60], TOOLS))
    tool = TOOLS[name]
    checked = {each: value for each, value in given.items() if value is not None}
    for each, value in checked.items():
        if each not in tool.parameters:
            raise UsageError(unknown(f"argument of {name}", each[:60], tool.parameters))
        kind, text = _TYPES[str(tool.parameters[each]["type"])]
        if type(value) is float and kind is int and value.is_integer() and abs(value) < 1e15:
            value = checked[each] = int(value)  # JSON has one kind of numbers
        if type(value) is not kind and not (kind is dict and is_object(value)):
            raise UsageError(f"{name}: {each} must be {text}")
        if isinstance(value, str) and len(value) > LARGEST_BODY:
            raise UsageError(f"{name}: {each} is longer than {LARGEST_BODY:,} characters")
        if type(value) is int and abs(value) >= 1 << 62:
            raise UsageError(f"{name}: {each} is too large")
    for each in tool.required:
        if each not in checked:
            raise UsageError(f"{name}: {each} is missing")
    return checked
