"""A partly seen maze as SVG: with the turns of an episode for reports, and what is seen now for models."""

from collections.abc import Iterator, Sequence

from waybench._svg import ruled_board
from waybench.core import Picture, TurnRecord, plural
from waybench.envs.maze._drawing import Leg, draw_board, draw_legs
from waybench.envs.maze._instance import Maze
from waybench.envs.maze.explore._sight import Sight, first_sight
from waybench.envs.maze.explore._wording import window_rows
from waybench.spaces import Lattice


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
