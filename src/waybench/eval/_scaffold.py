"""Agents that are ready to use: `--agent react` and `--agent explore_map_act`, with a Python tool if asked for."""

from collections.abc import Sequence
from typing import Any

from inspect_ai.agent import Agent, AgentState, AgentSubmit, agent
from inspect_ai.agent import react as engine_react
from inspect_ai.model import ChatMessage, ChatMessageUser, get_model
from inspect_ai.tool import Tool
from inspect_ai.tool import python as python_tool
from inspect_ai.util import store

from waybench.core import UsageError

SANDBOXES = ("local", "docker")
_SECONDS = 30  # of one run of a program
_NOTES = "waybench_notes"  # where the sample's store has the notes, until the episode ends
_MAP = (
    "Do not act yet. Write down what you know by now: a map of what you have explored, where you are, and what is "
    "still unknown. These notes replace the earlier ones, and you will see them in each later turn."
)
_PLAN = "Do not act yet. Plan: say what you want to find out or to reach, and the next actions that lead there."
_ACT = "Now act: reply in the form that you are asked for above, and write nothing else."


def check_sandbox(python: str) -> str:
    """Return the sandbox of a Python tool; "" for no such tool.

    Raises:
        UsageError: If it is none.
    """
    if python not in ("", *SANDBOXES):
        raise UsageError(f"python={python[:40]!r}: choose from {', '.join(SANDBOXES)}")
    return python


def _tools(python: str) -> list[Tool]:
    return [python_tool(timeout=_SECONDS)] if check_sandbox(python) else []


def react(python: str = "", **args: Any) -> Agent:
    """Return Inspect's `react`; its reply is what it submits, without what it says beside that.

    Args:
        python: Where programs of its Python tool run: "local" (on this machine, as this user) or "docker"; by default
            it has no such tool.
        **args: Arguments of Inspect's agent.
    """
    given: dict[str, Any] = {"submit": AgentSubmit(answer_only=True), "tools": _tools(python), **args}
    return engine_react(**given)


@agent
def explore_map_act(notes: bool = True, plan: bool = True, python: str = "") -> Agent:
    """Return an agent that writes down what it knows, plans, and then acts: up to three requests for each reply.

    Without notes and plan it is the bare model, so that each part can be left out for comparison.

    Args:
        notes: Whether it keeps notes from turn to turn.
        plan: Whether it plans before each action.
        python: As for `react`, while it plans.
    """
    tools = _tools(python)

    async def execute(state: AgentState) -> AgentState:
        thoughts: list[str] = []
        if notes:
            earlier = store().get(_NOTES, "")
            known = [f"Your notes so far:\n{earlier}"] if earlier else []
            text = await _answer(state.messages, [*known, _MAP], [])
            store().set(_NOTES, text)
            thoughts.append(f"Your notes:\n{text}")
        if plan:
            thoughts.append(f"Your plan:\n{await _answer(state.messages, [*thoughts, _PLAN], tools)}")
        asked = [*state.messages, *([_user([*thoughts, _ACT])] if thoughts else [])]
        state.output = await get_model().generate(asked)
        state.messages = [*asked, state.output.message]
        return state

    return execute


async def _answer(messages: Sequence[ChatMessage], parts: Sequence[str], tools: Sequence[Tool]) -> str:
    asked = [*messages, _user(parts)]
    if not tools:
        return (await get_model().generate(asked)).completion
    _, output = await get_model().generate_loop(asked, tools=tools)
    return output.completion


def _user(parts: Sequence[str]) -> ChatMessageUser:
    return ChatMessageUser(content="\n\n".join(parts))
