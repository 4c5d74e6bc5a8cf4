"""`prefix`: turns that other players have played before an episode is handed over to its player."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from waybench.core._errors import DataError, UsageError, unknown
from waybench.core._items import Item
from waybench.core._json import check_json
from waybench.core._options import Option
from waybench.core._policies import Policy, policy
from waybench.core._record import EpisodeRecord
from waybench.core._user_files import json_lines, user_path
from waybench.core._wording import Invalid

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from waybench.core._environment import Environment
    from waybench.core._episode import Episode
    from waybench.core._game import Json


PREFIX = "prefix"  # an option of play of every environment, in addition to its own
PREFIX_OPTION = Option(
    name=PREFIX,
    default=None,
    kind=str,
    doc='Steps that reference players take before the episode is handed over, such as "oracle:5", "oracle:-3" (all but '
    'the last three of the oracle\'s steps) or "oracle:4+random:1"; or record:PATH:TURNS, the replies of a stored '
    "record of the item. By default none.",
)
PREFIX_REPLIES = "prefix_replies"  # in records, the replies of a prefix that comes from a file of records
RECORD = "record:"  # what the value begins with that names a file of records
RECORDED = "record"  # the mark of the turns that come from it
_EXAMPLES = "oracle:5, oracle:-3 or oracle:4+random:1"
_MOST_STEPS = 100_000
_MOST_PARTS = 20
_PART = re.compile(r"([A-Za-z0-9_.-]{1,40}):(-?[0-9]{1,7})")


class PrefixPart(NamedTuple):
    """The steps of one player.

    Attributes:
        player: The player.
        steps: Number of steps; below 0 all but so many of the steps of an episode of the oracle.
    """

    player: str
    steps: int


def read_prefix(text: str) -> tuple[PrefixPart, ...]:
    """Read a prefix.

    Args:
        text: Parts joined by "+", each PLAYER:STEPS.

    Raises:
        UsageError: If it is none.
    """
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


def take_prefix(values: dict[str, Any], players: "Collection[str]", environment: str) -> str | None:
    """Take the prefix out of given options of play, and return it in its one form; None if there is none.

    Args:
        values: The options.
        players: The names of the environment's players.
        environment: The environment's id.

    Raises:
        UsageError: If it is unfit, or names a player that the environment does not have.
    """
    text = PREFIX_OPTION.check(values.pop(PREFIX, None))
    if text is None:
        return None
    if text.startswith(RECORD):
        split_record(text)
        return text
    parts = read_prefix(text)
    for player, _ in parts:
        if player.startswith("noisy-"):
            _check_noisy(player)
        elif player not in (known := {"null", "random", *players}):
            raise UsageError(f"prefix: {unknown(f'player of {environment}', player, {*known, 'noisy-0.1'})}")
    return "+".join(f"{player}:{steps}" for player, steps in parts)


def _check_noisy(player: str) -> None:
    try:
        policy(player)
    except UsageError as error:
        raise UsageError(f"prefix: {error}") from None


def split_record(text: str) -> tuple[str, int | None]:
    """Return the path of a file of records, and the number of turns that are taken from a record; None for all.

    Raises:
        UsageError: If there is no path, or the number is not fit.
    """
    path, separator, turns = text.removeprefix(RECORD).rpartition(":")
    if not separator or not re.fullmatch(r"-?[0-9]{1,7}", turns):
        path, turns = text.removeprefix(RECORD), ""
    if not path:
        raise UsageError("prefix=record: give record:PATH or record:PATH:TURNS, with a file of records")
    return path, int(turns) if turns else None


def without_prefix(options: "Mapping[str, Any]") -> dict[str, Any]:
    """Return options of play without a prefix."""
    return {name: value for name, value in options.items() if name not in (PREFIX, PREFIX_REPLIES)}


def prefix_replies(episode: "Episode[Any, Any, Any]", text: str) -> list[tuple[str, str]]:
    """Return the turns of a prefix as (player, reply).

    The prefix is over before a turn that would end the episode. A step is a turn, except where the game's actions are
    plans that it can cut (`Game.cut`); a turn that asks for a thought is no step of its own.

    Args:
        episode: An episode that has not begun; another one with the same item, attempt and options is played.
        text: The prefix.
    """
    own = episode.without_prefix()
    replies: list[tuple[str, str]] = []
    if PREFIX_REPLIES in episode.options:
        return _recorded_replies(own, episode.options[PREFIX_REPLIES])
    whole = 0  # number of replies up to the last one that is no thought
    for player, steps in read_prefix(text):
        chosen = policy(player)
        left = steps if steps >= 0 else oracle_steps(episode) + steps
        while left > 0:
            reply, taken = _next_reply(own, chosen, left)
            own.step(reply)
            if own.done:
                return replies[:whole]
            replies.append((player, reply))
            whole = len(replies) if taken else whole
            left -= taken
    return replies


def _recorded_replies(own: "Episode[Any, Any, Any]", recorded: Any) -> list[tuple[str, str]]:
    """Return those replies of a record that do not end the episode."""
    if not isinstance(recorded, list | tuple) or not all(isinstance(reply, str) for reply in recorded):  # pyright: ignore[reportUnknownVariableType]
        raise UsageError("prefix_replies: give a list of texts")
    replies: list[tuple[str, str]] = []
    for reply in recorded:  # pyright: ignore[reportUnknownVariableType]
        own.step(reply)  # pyright: ignore[reportUnknownArgumentType]
        if own.done:
            break
        replies.append((RECORDED, reply))  # pyright: ignore[reportUnknownArgumentType]
    return replies


def _next_reply(episode: "Episode[Any, Any, Any]", player: Policy, most_steps: int) -> tuple[str, int]:
    """Return a player's next reply, and how many steps it takes: 0 for a thought."""
    reply, wording, state = player.reply(episode), episode.play.wording, episode.state
    if wording.thought_question(state):
        return reply, 0
    action = wording.parse(reply, state)
    if isinstance(action, Invalid):
        return reply, 1
    first, taken = episode.play.game.cut(action, most_steps)
    return (reply if first == action else wording.render(first, state)), taken


def oracle_steps(episode: "Episode[Any, Any, Any]") -> int:
    """Return the number of steps in the oracle's own episode on the item."""
    own, oracle, steps = episode.without_prefix(), policy("oracle"), 0
    while not own.done:
        reply, taken = _next_reply(own, oracle, _MOST_STEPS)
        own.step(reply)
        steps += taken
    return steps


_MOST_VALUES = 5_000_000  # of a line
_MOST_BYTES = 1 << 30
_CUT_OFF = ("truncated", "overflow", "refused")


class _Records(NamedTuple):
    digest: str
    by_instance: Mapping[str, Sequence[EpisodeRecord]]


def with_recorded_prefix(
    environment: "Environment[Any, Any, Any]", item: Item[Any], options: dict[str, Any], attempt: int
) -> dict[str, Any]:
    """Return options of play with the replies of a record, if their prefix names a file of records.

    Args:
        environment: The environment.
        item: The item, of which the file has to have a record.
        options: Resolved options of play. Those that are returned have the name and digest of the file in the place of
            its path, and the replies as a further option, `prefix_replies`: they need the file no more.
        attempt: The attempt; where there is chance in a game, the record is that of the same attempt.

    Raises:
        UsageError: If the file cannot be read, or has no record of this item that fits.
    """
    text = options.get(PREFIX)
    if text is None or not text.startswith(RECORD) or PREFIX_REPLIES in options:
        return options
    path, turns = split_record(text)
    stored = _read(path)
    what = f"prefix={text[:80]}"
    record = _chosen(environment, item, options, attempt, stored, what)
    replies = [turn.reply for turn in record.turns][: len(record.turns) if turns is None else turns]
    for number, turn in enumerate(record.turns[: len(replies)], start=1):
        if turn.executed is not None or str(turn.outcome) in _CUT_OFF:
            raise UsageError(
                f"{what}: turn {number} of the record was cut off, refused or carried out by a teacher; give less"
            )
    name = f"{RECORD}{Path(path).name}#{stored.digest}{'' if turns is None else f':{turns}'}"
    return {**options, PREFIX: name, PREFIX_REPLIES: replies}


def named_prefix(text: "Json") -> "Json":
    """Return a prefix with the name and digest of its file of records in place of the path; others as they are.

    Raises:
        UsageError: If the file cannot be read.
    """
    if not isinstance(text, str) or not text.startswith(RECORD):
        return text
    path, turns = split_record(text)
    return f"{RECORD}{Path(path).name}#{_read(path).digest}{'' if turns is None else f':{turns}'}"


def _chosen(
    environment: "Environment[Any, Any, Any]",
    item: Item[Any],
    options: Mapping[str, Any],
    attempt: int,
    stored: _Records,
    what: str,
) -> EpisodeRecord:
    own = [
        record
        for record in stored.by_instance.get(item.instance.hash, ())
        if (record.env, record.env_version) == (environment.id, environment.version)
    ]
    if not own:
        raise UsageError(f"{what}: the file has no record of item {item.id} of {environment.id}; record it first")
    alike = [record for record in own if without_prefix(record.options) == without_prefix(options)]
    if not alike:
        raise UsageError(f"{what}: item {item.id} was recorded with other options of play; give the same ones")
    is_chance = not environment.play_with(options).game.facts.deterministic
    fitting = [record for record in alike if record.attempt == attempt] or ([] if is_chance else alike)
    if not fitting:
        raise UsageError(f"{what}: attempt {attempt} at item {item.id} is not in the file, and each has its own chance")
    return fitting[0]


def _read(path: str) -> _Records:
    try:
        status = user_path(path).stat()
        if status.st_size > _MOST_BYTES:
            raise UsageError(f"prefix={RECORD}{path[:120]}: more than {_MOST_BYTES >> 30} GiB; give a smaller file")
        return _parsed(path, status.st_mtime_ns, status.st_size)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a path"
        raise UsageError(f"prefix={RECORD}{path[:120]}: cannot be read ({reason}); give a file of records") from None


@lru_cache(maxsize=4)
def _parsed(path: str, changed: int, size: int) -> _Records:
    content = user_path(path).read_bytes()
    by_instance: dict[str, list[EpisodeRecord]] = {}
    for number, line in json_lines(BytesIO(content), _MOST_BYTES + 1, path[:120]):
        if not line or not line.strip():
            continue
        try:
            check_json(line, _MOST_VALUES)
            record = EpisodeRecord.from_json(json.loads(line.decode("utf-8-sig")))
        except (DataError, ValueError, RecursionError) as error:
            raise UsageError(
                f"prefix={RECORD}{path[:120]}: line {number} is no record ({str(error)[:100]}); give a file "
                "of JSON lines from `waybench play --record`"
            ) from None
        by_instance.setdefault(record.instance_hash, []).append(record)
    return _Records(hashlib.sha256(content).hexdigest()[:12], by_instance)
