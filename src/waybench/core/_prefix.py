"""`prefix`: turns that other players have played before an episode is handed over to its player."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from waybench.core._environment import AnyEnvironment, AnyPlay, PlayExtension, Resolve
from waybench.core._episode import AnyEpisode, Episode
from waybench.core._errors import DataError, UsageError, unknown_name_message
from waybench.core._game import Json
from waybench.core._items import Item
from waybench.core._json import check_json_bounds
from waybench.core._metrics import Axis
from waybench.core._play import EASIER, Option
from waybench.core._policies import Policy, policy
from waybench.core._record import EpisodeRecord
from waybench.core._user_files import numbered_json_lines, user_path
from waybench.core._wording import Invalid

PREFIX = "prefix"  # an option of play of every environment, in addition to its own
PREFIX_OPTION = Option(
    name=PREFIX,
    effect=EASIER,
    default=None,
    kind=str,
    separate_tables=True,
    doc='Steps that reference players take before the episode is handed over, such as "oracle:5", "oracle:-3" (all but '
    'the last three of the oracle\'s steps) or "oracle:4+random:1"; or record:PATH:TURNS, the replies of a stored '
    "record of the item. By default none.",
)
PREFIX_REPLIES = "prefix_replies"  # in records, the replies of a prefix that comes from a file of records
RECORD = "record:"  # the beginning of a value that names a file of records
RECORDED = "record"  # the mark of the turns that come from it
_EXAMPLES = "oracle:5, oracle:-3 or oracle:4+random:1"
_MOST_STEPS = 100_000
_MOST_PARTS = 20
_PART = re.compile(r"([A-Za-z0-9_.-]{1,40}):(-?[0-9]{1,7})")
_MOST_VALUES = 5_000_000  # of a line
_GIBIBYTE = _MOST_BYTES = 1 << 30  # of a file
_DIGEST_LENGTH = 12  # characters
_CUT_OFF = ("truncated", "overflow", "refused")


class PrefixPart(NamedTuple):
    """The steps of one player.

    Attributes:
        steps: Number of steps; -N stands for all but the last N steps of the oracle's episode.
    """

    player: str
    steps: int


def parse_prefix(text: str) -> tuple[PrefixPart, ...]:
    """Return the parts of a prefix as text ("oracle:4+random:1"); raise a UsageError for another form."""
    parts: list[PrefixPart] = []
    for part in text.split("+"):
        match = _PART.fullmatch(part)
        if match is None:
            raise UsageError(f"prefix={text[:80]!r}: give PLAYER:STEPS, such as {_EXAMPLES}")
        player, steps = match[1], int(match[2])
        if abs(steps) > _MOST_STEPS:
            raise UsageError(f"prefix={text[:80]!r}: give at most {_MOST_STEPS:,} steps")
        if steps < 0 and (player != "oracle" or parts):
            raise UsageError(
                f"prefix={text[:80]!r}: only the oracle's steps at the beginning can be counted from the end, such as "
                "oracle:-3"
            )
        parts.append(PrefixPart(player, steps))
    if len(parts) > _MOST_PARTS:
        raise UsageError(f"prefix={text[:80]!r}: give at most {_MOST_PARTS} parts")
    return tuple(parts)


def _canonical_prefix(text: str, environment: AnyEnvironment) -> str:
    """Return a prefix as canonical text; raise a UsageError for another form or a player that does not exist."""
    if text.startswith(RECORD):
        path_and_turns(text)
        return text
    parts = parse_prefix(text)
    for player, _ in parts:
        if player.startswith("noisy-"):
            try:
                policy(player)
            except UsageError as error:
                raise UsageError(f"prefix: {error}") from None
        elif player not in (players := {"null", "random", *environment.players.policies}):
            raise UsageError(
                f"prefix: {unknown_name_message(f'player of {environment.id}', player, {*players, 'noisy-0.1'})}"
            )
    return "+".join(f"{player}:{steps}" for player, steps in parts)


def path_and_turns(text: str) -> tuple[str, int | None]:
    """Return path and turns (None for all) of a prefix `record:PATH:TURNS`; raise a UsageError without a path."""
    path, separator, turns = text.removeprefix(RECORD).rpartition(":")
    if not separator or not re.fullmatch(r"-?[0-9]{1,7}", turns):  # a path can have colons, too
        path, turns = text.removeprefix(RECORD), ""
    if not path:
        raise UsageError("prefix=record: give record:PATH or record:PATH:TURNS, with a file of records")
    return path, int(turns) if turns else None


def without_prefix(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of play without a prefix."""
    return {name: value for name, value in options.items() if name not in (PREFIX, PREFIX_REPLIES)}


def _prefix_turns(episode: AnyEpisode) -> list[tuple[str, str]]:
    """Return the turns of a new episode's prefix as pairs (player, reply).

    The prefix is over before a turn that would end the episode. A step is a turn, except where the game's actions are
    plans that it can cut (`Game.cut`); a turn that asks for a thought is no step of its own.

    Raises:
        UsageError: If a teacher plays the episode, or if it has one turn.
    """
    text = episode.options[PREFIX]
    if episode.play.guide is not None:
        raise UsageError(f"prefix={text}: a teacher plays this episode; leave one of them out")
    if episode.limits.turns < 2:
        raise UsageError(
            f"prefix={text}: episodes of {episode.environment.id} have only one turn with these options, so there "
            "are no steps to hand over; leave prefix out"
        )
    trial = _episode_without_prefix(episode)
    if PREFIX_REPLIES in episode.options:
        return _replies_before_end(trial, episode.options[PREFIX_REPLIES])
    replies: list[tuple[str, str]] = []
    n_until_step = 0  # number of replies up to the last one that is no thought
    for player_name, n_steps in parse_prefix(text):
        player = policy(player_name)
        steps_left = n_steps if n_steps >= 0 else count_oracle_steps(episode) + n_steps
        while steps_left > 0:
            reply, steps_taken = _next_reply_and_steps(trial, player, steps_left)
            trial.step(reply)
            if trial.done:
                return replies[:n_until_step]  # a thought without its action is not handed over
            replies.append((player_name, reply))
            n_until_step = len(replies) if steps_taken else n_until_step
            steps_left -= steps_taken
    return replies


def _episode_without_prefix(episode: AnyEpisode) -> AnyEpisode:
    """Return a new episode of the same attempt at the item without a prefix."""
    options = without_prefix(episode.options)
    return Episode(episode.environment, episode.item, options, attempt=episode.attempt, player=episode.player)


def _replies_before_end(trial: AnyEpisode, recorded: Any) -> list[tuple[str, str]]:
    """Return the recorded replies that do not end the episode, with `RECORDED` as their player."""
    if not isinstance(recorded, list | tuple) or not all(isinstance(reply, str) for reply in recorded):  # pyright: ignore[reportUnknownVariableType]
        raise UsageError("prefix_replies: give a list of texts")
    replies: list[tuple[str, str]] = []
    for reply in recorded:  # pyright: ignore[reportUnknownVariableType]
        trial.step(reply)  # pyright: ignore[reportUnknownArgumentType]
        if trial.done:
            break
        replies.append((RECORDED, reply))  # pyright: ignore[reportUnknownArgumentType]
    return replies


def _next_reply_and_steps(episode: AnyEpisode, player: Policy, most_steps: int) -> tuple[str, int]:
    """Return a player's next reply, and the number of its steps: 0 for a thought, at most `most_steps`."""
    reply, wording, state = player.reply(episode), episode.play.wording, episode.state
    if wording.thought_question(state):
        return reply, 0
    action = wording.parse(reply, state)
    if isinstance(action, Invalid):
        return reply, 1
    cut_action, n_steps = episode.play.game.cut(action, most_steps)
    return (reply if cut_action == action else wording.render(cut_action, state)), n_steps


def count_oracle_steps(episode: AnyEpisode) -> int:
    """Return the number of steps of the oracle's episode on the item."""
    trial, oracle, n_steps = _episode_without_prefix(episode), policy("oracle"), 0
    while not trial.done:
        reply, steps_taken = _next_reply_and_steps(trial, oracle, _MOST_STEPS)
        trial.step(reply)
        n_steps += steps_taken
    return n_steps


class _RecordFile(NamedTuple):
    """The content of a file of records: the start of its SHA-256, and its records by the hash of their instance."""

    digest: str
    by_instance: Mapping[str, Sequence[EpisodeRecord]]


def _with_recorded_replies(
    environment: AnyEnvironment, item: Item[Any], options: dict[str, Any], attempt: int
) -> dict[str, Any]:
    """Return options of play with the replies of a record, if their prefix names a file of records.

    The file must have a record of the item, of the same attempt where there is chance in the game. In the options that
    are returned, the name and digest of the file stand in the place of its path, and `prefix_replies` has the replies,
    so that the file is not read again.

    Raises:
        UsageError: If the file cannot be read, or has no record of this item that fits.
    """
    text = options.get(PREFIX)
    if text is None or not text.startswith(RECORD) or PREFIX_REPLIES in options:
        return options
    path, turns = path_and_turns(text)
    record_file = _read_record_file(path)
    what = f"prefix={text[:80]}"
    record = _matching_record(environment, item, options, attempt, record_file, what)
    replies = [turn.reply for turn in record.turns][: len(record.turns) if turns is None else turns]
    for number, turn in enumerate(record.turns[: len(replies)], start=1):
        if turn.executed is not None or str(turn.outcome) in _CUT_OFF:
            raise UsageError(
                f"{what}: turn {number} of the record was cut off, refused or carried out by a teacher; give less"
            )
    return {**options, PREFIX: _prefix_with_digest(path, record_file, turns), PREFIX_REPLIES: replies}


def _prefix_with_digest(path: str, record_file: _RecordFile, turns: int | None) -> str:
    """Return the prefix `record:NAME#DIGEST:TURNS`, as options and logs have it: it names no folder of this machine.

    The digest says which content the file had; `:TURNS` is left out where all turns are taken (None).
    """
    return f"{RECORD}{Path(path).name}#{record_file.digest}{'' if turns is None else f':{turns}'}"


def _matching_record(
    environment: AnyEnvironment,
    item: Item[Any],
    options: Mapping[str, Any],
    attempt: int,
    record_file: _RecordFile,
    what: str,
) -> EpisodeRecord:
    """Return the record of an item with the same options and, in games of chance, the same attempt.

    Without chance a record of another attempt will do. Errors begin with `what`.
    """
    records = [
        record
        for record in record_file.by_instance.get(item.instance.hash, ())
        if (record.env, record.env_version) == (environment.id, environment.version)
    ]
    if not records:
        raise UsageError(f"{what}: the file has no record of item {item.id} of {environment.id}; record it first")
    alike = [record for record in records if without_prefix(record.options) == without_prefix(options)]
    if not alike:
        raise UsageError(f"{what}: item {item.id} was recorded with other options of play; give the same ones")
    is_chance = not environment.play_with(options).game.properties.deterministic
    fitting = [record for record in alike if record.attempt == attempt] or ([] if is_chance else alike)
    if not fitting:
        raise UsageError(f"{what}: attempt {attempt} at item {item.id} is not in the file, and each has its own chance")
    return fitting[0]


def _read_record_file(path: str) -> _RecordFile:
    """Return the records of a user's file, from a cache if its size and time of change are the same."""
    try:
        status = user_path(path).stat()
        if status.st_size > _MOST_BYTES:
            raise UsageError(
                f"prefix={RECORD}{path[:120]}: more than {_MOST_BYTES // _GIBIBYTE} GiB; give a smaller file"
            )
        return _parse_record_file(path, status.st_mtime_ns, status.st_size)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a path"
        raise UsageError(f"prefix={RECORD}{path[:120]}: cannot be read ({reason}); give a file of records") from None


@lru_cache(maxsize=4)
def _parse_record_file(path: str, changed: int, size: int) -> _RecordFile:
    """Return the records of a file; its time of change and its size are only keys of the cache."""
    content = user_path(path).read_bytes()
    by_instance: dict[str, list[EpisodeRecord]] = {}
    for number, line in numbered_json_lines(BytesIO(content), _MOST_BYTES + 1, path[:120]):
        if not line or not line.strip():
            continue
        try:
            check_json_bounds(line, _MOST_VALUES)
            record = EpisodeRecord.from_json(json.loads(line.decode("utf-8-sig")))
        except (DataError, ValueError, RecursionError) as error:
            raise UsageError(
                f"prefix={RECORD}{path[:120]}: line {number} is no record ({str(error)[:100]}); give a file "
                "of JSON lines from `waybench play --record`"
            ) from None
        by_instance.setdefault(record.instance_hash, []).append(record)
    return _RecordFile(hashlib.sha256(content).hexdigest()[:_DIGEST_LENGTH], by_instance)


def _resolve_prefix_option(
    environment: AnyEnvironment, resolve_others: Resolve, values: dict[str, Json]
) -> dict[str, Json]:
    """Resolve the options of prefixes and those of the environment; see `PlayExtension.resolve`."""
    text, replies = PREFIX_OPTION.check(values.pop(PREFIX, None)), values.pop(PREFIX_REPLIES, None)
    prefix = None if text is None else _canonical_prefix(text, environment)
    options = resolve_others(values)
    if prefix is None:
        return options
    stored_replies = {} if replies is None else {PREFIX_REPLIES: replies}
    return options | {PREFIX: prefix} | stored_replies


def _play_with_prefix(environment: AnyEnvironment, options: Mapping[str, Json]) -> AnyPlay | None:
    """Return the play with the turns of a prefix; None without a prefix."""
    if PREFIX not in options:
        return None
    return replace(environment.play_with(without_prefix(options)), prefix_turns=_prefix_turns)


def _option_naming_file(options: Mapping[str, Json]) -> str:
    """Return the option whose value names a file of this machine; "" if none does."""
    return PREFIX if str(options.get(PREFIX)).startswith(RECORD) and PREFIX_REPLIES not in options else ""


def _prefix_without_path(environment: AnyEnvironment, parameters: Mapping[str, Json]) -> dict[str, Json]:
    """Return the option `prefix` with the name and digest of its file in place of the path; {} without a file.

    Raises:
        UsageError: If the file cannot be read.
    """
    text = parameters.get(PREFIX)
    if not isinstance(text, str) or not text.startswith(RECORD):
        return {}
    path, turns = path_and_turns(text)
    return {PREFIX: _prefix_with_digest(path, _read_record_file(path), turns)}


PREFIX_EXTENSION = PlayExtension(
    name="prefix",
    options=(PREFIX_OPTION,),
    resolve=_resolve_prefix_option,
    wrap=_play_with_prefix,
    content=(PREFIX_REPLIES,),
    for_item=_with_recorded_replies,
    names_file=_option_naming_file,
    for_log=_prefix_without_path,
)


def _handover_axis(name: str, title: str, doc: str, read: Callable[[tuple[PrefixPart, ...]], float | None]) -> Axis:
    """Return an axis whose value is a number that `read` takes from the parts of a prefix."""

    def value_of_prefix(record: EpisodeRecord) -> float | None:
        """Return the value for the prefix of a record; None without a prefix and for one from a file of records."""
        text = record.options.get(PREFIX)
        if not isinstance(text, str) or text.startswith(RECORD):
            return None
        try:
            return read(parse_prefix(text))
        except UsageError:  # the record has been edited by hand
            return None

    return Axis(name=name, title=title, of=value_of_prefix, doc=doc)


def _steps_left_of_oracle(parts: tuple[PrefixPart, ...]) -> float | None:
    """Return N for a prefix `oracle:-N`, which leaves N of the oracle's steps; None for others."""
    return float(-parts[0].steps) if len(parts) == 1 and parts[0].steps < 0 else None


def _random_steps_after_oracle(parts: tuple[PrefixPart, ...]) -> float | None:
    """Return N for a prefix `oracle:K+random:N` with N random steps after the oracle's; None for other prefixes."""
    players = [part.player for part in parts]
    return float(parts[1].steps) if players == ["oracle", "random"] and parts[1].steps > 0 else None


HANDOVER_AXES = (
    _handover_axis(
        "steps_left",
        "Steps left",
        "The steps of the oracle's episode that are left to the player (prefix=oracle:-N).",
        _steps_left_of_oracle,
    ),
    _handover_axis(
        "random_steps",
        "Random steps",
        "The random steps between the oracle's first steps and the player's (prefix=oracle:K+random:N).",
        _random_steps_after_oracle,
    ),
)
