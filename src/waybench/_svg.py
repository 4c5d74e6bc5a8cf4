"""Shapes of drawings (SVG), as text.

Colours are presentation attributes, so that a page's style sheet overrides them by class. What is drawn alike is one
path or one group: pages hold many drawings, and replays many of each.
"""

from collections.abc import Iterable, Iterator
from html import escape
from itertools import groupby
from typing import TypeVar

_INK = "#333"
_MARGIN = 1.3  # cells: how wide the margin for the numbers of rows and columns is
ROUND = 'stroke-linejoin="round" stroke-linecap="round"'
V = TypeVar("V")
Point = tuple[float, float]


def group(classes: str, parts: Iterable[str], more: str = "") -> str:
    """Return shapes as a group; "" if there are none.

    Args:
        classes: Its classes.
        parts: The shapes.
        more: Further attributes, which the shapes inherit.
    """
    shapes = "".join(parts)
    return f'<g class="{classes}"{more and " "}{more}>{shapes}</g>' if shapes else ""


def path(classes: str, colour: str, width: float, lines: Iterable[str], more: str = "") -> str:
    """Return lines that look alike as one path; "" if there are none.

    Args:
        classes: Its classes.
        colour: The lines' colour.
        width: Their width; 0 for areas of this colour.
        lines: Data of paths, each beginning with a move to somewhere.
        more: Further attributes.
    """
    data = "".join(lines)
    return f'<path class="{classes}" {_look(colour, width, more)} d="{data}"/>' if data else ""


def circle(classes: str, colour: str, width: float, middle: Point, radius: float, more: str = "") -> str:
    """Return a ring, or a dot if the width of its line is 0; see `path`."""
    x, y = map(_number, middle)
    return f'<circle class="{classes}" {_look(colour, width, more)} cx="{x}" cy="{y}" r="{_number(radius)}"/>'


def box(classes: str, colour: str, width: float, corner: Point, size: Point, more: str = "") -> str:
    """Return a rectangle, filled if the width of its line is 0; see `path`.

    Args:
        classes: Its classes.
        colour: Its colour.
        width: Width of its line.
        corner: x and y of its upper left corner.
        size: Its width and height.
        more: Further attributes.
    """
    (x, y), (across, down) = map(_number, corner), map(_number, size)
    place = f'x="{x}" y="{y}" width="{across}" height="{down}"'
    return f'<rect class="{classes}" {_look(colour, width, more)} {place}/>'


def _look(colour: str, width: float, more: str) -> str:
    look = f'fill="none" stroke="{colour}" stroke-width="{width:g}"' if width else f'fill="{colour}"'
    return f"{look}{more and ' '}{more}"


def _number(value: float) -> str:
    return f"{round(value, 2):.12g}"


def point(at: Point) -> str:
    """Return x and y of a point as a path has them."""
    return f"{_number(at[0])} {_number(at[1])}"


def line(points: Iterable[Point]) -> str:
    """Return the data of a path along points, those left out that are as the one before; "" if it has no length."""
    places = [place for place, _ in groupby(map(point, points))]
    return "M" + "L".join(places) if len(places) > 1 else ""


def cross(arm: float) -> str:
    """Return the data of a cross around where a path is."""
    half, whole = _number(arm), _number(2 * arm)
    return f"m-{half} -{half}l{whole} {whole}m0 -{whole}l-{whole} {whole}"


def square(corner: Point, side: float) -> str:
    """Return the data of a square."""
    length = _number(side)
    return f"M{point(corner)}h{length}v{length}h-{length}z"


def runs(cells: Iterable[V]) -> Iterator[tuple[V, int, int]]:
    """Yield the runs of equal cells in a row: what they are, where the run begins, and its length."""
    start = 0
    for value, equal in groupby(cells):
        length = sum(1 for _ in equal)
        yield value, start, length
        start += length


def cells(classes: str, colour: str, rows: Iterable[Iterable[object]], width: float = 1, more: str = "") -> str:
    """Return those cells of a board that are true, as lines along its rows; "" if there are none.

    Args:
        classes: Their classes.
        colour: Their colour.
        rows: The board.
        width: Width of the lines; more than 1 leaves no seam between rows that are drawn apart.
        more: Further attributes.
    """
    lines = (
        f"M{start} {y}.5h{length}"
        for y, row in enumerate(rows)
        for value, start, length in runs(map(bool, row))
        if value
    )
    return path(classes, colour, width, lines, more)


def text(
    classes: str,
    x: float,
    y: float,
    words: str,
    size: float,
    anchor: str = "start",
    *,
    colour: str = _INK,
    more: str = "",
) -> str:
    """Return a line of text.

    Args:
        classes: Its classes.
        x: Where it is, across.
        y: Where it stands.
        words: The text.
        size: The font's size.
        anchor: Which point of it is at x: "start", "middle" or "end".
        colour: Its colour.
        more: Further attributes.
    """
    look = _font(size, anchor, colour, more)
    return f'<text class="{classes}" {look} x="{x:g}" y="{y:g}">{escape(words)}</text>'


def texts(
    classes: str,
    labels: Iterable[tuple[float, float, object]],
    size: float,
    anchor: str = "middle",
    *,
    colour: str = _INK,
    more: str = "",
) -> str:
    """Return texts that look alike as one group; "" if there are none.

    Args:
        classes: Its classes.
        labels: Of each text x, y and what it says.
        size: The font's size.
        anchor: Which point of each is at its x: "start", "middle" or "end".
        colour: Their colour.
        more: Further attributes.
    """
    words = (f'<text x="{x:g}" y="{y:g}">{escape(str(label))}</text>' for x, y, label in labels)
    return group(classes, words, _font(size, anchor, colour, more))


def _font(size: float, anchor: str, colour: str = _INK, more: str = "") -> str:
    return f'fill="{colour}" font-size="{round(size, 1):g}" text-anchor="{anchor}"{more and " "}{more}'


def title(words: str, *shapes: str) -> str:
    """Return shapes with a text that a page shows over them."""
    return f"<g><title>{escape(words)}</title>{''.join(shapes)}</g>"


def walk(turn: int, moves: int, shapes: str) -> str:
    """Return the shapes of one turn as a group that a replay draws move by move.

    Args:
        turn: Number of the turn, from 1.
        moves: Number of its moves.
        shapes: A line that has `moves` parts of the same length, or a group with a line for each move, and after it
            shapes that belong to its end. With fewer than two moves they are returned as they are.
    """
    return f'<g data-walk="{turn}" data-moves="{moves}">{shapes}</g>' if moves > 1 else shapes


def ruled(width: int, height: int, parts: Iterable[str], *, grid: bool) -> tuple[float, float, Iterable[str]]:
    """Return the size and the shapes of a board of cells of size 1.

    Args:
        width: Number of columns.
        height: Number of rows.
        parts: The shapes on the board.
        grid: Whether there are lines between the cells, and the numbers of columns and rows, from 0, above and left.
    """
    if not grid:
        return width, height, parts
    lines = [f"M{x} 0v{height}" for x in range(width + 1)] + [f"M0 {y}h{width}" for y in range(height + 1)]
    columns = ((x + 0.5, -0.3, x) for x in range(width))
    rows = ((-_MARGIN / 2, y + 0.7, y) for y in range(height))
    shapes = [*parts, path("grid", "#888", 0.04, lines), texts("grid-number", [*columns, *rows], 0.55)]
    return (
        width + _MARGIN + 0.1,
        height + _MARGIN + 0.1,
        [group("", shapes, f'transform="translate({_MARGIN:g} {_MARGIN:g})"')],
    )
