"""Checks of episodes that are handed over: other players play the first steps (the option `prefix`)."""

import json
from dataclasses import replace
from typing import Any

from waybench.core import (
    INTERFACE,
    PREFIX,
    TOOLS,
    Episode,
    EpisodeRecord,
    ReplayError,
    Stream,
    UsageError,
    own_turns,
    play_out,
    policy,
    replay,
)
from waybench.testing._records import require_within
from waybench.testing._require import AnyEnvironment, ContractError, Message, require
from waybench.testing._walks import AnyEpisode, StumblingPolicy, actions, items, play_name

_LONG = 100_000  # steps
_PREFIXES = ("oracle:1", "oracle:-1", "random:1+oracle:1", "oracle:2+noisy-0.5:2")


def check_prefix(environment: AnyEnvironment, level: int) -> None:
    """An episode begins with its prefix, goes on as any other, and its record replays.

    After a prefix of the oracle, the oracle plays on as it would have played from the beginning. Turns of the prefix
    are marked, and a record in which one was changed does not replay.
    """
    options = dict(environment.playing.check_options)
    for item in items(environment, level, 2):
        whole = play_name(environment, item, "oracle")
        if whole.limits.turns < 2:
            _check_refused(environment, item, options)
            continue
        _check_cut(environment, item, options)
        for prefix in _PREFIXES:
            what = Message("item {}, prefix {}", item.id, prefix)
            given = {**options, PREFIX: prefix}
            for way in (given, {**given, INTERFACE: TOOLS}):
                _check_handed_over(Episode(environment, item, way), what)
            for player in (policy("oracle"), StumblingPolicy(), policy("null")):
                episode = play_out(environment, item, player, given)
                _check_record(environment, episode, what)
                if prefix.startswith("oracle") and "+" not in prefix and player.name == "oracle":
                    _check_continued(whole, episode, what)
        _check_tampering(environment, play_out(environment, item, policy("oracle"), {**options, PREFIX: "oracle:1"}))


def _check_cut(environment: AnyEnvironment, item: Any, options: dict[str, Any]) -> None:
    """Require that a game cuts an action to no more steps than it is asked for, and leaves a short one as it is."""
    episode: AnyEpisode = Episode(environment, item, options)
    game = episode.play.game
    for action in (
        environment.players.policies["oracle"](episode.state, Stream("contract", "cut")),
        *actions(game, episode.state),
    ):
        whole, steps = game.cut(action, _LONG)
        require(whole == action and steps >= 1, "the action {} is cut to {}", action, whole)
        for most in (1, steps - 1 or 1):
            require(1 <= game.cut(action, most)[1] <= most, "{} is cut to more than {}", action, most)


def _check_refused(environment: AnyEnvironment, item: Any, options: dict[str, Any]) -> None:
    try:
        play_out(environment, item, policy("oracle"), {**options, PREFIX: "oracle:1"})
    except UsageError as error:
        require(str(error).isprintable(), f"the error is not one line: {str(error)[:80]!r}")
    else:
        raise ContractError(f"item {item.id}: an episode of one turn takes a prefix")


def _check_handed_over(episode: AnyEpisode, what: Message) -> None:
    """Require that a chat shows the prefix as turns that have already happened."""
    require(not episode.done, "{}: the prefix ends the episode", what)
    messages = episode.messages
    require(messages[-1].role == "user", "{}: the last message is {}", what, messages[-1].role)
    if episode.play.wording.memory.kind == "chat":
        opening = len(episode.record().opening)
        roles = [message.role for message in messages[opening:]]
        require(roles == ["assistant", "user"] * len(episode.turns), "{}: the chat goes on with {}", what, roles)


def _check_record(environment: AnyEnvironment, episode: AnyEpisode, what: Message) -> None:
    record = episode.record()
    own = own_turns(record.turns)
    before = len(record.turns) - len(own)
    require(own, "{}: the prefix ends the episode", what)
    require(all(turn.prefix for turn in record.turns[:before]), "{}: a turn after the hand-over is marked", what)
    require(not any(turn.usage for turn in record.turns[:before]), "{}: a turn of the prefix has usage", what)
    line = record.dumps()
    try:
        again = replay(environment, EpisodeRecord.from_json(json.loads(line)))
    except ReplayError as error:
        raise ContractError(f"{what}: the record does not replay: {error}") from error
    require(again.record().dumps() == line, "{}: the replay's record is another one", what)
    require(again.messages == episode.messages, "{}: the replay's messages are others", what)
    for metric in environment.scoring.metrics:
        value = metric.of(record)
        if value is not None:
            require_within(metric, record, value, Message("metric {} of {}, {}", metric.name, episode.player, what))
    environment.scoring.failure_of(record)
    error = environment.scoring.first_error_of(record)
    require(error is None or error.turn >= before, "{}: the first error is one of the prefix", what)


def _check_continued(whole: AnyEpisode, episode: AnyEpisode, what: Message) -> None:
    require(episode.end_reason == whole.end_reason, "{}: the oracle ends in {}", what, episode.end_reason)
    turns = [turn._replace(prefix="") for turn in episode.turns]
    is_cut = turns[0].reply != whole.turns[0].reply
    require(is_cut or turns == list(whole.turns), "{}: the oracle goes on in another way", what)


def _check_tampering(environment: AnyEnvironment, episode: AnyEpisode) -> None:
    record = episode.record()
    first, rest = record.turns[0], record.turns[1:]
    if not first.prefix:  # the only step would end the episode
        return
    tampered = {
        "another reply in the prefix": replace(record, turns=(first._replace(reply=first.reply + " "), *rest)),
        "a turn of the prefix that has no mark": replace(record, turns=(first._replace(prefix=""), *rest)),
        "another player of the prefix": replace(record, turns=(first._replace(prefix="random"), *rest)),
        "no turn of the prefix": replace(record, turns=rest),
        "no prefix among its options": replace(
            record, options={name: value for name, value in record.options.items() if name != PREFIX}
        ),
        "another prefix": replace(record, options={**record.options, PREFIX: "oracle:0"}),
    }
    for name, each in tampered.items():
        try:
            replay(environment, each)
        except ReplayError as error:
            require(str(error).isprintable(), f"{name}: the error is not one line: {str(error)[:80]!r}")
        else:
            raise ContractError(f"a record with {name} replays without error")
