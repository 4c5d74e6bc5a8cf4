"""The board and the actions that a program shows to a person who plays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Tile(NamedTuple):
    """A cell of a board.

    Attributes:
        text: A few characters in it.
        colour: Its colour as "#rrggbb"; "" for that of the page.
        narrow: Its text where a cell has room for one character; by default the first of `text`.
    """

    text: str = ""
    colour: str = ""
    narrow: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A state as a person sees it, in a terminal or in a browser.

    It shows no solution and nothing that is hidden from the player. It can be more exact than the messages: a position
    where they give a distance and a direction.

    Attributes:
        rows: The cells, row by row.
        at: (row, column) of the player. A window that is too small for the board shows the part around it.
        numbered: Whether rows and columns have numbers, from 0.
        width: Characters of a cell in a terminal.
        notes: Lines below the board.
    """

    rows: Sequence[Sequence[Tile]] = ()
    at: tuple[int, int] | None = None
    numbered: bool = False
    width: int = 2
    notes: Sequence[str] = ()


def board_text(board: Board) -> str:
    """Return a board as text without colours: one character a cell, or its width where cells hold words."""
    width = board.width if board.width > 2 else 1
    rows = ("".join(padded_cell_text(tile, width) for tile in row).rstrip() for row in board.rows)
    return "\n".join([*rows, *board.notes])


def padded_cell_text(tile: Tile, width: int) -> str:
    """Return a cell's text, cut or padded to `width` characters."""
    text = (tile.narrow or tile.text[:1]) if width == 1 else tile.text
    return text[:width].ljust(width)


class TypedAction(NamedTuple):
    """An action that a person can choose from a list or by a key.

    Attributes:
        typed: What is typed for it, which `Typing.parse` or the wording reads.
        label: What it is called; "" if `typed` says it.
        key: The key for it: "up", "down", "left", "right", "space" or one character; "" for none.
        is_reply: Whether it is a reply. Otherwise it is a part of one, and several parts, with commas between them, are
            sent together.
    """

    typed: str
    label: str = ""
    key: str = ""
    is_reply: bool = True

    @property
    def name(self) -> str:
        """The label, or the text that is typed if there is no label."""
        return self.label or self.typed
