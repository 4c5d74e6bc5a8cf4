"""A partly seen maze as a scene, as a picture, and as a board for people."""

from collections.abc import Iterator, Sequence

from waybench._svg import box, circle, true_cells
from waybench.core import Board, Picture, Scene, TurnRecord, TypedAction, plural
from waybench.envs.maze._drawing import MazeLeg, floor_plan, maze_board, maze_label, maze_scene
from waybench.envs.maze._game import Maze, Movement
from waybench.envs.maze._wording import TYPED_DIRECTIONS
from waybench.envs.maze.explore._game import Sight, first_sight, window_rows
from waybench.envs.spaces._lattice import DIRECTIONS, Lattice


def scenes(maze: Maze, turns: Sequence[TurnRecord], counts: Sequence[int]) -> Iterator[Scene]:
    """Yield a scene for each number of turns: the player's and a shortest path, and a veil over unseen cells.

    An episode in which nothing was seen yet has no veil.
    """
    window: int | None = next((turn.events["window"] for turn in turns if "window" in turn.events), None)
    for count in counts:
        legs = list(_turn_legs(maze, turns[:count]))
        label, veil = maze_label(maze), ""
        if window is not None:
            step_count = sum(len(leg.moves) for leg in legs)
            label += f", {plural(step_count, 'step')} walked, what was not seen is grey"
            veil = _veil_svg(maze, turns[:count], window)
        yield maze_scene(maze, legs, label, veil)


def _turn_legs(maze: Maze, turns: Sequence[TurnRecord]) -> Iterator[MazeLeg]:
    """Yield the leg of each turn with a move, also of one that was blocked."""
    at = maze.entrance
    for number, turn in enumerate(turns, start=1):
        action = turn.carried_out
        if action is None:
            continue
        if "obstacle" in turn.events:
            yield MazeLeg(at, (), Movement(str(action), 0), number)
            continue
        yield MazeLeg(at, (Movement(str(action), 1),), None, number)
        x, y = turn.events["at"]
        at = y * maze.size + x


def _veil_svg(maze: Maze, turns: Sequence[TurnRecord], window: int) -> str:
    """Return the shape over all cells that were not seen in these turns."""
    sight, size = first_sight(maze, window), range(maze.size)
    for turn in turns:
        if "at" in turn.events:
            x, y = turn.events["at"]
            sight = sight.after_move(y * maze.size + x)
    rows = ([not sight.knows(y * maze.size + x) for x in size] for y in size)
    return true_cells("maze-unseen", "#3b4252", rows, more='stroke-opacity="0.6"')


def draw_picture(picture: Picture) -> str:
    """Draw the view of a message: paths, walls, the player in the middle, and the exit."""
    sight: Sight = picture.state
    window, signs = sight.window, "".join(window_rows(sight))
    exits = [divmod(cell, window) for cell, sign in enumerate(signs) if sign == "E"]
    parts = [
        *floor_plan(Lattice(window, window, bytes(sign != "#" for sign in signs))),
        *(box("maze-exit", "#009e73", 0.14, (x + 0.2, y + 0.2), (0.6, 0.6)) for y, x in exits),
        circle("maze-player", "#d55e00", 0, (window / 2, window / 2), 0.36),
    ]
    label = f"View of {window} x {window} cells"
    return Scene("maze", label, (window, window), parts).svg()


TYPED_HELP = "Type up, down, left or right (u, d, l, r), or the reply itself."

_TYPED_ACTIONS = [TypedAction(direction, key=direction) for direction in DIRECTIONS]


def board(state: Sight, turns: Sequence[TurnRecord]) -> Board:
    """Return what was seen so far, with its coordinates."""
    return maze_board(state.maze, state.at, state.knows)


def parse_typed(text: str, state: Sight) -> str | None:
    """Return the direction that "d" or "down" stands for; None for any other text."""
    return TYPED_DIRECTIONS.get(text.strip().lower()[:10])


def format_typed(action: str) -> Sequence[str]:
    """Return the direction."""
    return [action]


def typed_actions(state: Sight) -> Sequence[TypedAction]:
    """Return the four directions."""
    return _TYPED_ACTIONS
