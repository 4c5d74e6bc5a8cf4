"""Verifies folders of logs: records against the engine's transcript, and their submission."""

import json
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from waybench.core import (
    AGENT,
    WORDING,
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
from waybench.evaluation import Chat, declared, finished_record, forked, message_shape, reply_of
from waybench.results.logs import Log, RunInfo, Skipped, newest, read_samples, run_infos, skipped
from waybench.submission._pack import pack
from waybench.submission._verdict import Findings, RunVerdict, Verdict
from waybench.submission._verify import verify

_UNUSED = {"timelines", "messages"}


class LogFinding(NamedTuple):
    """What does not agree in a log.

    Attributes:
        run: The run.
        kind: A key of `PROBLEMS`.
        text: What it is, in one line.
        sample: The sample; "" for the log.
    """

    run: str
    kind: str
    text: str
    sample: str = ""


def log_findings(infos: Sequence[RunInfo], on_problem: Callable[[Skipped], None]) -> Iterator[LogFinding]:
    """Yield what does not agree in the logs of some runs.

    The transcript holds each request with its messages, and each reply with its tokens. The record has to have the
    same replies and tokens, and the messages have to be those that the simulation makes again.

    Args:
        infos: The runs.
        on_problem: Receives each sample that cannot be read.
    """
    for info in infos:
        for log in info.logs:
            yield from _header_findings(info, log)
        for log, seen in newest(info.logs):
            ours = [(one.id, one.epoch) for one in seen if one.ours]
            for one in ours:  # one at a time, since each has all of its requests
                try:
                    (sample,) = read_samples(log.location, [one], _UNUSED)
                except Exception as error:  # a log is data from outside
                    on_problem(skipped(log.location, error, str(one[0])))
                    yield LogFinding(info.run, "log", "the sample cannot be read", str(one[0]))
                    continue
                model, agent = str(log.header.eval.model), log.header.eval.task_args.get(AGENT)
                if text := _agent_difference(sample) if agent else _difference(sample, model):
                    yield LogFinding(info.run, "transcript", text, str(sample.id))


def _header_findings(info: RunInfo, log: Log) -> Iterator[LogFinding]:
    header: Any = log.header
    if header.results is not None and header.results.total_samples != len(log.samples):
        text = f"{len(log.samples):,} samples, but the header says {header.results.total_samples:,}"
        yield LogFinding(info.run, "log", text)
    listed: list[Any] = header.eval.dataset.sample_ids or []
    own = {str(sample.id) for sample in log.samples}
    missing = [str(each) for each in listed if str(each) not in own]
    if header.status == "success" and missing:
        yield LogFinding(info.run, "log", f"{len(missing):,} samples of the header's list are not there", missing[0])


def _difference(sample: Any, model: str) -> str:
    """Return where a sample's record differs from its transcript; "" if it does not."""
    try:
        record = finished_record(sample)
    except WaybenchError as error:
        return str(error)
    events: list[Any] = [event for event in sample.events if event.event == "model" and not event.error]
    events = [event for event in events if event.output.choices and not event.output.error]
    replies = _in_order(record)
    # The last one may have met a limit before its turn was recorded.
    if not len(replies) <= len(events) <= len(replies) + 1:
        return f"{len(replies)} replies in the record, {len(events)} in the transcript"
    by_tools = is_tool_name(record.options.get(WORDING))
    for (number, reply), event in zip(replies, events, strict=False):
        is_probe = isinstance(reply, ProbeRecord)
        if text := _turn_difference(reply, event, model, by_tools and not is_probe):
            return f"{'probe of turn' if is_probe else 'turn'} {number}: {text}"
    return _prompt_difference(record, events) or _score_difference(sample, record)


def _in_order(record: EpisodeRecord) -> list[tuple[int, TurnRecord | ProbeRecord]]:
    """Return the player's replies with the numbers of their turns, each turn's after the probes before it."""
    probes = [((probe.turn, 0), probe) for probe in record.probes]
    turns = [((number, 1), turn) for number, turn in enumerate(record.turns) if not turn.prefix]
    return [(number, reply) for (number, _), reply in sorted([*probes, *turns], key=lambda each: each[0])]


def _agent_difference(sample: Any) -> str:
    """Return where a sample whose replies an agent worked out differs from its transcript.

    An agent sends requests of its own, so only the tokens and the scores are known to agree.
    """
    try:
        record = finished_record(sample)
    except WaybenchError as error:
        return str(error)
    spent = [event.output.usage for event in sample.events if event.event == "model" and event.output.usage]
    logged = sum(usage.output_tokens for usage in spent)
    if record.tokens[1] > logged or (record.end in (End.SOLVED, End.FAILED) and record.tokens[1] != logged):
        return f"{record.tokens[1]} output tokens in the record, {logged} in the transcript"
    return _score_difference(sample, record)


def _turn_difference(turn: TurnRecord | ProbeRecord, event: Any, model: str, by_tools: bool) -> str:
    try:
        reply = reply_of(event.output, 0.0, by_tools=by_tools)
    except RuntimeError as error:
        return str(error)
    if _readable(reply.text) != _readable(turn.reply):
        return "the reply differs from the transcript's"
    names = ("input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens", "model")
    usage, logged = turn.usage, reply.usage
    if usage is not None and logged is not None:
        for name in names:
            if getattr(usage, name) != getattr(logged, name):
                return f"{name} is {getattr(usage, name)}, the transcript has {getattr(logged, name)}"
        # Where a reply came from the journal of an interrupted run, the engine measured the look-up, without a request.
        apart = 0.0 if event.output.time is None else usage.seconds - float(event.output.time)
        if apart < -_ROUNDING or (apart > _ROUNDING and event.call is not None):
            return f"it took {usage.seconds} seconds, the transcript has {event.output.time}"
    if event.model not in (model, model.partition("/")[2]):
        return f"the transcript is of the model {str(event.model)[:80]}"
    return ""


_ROUNDING = 0.002  # seconds


def _prompt_difference(record: EpisodeRecord, events: Sequence[Any]) -> str:
    """Return at which turn the messages sent differ from those that the simulation makes again."""
    sent = iter(events)
    found: list[str] = []
    chat = Chat(with_pictures=False)
    by_tools = is_tool_name(record.options.get(WORDING))

    def compare(again: Episode[Any, Any, Any], turn: TurnRecord) -> None:
        if turn.prefix:  # nothing was sent for it
            return
        number, messages = len(again.turns), chat.messages(again)
        for probe in again.probes:
            if probe.turn == number:
                asked = [message_shape(each) for each in forked(messages, probe.question)]
                if asked != [message_shape(each) for each in next(sent).input]:
                    found.append(f"probe of turn {number}: the messages sent differ from those made again")
        event = next(sent)
        if found:
            return
        made = [message_shape(each) for each in messages]
        pictures = [message.picture is not None for message in again.messages]
        if made != [message_shape(each) for each in event.input] or (
            not by_tools and pictures != [_has_picture(message) for message in event.input]
        ):
            found.append(f"turn {len(again.turns)}: the messages sent differ from those made again")
        elif by_tools and not _same_tools(again, event):
            found.append(f"turn {len(again.turns)}: the tools offered differ from those that the environment declares")

    try:
        replay(registry.load(record.env), record, watch=compare)
    except (WaybenchError, StopIteration):
        return ""  # the simulation itself says what does not agree
    return found[0] if found else ""


def _has_picture(message: Any) -> bool:
    """Return whether a message that was sent had one picture; the log does not keep its pixels."""
    return not isinstance(message.content, str) and sum(part.type == "image" for part in message.content) == 1


def _same_tools(again: Episode[Any, Any, Any], event: Any) -> bool:
    # A question for a thought is sent without tools, unless the provider needs them for calls before it.
    offered = [tool.model_dump() for tool in event.tools]
    thinks = again.play.wording.thought_question(again.state)
    return offered == [tool.model_dump() for tool in declared(again)] or (bool(thinks) and not offered)


def _score_difference(sample: Any, record: EpisodeRecord) -> str:
    environment = registry.load(record.env)
    scores: dict[str, Any] = sample.scores or {}
    for score in scores.values():
        values: Any = score.value if is_object(score.value) else {}
        for metric in environment.scoring.metrics:
            if metric.name in values and not _same(values[metric.name], metric.of(record)):
                return f"{metric.name} is {values[metric.name]} in the log, and {metric.of(record)} by the record"
    return ""


def _same(logged: Any, computed: float | None) -> bool:
    return json.dumps(logged) == json.dumps(computed) or (
        isinstance(logged, int | float) and computed is not None and float(logged) == float(computed)
    )


def _readable(text: str) -> str:
    # The engine escapes lone surrogates, and some providers change white space at the ends of a message.
    return text.strip()


def verify_logs(
    places: Sequence[Path],
    *,
    models: Sequence[str] = (),
    keys: Sequence[str] = (),
    data_dir: str | None = None,
    on_problem: Callable[[Skipped], None],
    progress: Callable[[int, int], None] | None = None,
    workers: Workers | None = None,
) -> Verdict:
    """Verify the runs in logs, as `verify` does the submission that `pack` writes of them.

    Besides, each record is compared with the transcript in the same sample (replies, tokens, and the messages that were
    sent), each score with that of the record, and each log with its header.

    Args:
        places: Folders with logs, in any depth, and logs.
        models: The models; all by default.
        keys: Keys of private sets.
        data_dir: The folder of published data sets; None for the usual places.
        on_problem: Receives each file and sample that cannot be read.
        progress: Receives the number of records verified so far, and of all.
        workers: Simulate the records; copies of this process by default.

    Raises:
        UsageError: If there is no run of a model, or a file that a run's parameters name cannot be read.
    """
    skipped: list[Skipped] = []

    def skip(problem: Skipped) -> None:
        skipped.append(problem)
        on_problem(problem)

    with tempfile.TemporaryDirectory(prefix="waybench-verify-") as folder:
        path = Path(folder) / "submission.zip"
        pack(places, path, models=models, on_problem=skip)
        verdict = verify(path, keys=keys, data_dir=data_dir, progress=progress, workers=workers)
    infos = [info for info in run_infos(*places, on_problem=_ignore) if not models or info.model in models]
    by_run: dict[str, list[LogFinding]] = defaultdict(list)
    for finding in log_findings(infos, _ignore):
        by_run[finding.run].append(finding)
    ordered = sorted(infos, key=lambda info: (info.model, info.task, info.created, info.run))
    runs = [_with(run, by_run[info.run]) for run, info in zip(verdict.runs, ordered, strict=True)]
    problems = Findings()
    for each in skipped:
        problems.add("log", str(each))
    name = ", ".join(place.name or str(place) for place in places)
    return replace(
        verdict,
        name=name,
        sha256="",
        runs=runs,
        problems=[*verdict.problems, *problems.shown],
        counts={**verdict.counts, **problems.counts},
    )


def _with(run: RunVerdict, found: Sequence[LogFinding]) -> RunVerdict:
    problems = Findings()
    for each in found:
        problems.add(each.kind, each.text, each.sample)
    return replace(run, problems=[*run.problems, *problems.shown], counts={**run.counts, **problems.counts})


def _ignore(problem: Skipped) -> None:
    """Do nothing: what cannot be read was reported when the logs were packed."""
