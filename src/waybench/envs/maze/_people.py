"""What a person who plays sees of a maze."""

from collections.abc import Sequence

from waybench.core import Board, Tile, TurnRecord, TypedAction
from waybench.envs.maze._game import MazeState
from waybench.spaces import DIRECTIONS

WALL, PATH = Tile("█", "#3b4252"), Tile("", "#ffffff")
EXIT, HERE = Tile("><", "#009e73"), Tile("()", "#e69f00", "@")
_TYPED_ACTIONS = [TypedAction(direction, key=direction, whole=False) for direction in DIRECTIONS]


def board(state: MazeState, turns: Sequence[TurnRecord]) -> Board:
    """Return the maze with its coordinates."""
    maze, size = state.maze, state.maze.size
    signs = {maze.exit: EXIT, state.at: HERE}
    rows = [
        [signs.get(cell) or (PATH if maze.lattice.cells[cell] else WALL) for cell in range(start, start + size)]
        for start in range(0, size * size, size)
    ]
    x, y = maze.lattice.position(state.at)
    return Board(rows=rows, at=(y, x), numbered=True)


def typed_actions(state: MazeState) -> Sequence[TypedAction]:
    """Return a movement by one cell in each direction; several make a reply."""
    return _TYPED_ACTIONS
