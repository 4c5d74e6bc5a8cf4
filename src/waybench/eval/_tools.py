"""`interface=tools` with Inspect: declared tools, calls in a model's message, and their results."""

from collections.abc import Mapping, Sequence
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    GenerateConfig,
    ModelOutput,
    execute_tools,
)
from inspect_ai.tool import ToolCall as EngineCall
from inspect_ai.tool import ToolDef, ToolInfo, ToolParams

from waybench.core import ActionTool, Episode, ToolCall, ToolWording, TurnRecord, object_schema, read_calls, write_calls

ONE_CALL = GenerateConfig(parallel_tool_calls=False)


def acts_by_tools(episode: Episode[Any, Any, Any]) -> bool:
    """Return whether the player acts by calling tools."""
    return isinstance(episode.play.wording, ToolWording)


def request(episode: Episode[Any, Any, Any]) -> dict[str, Any]:
    """Return the arguments of a request for the next reply without the messages: tools, where the player has some.

    A question for a thought is answered in text, so no tool can be called then.
    """
    if not acts_by_tools(episode):
        return {}
    if episode.play.wording.thought_question(episode.state):
        return text_request(episode)
    return {"tools": declared(episode), "tool_choice": "auto", "config": ONE_CALL}


def text_request(episode: Episode[Any, Any, Any]) -> dict[str, Any]:
    """Return the arguments of a request for an answer in text without the messages.

    Tools are named where the conversation may have calls of them, as some providers want, but cannot be called.
    """
    return {"tools": declared(episode), "tool_choice": "none"} if acts_by_tools(episode) else {}


def declared(episode: Episode[Any, Any, Any]) -> list[ToolInfo]:
    """Return the tools that the wording declares, as Inspect describes tools."""
    return [tool_info(tool) for tool in episode.play.wording.tools(episode.state)]


def tool_info(tool: ActionTool) -> ToolInfo:
    """Return a tool as Inspect describes tools."""
    return ToolInfo(name=tool.name, description=tool.doc, parameters=_parameters(tool))


def _parameters(tool: ActionTool) -> ToolParams:
    # What Inspect's own class for schemas does not know, such as maxItems, is left out of it.
    return ToolParams.model_validate(object_schema(tool.parameters))


def said(output: ModelOutput) -> str:
    """Return what a model said as the raw reply of an episode whose player acts by tools."""
    message = output.message
    return write_calls(output.completion, [_call(call) for call in message.tool_calls or ()])


def _call(call: EngineCall) -> ToolCall:
    return ToolCall(call.function, call.arguments, call.parse_error or "")


def output_of(model: str, reply: str, turn: int) -> ModelOutput:
    """Return a raw reply as the output of a model in a turn."""
    text, calls = read_calls(reply)
    output = ModelOutput.from_content(model, text)
    if calls:
        output.choices[0].message.tool_calls = engine_calls(calls, "t", turn)
        output.choices[0].stop_reason = "tool_calls"
    return output


def engine_calls(calls: Sequence[ToolCall], kind: str, number: int) -> list[EngineCall]:
    """Return calls as Inspect has them.

    Args:
        calls: The calls.
        kind: A letter for their ids, which differ within a conversation.
        number: A number for them.
    """
    return [  # some providers take ids of nine letters and digits only
        EngineCall(f"{kind}{number:06d}{at:02d}", call.name, dict(call.arguments), call.error or None)
        for at, call in enumerate(calls)
    ]


def results(message: ChatMessageAssistant, text: str) -> list[ChatMessage]:
    """Return the results of a message's calls: the same text for each, as no reply has more than one call that counts.

    Args:
        message: The message.
        text: The environment's answer.
    """
    return [
        ChatMessageTool(content=text, tool_call_id=call.id, function=call.function) for call in message.tool_calls or ()
    ]


async def executed(
    episode: Episode[Any, Any, Any], tools: Sequence[ToolInfo], turn: TurnRecord, messages: Sequence[ChatMessage]
) -> ChatMessage | None:
    """Let Inspect execute the call of a turn, so that its log has the call with its result.

    Args:
        episode: The episode, which has taken the turn.
        tools: The tools that the request offered.
        turn: The turn.
        messages: The conversation, with the model's message at its end.

    Returns:
        The message with the result; None for a turn without one call that could be read.
    """
    message = messages[-1]
    calls = message.tool_calls or [] if isinstance(message, ChatMessageAssistant) else []
    if turn.reason is not None or len(calls) != 1:
        return None

    async def execute(**kwargs: Any) -> str:
        return turn.message

    # An observation is never cut.
    defs = [ToolDef(execute, tool.name, tool.description, tool.parameters, max_output=0) for tool in tools]
    added, _ = await execute_tools(list(messages), defs)
    result = added[0] if len(added) == 1 else None
    is_result = isinstance(result, ChatMessageTool) and result.error is None and result.text == turn.message
    return result if is_result else None


def shape(message: ChatMessage) -> tuple[str, str, tuple[tuple[str, Mapping[str, Any]], ...]]:
    """Return what of a message decides what a model reads: role, text and calls, without ids."""
    calls = message.tool_calls or () if isinstance(message, ChatMessageAssistant) else ()
    return message.role, message.text.strip(), tuple((call.function, call.arguments) for call in calls)
