"""A board as text and SVG, and playing line by line."""

import shutil
import sys
from html import escape
from itertools import groupby
from time import monotonic

import click

from waybench.core import Board, Tile
from waybench.people._game import PlayedEpisode

_MARGIN = 5  # characters for the numbers of rows
_UNIT = 20  # of a cell's side in a drawing
_PLAIN, _DIM, _BOLD = "\x1b[0m", "\x1b[2m", "\x1b[1m"
_FULL = "█"


def board_text(board: Board, columns: int, lines: int = 60, largest: int = 1) -> str:
    """Return a board as lines of text with ANSI escape codes.

    Args:
        board: The board. If it is too wide or too high, the part around the player is shown.
        columns: Width of the terminal in characters.
        lines: Most rows of the board.
        largest: How many lines a cell has at most; as many as there is room for.
    """
    rows, margin = board.rows, _MARGIN if board.numbered else 0
    high, wide = len(rows), max(map(len, rows), default=0)
    width = max(columns - margin, 10)
    scale = board.width if board.width * wide <= width else 1
    zoom = max(1, min(largest, width // (scale * max(wide, 1)), (lines - 1) // max(high, 1)))
    scale *= zoom
    across, down = min(wide, width // scale), min(high, lines)
    row_at, column_at = board.at or (0, 0)
    left, top = (
        min(max(at - n // 2, 0), most - n) for at, n, most in ((column_at, across, wide), (row_at, down, high))
    )
    drawn: list[str] = []
    if board.numbered and rows:
        numbers = "".join(
            f"{x % 10:<{scale}}" if zoom == 1 else str(x % 10).center(scale) for x in range(left, left + across)
        )
        drawn.append(f"{' ' * margin}{_DIM}{numbers}{_PLAIN}")
    for y in range(top, top + down):
        number = f"{_DIM}{y:>{margin - 1}} {_PLAIN}" if board.numbered else ""
        for line in range(zoom):
            middle = line == zoom // 2  # the others have the colour alone
            cells = "".join(_cell(tile, scale, blank=not middle) for tile in rows[y][left : left + across])
            drawn.append((number if middle else " " * margin) + cells)
    if across < wide or down < high:
        drawn.append(f"Columns {left} to {left + across - 1} and rows {top} to {top + down - 1} of {wide} x {high}.")
    return "\n".join([*drawn, *([""] if drawn and largest > 1 else []), *board.notes])


def _cell(tile: Tile, width: int, *, blank: bool = False) -> str:
    text = (tile.narrow or tile.text[:1]) if width == 1 else tile.text[:width]
    text = text[:1] * width if text[:1] == _FULL else (" " * width if blank else text.center(width))
    if not tile.colour:
        return text
    red, green, blue = _rgb(tile.colour)
    ink = tile.colour if text == _FULL * width else _ink(tile.colour)
    look = f"\x1b[48;2;{red};{green};{blue}m\x1b[38;2;{';'.join(map(str, _rgb(ink)))}m"
    return f"{look}{_BOLD if text.strip() else ''}{text}{_PLAIN}"


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _ink(colour: str) -> str:
    """Return black or white, whichever is easier to read on a colour."""
    red, green, blue = ((value / 255) ** 2.2 for value in _rgb(colour))
    return "#000000" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 else "#ffffff"


def board_svg(board: Board, label: str) -> str:
    """Return a board's cells as an SVG; "" if it has none.

    Args:
        board: The board; its notes are for the page.
        label: What it is, for those who cannot see it.
    """
    rows = board.rows
    high, wide = len(rows), max(map(len, rows), default=0)
    if not high or not wide:
        return ""
    across = _UNIT * (1.6 if board.width > 2 else 1)
    margin = _UNIT if board.numbered else 0
    parts: list[str] = []
    for y, row in enumerate(rows):
        for colour, run in groupby(enumerate(row), key=lambda each: each[1].colour):
            cells = [x for x, _ in run]
            if colour:
                place = f'x="{margin + cells[0] * across:g}" y="{margin + y * _UNIT}"'
                parts.append(
                    f'<rect {place} width="{len(cells) * across + 0.2:g}" height="{_UNIT}.2" fill="{colour}"/>'
                )
        parts += (
            _text(
                margin + (x + 0.5) * across,
                margin + y * _UNIT + 14.5,
                tile.text,
                _ink(tile.colour) if tile.colour else "",
                across,
            )
            for x, tile in enumerate(row)
            if tile.text.strip() and tile.text != _FULL
        )
    if board.numbered:
        parts += (_text(margin + (x + 0.5) * across, 14, str(x), "", across) for x in range(wide))
        parts += (_text(margin / 2, margin + y * _UNIT + 14.5, str(y), "", _UNIT) for y in range(high))
    size = f"{margin + wide * across:g} {margin + high * _UNIT}"
    return f'<svg class="board" viewBox="0 0 {size}" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'


def _text(x: float, y: float, text: str, ink: str, width: float) -> str:
    # Two characters fit a cell at this size; more are smaller.
    size = min(13.0, round(1.5 * width / max(len(text), 1), 1))
    look = f'fill="{ink}"' if ink else 'fill="currentColor"'
    return f'<text x="{x:g}" y="{y:g}" text-anchor="middle" font-size="{size:g}" {look}>{escape(text)}</text>'


def play_lines(game: PlayedEpisode, *, hints: bool) -> None:
    """Play an episode with lines that a person types, until it ends, the input ends or the person types `quit`."""
    click.secho(game.title, bold=True)
    _show(game)
    help_ = f"{game.help} Type quit to stop."
    click.secho(help_, dim=True)
    while not game.episode.done:
        started = monotonic()
        typed = _ask(game)
        if typed is None or typed.lower() in ("quit", "q"):
            return
        if typed.lower() == "hint":
            click.echo(game.hint() if hints else "Hints are off: start with --hints to turn them on.")
        elif typed:
            if game.take(typed, monotonic() - started):
                _show(game)
            else:
                click.echo(f"Not understood (it does not count as a reply). {help_}")


def show_result(game: PlayedEpisode) -> None:
    """Print how an episode ended, and a shortest solution where one is known."""
    end, *values = game.result()
    click.secho(end, bold=True)
    for line in [*values, *([solution] if (solution := game.solution()) else [])]:
        click.echo(line)


def _show(game: PlayedEpisode) -> None:
    click.echo(f"\n{game.message}\n")
    # Last, for it should still be in sight while the next reply is typed, and messages are long.
    if sys.stdout.isatty() and (board := game.board) is not None:
        size = shutil.get_terminal_size()
        click.echo(board_text(board, size.columns, max(size.lines - 5, 10)) + "\n")


def _ask(game: PlayedEpisode) -> str | None:
    """Return what the person types, several lines if a brace is left open; None at the end of the input."""
    click.secho(game.status, dim=True)
    text, prompt = "", "> "
    while True:
        try:
            line = input(prompt)
        except EOFError:
            click.echo()
            return None
        if not sys.stdin.isatty():
            click.echo(line)  # a terminal shows what is typed; a transcript should too
        text = f"{text}\n{line}" if text else line
        if not line.strip() or text.count("{") <= text.count("}"):
            return text.strip()
        prompt = ". "
