"""Checks of records: JSON, replay, and metrics that keep to their ranges."""

import json
import math
from dataclasses import replace
from typing import Any

from waybench.core import (
    DataError,
    End,
    Episode,
    EpisodeRecord,
    Outcome,
    ReplayError,
    Reply,
    Stream,
    Usage,
    play_out,
    replay,
)
from waybench.testing._require import AnyEnvironment, ContractError, Message, require
from waybench.testing._walks import (
    AnyEpisode,
    Options,
    StumblingPolicy,
    items,
    play_name,
    sample_episodes,
    ways,
)


def check_replay(environment: AnyEnvironment, level: int) -> None:
    """Every record, once through JSON, replays to the very same record."""
    for options in ways(environment):
        for item in items(environment, level):
            episodes = [*sample_episodes(environment, item, options), *_odd_episodes(environment, item, options)]
            for episode in episodes:
                record = episode.record()
                line = record.dumps()
                what = Message("{}, item {}, {}", options, item.id, episode.player)
                require("\n" not in line and line.isascii(), "{}: the record is not one line of ASCII", what)
                back = EpisodeRecord.from_json(json.loads(line))
                require(back.dumps() == line, "{}: the record changes on its way through JSON", what)
                try:
                    again = replay(environment, back, by_hand=episode.player == "guided")
                except (ReplayError, DataError) as error:
                    raise ContractError(f"{what}: the record does not replay: {error}") from error
                require(again.record().dumps() == line, "{}: the replay's record is another one", what)
                require(again.messages == episode.messages, "{}: the replay's messages are others", what)


def _odd_episodes(environment: AnyEnvironment, item: Any, options: Options) -> list[AnyEpisode]:
    """Return episodes that players alone do not bring about."""
    untouched: AnyEpisode = Episode(environment, item, options, player="nobody")
    broken: AnyEpisode = Episode(environment, item, options, player="broken off")
    broken.step(Reply("", usage=Usage(3, 2, 1, 0, 0.25)))
    if not broken.done:
        broken.step(Reply("cut o", "truncated"))
    if not broken.done:
        broken.end(End.INFRASTRUCTURE, "the provider did not answer")
    refusing: AnyEpisode = Episode(environment, item, options, player="refusing")
    while not refusing.done:
        refusing.step(Reply("I cannot help with that.", "refused"))
    guided: AnyEpisode = Episode(environment, item, options, attempt=2, player="guided")
    while not guided.done:
        oracle = environment.players["oracle"](guided.state, Stream("contract", "teacher", len(guided.turns)))
        guided.step("I do not know", oracle)
    return [untouched, broken, refusing, guided]


def check_tampering(environment: AnyEnvironment, level: int) -> None:
    """A record in which anything that happened was changed does not replay."""
    for item in items(environment, level, 2):
        stumbling = play_out(environment, item, StumblingPolicy(), dict(environment.trial))
        for episode in (play_name(environment, item, "oracle"), stumbling):
            record = episode.record()
            require(record.turns, f"item {item.id}: an episode of {episode.player} has no turn")
            for name, tampered in _tampered(record).items():
                try:
                    replay(environment, EpisodeRecord.from_json(json.loads(tampered.dumps())))
                except ReplayError as error:
                    require(str(error).isprintable(), f"{name}: the error is not one line: {str(error)[:80]!r}")
                else:
                    raise ContractError(f"item {item.id}, {episode.player}: a record with {name} replays without error")


def _tampered(record: EpisodeRecord) -> dict[str, EpisodeRecord]:
    last = record.turns[-1]
    other_outcome = Outcome.UNPARSED if last.outcome is not Outcome.UNPARSED else Outcome.OK
    other_end = End.FAILED if record.end is not End.FAILED else End.SOLVED
    turns = {
        "another message": last._replace(message=last.message + " "),
        "another reward": last._replace(reward=last.reward + 1),
        "another outcome": last._replace(outcome=other_outcome),
        "another event": last._replace(events={**last.events, "tampered": True}),
        "another action": last._replace(action=["tampered"]),
        "another reason": last._replace(reason="tampered"),
        "another reply": last._replace(reply="tampered" if last.outcome is not Outcome.UNPARSED else "", action=1),
    }
    made = {name: replace(record, turns=(*record.turns[:-1], turn)) for name, turn in turns.items()}
    first = record.opening[0]
    made |= {
        "another end": replace(record, end=other_end),
        "no end": replace(record, end=None),
        "an infrastructure error after its end": replace(record, end=End.INFRASTRUCTURE, error="tampered"),
        "an infrastructure error that nothing explains": replace(record, turns=(), end=End.INFRASTRUCTURE),
        "an error": replace(record, error="tampered"),
        "attempt 0": replace(record, attempt=0),
        "its last turn left out": replace(record, turns=record.turns[:-1], end=End.SOLVED),
        "a turn too many": replace(record, turns=(*record.turns, last)),
        "another opening": replace(record, opening=(first._replace(text=first.text + " "), *record.opening[1:])),
        "another hash": replace(record, instance_hash="0" * 64),
        "another level": replace(record, item={**record.item, "level": -1}),
        "another version": replace(record, env_version=record.env_version + 1),
        "another environment": replace(record, env="other/environment"),
    }
    if record.proof:
        made["another proof"] = replace(record, proof={**record.proof, "tampered": 1})
    return made


def check_metrics(environment: AnyEnvironment, level: int) -> None:
    """Every metric, of every kind of episode, is None or a number within its range."""
    for options in ways(environment):
        for item in items(environment, level, 2):
            for episode in [*sample_episodes(environment, item, options), *_odd_episodes(environment, item, options)]:
                record = EpisodeRecord.from_json(json.loads(episode.record().dumps()))
                for metric in environment.metrics:
                    what = Message("metric {} of {} on item {}", metric.name, episode.player, item.id)
                    try:
                        value = metric.of(record)
                    except Exception as error:
                        raise ContractError(f"{what} raised {type(error).__name__}: {error}") from error
                    require(value == metric.of(episode.record()), "{}: it is another one before JSON", what)
                    if value is None:
                        continue
                    require(type(value) is float and math.isfinite(value), "{} is {!r}, no finite float", what, value)
                    require(
                        metric.low is None or value >= metric.low - 1e-9, "{} is {}, below {}", what, value, metric.low
                    )
                    require(
                        metric.high is None or value <= metric.high + 1e-9,
                        "{} is {}, above {}",
                        what,
                        value,
                        metric.high,
                    )
