"""A maze as a drawing (SVG) with the turns of an episode, and as a board for people."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import NamedTuple

from waybench._svg import ruled_board, walk
from waybench.core import Board, Json, Picture, Tile, TurnRecord, TypedAction, plural
from waybench.envs.maze._game import Maze, MazeState
from waybench.envs.spaces import DIRECTIONS

LARGE = 41

# One cell is one unit. Colours are presentation attributes, so that a page's style sheet overrides them by class.
_STEPS = {"up": "v-", "down": "v", "left": "h-", "right": "h"}


class Leg(NamedTuple):
    """The effect of one turn.

    Attributes:
        start: The cell where the player stood.
        moves: (direction, cells) carried out.
        blocked: (direction, cells) from where the moves end to the last cell before an obstacle; None if there was
            no illegal movement.
        turn: Number of the turn, from 1.
    """

    start: int
    moves: tuple[tuple[str, int], ...]
    blocked: tuple[str, int] | None
    turn: int = 0


def draw(maze: Maze, turns: Sequence[TurnRecord] = (), *, board_id: str = "", reuse: bool = False) -> str:
    """Draw a maze with a shortest path and the path that turns took.

    All that reaches the drawing are numbers, the given id and words of ours.

    Args:
        maze: The maze.
        turns: Turns of an episode that a simulation has confirmed.
        board_id: An id in the page for the drawing of the walls, which are most of the bytes.
        reuse: Whether the page holds a drawing with this id already, whose walls are shown again.

    Returns:
        An `<svg>` element. Classes: maze, maze-large (beyond dimension 41), maze-wall, maze-floor, maze-shortest
        maze-again, maze-trail, maze-stop, maze-hit, maze-start, maze-exit.
    """
    legs = list(trail(maze, turns))
    label = f"Maze of dimension {maze.size}"
    if legs:
        moved = sum(cells for leg in legs for _, cells in leg.moves)
        label += f", {plural(moved, 'step')} walked in {plural(len(turns), 'request')}"
    return draw_legs(maze, legs, label, board_id=board_id, reuse=reuse)


def draw_legs(
    maze: Maze, legs: Sequence[Leg], label: str, *, board_id: str = "", reuse: bool = False, veil: str = ""
) -> str:
    """Draw a maze with what turns did.

    Args:
        maze: The maze.
        legs: What the turns did.
        label: What is seen, for those who cannot see it.
        board_id: As for `draw`.
        reuse: As for `draw`.
        veil: What lies over the board, below the paths.
    """
    size = maze.size
    if reuse:
        board = f'<use href="#{board_id}"/>'
    else:
        identity = f' id="{board_id}"' if board_id else ""
        board = f"<g{identity}>{draw_board(maze)}</g>"
    classes = "maze maze-large" if size > LARGE else "maze"
    return (
        f'<svg class="{classes}" viewBox="0 0 {size} {size}" role="img" aria-label="{label}">'
        f"{board}{veil}{_shortest(maze)}{_repeated_cells(maze, legs)}{''.join(_leg(maze, leg) for leg in legs)}"
        f"{_ends(maze)}</svg>"
    )


def draw_picture(picture: Picture) -> str:
    """Draw what the matrix of a request says: the paths, the walls, and where the player is."""
    state: MazeState = picture.state
    maze, size = state.maze, state.maze.size
    x, y = maze.lattice.position(state.at)
    player = f'<circle class="maze-player" fill="#d55e00" cx="{x}.5" cy="{y}.5" r="0.36"/>'
    label = f"Maze of dimension {size}"
    return ruled_board("maze", size, size, label, [draw_board(maze), player], grid=picture.grid)


def trail(maze: Maze, turns: Iterable[TurnRecord]) -> Iterator[Leg]:
    """Yield what each turn that moved or tried to move did on the board."""
    at = maze.entrance
    for number, turn in enumerate(turns, start=1):
        action = turn.carried_out
        if action is None:
            continue
        illegal: dict[str, Json] | None = turn.events.get("illegal")
        moves = tuple(_carried_out(action, turn.events["moved"]))
        start, at = at, _after(maze, at, moves)
        blocked = None
        if illegal:
            direction = str(illegal["direction"])
            blocked = (direction, maze.lattice.free(at, direction))
        yield Leg(start, moves, blocked, number)


def _carried_out(action: Sequence[tuple[str, int]], moved: int) -> Iterator[tuple[str, int]]:
    for direction, cells in action:
        walked = min(cells, moved)
        if not walked:
            return
        yield direction, walked
        moved -= walked


def _after(maze: Maze, cell: int, moves: Iterable[tuple[str, int]]) -> int:
    for direction, cells in moves:
        dx, dy = DIRECTIONS[direction]
        cell += cells * (dx + dy * maze.size)
    return cell


def _middle(maze: Maze, cell: int) -> tuple[str, str]:
    x, y = maze.lattice.position(cell)
    return f"{x}.5", f"{y}.5"


def draw_board(maze: Maze) -> str:
    """Draw walls and paths."""
    size = maze.size
    return (
        f'<path class="maze-wall" fill="#3b4252" d="M0 0h{size}v{size}h-{size}z"/>'
        f'<path class="maze-floor" fill="none" stroke="#fff" stroke-width="1" d="{_floor(maze)}"/>'
    )


def _floor(maze: Maze) -> str:
    """Return the open cells as lines of width 1: runs along rows, and along columns where no row has them."""
    size, cells = maze.size, maze.lattice.cells
    parts: list[str] = []
    covered = bytearray(len(cells))
    for y in range(size):
        for x, length in _runs(cells[y * size : (y + 1) * size]):
            if length > 1:
                parts.append(f"M{x} {y}.5h{length}")
                covered[y * size + x : y * size + x + length] = b"\1" * length
    for x in range(size):
        column = cells[x::size]
        for y, length in _runs(column):
            if not all(covered[x + y * size : x + (y + length) * size : size]):
                parts.append(f"M{x}.5 {y}v{length}")
    return "".join(parts)


def _runs(cells: bytes) -> Iterator[tuple[int, int]]:
    start = cells.find(1)
    while start >= 0:
        end = cells.find(0, start)
        end = len(cells) if end < 0 else end
        yield start, end - start
        start = cells.find(1, end)


def _line(maze: Maze, start: int, moves: Iterable[tuple[str, int]]) -> str:
    x, y = _middle(maze, start)
    return f"M{x} {y}" + "".join(f"{_STEPS[direction]}{cells}" for direction, cells in moves)


def _shortest(maze: Maze) -> str:
    path = maze.lattice.shortest_path(maze.entrance, maze.exit) or ()
    moves: list[tuple[str, int]] = []
    for direction in path:
        same = bool(moves) and moves[-1][0] == direction
        moves[-1:] = [(direction, moves[-1][1] + 1)] if same else [*moves[-1:], (direction, 1)]
    return (
        f'<path class="maze-shortest reference" fill="none" stroke="#e69f00" stroke-width="{_wide(maze, 0.5)}" '
        f'stroke-dasharray="{_wide(maze, 1.2)} {_wide(maze, 1)}" d="{_line(maze, maze.entrance, moves)}"/>'
    )


def _repeated_cells(maze: Maze, legs: Iterable[Leg]) -> str:
    """Return a pale, wide line below the trail where it goes more than once, which the trail alone does not show."""
    walked: Counter[tuple[int, int]] = Counter()
    for leg in legs:
        cell = leg.start
        for move in leg.moves:
            end = _after(maze, cell, [move])
            step = abs(end - cell) // move[1]
            walked.update((position, step) for position in range(min(cell, end), max(cell, end), step))
            cell = end
    twice = {edge for edge, times in walked.items() if times > 1}
    parts: list[str] = []
    for cell, step in sorted(twice):
        if (cell - step, step) not in twice:
            length = next(n for n in count(1) if (cell + n * step, step) not in twice)
            x, y = _middle(maze, cell)
            parts.append(f"M{x} {y}{'h' if step == 1 else 'v'}{length}")
    if not parts:
        return ""
    return (
        f'<path class="maze-again" fill="none" stroke="#0072b2" stroke-opacity="0.3" stroke-linecap="round" '
        f'stroke-width="{_wide(maze, 2.6)}" d="{"".join(parts)}"/>'
    )


def _leg(maze: Maze, leg: Leg) -> str:
    end = _after(maze, leg.start, leg.moves)
    out = ""
    if leg.moves:
        out = (
            f'<path class="maze-trail" fill="none" stroke="#0072b2" stroke-width="{_wide(maze)}" '
            f'stroke-linejoin="round" stroke-linecap="round" d="{_line(maze, leg.start, leg.moves)}"/>'
        )
    if leg.blocked is None:
        x, y = _middle(maze, end)
        out += f'<circle class="maze-stop" fill="#0072b2" cx="{x}" cy="{y}" r="{_wide(maze)}"/>'
    else:
        out += _hit(maze, end, *leg.blocked)
    return walk(leg.turn, sum(cells for _, cells in leg.moves), out)


def _hit(maze: Maze, start: int, direction: str, cells: int) -> str:
    dx, dy = DIRECTIONS[direction]
    x, y = maze.lattice.position(_after(maze, start, [(direction, cells)]))
    arm, thick = _wide(maze, 1.2), _wide(maze, 0.5)
    # The cross sits where the obstacle begins; at the maze's own edge it stays inside.
    middle_x, middle_y = x + 0.5 + 0.4 * dx, y + 0.5 + 0.4 * dy
    cross = f"m-{arm}-{arm}l{2 * arm:g} {2 * arm:g}m0-{2 * arm:g}l-{2 * arm:g} {2 * arm:g}"
    style = f'fill="none" stroke="#d55e00" stroke-width="{thick}" stroke-linecap="round"'
    return (
        f'<path class="maze-hit" {style} stroke-dasharray="0 {2 * thick:g}" '
        f'd="{_line(maze, start, [(direction, cells)] if cells else [])}L{middle_x:g} {middle_y:g}"/>'
        f'<path class="maze-hit" {style} d="M{middle_x:g} {middle_y:g}{cross}"/>'
    )


def _wide(maze: Maze, times: float = 1.0) -> float:
    """Return a width in cells, growing with the maze so that a line stays visible where cells are small."""
    return round(times * min(0.6, 0.1 + 0.014 * maze.size), 2)


def _ends(maze: Maze) -> str:
    x, y = _middle(maze, maze.entrance)
    exit_x, exit_y = _middle(maze, maze.exit)
    radius, thick = max(0.34, round(0.014 * maze.size, 2)), _wide(maze, 0.6)
    return (
        f'<circle class="maze-start" fill="none" stroke="#009e73" stroke-width="{thick}" cx="{x}" cy="{y}" '
        f'r="{radius}"/><path class="maze-exit" fill="none" stroke="#009e73" stroke-width="{thick}" '
        f'd="M{exit_x} {exit_y}m-{radius}-{radius}h{2 * radius:g}v{2 * radius:g}h-{2 * radius:g}z"/>'
    )


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
