"""One solver that plays any episode, one scorer that reads its record, and the layer between Inspect and a model."""

import functools
import time
from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from statistics import fmean
from typing import Any

import anyio
from inspect_ai.event import ErrorEvent
from inspect_ai.log import transcript
from inspect_ai.model import ChatMessage, ContentText, Model, ModelCall, ModelOutput, get_model
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import LimitExceededError
from pydantic_core import PydanticSerializationError, to_json

from waybench.core import (
    Belief,
    DefectError,
    End,
    Episode,
    Range,
    Reply,
    TurnRecord,
    Usage,
    is_array,
    is_object,
    plural,
)
from waybench.envs import registry
from waybench.evaluation._agents import agent_output, agent_solver
from waybench.evaluation._progress import EpisodeProgress, TaskProgress
from waybench.evaluation._provider import (
    current_belief,
    current_episode,
    execute_call,
    raw_reply,
    request_arguments,
    text_request_arguments,
)
from waybench.evaluation._provider_errors import PromptTokens, cause_of, read_error
from waybench.evaluation._responses import prepare_provider, restate_stop_reason
from waybench.evaluation._run_journals import SampleTurns, task_journals
from waybench.evaluation._sample import (
    KEY,
    SENT,
    Chat,
    fork,
    open_episode,
    read_plan,
    store_episode,
    store_reasoning,
    stored_record,
)
from waybench.evaluation._sent_form import BLANK_REPLY, SentForm

_FORM = "waybench_sent_form"
_known: ContextVar[ModelOutput | None] = ContextVar("waybench_known_output", default=None)


@contextmanager
def answer_from(output: ModelOutput | None) -> Generator[None]:
    """Answer the requests of a block with a stored output, if there is one, which Inspect counts like any other."""
    if output is None:
        yield
        return
    seconds = output.time
    token = _known.set(output)
    try:
        yield
    finally:
        _known.reset(token)
        output.time = seconds  # the engine has put that of the look-up in its place


def wrap_model(model: Model, form: SentForm | None = None) -> SentForm:
    r"""Put the layer between Inspect and a model.

    A reply may hold lone surrogates, which JSON can escape and UTF-8 cannot carry; one of them would end the whole
    task when the engine writes its log. They become their own escapes, as the six characters \ud800, before the
    engine sees them.

    Args:
        model: The model; its provider's `generate` is wrapped once.
        form: The form in which conversations are sent, in place of the model's own.

    Returns:
        The form.
    """
    api: Any = model.api
    known_form: SentForm | None = getattr(api, _FORM, None)
    setattr(api, _FORM, form or known_form or SentForm(str(model)))
    if known_form is not None:
        return getattr(api, _FORM)
    prepare_provider(api)
    generate = api.generate

    @functools.wraps(generate)
    async def guarded(input: list[ChatMessage], tools: Any, tool_choice: Any, config: Any) -> Any:
        if (stored := _known.get()) is not None:
            return stored

        async def send(messages: list[ChatMessage]) -> Any:
            return await generate(messages, tools, tool_choice, config)

        sent_form: SentForm = getattr(api, _FORM)
        match await sent_form.send(send, input):
            case (output, ModelCall() as call):
                restate_stop_reason(output, call)
                if not _is_writable(call.response):
                    call.response = _escape(call.response)
                return _make_writable(output), call
            case output:
                return _make_writable(output)

    api.generate = guarded
    return getattr(api, _FORM)


def _make_writable(output: Any) -> Any:
    """Return a model's output with what a log cannot hold (lone surrogates) escaped; anything else as it is."""
    if not isinstance(output, ModelOutput) or _is_writable(output):
        return output  # some providers answer with an exception for the engine to raise
    return ModelOutput.model_validate(_escape(output.model_dump()))


def _is_writable(value: Any) -> bool:
    try:
        to_json(value)
    except PydanticSerializationError:
        return False
    return True


def _escape(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if is_object(value):
        return {_escape(key): _escape(inner) for key, inner in value.items()}
    if is_array(value):
        return [_escape(inner) for inner in value]
    return value


# Where the conversation was too long, engine and providers put their own message in the place of a reply.
_STOPS = {"max_tokens": "truncated", "model_length": "overflow", "content_filter": "refused"}
_OF_TIME = ("time", "working")
_OF_THE_CONVERSATION = (400, 413, 422, 500)  # statuses that the same request gets again
_LONGEST_NAME = 200  # of the model that answered; it is the server's word
_LOST = "lost"  # the field of a score that has the range of a value that is lost
_BETTER = {"higher": max, "lower": min, "": max}


@solver
def play(agent: str | None = None, probe: str | None = None) -> Solver:
    """Play the sample's episode: ask and step until it is over, and write its progress to the store, however it ends.

    Turns that the journal of an interrupted run knows are taken from it, through the engine, which counts their tokens.

    Args:
        agent: The agent or solver of Inspect that works out each reply, as NAME[:arg=value,...] (`agent_solver`); the
            model itself by default. Its episodes have no journal.
        probe: Before which turns belief probes ask the player what it knows of the state, as "every:5" or "1,5,10"; by
            default never. These questions and answers never enter the conversation.

    Raises:
        UsageError: If `probe` has another form.
    """
    journals = task_journals()
    plan = None if probe is None else read_plan(probe)
    harness = None if agent is None else agent_solver(agent)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        episode = open_episode(state.metadata, str(state.model))
        model = get_model()
        form = wrap_model(model)
        journal = journals.by_model.get(str(model)) if journals and harness is None else None
        turns = SampleTurns(journal, (str(state.sample_id), state.epoch), state.uuid, state.metadata[KEY][0])
        chat, prompt_tokens = Chat(), PromptTokens()
        progress = journals.progress.get(str(model)) if journals else None
        watched = EpisodeProgress(progress or TaskProgress("", ""), state.sample_id, state.epoch, episode)
        token = current_episode.set(episode)
        try:
            while not episode.done:
                state.messages = chat.messages(episode)
                for belief in episode.beliefs if plan is not None and plan.asks(len(episode.turns)) else ():
                    await _probe(model, episode, belief, state.messages, turns, watched)
                offered = request_arguments(episode)
                began = time.monotonic()
                if harness is not None:
                    output = await agent_output(harness, state, state.messages, generate)
                else:
                    with answer_from(turns.read()):
                        output = await model.generate(state.messages, **offered)
                    chat.add_reply(len(episode.turns), output.message)
                    if not turns.is_replayed and (warning := prompt_tokens.warning(state.messages, output.usage)):
                        form.tell_once("prompt tokens", warning)
                state.output = output
                store_reasoning(state.store, len(episode.turns), output.message)
                is_thought = bool(episode.play.wording.thought_question(episode.state))
                turn = episode.step(read_reply(output, time.monotonic() - began, by_tools=bool(offered)))
                if not (is_thought or turn.reasoning or offered):
                    form.watch_reply(turn.reply)
                turns.write(output, turn)  # before the next request leaves, and only if nothing was wrong with it
                watched.reply(turn, repeated=turns.is_replayed)
                if offered:
                    sent = [*state.messages, output.message]
                    chat.add_result(output.message, await execute_call(episode, offered["tools"], turn, sent))
            turns.end()
        except LimitExceededError as limit:
            # A limit on time is an infrastructure error, unlike one on tokens, messages or cost.
            episode.end(End.INFRASTRUCTURE if limit.type in _OF_TIME else End.TURN_LIMIT, str(limit.message))
            if episode.end_reason is not End.INFRASTRUCTURE:
                turns.end()
            raise
        except Exception as error:
            episode.end(End.INFRASTRUCTURE, _why_ended(error, episode)[:2000])
            raise
        except anyio.get_cancelled_exc_class():  # also by a limit on time, of which the log knows by itself
            if watched.why_stopped and not episode.done:
                episode.error = watched.why_stopped
            raise
        finally:
            blank_reply = {"blank_reply": BLANK_REPLY} if chat.has_placeholder else {}
            if sent := form.settings_of(chat.messages(episode)) | blank_reply:
                state.store.set(SENT, sent)
            store_episode(state.store, episode)  # once, for the engine compares the store wherever an agent's part ends
            current_episode.reset(token)
            watched.end()
        state.messages = chat.messages(episode)
        state.completed = True
        return state

    return solve


async def _probe(
    model: Model,
    episode: Episode[Any, Any, Any],
    belief: Belief[Any],
    messages: list[ChatMessage],
    turns: SampleTurns,
    watched: EpisodeProgress,
) -> None:
    """Ask a player what it knows, in a fork of the conversation that nothing else sees."""
    stored, began = turns.read(belief.name), time.monotonic()
    token = current_belief.set(belief)
    try:
        with answer_from(stored):
            output = await model.generate(fork(messages, belief.text), **text_request_arguments(episode))
    finally:
        current_belief.reset(token)
    probe = episode.probe(belief, read_reply(output, time.monotonic() - began))
    if stored is None:
        turns.write_probe(belief.name, output)
    watched.reply(probe, repeated=stored is not None)


def cause_text(error: Exception) -> str:
    """Return what went wrong in the provider's words."""
    return f"{type(cause_of(error)).__name__}: {read_error(error).words}"


def _why_ended(error: Exception, episode: Episode[Any, Any, Any]) -> str:
    """Return why an episode had to end; a conversation that was taken before, and no longer is, is named as that.

    What the cause is, the server does not say: it may be a reply of the player, or a fault of its own. A defect of the
    environment is named as such.
    """
    if isinstance(cause_of(error), DefectError):
        return str(cause_of(error))
    is_refusal = read_error(error).status in _OF_THE_CONVERSATION
    if not (is_refusal and episode.turns):
        return cause_text(error)
    turns = len(episode.turns)
    return f"the server refuses this conversation after {plural(turns, 'reply', 'replies')}: {cause_text(error)}"


def read_reply(output: ModelOutput, seconds: float, *, by_tools: bool = False) -> Reply:
    """Return a model's reply with its usage.

    Args:
        output: The model's answer.
        seconds: Time of the call, for providers that do not say it.
        by_tools: Whether the player acts by tools, so that calls are part of the reply.

    Raises:
        RuntimeError: If the provider answered without a completion, or with an error in its place.
    """
    if not output.choices or output.error:
        raise RuntimeError(f"the provider answered without a completion: {output.error or 'no choices'}")
    text = raw_reply(output) if by_tools else output.completion
    usage = output.usage
    cached = (usage.input_tokens_cache_read or 0) if usage else 0
    written = (usage.input_tokens_cache_write or 0) if usage else 0
    return Reply(
        text,
        "refused" if _is_refusal(output) else _STOPS.get(output.stop_reason, "stop"),
        Usage.from_provider(
            input_tokens=usage.input_tokens + cached + written if usage else 0,
            output_tokens=usage.output_tokens if usage else 0,
            reasoning_tokens=(usage.reasoning_tokens or 0) if usage else 0,
            cached_tokens=cached,
            seconds=round(seconds if output.time is None else output.time, 3),
            model=output.model[:_LONGEST_NAME],
        ),
    )


def _is_refusal(output: ModelOutput) -> bool:
    """Return whether the provider marks the text as a refusal, whatever its reason to stop is."""
    content = output.message.content
    return not isinstance(content, str) and any(isinstance(part, ContentText) and part.refusal for part in content)


@metric(scores="unreduced")
def level_scores() -> Metric:
    """Aggregate the headline metric by level, and by environment if there are several.

    These are the mean of the items' best attempts, and the plain mean over all attempts. The plain mean counts
    failures too often where attempts after a perfect one are skipped; `waybench report` has the estimate that does
    not, with its interval.

    Where attempts at a level have no result, since infrastructure errors ended them, there are four numbers more: how
    many have one (n) of how many (planned), and what the first mean would be if all lost attempts had the least
    (lowest) and the greatest (highest) value possible, as far as there is one.
    """

    def summary(scores: list[SampleScore]) -> Value:
        levels: dict[tuple[str, int], list[tuple[str, float | None, Range]]] = {}
        for score in scores:
            where, range_of_lost = score.sample_metadata or {}, (score.score.metadata or {}).get(_LOST)
            if not isinstance(score.score.value, dict) or "level" not in where:
                continue
            value = next(iter(score.score.value.values()))  # the headline metric comes first
            group, item = (str(where.get("env", "")), int(where["level"])), str(where["item"])
            if range_of_lost is not None:
                levels.setdefault(group, []).append((item, None, tuple(range_of_lost)))
            elif isinstance(value, int | float):
                levels.setdefault(group, []).append((item, float(value), (value, value)))
        several = len({env for env, _ in levels}) > 1
        summed: dict[str, float] = {}
        for env, level in sorted(levels):
            name = f"{env.partition('/')[2]}_{level}" if several else str(level)
            summed |= {f"{name}_{key}": number for key, number in _level_numbers(env, levels[env, level]).items()}
        return summed

    return summary


def _level_numbers(env: str, attempts: Sequence[tuple[str, float | None, Range]]) -> dict[str, float]:
    """Return the numbers of a level from the item, the score (None if lost) and the possible scores of each attempt."""
    better = _BETTER[registry.load(env).scoring.metrics[0].better] if env else max

    def mean_of_best(values: Iterable[tuple[str, float | None]]) -> float | None:
        best: dict[str, float] = {}
        for item, value in values:
            if value is None:
                return None
            best[item] = better(value, best.get(item, value))
        return fmean(best.values()) if best else None

    scored = [(item, value) for item, value, _ in attempts if value is not None]
    numbers = {
        "best": mean_of_best(scored),
        "mean": fmean(value for _, value in scored) if scored else None,
    }
    if len(scored) < len(attempts):
        lowest, highest = (mean_of_best((item, ends[side]) for item, _, ends in attempts) for side in (0, 1))
        numbers |= {"n": len(scored), "planned": len(attempts), "lowest": lowest, "highest": highest}
    return {name: float(number) for name, number in numbers.items() if number is not None}


def _explanation(turns: Sequence[TurnRecord]) -> str:
    """Return how often each outcome occurred, and what happened at last; the engine keeps a few hundred characters."""
    counts = Counter(str(turn.outcome) for turn in turns)
    last = f"; at last: {turns[-1].reason or dict(turns[-1].events)}"[:300] if turns else ""
    return ", ".join(f"{count} {name}" for name, count in counts.items()) + last


@scorer(metrics=[level_scores()])
def episode() -> Scorer:
    """Score a sample by its record.

    The value holds every metric of the record's environment, the headline metric first. An episode that an
    infrastructure error ended has no value of any, and what the headline metric could have been.
    """

    async def score(state: TaskState, target: Target) -> Score:
        record = stored_record(state.metadata, state.store)
        environment = registry.load(record.env)
        if record.end in (None, End.INFRASTRUCTURE):
            if not any(isinstance(event, ErrorEvent) for event in transcript().events):
                # An error, unlike a limit, makes the engine try the sample again.
                raise TimeoutError(record.error or "the episode was stopped before its end, by a limit on time")
            headline = environment.scoring.metrics[0]
            return Score(
                value=dict.fromkeys((metric.name for metric in environment.scoring.metrics), None),
                answer=str(End.INFRASTRUCTURE),
                metadata={_LOST: list(headline.range_of(record) if headline.per is None else headline.bounds)},
                explanation=record.error or "",
            )
        return Score(
            value=environment.measure(record),
            answer=str(record.end),
            metadata={KEY: state.store.get(KEY)},  # once more, for what `finished_record` says
            explanation=_explanation(record.turns),
        )

    return score
