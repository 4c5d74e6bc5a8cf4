"""`prefix`: turns that other players have played before an episode is handed over to its player."""

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from waybench.core._errors import UsageError, unknown
from waybench.core._options import Option
from waybench.core._policies import Policy, policy
from waybench.core._wording import Invalid

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from waybench.core._episode import Episode

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
