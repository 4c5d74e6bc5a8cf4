"""The pages on which an episode can be followed step by step."""

import base64
import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from waybench.core import Draw, DrawFrames, Instance, Presentation, TurnRecord

MOST_FRAMES = 240  # of a page; of longer episodes some steps are passed over
_PIECES = re.compile(r"[^<]*<[^<]*")  # an element's tag with what follows it


@dataclass(frozen=True, slots=True)
class Frames:
    """Drawings of an episode from its start to its end.

    Attributes:
        last: The last one.
        values: All of them for the page's script: `pieces` has each part of a drawing once, a frame lists the numbers
            of its parts, -n standing for the n that follow the one before, `turns` says how many turns are over in
            each, and `moves` in how many steps the last of them is shown.
        stride: Of how many turns one is drawn; the last one always is.
    """

    last: Markup
    values: Mapping[str, Any]
    stride: int


def frames(framer: DrawFrames, instance: Instance, turns: Sequence[TurnRecord]) -> Frames:
    """Draw an episode after each of its turns, or of every so many if there are too many.

    Args:
        framer: What draws it.
        instance: The instance.
        turns: Its turns, as a simulation has confirmed them.
    """
    stride = -(-len(turns) // (MOST_FRAMES - 1)) or 1
    shown = sorted({*range(0, len(turns) + 1, stride), len(turns)})
    drawn = list(framer(instance, turns, shown))
    numbers: dict[str, int] = {}  # most of a drawing is the same as in the one before
    listed = [_runs(_PIECES.findall(each), numbers) for each in drawn]
    moves = [_moves(each, count) for count, each in zip(shown, drawn, strict=True)]
    values = {"pieces": list(numbers), "frames": listed, "turns": shown, "moves": moves}
    return Frames(Markup(drawn[-1]), values, stride)


def packed(values: Mapping[str, Any]) -> str:
    """Return values for a page's script, which unpacks them: compressed JSON, as base64.

    Drawings and messages of a replay repeat each other: compressed, they have a tenth of the size.
    """
    data = json.dumps(values, separators=(",", ":")).encode("ascii")
    return base64.b64encode(zlib.compress(data)).decode("ascii")


def _moves(drawing: str, turn: int) -> int:
    """Return how many moves of a turn a drawing can show one by one (see `waybench._svg.walk`); 1 for no such moves."""
    found = re.search(rf'data-walk="{turn}" data-moves="(\d+)"', drawing)
    return int(found[1]) if found else 1


def _runs(pieces: Iterable[str], numbers: dict[str, int]) -> list[int]:
    """Return the numbers of pieces, those that follow on the one before only as how many they are, negative.

    Args:
        pieces: The pieces.
        numbers: The number of each piece; new ones are added.
    """
    found: list[int] = []
    before, more = -2, 0
    for piece in pieces:
        number = numbers.setdefault(piece, len(numbers))
        if number == before + 1:
            more += 1
        else:
            if more:
                found.append(-more)
                more = 0
            found.append(number)
        before = number
    if more:
        found.append(-more)
    return found


def by_prefixes(draw: Draw) -> DrawFrames:
    """Return a framer that draws what came before as if it were all; its drawings must not grow with the way."""
    return lambda instance, turns, counts: (draw(instance, turns[:count]) for count in counts)


def framer(presentation: Presentation) -> DrawFrames | None:
    """Return what draws the frames of a replay; None if an environment has no drawing."""
    if presentation.draw_frames is None and presentation.draw is not None:
        return by_prefixes(presentation.draw)
    return presentation.draw_frames


def undrawn(turns: Sequence[TurnRecord]) -> Frames:
    """Return no drawings, but the steps to follow: the messages to the player are shown in their place."""
    counts = list(range(len(turns) + 1))
    return Frames(Markup(), {"pieces": [], "frames": [], "turns": counts, "moves": [1] * len(counts)}, 1)


def file_name(page: str, number: int) -> str:
    """Return the name of the page of an episode, by that of its model's page and its number there."""
    return f"{page.removesuffix('.html')}-{number}.html"
