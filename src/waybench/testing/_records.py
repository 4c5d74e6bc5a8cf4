"""Checks of records, of episodes that are handed over, and of belief probes."""

import json
import math
from collections.abc import Iterator
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
    play_to_end,
    policy,
    replay,
    turns_without_prefix,
)
from waybench.testing._walks import (
    FOCUS,
    ITEMS,
    ROUNDING_ERROR,
    AnyEnvironment,
    AnyEpisode,
    ContractError,
    LazyMessage,
    Options,
    StumblingPolicy,
    episode_of_player,
    first_items,
    option_combinations,
    report_as_breach,
    require,
    require_distinct,
    require_one_line_refusal,
    sample_actions,
    sample_episodes,
)

_ALL_STEPS = 100_000  # more than any action has
_PREFIXES = ("oracle:1", "oracle:-1", "random:1+oracle:1", "oracle:2+noisy-0.5:2")
_PROBED_PLAYERS = ("oracle", "noisy-0.5", "null")
_HOSTILE_ANSWERS = (  # to belief probes; {name} stands for the name of the belief, and {{ for {
    "",
    "{",
    "[]",
    '{{"{name}": null}}',
    '{{"{name}": NaN}}',
    '{{"{name}": [[[[]]]], "{name}": 1}}',
    '{{"{name}": [true, {{}}, "x", 1e400]}}',
    '{{"{name}": {{"{name}": [1, 2]}}}}',
)


def _finished_episodes(
    environment: AnyEnvironment, level: int, count: int = 2
) -> Iterator[tuple[AnyEpisode, LazyMessage]]:
    """Yield (episode, label) for every kind of player, and for episodes that end as no player's would."""
    for options in option_combinations(environment):
        for item in first_items(environment, level, count):
            FOCUS.look_at(item.id)
            for episode in (*sample_episodes(environment, item, options), *_odd_episodes(environment, item, options)):
                FOCUS.look_at(item.id)
                yield episode, LazyMessage("{}, item {}, {}", options, item.id, episode.player)


def _record_through_json(episode: AnyEpisode) -> EpisodeRecord:
    """Return an episode's record after it was written as JSON and read again."""
    return EpisodeRecord.from_json(json.loads(episode.record().dumps()))


def _require_replay(environment: AnyEnvironment, episode: AnyEpisode, label: LazyMessage) -> None:
    """Require that an episode's record replays to the same record and the same messages."""
    try:
        replayed = replay(environment, _record_through_json(episode), by_hand=episode.player == "guided")
    except (ReplayError, DataError) as error:
        raise ContractError(f"{label}: the record does not replay: {error}") from error
    require(replayed.record().dumps() == episode.record().dumps(), "{}: the replay's record is another one", label)
    require(replayed.messages == episode.messages, "{}: the replay's messages are others", label)


def check_replay(environment: AnyEnvironment, level: int) -> None:
    """Every record, once through JSON, replays to the very same record."""
    for episode, label in _finished_episodes(environment, level, ITEMS):
        line = episode.record().dumps()
        require("\n" not in line and line.isascii(), "{}: the record is not one line of ASCII", label)
        require(_record_through_json(episode).dumps() == line, "{}: the record changes on its way through JSON", label)
        _require_replay(environment, episode, label)


def _odd_episodes(environment: AnyEnvironment, item: Any, options: Options) -> list[AnyEpisode]:
    """Return episodes that end as no player's would: unplayed, broken off, refused, guided by a teacher."""
    unplayed: AnyEpisode = Episode(environment, item, options, player="nobody")
    broken_off: AnyEpisode = Episode(environment, item, options, player="broken off")
    broken_off.step(Reply("", usage=Usage(3, 2, 1, 0, 0.25)))
    if not broken_off.done:
        broken_off.step(Reply("cut o", "truncated"))
    if not broken_off.done:
        broken_off.end(End.INFRASTRUCTURE, "the provider did not answer")
    refused: AnyEpisode = Episode(environment, item, options, player="refusing")
    while not refused.done:
        refused.step(Reply("I cannot help with that.", "refused"))
    guided: AnyEpisode = Episode(environment, item, options, attempt=2, player="guided")
    while not guided.done:
        rng = Stream("contract", "teacher", len(guided.turns))
        action = environment.players.policies["oracle"](guided.state, rng)
        guided.step("I do not know", action)
    return [unplayed, broken_off, refused, guided]


def check_tampering(environment: AnyEnvironment, level: int) -> None:
    """A record in which any part was changed does not replay."""
    for item in first_items(environment, level, 2):
        stumbling = play_to_end(environment, item, StumblingPolicy(), dict(environment.playing.check_options))
        for episode in (episode_of_player(environment, item, "oracle"), stumbling):
            record = episode.record()
            require(record.turns, f"item {item.id}: an episode of {episode.player} has no turn")
            _require_tampering_noticed(environment, _tampered_records(record), f"item {item.id}, {episode.player}")


def _require_tampering_noticed(environment: AnyEnvironment, records: dict[str, EpisodeRecord], where: str) -> None:
    """Require that none of these tampered records, by description, can be replayed."""
    for name, record in records.items():
        with require_one_line_refusal(
            ReplayError, name, message_if_accepted=f"{where}: a record with {name} replays without error"
        ):
            replay(environment, EpisodeRecord.from_json(json.loads(record.dumps())))


def _tampered_records(record: EpisodeRecord) -> dict[str, EpisodeRecord]:
    """Return copies of a record that each have one part changed, by description."""
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
    first = record.opening[0]
    records = {
        **{name: replace(record, turns=(*record.turns[:-1], turn)) for name, turn in turns.items()},
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
        records["another proof"] = replace(record, proof={**record.proof, "tampered": 1})
    return records


def check_failures(environment: AnyEnvironment, level: int) -> None:
    """Every failed episode, of every kind of player, has one declared kind of failure, and no other episode has any.

    Only an episode that went on to its limit on turns may have no kind of failure, where that is no failure. A first
    error is of a declared kind, too, and in a turn of the record.
    """
    scoring = environment.scoring
    kind_names = {kind.name for kind in scoring.failure_kinds}
    error_kinds = scoring.first_errors.all_kinds if scoring.first_errors is not None else ()
    require_distinct([kind.name for kind in error_kinds], "kinds of first errors")
    for episode, label in _finished_episodes(environment, level):
        if episode.player == "guided":
            continue  # the teacher's actions led to its end
        record = _record_through_json(episode)
        with report_as_breach(LazyMessage("{}: failure", label)):
            kind, error = scoring.failure_of(record), scoring.first_error_of(record)
        if error is not None:
            is_valid = error.kind in error_kinds and error.step >= 1 and 0 <= error.turn < len(record.turns)
            require(is_valid, "{}: the first error is {}", label, error)
        if record.end in (None, End.SOLVED, End.INFRASTRUCTURE):
            require(kind is None, "{}: it has not failed, yet it is said to fail by {}", label, kind)
            continue
        require(kind == scoring.failure_of(episode.record()), "{}: the kind is another one before JSON", label)
        if kind is None:
            require(record.end is End.TURN_LIMIT, "{}: it failed ({}) and has no kind of failure", label, record.end)
        else:
            undeclared = "{}: the kind of failure {!r} is not declared: give it to `Scoring.failures`"
            require(kind.name in kind_names, undeclared, label, kind.name)


def check_action_turns(environment: AnyEnvironment, level: int) -> None:
    """Turns that have to name an action are turns of the record, and no reply in another turn can be wrong.

    Replies in other turns can be refused or cut off all the same.
    """
    wrong_outcomes = (Outcome.UNPARSED, Outcome.ILLEGAL, Outcome.UNPRODUCTIVE)
    for episode, label in _finished_episodes(environment, level):
        record = _record_through_json(episode)
        other_turns = {id(turn): turn for turn in record.turns}
        for turn in environment.playing.action_turns(record):
            require(other_turns.pop(id(turn), None), "{}: action_turns gives what is no turn, or one twice", label)
        for turn in other_turns.values():
            is_wrong = turn.outcome in wrong_outcomes
            require(not is_wrong, "{}: action_turns leaves out a turn that is {}", label, turn.outcome)


def check_metrics(environment: AnyEnvironment, level: int) -> None:
    """In every kind of episode a metric is None or a number, and a series has numbers, within the record's range.

    Every axis of difficulty has a number above 0 for some of these episodes.
    """
    has_values = dict.fromkeys((axis.name for axis in environment.difficulty.axes), False)
    for episode, _ in _finished_episodes(environment, level):
        record = _record_through_json(episode)
        for series in environment.scoring.series:
            label = LazyMessage("series {} of {} on item {}", series.name, episode.player, episode.item.id)
            FOCUS.look_at(subject=series.of)
            for value in series.of(record):
                require_within_range(series, record, float(value), label)
        for metric in environment.scoring.metrics:
            label = LazyMessage("metric {} of {} on item {}", metric.name, episode.player, episode.item.id)
            FOCUS.look_at(subject=metric.of)
            with report_as_breach(label):
                value = metric.of(record)
            require(value == metric.of(episode.record()), "{}: it is another one before JSON", label)
            if value is not None:
                require(type(value) is float and math.isfinite(value), "{} is {!r}, no finite float", label, value)
                require_within_range(metric, record, value, label)
        for axis in environment.difficulty.axes:
            FOCUS.look_at(subject=axis.name)
            with report_as_breach(LazyMessage("axis {!r}", axis.name)):
                value = axis.of(record)
            has_values[axis.name] |= value is not None
            require(value is None or 0 < value < math.inf, "axis {!r} is {!r}, not above 0", axis.name, value)
    for name, has_value in has_values.items():
        FOCUS.look_at(subject=name)
        require(has_value, "axis {!r} is None for every item: a proof_axis has the name of a field of the proof", name)


def require_within_range(metric: Bounded, record: EpisodeRecord, value: float, label: LazyMessage) -> None:
    """Require that a metric's value is within its range for a record, and the range within its bounds for all."""
    low, high = metric.range_of(record)
    require(metric.unbounded or None not in (low, high), "{} has no bounds and does not say why (unbounded)", label)
    problem = "{}: its range {} to {} goes beyond {}"
    if metric.low is not None:
        require(low is not None and not low < metric.low, problem, label, low, high, metric.low)
    if metric.high is not None:
        require(high is not None and not high > metric.high, problem, label, low, high, metric.high)
    require(low is None or value >= low - ROUNDING_ERROR, "{} is {}, below {}", label, value, low)
    require(high is None or value <= high + ROUNDING_ERROR, "{} is {}, above {}", label, value, high)


def check_prefix(environment: AnyEnvironment, level: int) -> None:
    """An episode begins with its prefix, goes on as any other, and its record replays.

    After a prefix of the oracle, the oracle plays on as it would have played from the beginning. Turns of the prefix
    are marked, and a record in which one was changed does not replay.
    """
    options = dict(environment.playing.check_options)
    for item in first_items(environment, level, 2):
        full_episode = episode_of_player(environment, item, "oracle")
        if full_episode.limits.turns < 2:
            where = f"item {item.id}: an episode of one turn"
            with require_one_line_refusal(UsageError, where, message_if_accepted=f"{where} takes a prefix"):
                play_to_end(environment, item, policy("oracle"), {**options, PREFIX: "oracle:1"})
            continue
        _check_cut(environment, item, options)
        for prefix in _PREFIXES:
            label = LazyMessage("item {}, prefix {}", item.id, prefix)
            prefix_options = {**options, PREFIX: prefix}
            for options_of_play in (prefix_options, {**prefix_options, INTERFACE: TOOLS}):
                _check_handed_over(Episode(environment, item, options_of_play), label)
            for player in (policy("oracle"), StumblingPolicy(), policy("null")):
                episode = play_to_end(environment, item, player, prefix_options)
                _check_prefixed_episode(environment, episode, label)
                is_oracle_alone = prefix.startswith("oracle") and "+" not in prefix and player.name == "oracle"
                if is_oracle_alone:
                    end = episode.end_reason
                    require(end == full_episode.end_reason, "{}: the oracle ends in {}", label, end)
                    # A plan of several steps can be cut by the prefix; then the turns are others.
                    is_cut = episode.turns[0].reply != full_episode.turns[0].reply
                    turns = [turn._replace(prefix="") for turn in episode.turns]
                    require(is_cut or turns == list(full_episode.turns), "{}: the oracle goes on in another way", label)
        record = play_to_end(environment, item, policy("oracle"), {**options, PREFIX: "oracle:1"}).record()
        if record.turns[0].prefix:  # otherwise the only step would end the episode
            _require_tampering_noticed(environment, _records_with_tampered_prefix(record), f"item {item.id}")


def _check_cut(environment: AnyEnvironment, item: Any, options: dict[str, Any]) -> None:
    """Require that a game cuts actions to at most the number of steps asked for."""
    episode: AnyEpisode = Episode(environment, item, options)
    game = episode.play.game
    for action in (
        environment.players.policies["oracle"](episode.state, Stream("contract", "cut")),
        *sample_actions(game, episode.state),
    ):
        uncut, n_steps = game.cut(action, _ALL_STEPS)
        require(uncut == action and n_steps >= 1, "the action {} is cut to {}", action, uncut)
        for most_steps in (1, n_steps - 1 or 1):
            _, steps_left = game.cut(action, most_steps)
            require(1 <= steps_left <= most_steps, "{} is cut to more than {}", action, most_steps)


def _check_handed_over(episode: AnyEpisode, label: LazyMessage) -> None:
    """Require that an episode after a prefix goes on, and that a chat shows the prefix as past turns."""
    require(not episode.done, "{}: the prefix ends the episode", label)
    messages = episode.messages
    require(messages[-1].role == "user", "{}: the last message is {}", label, messages[-1].role)
    if episode.play.wording.memory.kind == "chat":
        n_opening = len(episode.record().opening)
        roles = [message.role for message in messages[n_opening:]]
        require(roles == ["assistant", "user"] * len(episode.turns), "{}: the chat goes on with {}", label, roles)


def _check_prefixed_episode(environment: AnyEnvironment, episode: AnyEpisode, label: LazyMessage) -> None:
    """Require that a finished episode with a prefix marks its turns, and that its record replays."""
    record = episode.record()
    n_prefix_turns = len(record.turns) - len(turns_without_prefix(record.turns))
    require(n_prefix_turns < len(record.turns), "{}: the prefix ends the episode", label)
    prefix_turns = record.turns[:n_prefix_turns]
    require(all(turn.prefix for turn in prefix_turns), "{}: a turn after the hand-over is marked", label)
    require(not any(turn.usage for turn in prefix_turns), "{}: a turn of the prefix has usage", label)
    _require_replay(environment, episode, label)
    for metric in environment.scoring.metrics:
        value = metric.of(record)
        if value is not None:
            require_within_range(
                metric, record, value, LazyMessage("metric {} of {}, {}", metric.name, episode.player, label)
            )
    environment.scoring.failure_of(record)  # it must not raise an exception
    error = environment.scoring.first_error_of(record)
    require(error is None or error.turn >= n_prefix_turns, "{}: the first error is one of the prefix", label)


def _records_with_tampered_prefix(record: EpisodeRecord) -> dict[str, EpisodeRecord]:
    """Return copies of a record that each have another part of its prefix changed, by description."""
    first, later = record.turns[0], record.turns[1:]
    options_without_prefix = {name: value for name, value in record.options.items() if name != PREFIX}
    return {
        "another reply in the prefix": replace(record, turns=(first._replace(reply=first.reply + " "), *later)),
        "a turn of the prefix that has no mark": replace(record, turns=(first._replace(prefix=""), *later)),
        "another player of the prefix": replace(record, turns=(first._replace(prefix="random"), *later)),
        "no turn of the prefix": replace(record, turns=later),
        "no prefix among its options": replace(record, options=options_without_prefix),
        "another prefix": replace(record, options={**record.options, PREFIX: "oracle:0"}),
    }


def check_beliefs(environment: AnyEnvironment, level: int) -> None:
    """The question of a belief probe has one right answer, which is read back, and records with probes replay."""
    beliefs = environment.probes
    require_distinct([belief.name for belief in beliefs], "names of beliefs")
    if not beliefs:
        return
    probed_names: set[str] = set()
    for options in option_combinations(environment):
        for item in first_items(environment, level, 2):
            for player_name in _PROBED_PLAYERS:
                player = policy(player_name)
                episode: AnyEpisode = Episode(environment, item, options, player=player_name)
                label = LazyMessage("{}, item {}, {}", options, item.id, player_name)
                while not episode.done:
                    _check_probes(episode, probed_names, player, label)
                    episode.step(player.reply(episode))
                _require_replay(environment, episode, label)
    missing = [belief.name for belief in beliefs if belief.name not in probed_names]
    require(not missing, f"beliefs that are never asked for: {missing}")


def _check_probes(episode: AnyEpisode, probed_names: set[str], player: Any, label: LazyMessage) -> None:
    """Ask the player all belief probes of a turn, check right and hostile answers, and add to `probed_names`."""
    for belief in episode.beliefs:
        probed_names.add(belief.name)
        value = belief.expected(episode.state)
        parsed = belief.parse(belief.render(value))
        require(parsed == value, "{}: the right answer for {} is read as {!r}", label, belief.name, parsed)
        if belief.share is not None:
            require(belief.share(value, value) == 1.0, "{}: the share of the right answer for {}", label, belief.name)
        for text in _HOSTILE_ANSWERS:
            reply = text.format(name=belief.name) if "{{" in text else text
            answer = belief.parse(reply)
            require(answer != value, "{}: {} takes {!r} for the right answer", label, belief.name, reply)
            if belief.share is not None and isinstance(answer, list):
                require(0.0 <= belief.share(value, answer) <= 1.0, "{}: share of {!r}", label, reply)
        episode.probe(belief, player.believe(episode, belief))
