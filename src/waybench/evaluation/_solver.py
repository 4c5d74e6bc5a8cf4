"""One solver that plays any episode, the layer between Inspect and a model, and boards in the transcript."""

import functools
import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import anyio
from inspect_ai.log import transcript
from inspect_ai.model import ChatMessage, ContentText, Model, ModelCall, ModelOutput, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import LimitExceededError
from pydantic_core import PydanticSerializationError, to_json

from waybench.core import (
    Belief,
    DefectError,
    End,
    Episode,
    Reply,
    Usage,
    is_array,
    is_object,
    plural,
)
from waybench.core._presentation import board_text
from waybench.evaluation._agents import agent_output, agent_solver
from waybench.evaluation._progress import EpisodeProgress, TaskProgress
from waybench.evaluation._provider import (
    action_request_arguments,
    current_belief,
    current_episode,
    execute_call,
    raw_reply,
    text_request_arguments,
)
from waybench.evaluation._provider_errors import PromptTokens, parse_provider_error, provider_cause
from waybench.evaluation._reasoning import (
    ReasoningWatch,
    current_watch,
    effective_reasoning_history,
    store_reasoning,
    without_unsent_reasoning,
)
from waybench.evaluation._responses import prepare_provider, resolve_unknown_stop_reason
from waybench.evaluation._run_journals import SampleTurns, current_task_journals
from waybench.evaluation._sample import (
    KEY,
    SENT,
    Chat,
    fork_conversation,
    parse_probe_plan,
    start_episode,
    store_episode,
)
from waybench.evaluation._sent_form import BLANK_REPLY, SentForm
from waybench.evaluation._states import STATES, HiddenStates

_FORM_ATTRIBUTE = "waybench_sent_form"
_stored_output: ContextVar[ModelOutput | None] = ContextVar("waybench_known_output", default=None)


@contextmanager
def answer_with_stored_output(output: ModelOutput | None) -> Generator[None]:
    """Answer the requests of a block with a stored output, if there is one; Inspect counts its tokens as usual."""
    if output is None:
        yield
        return
    seconds = output.time
    token = _stored_output.set(output)
    try:
        yield
    finally:
        _stored_output.reset(token)
        output.time = seconds  # the engine has put that of the look-up in its place


def wrap_model(model: Model, form: SentForm | None = None) -> SentForm:
    r"""Wrap a model's provider, so that requests and replies pass through waybench, and return its `SentForm`.

    A reply may hold lone surrogates, which JSON can escape and UTF-8 cannot carry; one of them would end the whole
    task when the engine writes its log. They become their own escapes, as the six characters \ud800, before the
    engine sees them.

    The provider's `generate` is wrapped once; `form` then takes the place of the model's own.
    """
    api: Any = model.api
    earlier_form: SentForm | None = getattr(api, _FORM_ATTRIBUTE, None)
    setattr(api, _FORM_ATTRIBUTE, form or earlier_form or SentForm(str(model)))
    if earlier_form is not None:
        return getattr(api, _FORM_ATTRIBUTE)
    prepare_provider(api)
    generate = api.generate

    @functools.wraps(generate)
    async def generate_in_accepted_form(input: list[ChatMessage], tools: Any, tool_choice: Any, config: Any) -> Any:
        """Return the stored output, or send the request in a form that the server accepts."""
        watch = current_watch.get()
        if (stored := _stored_output.get()) is not None:
            if watch is not None:
                watch.add_reply(stored.message)
            return stored
        episode, sent_messages = current_episode.get(), input
        if episode is not None:  # requests of agents' own can belong to none
            input = without_unsent_reasoning(input, effective_reasoning_history(api, config), episode.play.think_tags)

        async def send(messages: list[ChatMessage]) -> Any:
            """Send messages to the provider, after storing hidden states if asked for."""
            nonlocal sent_messages
            sent_messages = messages
            states: HiddenStates | None = getattr(api, STATES, None)
            if states is not None and episode is not None and current_belief.get() is None:
                await states.store(api, messages, tools, episode)
            return await generate(messages, tools, tool_choice, config)

        sent_form: SentForm = getattr(api, _FORM_ATTRIBUTE)
        match await sent_form.send(send, input):
            case (output, ModelCall() as call):
                resolve_unknown_stop_reason(output, call)
                if not _is_writable(call.response):
                    call.response = _escape_surrogates(call.response)
                output = _make_writable(output)
                result = output, call
            case output:
                result = output = _make_writable(output)
        if watch is not None and isinstance(output, ModelOutput) and output.choices:
            watch.add_request(sent_messages)
            watch.add_reply(output.message)
        return result

    api.generate = generate_in_accepted_form
    return getattr(api, _FORM_ATTRIBUTE)


def _make_writable(output: Any) -> Any:
    """Return a model's output with lone surrogates escaped, which a log cannot hold; other objects unchanged."""
    if not isinstance(output, ModelOutput) or _is_writable(output):
        return output  # some providers answer with an exception for the engine to raise
    return ModelOutput.model_validate(_escape_surrogates(output.model_dump()))


def _is_writable(value: Any) -> bool:
    """Return whether a value can be written as JSON, without lone surrogates."""
    try:
        to_json(value)
    except PydanticSerializationError:
        return False
    return True


def _escape_surrogates(value: Any) -> Any:
    """Return a JSON value with the lone surrogates in its texts escaped."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if is_object(value):
        return {_escape_surrogates(key): _escape_surrogates(inner) for key, inner in value.items()}
    if is_array(value):
        return [_escape_surrogates(inner) for inner in value]
    return value


# Where the conversation was too long, engine and providers put their own message in the place of a reply.
_STOP_BY_REASON = {"max_tokens": "truncated", "model_length": "overflow", "content_filter": "refused"}
_TIME_LIMITS = ("time", "working")
_REFUSAL_STATUSES = (400, 413, 422, 500)  # statuses that the same request gets again
_LONGEST_NAME = 200  # of the model that answered; it is the server's word


@solver
def play(agent: str | None = None, probe: str | None = None) -> Solver:
    """Return the solver that plays a sample's episode to its end and stores its progress.

    Turns that the journal of an interrupted run knows are taken from it, through the engine, which counts their tokens.

    Args:
        agent: The agent or solver of Inspect that works out each reply, as NAME[:arg=value,...] (`agent_solver`); the
            model itself by default. Its episodes have no journal.
        probe: Before which turns belief probes ask the player what it knows of the state, as "every:5" or "1,5,10"; by
            default never. These questions and answers never enter the conversation.

    Raises:
        UsageError: If `probe` has another form.
    """
    journals = current_task_journals()
    plan = None if probe is None else parse_probe_plan(probe)
    agent_player = None if agent is None else agent_solver(agent)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        """Play the episode of a sample."""
        episode = start_episode(state.metadata, str(state.model))
        model = get_model()
        form = wrap_model(model)
        journal = journals.by_model.get(str(model)) if journals and agent_player is None else None
        turns = SampleTurns(journal, (str(state.sample_id), state.epoch), state.uuid, state.metadata[KEY][0])
        chat, prompt_tokens = Chat(), PromptTokens()
        progress = journals.progress.get(str(model)) if journals else None
        episode_progress = EpisodeProgress(progress or TaskProgress("", ""), state.sample_id, state.epoch, episode)
        token, boards = current_episode.set(episode), Boards()
        watch = ReasoningWatch(episode.play.think_tags)
        watch_token = current_watch.set(watch)
        try:
            while not episode.done:
                state.messages = chat.messages(episode)
                if plan is not None and plan.asks_before(len(episode.turns)):
                    for belief in episode.beliefs:
                        await _ask_belief(model, episode, belief, state.messages, turns, episode_progress)
                tool_arguments = action_request_arguments(episode)
                began = time.monotonic()
                if agent_player is not None:
                    output = await agent_output(agent_player, state, state.messages, generate)
                else:
                    with answer_with_stored_output(turns.read_output()):
                        output = await model.generate(state.messages, **tool_arguments)
                    chat.add_reply(len(episode.turns), output.message)
                    new_usage = None if turns.is_replayed else output.usage  # a stored reply was checked when it came
                    if warning := prompt_tokens.truncation_warning(state.messages, new_usage):
                        form.tell_once("prompt tokens", warning)
                state.output = output
                store_reasoning(state.store, len(episode.turns), output.message)
                is_thought = bool(episode.play.wording.thought_question(episode.state))
                turn = episode.step(read_reply(output, time.monotonic() - began, by_tools=bool(tool_arguments)))
                if not (is_thought or turn.reasoning or tool_arguments):
                    form.warn_of_unmarked_reasoning(turn.reply)
                boards.show(episode)
                turns.write_turn(output, turn)  # before the next request leaves, and only if nothing was wrong with it
                episode_progress.report_reply(turn, repeated=turns.is_replayed, is_thought=is_thought)
                if tool_arguments:
                    messages = [*state.messages, output.message]
                    result = await execute_call(episode, tool_arguments["tools"], turn, messages)
                    chat.add_result(output.message, result)
            turns.end_sample()
        except LimitExceededError as limit:
            # A limit on time is an infrastructure error, unlike one on tokens, messages or cost.
            episode.end(End.INFRASTRUCTURE if limit.type in _TIME_LIMITS else End.TURN_LIMIT, str(limit.message))
            if episode.end_reason is not End.INFRASTRUCTURE:
                turns.end_sample()
            raise
        except Exception as error:
            episode.end(End.INFRASTRUCTURE, _end_error_text(error, episode)[:2000])
            raise
        except anyio.get_cancelled_exc_class():  # also by a limit on time, of which the log knows by itself
            if episode_progress.why_stopped and not episode.done:
                episode.error = episode_progress.why_stopped
            raise
        finally:
            blank_reply = {"blank_reply": BLANK_REPLY} if chat.has_placeholder else {}
            if form_settings := form.form_settings(chat.messages(episode)) | blank_reply:
                state.store.set(SENT, form_settings)
            episode.reasoning_returned, episode.reasoning_sent_back = watch.returned_forms, watch.sent_back
            # Once, for the engine compares the store wherever an agent's part ends.
            store_episode(state.store, episode, agent or "")
            current_watch.reset(watch_token)
            current_episode.reset(token)
            episode_progress.report_end()
        state.messages = chat.messages(episode)
        state.completed = True
        return state

    return solve


async def _ask_belief(
    model: Model,
    episode: Episode[Any, Any, Any],
    belief: Belief[Any],
    messages: list[ChatMessage],
    turns: SampleTurns,
    progress: EpisodeProgress,
) -> None:
    """Ask a player what it knows of the state, in a fork of the conversation that no later request contains."""
    stored, began = turns.read_output(belief.name), time.monotonic()
    token, watch_token = current_belief.set(belief), current_watch.set(None)
    try:
        with answer_with_stored_output(stored):
            output = await model.generate(fork_conversation(messages, belief.text), **text_request_arguments(episode))
    finally:
        current_watch.reset(watch_token)
        current_belief.reset(token)
    probe = episode.probe(belief, read_reply(output, time.monotonic() - began))
    if stored is None:
        turns.write_probe_answer(belief.name, output)
    progress.report_reply(probe, repeated=stored is not None)


def provider_error_text(error: Exception) -> str:
    """Return type and text of a provider's error."""
    return f"{type(provider_cause(error)).__name__}: {parse_provider_error(error).words}"


def _end_error_text(error: Exception, episode: Episode[Any, Any, Any]) -> str:
    """Return the error text of an episode that an exception ended.

    It says if the environment has a defect, or if the server refused the conversation, whose cause may be a reply of
    the player or a fault of the server.
    """
    if isinstance(provider_cause(error), DefectError):
        return str(provider_cause(error))
    is_refusal = parse_provider_error(error).status in _REFUSAL_STATUSES
    if not (is_refusal and episode.turns):
        return provider_error_text(error)
    turns = len(episode.turns)
    return (
        f"the server refuses this conversation after {plural(turns, 'reply', 'replies')}: {provider_error_text(error)}"
    )


def read_reply(output: ModelOutput, seconds: float, *, by_tools: bool = False) -> Reply:
    """Return a model's output as a reply with its usage.

    `seconds` is the time of the call, for providers that do not say it. With `by_tools`, calls are part of the reply.

    Raises:
        RuntimeError: If the provider answered without a completion, or with an error in its place.
    """
    if not output.choices or output.error:
        raise RuntimeError(f"the provider answered without a completion: {output.error or 'no choices'}")
    text = raw_reply(output) if by_tools else output.completion
    usage = output.usage
    n_cached = (usage.input_tokens_cache_read or 0) if usage else 0
    n_written = (usage.input_tokens_cache_write or 0) if usage else 0
    return Reply(
        text,
        "refused" if _is_refusal(output) else _STOP_BY_REASON.get(output.stop_reason, "stop"),
        Usage.from_provider(
            input_tokens=usage.input_tokens + n_cached + n_written if usage else 0,
            output_tokens=usage.output_tokens if usage else 0,
            reasoning_tokens=(usage.reasoning_tokens or 0) if usage else 0,
            cached_tokens=n_cached,
            seconds=round(seconds if output.time is None else output.time, 3),
            model=output.model[:_LONGEST_NAME],
        ),
    )


def _is_refusal(output: ModelOutput) -> bool:
    """Return whether the provider marks the text as a refusal, whatever its reason to stop is."""
    content = output.message.content
    return not isinstance(content, str) and any(isinstance(part, ContentText) and part.refusal for part in content)


_BOARD_SOURCE = "waybench board"
_MOST_BOARDS = 50  # boards of an episode
_LONGEST_BOARD = 4_000  # characters of one


class Boards:
    """Writes the board of an episode to the transcript after a turn, at most 50 times."""

    def __init__(self) -> None:
        self._n_shown = 0

    def show(self, episode: Episode[Any, Any, Any]) -> None:
        """Write an episode's present board to the transcript, if the environment has boards."""
        board = episode.environment.presentation.board
        if board is None or self._n_shown == _MOST_BOARDS:
            return
        text = board_text(board(episode.state, episode.turns)).replace("```", "'''")[:_LONGEST_BOARD]
        if text.strip():
            self._n_shown += 1
            transcript().info(f"```text\n{text}\n```", source=_BOARD_SOURCE)
