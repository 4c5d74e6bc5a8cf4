"""A partly seen maze as a drawing (SVG) and as a board for people."""

from collections.abc import Iterator, Sequence

from waybench._svg import ruled_board
from waybench.core import Board, Picture, Tile, TurnRecord, TypedAction, plural
from waybench.envs.maze._drawing import EXIT, HERE, PATH, WALL, Leg, draw_board, draw_legs
from waybench.envs.maze._game import Maze
from waybench.envs.maze._wording import TYPED_DIRECTIONS
from waybench.envs.maze.explore._game import Sight, first_sight, window_rows
from waybench.envs.spaces import DIRECTIONS, Lattice


def draw(maze: Maze, turns: Sequence[TurnRecord] = (), *, board_id: str = "", reuse: bool = False) -> str:
    """Draw a maze with a shortest path, the path that turns took, and what was not seen below a veil.

    Args:
        maze: The maze.
        turns: Turns of an episode that a simulation has confirmed. Without any there is no veil.
        board_id: An id in the page for the drawing of the walls.
        reuse: Whether the page holds a drawing with this id already, whose walls are shown again.

    Returns:
        An `<svg>` element. Classes: those of a maze that is seen as a whole, and maze-unseen.
    """
    return _drawn(maze, turns, _window(turns), board_id=board_id, reuse=reuse)


def draw_frames(maze: Maze, turns: Sequence[TurnRecord], counts: Sequence[int]) -> Iterator[str]:
    """Draw the frames of a replay, with the veil from the start on."""
    window = _window(turns)
    return (_drawn(maze, turns[:count], window) for count in counts)


def _drawn(
    maze: Maze, turns: Sequence[TurnRecord], window: int | None, *, board_id: str = "", reuse: bool = False
) -> str:
    legs = list(_legs(maze, turns))
    label = f"Maze of dimension {maze.size}"
    veil = ""
    if window is not None:
        moved = sum(len(leg.moves) for leg in legs)
        label += f", {plural(moved, 'step')} walked, what was not seen is grey"
        veil = _veil(_seen(maze, turns, window))
    return draw_legs(maze, legs, label, board_id=board_id, reuse=reuse, veil=veil)


def _window(turns: Sequence[TurnRecord]) -> int | None:
    return next((turn.events["window"] for turn in turns if "window" in turn.events), None)


def _seen(maze: Maze, turns: Sequence[TurnRecord], window: int) -> Sight:
    sight = first_sight(maze, window)
    for turn in turns:
        if "at" in turn.events:
            x, y = turn.events["at"]
            sight = sight.moved(y * maze.size + x)
    return sight


def _legs(maze: Maze, turns: Sequence[TurnRecord]) -> Iterator[Leg]:
    at = maze.entrance
    for number, turn in enumerate(turns, start=1):
        action = turn.carried_out
        if action is None:
            continue
        if "obstacle" in turn.events:
            yield Leg(at, (), (str(action), 0), number)
            continue
        yield Leg(at, ((str(action), 1),), None, number)
        x, y = turn.events["at"]
        at = y * maze.size + x


def _veil(sight: Sight) -> str:
    size = sight.maze.size
    parts: list[str] = []
    for y in range(size):
        x = 0
        while x < size:
            start = x
            while x < size and not sight.knows(y * size + x):
                x += 1
            if x > start:
                parts.append(f"M{start} {y}h{x - start}v1h-{x - start}z")
            x += 1
    return f'<path class="maze-unseen" fill="#3b4252" fill-opacity="0.6" d="{"".join(parts)}"/>' if parts else ""


_EXIT = '<path class="maze-exit" fill="none" stroke="#009e73" stroke-width="0.14" d="M{x}.2 {y}.2h0.6v0.6h-0.6z"/>'


def draw_picture(picture: Picture) -> str:
    """Draw what the view of a message says: the paths, what is none, the player in the middle, and the exit."""
    sight: Sight = picture.state
    rows, window = window_rows(sight), sight.window
    lattice = Lattice(window, window, bytes(sign != "#" for row in rows for sign in row))
    middle = window // 2
    parts = [
        draw_board(Maze(lattice, 0, 0)),
        *(_EXIT.format(x=x, y=y) for y, row in enumerate(rows) for x, sign in enumerate(row) if sign == "E"),
        f'<circle class="maze-player" fill="#d55e00" cx="{middle}.5" cy="{middle}.5" r="0.36"/>',
    ]
    return ruled_board("maze", window, window, f"View of {window} x {window} cells", parts, grid=False)


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
