"""What a person types in place of a model's reply."""

import re
from typing import Any

from waybench.core import Episode, Invalid, Json
from waybench.spaces import DIRECTIONS

MOVEMENTS = "Type movements as d3 l2 d1 or down 3, left 2, down 1 (d, u, l, r), or the reply itself."

_SHORT = {name[0]: name for name in DIRECTIONS} | {name: name for name in DIRECTIONS}
_WAY = "|".join(sorted(_SHORT, key=len, reverse=True))
_MOVEMENT = re.compile(rf"({_WAY})[ :]*([1-9][0-9]{{0,5}})?[\s,;.]*", re.IGNORECASE)
_MOST_CHARACTERS = 100_000


def reply_for(typed: str, episode: Episode[Any, Any, Any]) -> str | None:
    """Return the reply that a typed line stands for.

    What the wording reads is a reply as it is, and so is what begins like one (with a brace) even if it turns out to
    be malformed: that costs a person what it costs a model. Where actions are lists of [direction, cells],
    ``d3 l2``, ``down 3, left 2`` and ``ddd`` are translated into the wording's own form. An environment can say itself
    what a line stands for (`Environment.typed`).

    Args:
        typed: The line.
        episode: The episode it is for.

    Returns:
        The reply; None if the line is neither, and the person should try again at no cost.
    """
    wording, game = episode.play.wording, episode.play.game
    if "{" in typed or help_for(episode) is None or not isinstance(wording.parse(typed, episode.state), Invalid):
        return typed
    if episode.environment.typed is not None:
        action = episode.environment.typed(typed, episode.state)
        return None if action is None else wording.render(action, episode.state)
    movements = _movements(typed)
    return None if movements is None else wording.render(game.decode(movements), episode.state)


def help_for(episode: Episode[Any, Any, Any]) -> str | None:
    """Return what a person can type that is no reply, in a sentence; None if only replies can be typed."""
    return MOVEMENTS if takes_movements(episode) else episode.environment.typed_help or None


def takes_movements(episode: Episode[Any, Any, Any]) -> bool:
    """Whether the episode's actions are lists of [direction, cells]."""
    game = episode.play.game
    legal = game.legal(game.start(episode.item.instance))
    encoded: Json = game.encode(legal[0]) if legal else None
    match encoded:
        case [[str(direction), int()], *_]:
            return direction in DIRECTIONS
        case _:
            return False


def spoken(encoded: Json) -> str:
    """Return [direction, cells] pairs as "down 3, left 2"."""
    return ", ".join(f"{direction} {cells}" for direction, cells in encoded)


def _movements(typed: str) -> list[list[str | int]] | None:
    found: list[list[str | int]] = []
    at, text = 0, typed.strip()[:_MOST_CHARACTERS]
    while at < len(text):
        match = _MOVEMENT.match(text, at)
        if match is None:
            return None
        found.append([_SHORT[match[1].lower()], int(match[2] or 1)])
        at = match.end()
    return found or None
