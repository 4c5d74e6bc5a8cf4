"""The tools that a wording declares for `interface=tools`, and calls of them, as data."""

from collections.abc import Mapping
from typing import NamedTuple

from waybench.core._game import Json


class ActionTool(NamedTuple):
    """A tool by which a player acts.

    Attributes:
        name: Its name.
        doc: What it does, in a sentence.
        parameters: Name -> JSON schema with a "description"; all of them are required. The types "string" (with or
            without "enum"), "integer", "array" ("items", "maxItems") and "object" ("properties") are known.
    """

    name: str
    doc: str
    parameters: Mapping[str, Json]


class ToolCall(NamedTuple):
    """A call of a tool.

    Attributes:
        name: The tool's name.
        arguments: The arguments; empty if they could not be read.
        error: Why they could not be read, in the words of the program that read them; "" if they could.
    """

    name: str
    arguments: Mapping[str, Json]
    error: str = ""


REPLY_TOOL = ActionTool(
    "act",
    "Reply to the environment.",
    {"reply": {"type": "string", "description": "The reply, in the form that the rules ask for."}},
)
"""The tool of a wording that declares none of its own: it takes a whole reply as text."""

CALL_RULES = (
    "Act by calling a tool, with one call in each turn: what you are asked to write goes into the arguments of the "
    "call. Text beside the call is not read."
)
