"""The pages on which an episode can be followed step by step."""

import json
import re
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from typing import Any

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


def script() -> Markup:
    """Return the script of the pages, which is ours."""
    return Markup((files("waybench.report") / "templates" / "replay.js").read_text(encoding="utf-8"))


def source_of(text: str) -> str:
    """Return how a Content-Security-Policy names a script, so that no other one runs."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def file_name(page: str, number: int) -> str:
    """Return the name of the page of an episode, by that of its model's page and its number there."""
    return f"{page.removesuffix('.html')}-{number}.html"


def followed(draw: Any, instance: Instance | None, turns: Sequence[TurnRecord], mismatch: str) -> bool:
    """Whether an episode can be followed: it is drawn, and a simulation has confirmed it."""
    return draw is not None and instance is not None and bool(turns) and not mismatch
