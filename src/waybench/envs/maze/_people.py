"""What a person who plays sees of a maze."""

from collections.abc import Sequence

from waybench.core import Board, Tile, TurnRecord, TypedAction
from waybench.envs.maze._game import MazeState
from waybench.spaces import DIRECTIONS

_WALL, _PATH = Tile("█", "#3b4252"), Tile("", "#ffffff")
_EXIT, _HERE = Tile("><", "#009e73"), Tile("()", "#e69f00", "@")
_TYPED_ACTIONS = [TypedAction(direction, key=direction, whole=False) for direction in DIRECTIONS]


def board(state: MazeState, turns: Sequence[TurnRecord]) -> Board:
    """Return the maze with its coordinates."""
    maze, size = state.maze, state.maze.size
    signs = {maze.exit: _EXIT, state.at: _HERE}
    rows = [
        [signs.get(cell) or (_PATH if maze.lattice.cells[cell] else _WALL) for cell in range(start, start + size)]
        for start in range(0, size * size, size)
    ]
    x, y = maze.lattice.position(state.at)
    return Board(rows=rows, at=(y, x), numbered=True)


def typed_actions(state: MazeState) -> Sequence[TypedAction]:
    """Return a movement by one cell in each direction; several make a reply."""
    return _TYPED_ACTIONS
