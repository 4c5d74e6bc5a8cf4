"""`interface=tools`: a wording whose replies are calls of tools, around each wording of an environment."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, NamedTuple

from waybench.core._environment import AnyEnvironment, AnyPlay, PlayExtension, Resolve
from waybench.core._errors import UsageError
from waybench.core._game import A, I, Json, S
from waybench.core._images import has_images
from waybench.core._json import (
    MAX_DEPTH,
    MAX_DIGITS,
    Oversized,
    is_array,
    is_object,
    object_from_pairs,
    raise_for_constant,
)
from waybench.core._json_reply import MAX_CHARACTERS, json_excerpt
from waybench.core._play import WORDING, Option
from waybench.core._replies import ReplyParts, split_reasoning
from waybench.core._texts import ENGLISH, Texts
from waybench.core._wording import ActionTool, DerivedWording, Invalid, ToolCall, Wording

INTERFACE = "interface"  # an option of play of every environment, in addition to its own
TOOLS, _TEXT = "tools", "text"
TOOLS_PREFIX = "tools:"  # the beginning of the name of a wording with tools, in records
INTERFACE_OPTION = Option(
    name=INTERFACE,
    default=_TEXT,
    choices=(_TEXT, TOOLS),
    doc='How the player acts: "text", a written reply; "tools", a call of a tool with the action as its arguments. It '
    'is a wording of its own ("tools:" and the name of the wording), so that no score mixes the two.',
)
_MOST_DIGITS = 100


class CallReply(NamedTuple):
    """The text and the calls of tools in a reply."""

    text: str
    calls: tuple[ToolCall, ...] = ()


def reply_of_calls(text: str, calls: Sequence[ToolCall]) -> str:
    """Return text and calls as one raw reply, for records; `calls_in_reply` reads it.

    Without calls it is the text itself, unless the text looks like a reply with calls.
    """
    if not calls and _parse_calls_json(text) is None:
        return text
    data: dict[str, Json] = {"calls": [_call_to_json(call) for call in calls]}
    if text or not calls:
        data["text"] = text
    return json.dumps(data, ensure_ascii=False)


def calls_in_reply(reply: str) -> CallReply:
    """Return the text and the calls in a raw reply."""
    return _parse_calls_json(reply) or CallReply(reply)


def _call_to_json(call: ToolCall) -> dict[str, Json]:
    """Return a call as JSON values; arguments that are no JSON are replaced by an error."""
    error = call.error
    arguments: Json = call.arguments
    try:
        json.dumps(arguments, allow_nan=False)
    except (ValueError, TypeError, RecursionError) as problem:
        arguments, error = {}, error or f"{type(problem).__name__}: the arguments cannot be written as JSON"
    return {"name": call.name, "arguments": arguments, **({"error": error} if error else {})}


def _parse_calls_json(reply: str) -> CallReply | None:
    """Return the calls of a reply that `reply_of_calls` wrote; None for any other text."""
    if not reply.startswith('{"calls":') or len(reply) > MAX_CHARACTERS:
        return None
    try:
        data: Any = _DECODER.decode(reply)
    except (ValueError, RecursionError):
        return None
    calls = data.get("calls")
    if data.keys() - {"calls", "text"} or not isinstance(data.get("text", ""), str) or not is_array(calls):
        return None
    tool_calls: list[ToolCall] = []
    for call in calls:
        if not is_object(call) or call.keys() - {"name", "arguments", "error"}:
            return None
        name, arguments, error = call.get("name"), call.get("arguments"), call.get("error", "")
        if not isinstance(name, str) or not is_object(arguments) or not isinstance(error, str):
            return None
        tool_calls.append(ToolCall(name, arguments, error))
    return CallReply(data.get("text", ""), tuple(tool_calls))


def _parse_bounded_int(digits: str) -> int | Oversized:
    """Return an integer; `Oversized` if it has more than 100 digits."""
    return int(digits) if len(digits) <= _MOST_DIGITS else Oversized()


_DECODER = json.JSONDecoder(
    object_pairs_hook=object_from_pairs, parse_int=_parse_bounded_int, parse_constant=raise_for_constant
)


def object_schema(parameters: Mapping[str, Json]) -> dict[str, Json]:
    """Return the JSON schema of an object with these properties, all required."""
    return {
        "type": "object",
        "properties": dict(parameters),
        "required": list(parameters),
        "additionalProperties": False,
    }


def checked_call(call: ToolCall, tools: Sequence[ActionTool], texts: Texts = ENGLISH) -> ToolCall | Invalid:
    """Return a call whose arguments fit the schema of its tool, or as `Invalid` why they do not.

    Arguments are not repaired, except that 2.0 is read as 2, since they are the same number in JSON.
    """
    tool = next((tool for tool in tools if tool.name == call.name), None)
    if tool is None:
        names = ", ".join(tool.name for tool in tools)
        return Invalid(texts.fill("call.unknown", name=json_excerpt(call.name, texts), names=names))
    if call.error:
        return Invalid(texts.fill("call.malformed", name=tool.name))
    try:
        return ToolCall(
            tool.name, _ArgumentChecker(texts).checked_value(call.arguments, object_schema(tool.parameters))
        )
    except _UnfitError as problem:
        return Invalid(texts.fill("call.unfit", name=tool.name, problem=problem))


class _UnfitError(ValueError):
    """An argument that does not fit its schema; the message says which, in the language of play."""


class _ArgumentChecker:
    """Checks the arguments of calls; its errors are in the language of its texts."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts

    def checked_value(self, value: Json, schema: Mapping[str, Json], path: str = "", depth: int = 0) -> Json:
        """Return a value that fits a JSON schema; 2.0 becomes 2 and lone surrogates are escaped.

        `path` is the place of the value in the arguments, for messages, such as "moves[0].cells".

        Raises:
            _UnfitError: If the value does not fit.
        """
        if depth > MAX_DEPTH:
            raise self._unfit_error("depth", path, most=MAX_DEPTH)
        match schema["type"]:
            case "object":
                return self._checked_object(value, schema, path, depth)
            case "array":
                if not is_array(value):
                    raise self._unfit_error("list", path, value)
                if len(value) > schema.get("maxItems", len(value)):
                    raise self._unfit_error("length", path, count=len(value), most=schema["maxItems"])
                return [
                    self.checked_value(element, schema["items"], f"{path or self._texts['unfit.all']}[{at}]", depth + 1)
                    for at, element in enumerate(value)
                ]
            case "integer":
                if type(value) is float and value.is_integer() and abs(value) < 10**MAX_DIGITS:
                    value = int(value)
                if type(value) is not int:
                    raise self._unfit_error("integer", path, value)
                if value < schema.get("minimum", value):
                    raise self._unfit_error("least", path, value, least=schema["minimum"])
                return value
            case _:
                if not isinstance(value, str):
                    raise self._unfit_error("text", path, value)
                if "enum" in schema and value not in schema["enum"]:
                    raise self._unfit_error("choice", path, value)
                return value.encode("utf-8", "backslashreplace").decode()  # lone surrogates cannot be stored

    def _checked_object(self, value: Json, schema: Mapping[str, Json], path: str, depth: int) -> dict[str, Json]:
        """Return an object whose properties fit a JSON schema."""
        if not is_object(value):
            raise self._unfit_error("object", path, value)
        if (duplicate := getattr(value, "duplicate", None)) is not None:
            raise self._unfit_error("twice", path, name=json_excerpt(duplicate, self._texts))
        for name in value:
            if name not in schema["properties"]:
                raise self._unfit_error("unknown", path, name=json_excerpt(name, self._texts))
        for name in schema["properties"]:
            if name not in value:
                raise self._unfit_error("missing", path, name=json_excerpt(name, self._texts))
        return {
            name: self.checked_value(value[name], inner, f"{path}.{name}" if path else name, depth + 1)
            for name, inner in schema["properties"].items()
        }

    def _unfit_error(self, problem: str, path: str, value: Json = None, **fields: object) -> _UnfitError:
        """Return the error for a value at a path; `problem` names its text, and `fields` are values for the text."""
        fields = {"what": path or self._texts["unfit.all"], "value": json_excerpt(value, self._texts), **fields}
        return _UnfitError(self._texts.fill(f"unfit.{problem}", **fields))


class ToolWording(DerivedWording[I, S, A], Generic[I, S, A]):
    """A wording whose player acts by calling the tools that it declares, in place of writing replies.

    Rules, observations and memory are those of the base wording, and the rules also say how to act. A reply must have
    exactly one call of a declared tool, with arguments that fit its schema; any other reply is unparsed. A question for
    a thought is answered in text.

    Args:
        base: An environment's own wording, or a template.
    """

    def __init__(self, base: Wording[I, S, A]) -> None:
        super().__init__(base, f"{TOOLS_PREFIX}{base.name}")
        self.acts_by_tools = True

    def rules(self, instance: I) -> str:
        """Return the base wording's rules, and how to act."""
        return f"{self._base.rules(instance)}\n\n{self.call_rules or self.texts['call.rules']}"

    def parse(self, reply: str, state: S) -> A | Invalid:
        """Return the action of the one call in a reply, or why there is none."""
        call_reply = calls_in_reply(reply)
        if self._base.thought_question(state):
            return self._base.parse(call_reply.text, state)
        if len(reply) > MAX_CHARACTERS:
            return Invalid(self.texts.fill("reply.long", count=len(reply), most=MAX_CHARACTERS))
        if len(call_reply.calls) > 1:
            return Invalid(self.texts.fill("call.several", count=len(call_reply.calls)))
        if not call_reply.calls:
            return Invalid(self.texts["call.none"])
        call = checked_call(call_reply.calls[0], self.tools(state), self.texts)
        return call if isinstance(call, Invalid) else self.parse_call(call, state)

    def understands(self, reply: str, state: S) -> bool:
        """Return whether a reply has a call of an action."""
        return not isinstance(self.parse(reply, state), Invalid)

    def remember(self, reply: str, parsed: A | Invalid) -> str:
        """Return the reply as the chat shows it: without its text where the base wording rewrites replies."""
        if not self._base.rewrites or isinstance(parsed, Invalid):
            return reply
        return reply_of_calls("", calls_in_reply(reply).calls)

    def render(self, action: A, state: S) -> str:
        """Return a reply with one call, or the text of a thought."""
        if self._base.thought_question(state):
            return self._base.render(action, state)
        return reply_of_calls("", [self.render_call(action, state)])


def is_tool_name(value: object) -> bool:
    """Return whether a value of the option `wording` names a wording whose replies are calls of tools."""
    return isinstance(value, str) and value.startswith(TOOLS_PREFIX)


def without_tools(options: Mapping[str, Json]) -> dict[str, Json]:
    """Return options of play with replies in text in place of calls of tools."""
    values = dict(options)
    if is_tool_name(values.get(WORDING)):
        values[WORDING] = values[WORDING].removeprefix(TOOLS_PREFIX)
    return values


def _split_calls_and_reasoning(reply: str, think_tags: str | None) -> ReplyParts:
    """Return the calls or the answer in a reply, and the reasoning in its text."""
    text, calls = calls_in_reply(reply)
    answer, reasoning = split_reasoning(text, think_tags)
    return ReplyParts(reply if calls or not reasoning else reply_of_calls(answer, ()), reasoning)


def _resolve_interface_option(
    environment: AnyEnvironment, resolve_others: Resolve, values: dict[str, Json]
) -> dict[str, Json]:
    """Resolve the option `interface` and all other options; see `PlayExtension.resolve`."""
    value = values.pop(INTERFACE, None)
    interface = None if value is None else INTERFACE_OPTION.check(value)
    has_tool_wording = is_tool_name(values.get(WORDING))  # as in the options of records
    if has_tool_wording and interface == _TEXT:
        raise UsageError(f"interface=text: wording={str(values[WORDING])[:60]} acts by tools; give one of them")
    options = resolve_others(without_tools(values))
    if not has_tool_wording and interface != TOOLS:
        return options
    if has_images(options):
        raise UsageError("interface=tools: results of tools are texts; choose a wording without pictures")
    return options | {WORDING: f"{TOOLS_PREFIX}{options[WORDING]}"}


def _play_with_tools(environment: AnyEnvironment, options: Mapping[str, Json]) -> AnyPlay | None:
    """Return the play with a wording whose replies are calls of tools; None for replies in text."""
    if not is_tool_name(options[WORDING]):
        return None
    play = environment.play_with(without_tools(options))
    return replace(play, wording=ToolWording(play.wording), split_reply=_split_calls_and_reasoning)


TOOLS_EXTENSION = PlayExtension(
    name="tools", options=(INTERFACE_OPTION,), resolve=_resolve_interface_option, wrap=_play_with_tools
)
