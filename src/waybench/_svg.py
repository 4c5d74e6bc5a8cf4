"""Parts of drawings (SVG), as text.

Colours are presentation attributes, so that a page's style sheet overrides them by class. What is drawn alike is one
path or one group: pages hold many drawings, and replays many of each.
"""

from collections.abc import Iterable
from html import escape

_INK = "#333"
_MARGIN = 1.3  # cells: how wide the margin for the numbers of rows and columns is


def drawing(classes: str, width: float, height: float, label: str, parts: Iterable[str], *, sized: bool = False) -> str:
    """Return an `<svg>` element.

    Args:
        classes: Its classes.
        width: Its width in units of its own.
        height: Its height.
        label: What is seen, for those who cannot see it.
        parts: What is in it; empty ones are left out.
        sized: Whether it has this size in pixels wherever a page does not say otherwise.
    """
    size = f' width="{width:g}" height="{height:g}"' if sized else ""
    return (
        f'<svg class="{classes}"{size} viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(label)}" '
        f'font-family="sans-serif">{"".join(parts)}</svg>'
    )


def path(classes: str, colour: str, width: float, lines: Iterable[str], more: str = "") -> str:
    """Return lines that look alike as one path; "" if there are none.

    Args:
        classes: Its classes.
        colour: The lines' colour.
        width: How wide they are.
        lines: Data of paths, each beginning with a move to somewhere.
        more: Further attributes.
    """
    drawn = "".join(lines)
    look = f'fill="none" stroke="{colour}" stroke-width="{width:g}"' + (f" {more}" if more else "")
    return f'<path class="{classes}" {look} d="{drawn}"/>' if drawn else ""


def text(classes: str, x: float, y: float, said: str, size: float, anchor: str = "start") -> str:
    """Return a line of text.

    Args:
        classes: Its classes.
        x: Where it is, across.
        y: Where it stands.
        said: The text.
        size: The font's size.
        anchor: Which point of it is at x: "start", "middle" or "end".
    """
    return f'<text class="{classes}" {_font(size, anchor)} x="{x:g}" y="{y:g}">{escape(said)}</text>'


def texts(
    classes: str,
    written: Iterable[tuple[float, float, object]],
    size: float,
    anchor: str = "middle",
    *,
    colour: str = _INK,
    more: str = "",
) -> str:
    """Return texts that look alike as one group; "" if there are none.

    Args:
        classes: Its classes.
        written: Of each text x, y and what it says.
        size: The font's size.
        anchor: Which point of each is at its x: "start", "middle" or "end".
        colour: Their colour.
        more: Further attributes.
    """
    drawn = "".join(f'<text x="{x:g}" y="{y:g}">{escape(str(said))}</text>' for x, y, said in written)
    look = _font(size, anchor, colour) + (f" {more}" if more else "")
    return f'<g class="{classes}" {look}>{drawn}</g>' if drawn else ""


def _font(size: float, anchor: str, colour: str = _INK) -> str:
    return f'fill="{colour}" font-size="{round(size, 1):g}" text-anchor="{anchor}"'


def walk(turn: int, moves: int, shapes: str) -> str:
    """Return the shapes of one turn as a group that a replay draws move by move.

    Args:
        turn: Number of the turn, from 1.
        moves: Number of its moves.
        shapes: A line that has `moves` parts of the same length, or a group with a line for each move, and after it
            shapes that belong to its end. With fewer than two moves they are returned as they are.
    """
    return f'<g data-walk="{turn}" data-moves="{moves}">{shapes}</g>' if moves > 1 else shapes


def ruled_board(classes: str, width: int, height: int, label: str, parts: Iterable[str], *, grid: bool) -> str:
    """Return a drawing of a board of cells of size 1.

    Args:
        classes: Its classes.
        width: Number of columns.
        height: Number of rows.
        label: What is seen, for those who cannot see it.
        parts: What is on the board.
        grid: Whether there are lines between the cells, and the numbers of columns and rows, from 0, above and left.
    """
    if not grid:
        return drawing(classes, width, height, label, parts)
    lines = [f"M{x} 0v{height}" for x in range(width + 1)] + [f"M0 {y}h{width}" for y in range(height + 1)]
    columns = ((x + 0.5, -0.3, x) for x in range(width))
    rows = ((-_MARGIN / 2, y + 0.7, y) for y in range(height))
    ruled = [
        *parts,
        path("grid", "#888", 0.04, lines),
        texts("grid-number", [*columns, *rows], 0.55),
    ]
    moved = f'<g transform="translate({_MARGIN:g} {_MARGIN:g})">{"".join(ruled)}</g>'
    return drawing(classes, width + _MARGIN + 0.1, height + _MARGIN + 0.1, label, [moved])
