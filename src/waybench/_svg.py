"""Shapes of drawings (SVG), as text.

Colours are presentation attributes, so that a page's style sheet overrides them by class. Shapes that look alike are
one path or one group: pages hold many drawings, and replays many of each.

Parameters of shapes: `classes` are CSS classes, `more` are further attributes as text, and `width` is that of the line;
a width of 0 fills the shape with its colour. Paths and groups without content are "".
"""

from collections.abc import Iterable, Iterator
from html import escape
from itertools import groupby
from typing import TypeVar

Point = tuple[float, float]
V = TypeVar("V")
ROUND = 'stroke-linejoin="round" stroke-linecap="round"'
_INK = "#333"
_MARGIN = 1.3  # cells, for the numbers of rows and columns


def group(classes: str, shapes: Iterable[str], more: str = "") -> str:
    """Return shapes as a `<g>` element; "" without shapes."""
    content = "".join(shapes)
    return f'<g class="{classes}"{more and " "}{more}>{content}</g>' if content else ""


def with_tooltip(words: str, *shapes: str) -> str:
    """Return shapes as a group with a text that a page shows when the pointer is over them."""
    return f"<g><title>{escape(words)}</title>{''.join(shapes)}</g>"


def walk_group(turn: int, moves: int, shapes: str) -> str:
    """Return the shapes of one turn as a group that a replay draws move by move; unchanged with fewer than two moves.

    `shapes` are a line with `moves` parts of the same length, or a group with a line for each move, and then shapes
    that are drawn at the end of the turn. `turn` counts from 1.
    """
    return f'<g data-walk="{turn}" data-moves="{moves}">{shapes}</g>' if moves > 1 else shapes


def path(classes: str, colour: str, width: float, lines: Iterable[str], more: str = "") -> str:
    """Return lines as one `<path>` element; each line is the data of a path that begins with a move."""
    data = "".join(lines)
    return f'<path class="{classes}" {_stroke_attributes(colour, width, more)} d="{data}"/>' if data else ""


def circle(classes: str, colour: str, width: float, middle: Point, radius: float, more: str = "") -> str:
    """Return a `<circle>` element: a ring, or a dot if the width is 0."""
    x, y = map(_number_text, middle)
    position = f'cx="{x}" cy="{y}" r="{_number_text(radius)}"'
    return f'<circle class="{classes}" {_stroke_attributes(colour, width, more)} {position}/>'


def box(classes: str, colour: str, width: float, corner: Point, size: Point, more: str = "") -> str:
    """Return a `<rect>` element by its upper left corner, and its width and height."""
    (x, y), (across, down) = map(_number_text, corner), map(_number_text, size)
    position = f'x="{x}" y="{y}" width="{across}" height="{down}"'
    return f'<rect class="{classes}" {_stroke_attributes(colour, width, more)} {position}/>'


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
    """Return a `<text>` element; `anchor` ("start", "middle" or "end") is the point of the text that is at x."""
    look = _font_attributes(size, anchor, colour, more)
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
    """Return labels (x, y, words) as one group of `<text>` elements; see `text`."""
    words = (f'<text x="{x:g}" y="{y:g}">{escape(str(label))}</text>' for x, y, label in labels)
    return group(classes, words, _font_attributes(size, anchor, colour, more))


def _stroke_attributes(colour: str, width: float, more: str) -> str:
    """Return the attributes of a line of this width, or of a filled shape if the width is 0."""
    look = f'fill="none" stroke="{colour}" stroke-width="{width:g}"' if width else f'fill="{colour}"'
    return f"{look}{more and ' '}{more}"


def _font_attributes(size: float, anchor: str, colour: str, more: str) -> str:
    """Return the attributes of an SVG text element, with those in `more` at the end."""
    return f'fill="{colour}" font-size="{round(size, 1):g}" text-anchor="{anchor}"{more and " "}{more}'


def _number_text(value: float) -> str:
    """Return a number rounded to two decimals as text."""
    return f"{round(value, 2):.12g}"


def point(at: Point) -> str:
    """Return x and y of a point as text for the data of a path."""
    return f"{_number_text(at[0])} {_number_text(at[1])}"


def line(points: Iterable[Point]) -> str:
    """Return the data of a path along points, without repeated points; "" if nothing moves."""
    coordinates = [text for text, _ in groupby(map(point, points))]
    return "M" + "L".join(coordinates) if len(coordinates) > 1 else ""


def cross(arm: float) -> str:
    """Return the data of a path that draws a cross at its present position."""
    half_size, size = _number_text(arm), _number_text(2 * arm)
    return f"m-{half_size} -{half_size}l{size} {size}m0 -{size}l-{size} {size}"


def runs_of_equal_cells(cells: Iterable[V]) -> Iterator[tuple[V, int, int]]:
    """Yield the runs of equal cells in a row as (value, first index, length)."""
    start = 0
    for value, equal_cells in groupby(cells):
        length = sum(1 for _ in equal_cells)
        yield value, start, length
        start += length


def true_cells(classes: str, colour: str, rows: Iterable[Iterable[object]], width: float = 1, more: str = "") -> str:
    """Return a `<path>` element of the cells of a board that are true, as a horizontal line for each run of cells."""
    lines: list[str] = []
    for y, row in enumerate(rows):
        runs = runs_of_equal_cells(map(bool, row))
        data = "".join(f"h{length}" if is_true else f"m{length} 0" for is_true, _, length in runs)
        if "h" in data:
            lines.append(f"M0 {y}.5{data}")
    return path(classes, colour, width, lines, more)


def board_with_grid(size: tuple[int, int], shapes: Iterable[str], *, grid: bool) -> tuple[Point, Iterable[str]]:
    """Return the size of a board of cells of size 1, and its shapes with grid lines.

    `size` is (number of columns, number of rows). With `grid` there are lines between the cells, and columns and rows
    are numbered from 0 above and on the left; otherwise size and shapes are returned unchanged.
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
