"""A picture of what is said to be seen in each direction: a box for each of the eight, and one for where one is."""

import re
from collections.abc import Iterable, Sequence

from waybench._svg import drawing, path, texts
from waybench.core import Picture

LEGEND = (
    "The picture has what you see: you are the orange dot in the middle, north is up, and each of the boxes around you "
    "lists what is in its direction, with the number of steps to it."
)
SEEN = "seen"  # the field of an observation that lists what is seen
_LINE = re.compile(r"- (.+) (\d+) steps (?:to your ([a-z-]+)|with you)")
_NAMES = (("NW", "N", "NE"), ("W", "", "E"), ("SW", "S", "SE"))
_ROW, _LETTER, _NARROWEST = 18, 7.6, 120  # units: the height of a line, the width of a letter, of a box


def draw_seen(picture: Picture) -> str:
    """Draw the lines of an observation, such as "- tree 3 steps to your north-west"."""
    found = map(_LINE.fullmatch, picture.text(SEEN).splitlines())
    return compass((f"{line[1]}, {line[2]}", line[3] or "") for line in found if line is not None)


def compass(entries: Iterable[tuple[str, str]]) -> str:
    """Return a drawing of things by their directions.

    Args:
        entries: What is written of each, and its direction, such as "north-west"; "" for where one is.
    """
    boxes: dict[tuple[int, int], list[str]] = {(row, column): [] for row in range(3) for column in range(3)}
    for label, direction in entries:
        row = 0 if "north" in direction else 2 if "south" in direction else 1
        column = 0 if "west" in direction else 2 if "east" in direction else 1
        boxes[row, column].append(label)
    longest = max((len(label) for labels in boxes.values() for label in labels), default=0)
    wide = max(_NARROWEST, 20 + _LETTER * longest)
    high = [46 + _ROW * max(len(boxes[row, column]) for column in range(3)) for row in range(3)]
    tops = [0, high[0], high[0] + high[1]]
    width, height = 3 * wide, sum(high)
    lines = [f"M0 {y}h{width:g}" for y in (*tops, height)] + [f"M{wide * column:g} 0v{height}" for column in range(4)]
    corners = (
        (wide * column + wide / 2, tops[row] + 18, name)
        for row, names in enumerate(_NAMES)
        for column, name in enumerate(names)
    )
    x, y = wide * 1.5, tops[1] + 16
    parts = [
        path("seen-box", "#888", 1, lines),
        texts("seen-way", (each for each in corners if each[2]), 12, colour="#888"),
        f'<circle class="seen-you" fill="#d55e00" cx="{x:g}" cy="{y:g}" r="9"/>',
        texts("seen-thing", _placed(boxes, wide, tops), 14),
    ]
    return drawing("seen", width, height, "What is seen in each direction", parts)


def _placed(
    boxes: dict[tuple[int, int], list[str]], wide: float, tops: Sequence[int]
) -> Iterable[tuple[float, float, str]]:
    for (row, column), labels in boxes.items():
        for number, label in enumerate(labels):
            yield wide * column + wide / 2, tops[row] + 42 + _ROW * number, label
