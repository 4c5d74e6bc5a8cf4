"""What a person who plays sees of a partly seen maze, and can type."""

from collections.abc import Sequence

from waybench.core import Board, Tile, TurnRecord, TypedAction
from waybench.envs.maze._people import EXIT, HERE, PATH, WALL
from waybench.envs.maze._typed import TYPED_DIRECTIONS
from waybench.envs.maze.explore._sight import Sight
from waybench.spaces import DIRECTIONS

TYPED_HELP = "Type up, down, left or right (u, d, l, r), or the reply itself."

_UNSEEN = Tile("░", "#9aa3b2")
_TYPED_ACTIONS = [TypedAction(direction, key=direction) for direction in DIRECTIONS]


def board(state: Sight, turns: Sequence[TurnRecord]) -> Board:
    """Return what was seen so far, with its coordinates."""
    maze, size = state.maze, state.maze.size

    def tile(cell: int) -> Tile:
        if cell == state.at:
            return HERE
        if not state.knows(cell):
            return _UNSEEN
        return EXIT if cell == maze.exit else PATH if maze.lattice.cells[cell] else WALL

    x, y = maze.lattice.position(state.at)
    rows = [[tile(cell) for cell in range(start, start + size)] for start in range(0, size * size, size)]
    return Board(rows=rows, at=(y, x), numbered=True)


def parse_typed(text: str, state: Sight) -> str | None:
    """Return the direction that "d" or "down" stands for; None for any other text."""
    return TYPED_DIRECTIONS.get(text.strip().lower()[:10])


def format_typed(action: str) -> Sequence[str]:
    """Return the direction."""
    return [action]


def typed_actions(state: Sight) -> Sequence[TypedAction]:
    """Return the four directions."""
    return _TYPED_ACTIONS
