"""The user's functions and agents as players, pictures as PNG, and waybench's errors as Inspect's."""

import base64
import json
import os
import re
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from inspect import isawaitable, iscoroutinefunction
from typing import Any, NamedTuple

import vl_convert
from anyio import to_thread
from inspect_ai._eval.loader import solver_from_spec  # by name or file, as `inspect eval --solver`; no public name
from inspect_ai._util.error import PrerequisiteError  # what the engine prints as one line; it has no public name
from inspect_ai._util.registry import is_registry_object, registry_info
from inspect_ai.agent import Agent, AgentState, AgentSubmit, agent, as_solver
from inspect_ai.agent import react as engine_react
from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    ContentImage,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.model._model import sample_model_usage  # tokens of a sample so far, of all models
from inspect_ai.solver import Generate, Solver, SolverSpec, TaskState
from inspect_ai.tool import Tool, ToolChoice, ToolInfo
from inspect_ai.tool import python as python_tool
from inspect_ai.util import apply_limits, message_limit, store

from waybench.core import Json, Picture, UsageError, WaybenchError, message_text, standalone_svg_document
from waybench.core._replies import is_message_content

PREFIX = "python:"  # on the command line; the engine's name of the model begins with "python/"
# The one font that comes with what draws the pictures, so that they have the same bytes whatever fonts a machine has.
_FONT = 'font-family="Liberation Sans"'
_GENERIC_FONTS = re.compile(r'font-family="(?:sans-serif|monospace)"')
_PIXELS_PER_TOKEN = 750  # by which Anthropic's documentation estimates the tokens of a picture
SANDBOXES = ("local", "docker")
_PROGRAM_TIMEOUT = 30  # of one run of a program
_NOTES_KEY = "waybench_notes"  # where the sample's store has the notes, until the episode ends
_MAP_REQUEST = (
    "Do not act yet. Write down what you know by now: a map of what you have explored, where you are, and what is "
    "still unknown. These notes replace the earlier ones, and you will see them in each later turn."
)
_PLAN_REQUEST = "Do not act yet. Plan: say what you want to find out or to reach, and the next actions that lead there."
_ACT_REQUEST = "Now act: reply in the form that you are asked for above, and write nothing else."
MOST_MESSAGES = 100  # that an agent adds while it works out one reply
_ARGUMENT_SEPARATOR = re.compile(r",(?=[A-Za-z_]\w*=)")
_TOKEN_COUNTS = (
    *("input_tokens", "output_tokens", "total_tokens", "input_tokens_cache_write", "input_tokens_cache_read"),
    "reasoning_tokens",
)


@contextmanager
def one_line_errors() -> Generator[None]:
    """Convert errors that the user can correct to Inspect's `PrerequisiteError`, printed without a traceback."""
    try:
        yield
    except WaybenchError as error:
        raise PrerequisiteError(str(error)) from None


def inspect_model_name(name: str) -> str:
    """Return the name under which Inspect knows a model: "python/NAME" for "python:NAME", other names unchanged."""
    return f"python/{name.removeprefix(PREFIX)}" if name.startswith(PREFIX) else name


def load_object(reference: str) -> Any:
    """Return the object that `module.name` or `module:name` refers to; the working folder is searched, too.

    Raises:
        UsageError: If there is no such module or name, or the module cannot be imported.
    """
    module, colon, name = reference.partition(":")
    if not colon:
        module, _, name = reference.rpartition(".")
    if not module or not name:
        raise UsageError(f"{reference[:80]!r}: give a module and a name in it, as my_module.reply")
    if os.getcwd() not in sys.path and "" not in sys.path:  # as for `python -m`, and at the end: it hides nothing
        sys.path.append(os.getcwd())
    try:
        value: Any = import_module(module)
        for attribute in name.split("."):
            value = getattr(value, attribute)
    except ModuleNotFoundError as error:
        raise UsageError(f"{reference[:80]!r}: {error} in {os.getcwd()} or Python's path") from None
    except AttributeError as error:
        raise UsageError(f"{reference[:80]!r}: {error}") from None
    except Exception as error:  # the module is the user's own
        raise UsageError(f"{reference[:80]!r} cannot be imported: {type(error).__name__}: {error}") from None
    return value


class InProcessModel(ModelAPI):
    """A model of this process, which is prepared by its name alone."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008  the base class's own signature
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        with one_line_errors():
            self.prepare()

    def prepare(self) -> None:
        """Load what the model needs."""
        raise NotImplementedError


class FunctionModel(InProcessModel):
    """A Python function as a model: it receives messages (role, content) and returns a text or message; sync or async.

    A sync function runs in threads, as many as there are connections: `--max-connections 1` for one that must not.
    """

    def prepare(self) -> None:
        self._function = load_object(self.model_name)
        if not callable(self._function):
            kind = type(self._function).__name__
            raise UsageError(f"{self.model_name[:80]!r} is no function, but of type {kind}")

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        if tools:
            raise RuntimeError(f"python:{self.model_name} takes no tools")
        messages = [{"role": message.role, "content": message.text} for message in input]
        function = self._function
        if iscoroutinefunction(function) or iscoroutinefunction(getattr(function, "__call__", None)):  # noqa: B004
            answer = await function(messages)
        else:
            answer: Any = await to_thread.run_sync(function, messages, abandon_on_cancel=True)
            answer = await answer if isawaitable(answer) else answer
        text = message_text(answer)
        if text is None and not is_message_content(answer):
            raise TypeError(f"python:{self.model_name} returned {type(answer).__name__}: return the reply as a string")
        output = ModelOutput.from_content(f"python/{self.model_name}", text or "")
        output.usage = ModelUsage()  # it is not known, and the engine would fetch a tokenizer's file to count by
        return output


def picture_png(picture: Picture) -> bytes:
    """Return a picture as PNG on a white background. The same picture always gives the same bytes.

    Raises:
        ValueError: If it is not drawn with a view box from 0 0.
    """
    return _svg_to_png(picture.svg, picture.size)


@lru_cache(maxsize=64)  # a chat shows its first pictures again with each request
def _svg_to_png(svg: str, size: int) -> bytes:
    return bytes(vl_convert.svg_to_png(_GENERIC_FONTS.sub(_FONT, standalone_svg_document(svg, size))))


def content_image(picture: Picture) -> ContentImage:
    """Return a picture as image content of an Inspect message, with the PNG as a data URL."""
    return ContentImage(image=f"data:image/png;base64,{base64.b64encode(picture_png(picture)).decode('ascii')}")


def estimate_picture_tokens(picture: Picture) -> float:
    """Return the estimated tokens of a picture: one for each 750 pixels."""
    return picture.size**2 / _PIXELS_PER_TOKEN


def _python_tools(sandbox: str) -> list[Tool]:
    """Return the tools of an agent that runs Python in a sandbox, "local" or "docker"; none for ""."""
    if sandbox not in ("", *SANDBOXES):
        raise UsageError(f"python={sandbox[:40]!r}: choose from {', '.join(SANDBOXES)}")
    return [python_tool(timeout=_PROGRAM_TIMEOUT)] if sandbox else []


def react(python: str = "", **args: Any) -> Agent:
    """Return Inspect's `react` agent, whose reply is only the text that it submits.

    Args:
        python: Where programs of its Python tool run: "local" (on this machine, as this user) or "docker"; by default
            it has no such tool.
        **args: Arguments of Inspect's agent.
    """
    arguments: dict[str, Any] = {"submit": AgentSubmit(answer_only=True), "tools": _python_tools(python), **args}
    return engine_react(**arguments)


@agent
def explore_map_act(notes: bool = True, plan: bool = True, python: str = "") -> Agent:
    """Return an agent that writes notes, plans, and then acts: up to three requests for each reply.

    Without notes and plan it is the bare model, so that each part can be left out for comparison.

    Args:
        notes: Whether it keeps notes from turn to turn.
        plan: Whether it plans before each action.
        python: As for `react`, while it plans.
    """
    tools = _python_tools(python)

    async def execute(state: AgentState) -> AgentState:
        """Work out one reply."""
        thoughts: list[str] = []
        if notes:
            old_notes = store().get(_NOTES_KEY, "")
            reminder = [f"Your notes so far:\n{old_notes}"] if old_notes else []
            new_notes = await _ask_model(state.messages, [*reminder, _MAP_REQUEST], [])
            store().set(_NOTES_KEY, new_notes)
            thoughts.append(f"Your notes:\n{new_notes}")
        if plan:
            thoughts.append(f"Your plan:\n{await _ask_model(state.messages, [*thoughts, _PLAN_REQUEST], tools)}")
        messages = [*state.messages, *([_user_message([*thoughts, _ACT_REQUEST])] if thoughts else [])]
        state.output = await get_model().generate(messages)
        state.messages = [*messages, state.output.message]
        return state

    return execute


async def _ask_model(conversation: Sequence[ChatMessage], paragraphs: Sequence[str], tools: Sequence[Tool]) -> str:
    """Return the model's answer to a question, given in paragraphs, at the end of a conversation."""
    messages = [*conversation, _user_message(paragraphs)]
    if not tools:
        return (await get_model().generate(messages)).completion
    _, output = await get_model().generate_loop(messages, tools=tools)
    return output.completion


def _user_message(paragraphs: Sequence[str]) -> ChatMessageUser:
    return ChatMessageUser(content="\n\n".join(paragraphs))


BUILT_IN_AGENTS: Mapping[str, Callable[..., Agent]] = {"react": react, "explore_map_act": explore_map_act}


class AgentSpec(NamedTuple):
    """An agent as the command line names it.

    Attributes:
        name: "react", "explore_map_act", a name in Inspect's registry, `file.py@name`, or `module.name`.
    """

    name: str
    args: dict[str, Json]


def parse_agent_spec(agent_text: str) -> AgentSpec:
    """Return the agent that NAME[:arg=value,...] names, whose values are JSON or else text.

    Raises:
        UsageError: If the text has another form.
    """
    name, _, arguments = agent_text.partition(":")
    args: dict[str, Json] = {}
    for part in _ARGUMENT_SEPARATOR.split(arguments) if arguments else ():
        key, equals, value = part.partition("=")
        if not equals or not key.isidentifier():
            raise UsageError(f"agent {agent_text[:80]!r}: give arguments as NAME:arg=value,arg=value")
        try:
            args[key] = json.loads(value)
        except (ValueError, RecursionError):
            args[key] = value
    if not name:
        raise UsageError(f"agent {agent_text[:80]!r}: give a name, such as react")
    return AgentSpec(name, args)


def agent_gives_tools(agent_text: str) -> bool:
    """Return whether an agent, NAME[:arg=value,...], is known to give its model tools."""
    name, args = parse_agent_spec(agent_text)
    return name == "react" or (name in BUILT_IN_AGENTS and bool(args.get("python")))


def agent_solver(agent_text: str) -> Solver:
    """Return the Inspect solver of an agent, NAME[:arg=value,...]; raise a UsageError if it cannot be made."""
    name, args = parse_agent_spec(agent_text)
    try:
        if name in BUILT_IN_AGENTS:
            return as_solver(BUILT_IN_AGENTS[name](**args))
        if ".py" in name or "." not in name:
            return solver_from_spec(SolverSpec(name, args, args))
        created: Any = load_object(name)(**args)
        kind = registry_info(created).type if is_registry_object(created) else ""
        if kind not in ("agent", "solver"):
            raise UsageError(f"it returns {type(created).__name__}, and no agent or solver of Inspect")
        return as_solver(created) if kind == "agent" else created
    except Exception as error:  # the agent's own code, or Inspect's
        raise UsageError(f"agent {agent_text[:80]!r}: {' '.join(str(error).split())[:300]}") from None


def agent_sandbox(agent_text: str) -> str | None:
    """Return the sandbox for the Python tool of NAME[:arg=value,...], or None; raise a UsageError for another form."""
    name, args = parse_agent_spec(agent_text)
    sandbox = args.get("python")
    return str(sandbox) if name in BUILT_IN_AGENTS and sandbox in SANDBOXES else None


async def agent_output(
    agent: Solver, state: TaskState, messages: Sequence[ChatMessage], generate: Generate
) -> ModelOutput:
    """Return an agent's reply to a conversation, with the tokens of all its requests.

    The agent is shown the messages and nothing else of the sample. It keeps what it has put into `store()` for the next
    reply. An agent that does not end within `MOST_MESSAGES` has a reply that was cut off.
    """
    tokens_before = sum(sample_model_usage().values(), ModelUsage())
    agent_state = TaskState(
        model=state.model,
        sample_id=state.sample_id,
        epoch=state.epoch,
        input=list(messages),
        messages=list(messages),
        sample_uuid=state.uuid,
    )
    with apply_limits([message_limit(len(messages) + MOST_MESSAGES)], catch_errors=True) as scope:
        agent_state = await agent(agent_state, generate)
        if not agent_state.output.choices:
            agent_state = await generate(agent_state)
    agent_reply = agent_state.output
    if scope.limit_error is not None:
        stop_reason = "max_tokens"
    else:
        stop_reason = agent_reply.stop_reason if agent_reply.choices else "stop"
    output = ModelOutput.from_content(
        agent_reply.model or str(state.model), agent_reply.completion, stop_reason=stop_reason
    )
    tokens = sum(sample_model_usage().values(), ModelUsage())
    output.usage = ModelUsage(
        **{name: (getattr(tokens, name) or 0) - (getattr(tokens_before, name) or 0) for name in _TOKEN_COUNTS}
    )
    return output
