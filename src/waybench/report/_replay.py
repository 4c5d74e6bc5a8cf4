"""The pages on which an episode can be followed step by step."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from waybench.core import Instance, TurnRecord

MOST_FRAMES = 240  # of a page; of longer episodes some steps are passed over
_PIECES = re.compile(r"[^<]*<[^<]*")  # an element's tag with what follows it


@dataclass(frozen=True, slots=True)
class Frames:
    """Drawings of an episode from its start to its end.

    Attributes:
        first: The first one.
        last: The last one.
        data: All of them for the page's script, as JSON: `pieces` are what drawings are made of, a frame lists the
            numbers of its own, and `turns` says how many turns have been made in each.
    """

    first: Markup
    last: Markup
    data: Markup


def frames(draw: Callable[..., str], instance: Instance, turns: Sequence[TurnRecord]) -> Frames:
    """Draw an episode after each of its turns.

    Args:
        draw: (instance, turns) -> SVG, in which nothing of a reply is.
        instance: The instance.
        turns: Its turns, as a simulation has confirmed them.
    """
    stride = -(-len(turns) // (MOST_FRAMES - 1)) or 1
    shown = sorted({*range(0, len(turns) + 1, stride), len(turns)})
    drawn = [draw(instance, turns[:count]) for count in shown]
    numbers: dict[str, int] = {}  # most of a drawing is the same as in the one before
    listed = [[numbers.setdefault(piece, len(numbers)) for piece in _PIECES.findall(each)] for each in drawn]
    data = json.dumps({"pieces": list(numbers), "frames": listed, "turns": shown}, separators=(",", ":"))
    # A script element ends where "</script" is, whatever is around it; there is no such thing without "<".
    return Frames(Markup(drawn[0]), Markup(drawn[-1]), Markup(data.replace("<", "\\u003c")))


def undrawn(turns: Sequence[TurnRecord]) -> Frames:
    """Return no drawings, but the steps to follow: what the player was told is shown in their place."""
    counts = list(range(len(turns) + 1))
    return Frames(Markup(), Markup(), Markup(json.dumps({"pieces": [], "frames": [], "turns": counts})))


def file_name(page: str, number: int) -> str:
    """Return the name of the page of an episode, by that of its model's page and its number there."""
    return f"{page.removesuffix('.html')}-{number}.html"
