"""Checks of records, of episodes that are handed over, and of belief probes."""

import json
import math
from dataclasses import replace
from typing import Any

from waybench.core import (
    INTERFACE,
    PREFIX,
    TOOLS,
    Bounded,
    DataError,
    End,
    Episode,
    EpisodeRecord,
    Outcome,
    ReplayError,
    Reply,
    Stream,
    Usage,
    UsageError,
    own_turns,
    play_out,
    policy,
    replay,
)
from waybench.testing._walks import (
    AnyEnvironment,
    AnyEpisode,
    ContractError,
    Message,
    Options,
    StumblingPolicy,
    actions,
    items,
    play_name,
    require,
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
        oracle = environment.players.policies["oracle"](guided.state, Stream("contract", "teacher", len(guided.turns)))
        guided.step("I do not know", oracle)
    return [untouched, broken, refusing, guided]


def check_tampering(environment: AnyEnvironment, level: int) -> None:
    """A record in which anything that happened was changed does not replay."""
    for item in items(environment, level, 2):
        stumbling = play_out(environment, item, StumblingPolicy(), dict(environment.playing.check_options))
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


def check_failures(environment: AnyEnvironment, level: int) -> None:
    """Every failed episode, of every kind of player, has one declared kind of failure, and no other episode has any.

    The one exception are episodes that go on to their limit on turns, where that is no failure. A first error is of a
    declared kind, too, and in a turn of the record.
    """
    kinds = {kind.name for kind in environment.scoring.failure_kinds}
    errors = environment.scoring.first_errors.all_kinds if environment.scoring.first_errors is not None else ()
    require(len({kind.name for kind in errors}) == len(errors), "kinds of first errors come twice")
    for options in ways(environment):
        for item in items(environment, level, 2):
            for episode in [*sample_episodes(environment, item, options), *_odd_episodes(environment, item, options)]:
                if episode.player == "guided":
                    continue  # its end is the teacher's merit
                record = EpisodeRecord.from_json(json.loads(episode.record().dumps()))
                what = f"{options}, item {item.id}, {episode.player}"
                try:
                    kind, error = environment.scoring.failure_of(record), environment.scoring.first_error_of(record)
                except Exception as raised:
                    raise ContractError(f"{what}: failure raised {type(raised).__name__}: {raised}") from raised
                require(
                    error is None or (error.kind in errors and error.step >= 1 and 0 <= error.turn < len(record.turns)),
                    f"{what}: the first error is {error}",
                )
                if record.end in (None, End.SOLVED, End.INFRASTRUCTURE):
                    require(kind is None, f"{what}: it has not failed, yet it is said to fail by {kind}")
                    continue
                require(
                    kind == environment.scoring.failure_of(episode.record()),
                    f"{what}: the kind is another one before JSON",
                )
                if kind is None:
                    require(
                        record.end is End.TURN_LIMIT, f"{what}: it failed ({record.end}) and has no kind of failure"
                    )
                else:
                    require(kind.name in kinds, f"{what}: the kind of failure {kind.name!r} is not declared")


def check_action_turns(environment: AnyEnvironment, level: int) -> None:
    """Turns that have to name an action are turns of the record, and whatever is replied to the others is right.

    That others were refused or cut off is possible all the same.
    """
    wrong = (Outcome.UNPARSED, Outcome.ILLEGAL, Outcome.UNPRODUCTIVE)
    for options in ways(environment):
        for item in items(environment, level, 2):
            for episode in [*sample_episodes(environment, item, options), *_odd_episodes(environment, item, options)]:
                what = Message("{}, item {}, {}", options, item.id, episode.player)
                record = EpisodeRecord.from_json(json.loads(episode.record().dumps()))
                turns = {id(turn): turn for turn in record.turns}
                for turn in environment.playing.action_turns(record):
                    require(turns.pop(id(turn), None), "{}: action_turns gives what is no turn, or one twice", what)
                for turn in turns.values():
                    require(
                        turn.outcome not in wrong, "{}: action_turns leaves out a turn that is {}", what, turn.outcome
                    )


def check_metrics(environment: AnyEnvironment, level: int) -> None:
    """Every metric and series, of every kind of episode, is None or has numbers within the range of its record."""
    for options in ways(environment):
        for item in items(environment, level, 2):
            for episode in [*sample_episodes(environment, item, options), *_odd_episodes(environment, item, options)]:
                record = EpisodeRecord.from_json(json.loads(episode.record().dumps()))
                for series in environment.scoring.series:
                    what = Message("series {} of {} on item {}", series.name, episode.player, item.id)
                    for value in series.of(record):
                        require_within(series, record, float(value), what)
                for metric in environment.scoring.metrics:
                    what = Message("metric {} of {} on item {}", metric.name, episode.player, item.id)
                    try:
                        value = metric.of(record)
                    except Exception as error:
                        raise ContractError(f"{what} raised {type(error).__name__}: {error}") from error
                    require(value == metric.of(episode.record()), "{}: it is another one before JSON", what)
                    if value is None:
                        continue
                    require(type(value) is float and math.isfinite(value), "{} is {!r}, no finite float", what, value)
                    require_within(metric, record, value, what)


def require_within(one: Bounded, record: EpisodeRecord, value: float, what: Message) -> None:
    """Require that a value is within its range for a record."""
    low, high = one.range_of(record)
    require(one.unbounded or None not in (low, high), "{} has no bounds and does not say why (unbounded)", what)
    for declared, own, lower in ((one.low, low, True), (one.high, high, False)):
        beyond = own is None or (declared is not None and (own < declared if lower else own > declared))
        require(declared is None or not beyond, "{}: its range {} to {} goes beyond {}", what, low, high, declared)
    require(low is None or value >= low - 1e-9, "{} is {}, below {}", what, value, low)
    require(high is None or value <= high + 1e-9, "{} is {}, above {}", what, value, high)


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


_PLAYERS = ("oracle", "noisy-0.5", "null")
_HOSTILE = (
    "",
    "{",
    "[]",
    '{{"{name}": null}}',
    '{{"{name}": NaN}}',
    '{{"{name}": [[[[]]]], "{name}": 1}}',
    '{{"{name}": [true, {{}}, "x", 1e400]}}',
    '{{"{name}": {{"{name}": [1, 2]}}}}',
)


def check_beliefs(environment: AnyEnvironment, level: int) -> None:
    """What a belief probe asks for has one right answer, which reads back, and the record of it replays."""
    beliefs = environment.probes
    require(len({belief.name for belief in beliefs}) == len(beliefs), "names of beliefs come twice")
    if not beliefs:
        return
    asked: set[str] = set()
    for options in ways(environment):
        for item in items(environment, level, 2):
            for player in _PLAYERS:
                who = policy(player)
                episode: AnyEpisode = Episode(environment, item, options, player=player)
                what = Message("{}, item {}, {}", options, item.id, player)
                while not episode.done:
                    _ask(episode, asked, who, what)
                    episode.step(who.reply(episode))
                record = episode.record()
                back = EpisodeRecord.from_json(json.loads(record.dumps()))
                try:
                    again = replay(environment, back)
                except ReplayError as error:
                    raise ContractError(f"{what}: the record with probes does not replay: {error}") from error
                require(again.record().dumps() == record.dumps(), "{}: the replay's record is another one", what)
    missing = [belief.name for belief in beliefs if belief.name not in asked]
    require(not missing, f"beliefs that are never asked for: {missing}")


def _ask(episode: AnyEpisode, asked: set[str], who: Any, what: Message) -> None:
    for belief in episode.beliefs:
        asked.add(belief.name)
        value = belief.expected(episode.state)
        right = belief.parse(belief.render(value))
        require(right == value, "{}: the right answer for {} is read as {!r}", what, belief.name, right)
        if belief.share is not None:
            require(belief.share(value, value) == 1.0, "{}: the share of the right answer for {}", what, belief.name)
        for text in _HOSTILE:
            reply = text.format(name=belief.name) if "{{" in text else text
            answer = belief.parse(reply)
            require(answer != value, "{}: {} takes {!r} for the right answer", what, belief.name, reply)
            if belief.share is not None and isinstance(answer, list):
                require(0.0 <= belief.share(value, answer) <= 1.0, "{}: share of {!r}", what, reply)
        episode.probe(belief, who.believe(episode, belief))
