"""Inspect's agents and solvers as players (`--agent`), and agents that are ready to use."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from inspect_ai._eval.loader import solver_from_spec  # by name or file, as `inspect eval --solver`; no public name
from inspect_ai._util.registry import is_registry_object, registry_info
from inspect_ai.agent import Agent, AgentState, AgentSubmit, agent, as_solver
from inspect_ai.agent import react as engine_react
from inspect_ai.model import ChatMessage, ChatMessageUser, ModelOutput, ModelUsage, get_model
from inspect_ai.model._model import sample_model_usage  # tokens of a sample so far, of all models
from inspect_ai.solver import Generate, Solver, SolverSpec, TaskState
from inspect_ai.tool import Tool
from inspect_ai.tool import python as python_tool
from inspect_ai.util import apply_limits, message_limit, store

from waybench.core import Json, UsageError
from waybench.evaluation._function import load_object

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


READY: Mapping[str, Callable[..., Agent]] = {"react": react, "explore_map_act": explore_map_act}
MOST_MESSAGES = 100  # that an agent adds while it works out one reply
_ARGUMENT = re.compile(r",(?=[A-Za-z_]\w*=)")


class AgentSpec(NamedTuple):
    """An agent as the command line names it.

    Attributes:
        name: "react", "explore_map_act", a name in Inspect's registry, `file.py@name`, or `module.name`.
        args: Its arguments.
    """

    name: str
    args: dict[str, Json]


def read_agent(text: str) -> AgentSpec:
    """Read NAME[:arg=value,...]; a value is JSON if it can be read so, otherwise text.

    Raises:
        UsageError: If it has another form.
    """
    name, _, rest = text.partition(":")
    args: dict[str, Json] = {}
    for part in _ARGUMENT.split(rest) if rest else ():
        key, equals, value = part.partition("=")
        if not equals or not key.isidentifier():
            raise UsageError(f"agent {text[:80]!r}: give arguments as NAME:arg=value,arg=value")
        try:
            args[key] = json.loads(value)
        except (ValueError, RecursionError):
            args[key] = value
    if not name:
        raise UsageError(f"agent {text[:80]!r}: give a name, such as react")
    return AgentSpec(name, args)


def agent_solver(text: str) -> Solver:
    """Return an agent as Inspect runs it.

    Args:
        text: NAME[:arg=value,...].

    Raises:
        UsageError: If there is no such agent, or it refuses its arguments.
    """
    name, args = read_agent(text)
    try:
        if name in READY:
            return as_solver(READY[name](**args))
        if ".py" in name or "." not in name:
            return solver_from_spec(SolverSpec(name, args, args))
        made: Any = load_object(name)(**args)
        kind = registry_info(made).type if is_registry_object(made) else ""
        if kind not in ("agent", "solver"):
            raise UsageError(f"it returns {type(made).__name__}, and no agent or solver of Inspect")
        return as_solver(made) if kind == "agent" else made
    except Exception as error:  # the agent's own code, or Inspect's
        raise UsageError(f"agent {text[:80]!r}: {' '.join(str(error).split())[:300]}") from None


def agent_sandbox(text: str) -> str | None:
    """Return the sandbox that an agent of `READY` needs for its Python tool; None if it has none.

    Args:
        text: NAME[:arg=value,...].

    Raises:
        UsageError: If it has another form.
    """
    name, args = read_agent(text)
    asked = args.get("python")
    return str(asked) if name in READY and asked in SANDBOXES else None


async def agent_output(
    solver: Solver, state: TaskState, messages: Sequence[ChatMessage], generate: Generate
) -> ModelOutput:
    """Return an agent's reply to some messages, with the tokens of all of its requests.

    The agent is shown the messages and nothing else of the sample. It keeps what it has put into `store()` for the next
    reply. One that comes to no end within `MOST_MESSAGES` has a reply that was cut off.

    Args:
        solver: The agent.
        state: The sample's state.
        messages: The messages.
        generate: Inspect's function, for solvers that leave it to others to ask the model.
    """
    before = _used()
    own = TaskState(
        model=state.model,
        sample_id=state.sample_id,
        epoch=state.epoch,
        input=list(messages),
        messages=list(messages),
        sample_uuid=state.uuid,
    )
    with apply_limits([message_limit(len(messages) + MOST_MESSAGES)], catch_errors=True) as scope:
        own = await solver(own, generate)
        if not own.output.choices:
            own = await generate(own)
    found = own.output
    stop = "max_tokens" if scope.limit_error is not None else found.stop_reason if found.choices else "stop"
    output = ModelOutput.from_content(found.model or str(state.model), found.completion, stop_reason=stop)
    output.usage = _less(_used(), before)
    return output


def _used() -> ModelUsage:
    return sum(sample_model_usage().values(), ModelUsage())


def _less(after: ModelUsage, before: ModelUsage) -> ModelUsage:
    names = ("input_tokens", "output_tokens", "total_tokens", "input_tokens_cache_write", "input_tokens_cache_read")
    spent = {name: (getattr(after, name) or 0) - (getattr(before, name) or 0) for name in (*names, "reasoning_tokens")}
    return ModelUsage(**spent)
