"""Verifies folders of logs: records against the engine's transcript, and their submission."""

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any

from waybench.core import (
    AGENT,
    WORDING,
    DefectError,
    End,
    Episode,
    EpisodeRecord,
    ProbeRecord,
    TurnRecord,
    WaybenchError,
    Workers,
    is_object,
    is_tool_name,
    replay,
)
from waybench.envs import registry
from waybench.evaluation import read_reply
from waybench.evaluation._provider import comparable_message, declared_tools
from waybench.evaluation._sample import METRICS, Chat, finished_record, fork_conversation
from waybench.results.logs import Skipped, newest_samples, read_samples, skipped_part
from waybench.results.logs._settings import RunInfo, run_infos
from waybench.submission._pack import pack
from waybench.submission._verdict import Finding, SubmissionVerdict, with_problems
from waybench.submission._verify import verify

_UNUSED_FIELDS = {"timelines", "messages"}  # of samples
_ROUNDING = 0.002  # seconds by which equal times can differ


def log_findings(info: RunInfo, on_problem: Callable[[Skipped], None]) -> Iterator[Finding]:
    """Yield disagreements within the logs of a run: header, samples and transcripts.

    The transcript has each request with its messages, and each reply with its tokens. The record must have the same
    replies and tokens, and a simulation must make the same messages.
    """
    for log in info.logs:
        header: Any = log.header
        if header.results is not None and header.results.total_samples != len(log.samples):
            text = f"{len(log.samples):,} samples, but the header says {header.results.total_samples:,}"
            yield Finding("log", text)
        ids = {str(sample.id) for sample in log.samples}
        missing = [name for name in map(str, header.eval.dataset.sample_ids or []) if name not in ids]
        if header.status == "success" and missing:
            yield Finding("log", f"{len(missing):,} samples of the header's list are not there", missing[0])
    for log, samples in newest_samples(info.logs):
        for key in [(sample.id, sample.epoch) for sample in samples if sample.ours]:
            try:
                (sample,) = read_samples(
                    log.location, [key], _UNUSED_FIELDS
                )  # one at a time, since it has all its requests
            except Exception as error:  # a log is data from outside
                on_problem(skipped_part(log.location, error, str(key[0])))
                yield Finding("log", "the sample cannot be read", str(key[0]))
                continue
            model, agent = str(log.header.eval.model), log.header.eval.task_args.get(AGENT)
            if text := _agent_difference(sample) if agent else _transcript_difference(sample, model):
                yield Finding("transcript", text, str(sample.id))


def _transcript_difference(sample: Any, model: str) -> str:
    """Return how a sample's record differs from the model calls in its transcript; "" if it does not."""
    try:
        record = finished_record(sample)
    except WaybenchError as error:
        return str(error)
    events: list[Any] = [event for event in sample.events if event.event == "model" and not event.error]
    events = [event for event in events if event.output.choices and not event.output.error]
    replies = _replies_in_order(record)
    # A limit may have ended the episode after the last reply, before its turn was recorded.
    if not len(replies) <= len(events) <= len(replies) + 1:
        return f"{len(replies)} replies in the record, {len(events)} in the transcript"
    by_tools = is_tool_name(record.options.get(WORDING))
    for (number, reply), event in zip(replies, events, strict=False):
        is_probe = isinstance(reply, ProbeRecord)
        if text := _turn_difference(reply, event, model, by_tools and not is_probe):
            return f"{'probe of turn' if is_probe else 'turn'} {number}: {text}"
    return _prompt_difference(record, events) or _score_difference(sample, record)


def _replies_in_order(record: EpisodeRecord) -> list[tuple[int, TurnRecord | ProbeRecord]]:
    """Return the player's replies with the numbers of their turns, each turn's after the probes before it."""
    probes = [((probe.turn, 0), probe) for probe in record.probes]
    turns = [((number, 1), turn) for number, turn in enumerate(record.turns) if not turn.prefix]
    return [(number, reply) for (number, _), reply in sorted([*probes, *turns], key=lambda pair: pair[0])]


def _agent_difference(sample: Any) -> str:
    """Return how an agent's record differs from its transcript in output tokens or scores; "" if it does not.

    An agent sends requests of its own, so that messages and replies cannot be compared.
    """
    try:
        record = finished_record(sample)
    except WaybenchError as error:
        return str(error)
    usages = [event.output.usage for event in sample.events if event.event == "model" and event.output.usage]
    logged_tokens = sum(usage.output_tokens for usage in usages)
    _, output_tokens = record.tokens
    # An episode that a limit or an error ended may lack the tokens of its last requests.
    is_complete = record.end in (End.SOLVED, End.FAILED)
    if output_tokens > logged_tokens or (is_complete and output_tokens != logged_tokens):
        return f"{output_tokens} output tokens in the record, {logged_tokens} in the transcript"
    return _score_difference(sample, record)


def _turn_difference(turn: TurnRecord | ProbeRecord, event: Any, model: str, by_tools: bool) -> str:
    """Return how a turn or probe differs from its event in the transcript; "" if it does not."""
    try:
        reply = read_reply(event.output, 0.0, by_tools=by_tools)
    except RuntimeError as error:
        return str(error)
    if reply.text.strip() != turn.reply.strip():  # some providers change white space at the ends
        return "the reply differs from the transcript's"
    usage, logged = turn.usage, reply.usage
    if usage is not None and logged is not None:
        for name in ("input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens", "model"):
            if getattr(usage, name) != getattr(logged, name):
                return f"{name} is {getattr(usage, name)}, the transcript has {getattr(logged, name)}"
        # A reply from the journal of an interrupted run has no request, and the engine measured the shorter look-up.
        excess = 0.0 if event.output.time is None else usage.seconds - float(event.output.time)
        if excess < -_ROUNDING or (excess > _ROUNDING and event.call is not None):
            return f"it took {usage.seconds} seconds, the transcript has {event.output.time}"
    if event.model not in (model, model.partition("/")[2]):
        return f"the transcript is of the model {str(event.model)[:80]}"
    return ""


def _prompt_difference(record: EpisodeRecord, events: Sequence[Any]) -> str:
    """Return the first turn at which messages or tools sent differ from those of a new simulation; "" if none."""
    requests = iter(events)
    differences: list[str] = []
    chat = Chat(with_pictures=False)
    by_tools = is_tool_name(record.options.get(WORDING))

    def compare_prompts(again: Episode[Any, Any, Any], turn: TurnRecord) -> None:
        """Add to `differences` how the messages made again for the next turn differ from those that were sent."""
        if turn.prefix:  # nothing was sent for it
            return
        number, messages = len(again.turns), chat.messages(again)
        for probe in again.probes:
            if probe.turn == number:
                expected = [comparable_message(message) for message in fork_conversation(messages, probe.question)]
                if expected != [comparable_message(message) for message in next(requests).input]:
                    differences.append(f"probe of turn {number}: the messages sent differ from those made again")
        event = next(requests)
        if differences:
            return
        expected = [comparable_message(message) for message in messages]
        pictures = [message.picture is not None for message in again.messages]
        has_same_texts = expected == [comparable_message(message) for message in event.input]
        # With tools, the messages of a conversation are not those of the episode one by one.
        has_same_pictures = by_tools or pictures == [_has_picture(message) for message in event.input]
        if not has_same_texts or not has_same_pictures:
            differences.append(f"turn {number}: the messages sent differ from those made again")
        elif by_tools and not _has_declared_tools(again, event):
            differences.append(f"turn {number}: the tools offered differ from those that the environment declares")

    try:
        replay(registry.load(record.env), record, watch=compare_prompts)
    except (WaybenchError, StopIteration):
        return ""  # the check of the record by simulation reports the difference
    return differences[0] if differences else ""


def _has_picture(message: Any) -> bool:
    """Return whether a message in a transcript has exactly one picture."""
    return not isinstance(message.content, str) and sum(part.type == "image" for part in message.content) == 1


def _has_declared_tools(episode: Episode[Any, Any, Any], event: Any) -> bool:
    """Return whether a request offered the tools that the environment declares."""
    # A question for a thought is sent without tools, unless the provider needs them for calls before it.
    offered = [tool.model_dump() for tool in event.tools]
    is_thought = bool(episode.play.wording.thought_question(episode.state))
    return offered == [tool.model_dump() for tool in declared_tools(episode)] or (is_thought and not offered)


def _score_difference(sample: Any, record: EpisodeRecord) -> str:
    """Return the first score of a log that differs from its record's, as a sentence; "" if none."""
    environment = registry.load(record.env)
    scores: dict[str, Any] = sample.scores or {}
    if not scores:
        return ""
    try:
        computed = environment.measure(record)
    except DefectError:  # the check of the record by simulation reports it
        return ""
    percent = environment.scoring.headline_percent(record)
    computed_scores = {"episode": nan if percent is None else percent, "solved": float(record.end is End.SOLVED)}
    for scorer, score in scores.items():
        expected: dict[str, Any] = dict(computed)
        if is_object(score.value):  # older logs have all metrics as the value
            values: dict[str, Any] = score.value
        else:
            metadata: dict[str, Any] = score.metadata or {}
            values = metadata.get(METRICS, {})
            if scorer in computed_scores:
                values, expected = {scorer: score.value, **values}, {scorer: computed_scores[scorer], **expected}
        for name, value in expected.items():
            if name in values and not _is_same_score(values[name], value):
                return f"{name} is {values[name]} in the log, and {value} by the record"
    return ""


def _is_same_score(logged: Any, computed: float | None) -> bool:
    """Return whether a logged score equals the computed one, also if one is an int and the other a float."""
    return json.dumps(logged) == json.dumps(computed) or (
        isinstance(logged, int | float) and computed is not None and float(logged) == float(computed)
    )


def verify_logs(
    paths: Sequence[Path],
    *,
    models: Sequence[str] = (),
    keys: Sequence[str] = (),
    data_dir: str | None = None,
    on_problem: Callable[[Skipped], None],
    progress: Callable[[int, int], None] | None = None,
    workers: Workers | None = None,
    seconds: float = 3600.0,
) -> SubmissionVerdict:
    """Verify the runs in logs: by `verify`, with the submission that `pack` writes of them, and by their transcripts.

    Each record is compared with the transcript in the same sample (replies, tokens, and the messages that were sent),
    each score with that of the record, and each log with its header.

    `paths` are logs, and folders with logs in any depth. `on_problem` receives each file and sample that cannot be
    read. The other parameters are those of `pack` and `verify`.

    Raises:
        UsageError: If there is no run of a model, or a file that a run's parameters name cannot be read.
    """
    skipped: list[Skipped] = []

    def add_skipped(problem: Skipped) -> None:
        skipped.append(problem)
        on_problem(problem)

    with tempfile.TemporaryDirectory(prefix="waybench-verify-") as folder:
        path = Path(folder) / "submission.zip"
        pack(paths, path, models=models, on_problem=add_skipped)
        verdict = verify(path, keys=keys, data_dir=data_dir, progress=progress, workers=workers, seconds=seconds)
    infos = [info for info in run_infos(*paths, on_problem=_ignore_problem) if not models or info.model in models]
    ordered = sorted(infos, key=lambda info: (info.model, info.task, info.created, info.run))  # as `pack` does
    runs = [
        with_problems(run, log_findings(info, _ignore_problem)) for run, info in zip(verdict.runs, ordered, strict=True)
    ]
    name = ", ".join(path.name or str(path) for path in paths)
    verdict = with_problems(verdict, (Finding("log", str(problem)) for problem in skipped))
    return replace(verdict, name=name, sha256="", runs=runs)


def _ignore_problem(problem: Skipped) -> None:
    """Do nothing: what cannot be read was reported when the logs were packed."""
