"""One solver that plays any episode, and one scorer that reads its record."""

import time
from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import Any

import anyio
from inspect_ai.model import ChatMessage, ContentText, Model, ModelOutput, get_model
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import LimitExceededError

from waybench.core import Belief, End, Episode, Reply, TurnRecord, Usage, plural
from waybench.envs import registry
from waybench.eval._agents import agent_output, agent_solver
from waybench.eval._current import current_belief, current_episode
from waybench.eval._guard import answered_by, wrap_model
from waybench.eval._probes import forked, read_plan
from waybench.eval._progress import EpisodeProgress
from waybench.eval._prompt_tokens import PromptTokens
from waybench.eval._provider_errors import cause_of, read_error
from waybench.eval._run_journals import task_journals
from waybench.eval._sample import KEY, SENT, Chat, open_episode, store_episode, store_reasoning, stored_record
from waybench.eval._sample_turns import SampleTurns
from waybench.eval._sent_form import BLANK_REPLY
from waybench.eval._tools import executed, request, said, text_request

# Where the conversation was too long, engine and providers put their own message in the place of a reply.
_STOPS = {"max_tokens": "truncated", "model_length": "overflow", "content_filter": "refused"}
_OF_TIME = ("time", "working")
_OF_THE_CONVERSATION = (400, 413, 422, 500)  # statuses that the same request gets again
_LONGEST_NAME = 200  # of the model that answered; it is the server's word
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
        watched = EpisodeProgress(progress, state.sample_id, state.epoch, episode)
        token = current_episode.set(episode)
        try:
            while not episode.done:
                state.messages = chat.messages(episode)
                for belief in episode.beliefs if plan is not None and plan.asks(len(episode.turns)) else ():
                    await _probe(model, episode, belief, state.messages, turns, watched)
                offered = request(episode)
                began = time.monotonic()
                if harness is not None:
                    output = await agent_output(harness, state, state.messages, generate)
                else:
                    with answered_by(turns.known()):
                        output = await model.generate(state.messages, **offered)
                    chat.said(len(episode.turns), output.message)
                    if not turns.replayed and (warning := prompt_tokens.warning(state.messages, output.usage)):
                        form.tell_once("prompt tokens", warning)
                state.output = output
                store_reasoning(state.store, len(episode.turns), output.message)
                is_thought = bool(episode.play.wording.thought_question(episode.state))
                turn = episode.step(reply_of(output, time.monotonic() - began, by_tools=bool(offered)))
                if not (is_thought or turn.reasoning or offered):
                    form.watch_reply(turn.reply)
                turns.keep(output, turn)  # before the next request leaves, and only if nothing was wrong with it
                watched.turn(turn, repeated=turns.replayed)
                if offered:
                    sent = [*state.messages, output.message]
                    chat.executed(output.message, await executed(episode, offered["tools"], turn, sent))
            turns.end()
        except LimitExceededError as limit:
            _end_at_limit(episode, limit)
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
            if sent := form.settings | ({"blank_reply": BLANK_REPLY} if chat.has_placeholder else {}):
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
    known, began = turns.known_probe(belief.name), time.monotonic()
    token = current_belief.set(belief)
    try:
        with answered_by(known):
            output = await model.generate(forked(messages, belief.text), **text_request(episode))
    finally:
        current_belief.reset(token)
    probe = episode.probe(belief, reply_of(output, time.monotonic() - began))
    if known is None:
        turns.keep_probe(belief.name, output)
    watched.probe(probe, repeated=known is not None)


def cause_text(error: Exception) -> str:
    """Return what went wrong in the provider's words."""
    return f"{type(cause_of(error)).__name__}: {read_error(error).words}"


def _why_ended(error: Exception, episode: Episode[Any, Any, Any]) -> str:
    """Return why an episode had to end; a conversation that was taken before, and no longer is, is named as that.

    What the cause is, the server does not say: it may be a reply of the player, or a fault of its own.
    """
    is_refusal = read_error(error).status in _OF_THE_CONVERSATION
    if not (is_refusal and episode.turns):
        return cause_text(error)
    turns = len(episode.turns)
    return f"the server refuses this conversation after {plural(turns, 'reply', 'replies')}: {cause_text(error)}"


def _end_at_limit(episode: Episode[Any, Any, Any], limit: LimitExceededError) -> None:
    """End the episode at a limit on tokens, messages or cost; a limit on time is an infrastructure error."""
    episode.end(End.INFRASTRUCTURE if limit.type in _OF_TIME else End.TURN_LIMIT, str(limit.message))


def reply_of(output: ModelOutput, seconds: float, *, by_tools: bool = False) -> Reply:
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
    text = said(output) if by_tools else output.completion
    usage = output.usage
    cached = (usage.input_tokens_cache_read or 0) if usage else 0
    written = (usage.input_tokens_cache_write or 0) if usage else 0
    return Reply(
        text,
        "refused" if _is_refusal(output) else _STOPS.get(output.stop_reason, "stop"),
        Usage.reported(
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
def by_level() -> Metric:
    """Aggregate the headline metric by level, and by environment if there are several.

    These are the mean of the items' best attempts, and the plain mean over all attempts. The plain mean counts
    failures too often where attempts after a perfect one are skipped; `waybench report` has the estimate that does
    not, with its interval.
    """

    def summary(scores: list[SampleScore]) -> Value:
        best: dict[tuple[str, int], dict[str, float]] = {}
        every: dict[tuple[str, int], list[float]] = {}
        for score in scores:
            if not isinstance(score.score.value, dict):
                continue  # an infrastructure error
            value = next(iter(score.score.value.values()))  # the headline metric comes first
            where = score.sample_metadata or {}
            if isinstance(value, int | float) and "level" in where:
                place, item = (str(where.get("env", "")), int(where["level"])), where["item"]
                better = _BETTER[registry.load(place[0]).metrics[0].better] if place[0] else max
                every.setdefault(place, []).append(value)
                best.setdefault(place, {})[item] = better(value, best.get(place, {}).get(item, value))
        several = len({env for env, _ in every}) > 1
        summed: dict[str, float] = {}
        for env, level in sorted(every):
            name = f"{env.partition('/')[2]}_{level}" if several else str(level)
            summed[f"{name}_best"] = fmean(best[env, level].values())
            summed[f"{name}_mean"] = fmean(every[env, level])
        return summed

    return summary


def _explanation(turns: Sequence[TurnRecord]) -> str:
    """Return how often each outcome occurred, and what happened at last; the engine keeps a few hundred characters."""
    counts = Counter(str(turn.outcome) for turn in turns)
    last = f"; at last: {turns[-1].reason or dict(turns[-1].events)}"[:300] if turns else ""
    return ", ".join(f"{count} {name}" for name, count in counts.items()) + last


@scorer(metrics=[by_level()])
def episode() -> Scorer:
    """Score a sample by its record.

    The value holds every metric of the record's environment, the headline metric first. An episode that an
    infrastructure error ended has no score.
    """

    async def score(state: TaskState, target: Target) -> Score:
        record = stored_record(state.metadata, state.store)
        if record.end in (None, End.INFRASTRUCTURE):
            # An error, unlike a limit, makes the engine try the sample again.
            raise TimeoutError(record.error or "the episode was stopped before its end, by a limit on time")
        environment = registry.load(record.env)
        return Score(
            value={metric.name: metric.of(record) for metric in environment.metrics},
            answer=str(record.end),
            metadata={KEY: state.store.get(KEY)},  # once more, for what `finished_record` says
            explanation=_explanation(record.turns),
        )

    return score
