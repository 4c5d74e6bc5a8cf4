"""Shapes of drawings (SVG), as text.

Colours are presentation attributes, so that a page's style sheet overrides them by class. Shapes that look alike are
one path or one group: pages hold many drawings, and replays many of each.

Every shape has the CSS classes `classes` and further attributes `more`. Its line is `width` wide; a width of 0 fills
the shape with its colour. Paths and groups without content are "".
"""

from collections.abc import Iterable, Iterator
from html import escape
from itertools import groupby
from typing import TypeVar

Point = tuple[float, float]
V = TypeVar("V")
ROUND = 'stroke-linejoin="round" stroke-linecap="round"'
_INK = "#333"
_MARGIN = 1.3  # cells: how wide the margin for the numbers of rows and columns is


def group(classes: str, shapes: Iterable[str], more: str = "") -> str:
    """Return shapes as a group; they inherit the further attributes."""
    content = "".join(shapes)
    return f'<g class="{classes}"{more and " "}{more}>{content}</g>' if content else ""


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


def path(classes: str, colour: str, width: float, lines: Iterable[str], more: str = "") -> str:
    """Return the data of lines, each of which begins with a move to somewhere, as one path."""
    data = "".join(lines)
    return f'<path class="{classes}" {_look(colour, width, more)} d="{data}"/>' if data else ""


def circle(classes: str, colour: str, width: float, middle: Point, radius: float, more: str = "") -> str:
    """Return a ring, or a dot if the width is 0."""
    x, y = map(_number, middle)
    return f'<circle class="{classes}" {_look(colour, width, more)} cx="{x}" cy="{y}" r="{_number(radius)}"/>'


def box(classes: str, colour: str, width: float, corner: Point, size: Point, more: str = "") -> str:
    """Return a rectangle by its upper left corner, and by its width and height."""
    (x, y), (across, down) = map(_number, corner), map(_number, size)
    position = f'x="{x}" y="{y}" width="{across}" height="{down}"'
    return f'<rect class="{classes}" {_look(colour, width, more)} {position}/>'


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
    """Return a line of text; `anchor` ("start", "middle" or "end") is the point of it that is at x."""
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
    """Return lines of text as one group, by x, y and words of each; see `text`."""
    words = (f'<text x="{x:g}" y="{y:g}">{escape(str(label))}</text>' for x, y, label in labels)
    return group(classes, words, _font(size, anchor, colour, more))


def _look(colour: str, width: float, more: str) -> str:
    look = f'fill="none" stroke="{colour}" stroke-width="{width:g}"' if width else f'fill="{colour}"'
    return f"{look}{more and ' '}{more}"


def _font(size: float, anchor: str, colour: str, more: str) -> str:
    return f'fill="{colour}" font-size="{round(size, 1):g}" text-anchor="{anchor}"{more and " "}{more}'


def _number(value: float) -> str:
    return f"{round(value, 2):.12g}"


def point(at: Point) -> str:
    """Return x and y of a point as the data of a path have them."""
    return f"{_number(at[0])} {_number(at[1])}"


def line(points: Iterable[Point]) -> str:
    """Return the data of a line along points, each stay left out; "" if nothing moves."""
    stops = [stop for stop, _ in groupby(map(point, points))]
    return "M" + "L".join(stops) if len(stops) > 1 else ""


def cross(arm: float) -> str:
    """Return the data of a cross around where a path is."""
    half, full = _number(arm), _number(2 * arm)
    return f"m-{half} -{half}l{full} {full}m0 -{full}l-{full} {full}"


def runs(cells: Iterable[V]) -> Iterator[tuple[V, int, int]]:
    """Yield the runs of equal cells in a row: their value, where the run begins, and its length."""
    start = 0
    for value, equal in groupby(cells):
        length = sum(1 for _ in equal)
        yield value, start, length
        start += length


def cells(classes: str, colour: str, rows: Iterable[Iterable[object]], width: float = 1, more: str = "") -> str:
    """Return the cells of a board that are true; a width of more than 1 leaves no seam between shapes."""
    lines = (
        "".join(f"h{length}" if is_in else f"m{length} 0" for is_in, _, length in runs(map(bool, row))) for row in rows
    )
    return path(classes, colour, width, (f"M0 {y}.5{data}" for y, data in enumerate(lines) if "h" in data), more)


def rule_board(size: tuple[int, int], shapes: Iterable[str], *, grid: bool) -> tuple[Point, Iterable[str]]:
    """Return the size of a board of cells of size 1, and its shapes.

    Args:
        size: Numbers of columns and rows.
        shapes: The shapes on the board.
        grid: Whether there are lines between the cells, and the numbers of columns and rows, from 0, above and left.
    """
    width, height = size
    if not grid:
        return size, shapes
    lines = [f"M{x} 0v{height}" for x in range(width + 1)] + [f"M0 {y}h{width}" for y in range(height + 1)]
    columns = ((x + 0.5, -0.3, x) for x in range(width))
    rows = ((-_MARGIN / 2, y + 0.7, y) for y in range(height))
    grid_shapes = path("grid", "#888", 0.04, lines), texts("grid-number", [*columns, *rows], 0.55)
    moved = group("board", [*shapes, *grid_shapes], f'transform="translate({_MARGIN:g} {_MARGIN:g})"')
    return (width + _MARGIN + 0.1, height + _MARGIN + 0.1), [moved]
