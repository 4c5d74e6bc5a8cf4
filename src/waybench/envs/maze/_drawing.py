"""A maze as a scene with the turns of an episode, as a picture, and as a board for people."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from waybench._svg import (
    ROUND,
    Point,
    board_with_grid,
    box,
    circle,
    cross,
    path,
    point,
    runs_of_equal_cells,
    true_cells,
    walk_group,
)
from waybench.core import Board, Json, Picture, Scene, Tile, TurnRecord, TypedAction, plural
from waybench.envs.maze._game import Maze, MazeState, Movement
from waybench.envs.spaces._lattice import DIRECTIONS, Lattice

LARGE = 41  # dimension above which a drawing takes two columns of the page
_TRAIL, _OPENINGS, _HIT = "#0072b2", "#009e73", "#d55e00"


class MazeLeg(NamedTuple):
    """The effect of one turn.

    Attributes:
        start: The cell where the player stood.
        moves: The movements that were carried out.
        to_obstacle: The direction of an illegal movement and the free cells in this direction, up to the obstacle that
            the drawing marks; None if there was no illegal movement. Nothing of an illegal movement is carried out.
        turn: Number of the turn, from 1.
    """

    start: int
    moves: tuple[Movement, ...]
    to_obstacle: Movement | None
    turn: int = 0


def scene(maze: Maze, turns: Sequence[TurnRecord]) -> Scene:
    """Return a maze with a shortest path and the path that turns took."""
    legs = list(turn_legs(maze, turns))
    label = maze_label(maze)
    if legs:
        step_count = sum(length for leg in legs for _, length in leg.moves)
        label += f", {plural(step_count, 'step')} walked in {plural(len(turns), 'request')}"
    return maze_scene(maze, legs, label)


def maze_label(maze: Maze) -> str:
    """Return the label of a maze's drawing: "Maze of dimension 9", "Maze of 9 x 6 cells"."""
    width, height = maze.lattice.width, maze.lattice.height
    return f"Maze of dimension {width}" if width == height else f"Maze of {width} x {height} cells"


def maze_scene(maze: Maze, legs: Sequence[MazeLeg], label: str, veil: str = "") -> Scene:
    """Return the scene of a maze with the effects of turns; `veil` is a shape over the board, below the paths."""
    line_width = min(0.6, 0.1 + 0.014 * maze.size)  # in cells: a line stays visible where cells are small
    return Scene(
        "maze maze-large" if maze.size > LARGE else "maze",
        label,
        (maze.lattice.width, maze.lattice.height),
        board=floor_plan(maze.lattice),
        parts=[
            veil,
            _shortest_path_svg(maze, line_width),
            _retraced_path_svg(maze, legs, line_width),
            *(_leg_svg(maze, leg, line_width) for leg in legs),
            *_entrance_and_exit_svg(maze, line_width),
        ],
    )


def draw_picture(picture: Picture) -> str:
    """Draw the maze of a request: paths, walls, and the player."""
    state: MazeState = picture.state
    maze, size = state.maze, (state.maze.lattice.width, state.maze.lattice.height)
    player = circle("maze-player", _HIT, 0, _cell_middle(maze, state.at), 0.36)
    shapes = [*floor_plan(maze.lattice), player]
    return Scene("maze", maze_label(maze), *board_with_grid(size, shapes, grid=picture.grid)).svg()


def turn_legs(maze: Maze, turns: Iterable[TurnRecord]) -> Iterator[MazeLeg]:
    """Yield the leg of each turn whose plan was carried out, wholly or in part."""
    at = maze.entrance
    for number, turn in enumerate(turns, start=1):
        plan = turn.carried_out
        if plan is None:
            continue
        illegal: dict[str, Json] | None = turn.events.get("illegal")
        moves = tuple(_movements_made(plan, turn.events["moved"]))
        start, at = at, _cell_after(maze, at, moves)
        to_obstacle = None
        if illegal:
            direction = str(illegal["direction"])
            to_obstacle = Movement(direction, maze.lattice.count_free_ahead(at, direction))
        yield MazeLeg(start, moves, to_obstacle, number)


def _movements_made(plan: Sequence[tuple[str, int]], cell_count: int) -> Iterator[Movement]:
    """Yield the first movements of a plan, up to a total of `cell_count` cells."""
    for direction, length in plan:
        walked = min(length, cell_count)
        if not walked:
            return
        yield Movement(direction, walked)
        cell_count -= walked


def _cell_after(maze: Maze, cell: int, moves: Iterable[tuple[str, int]]) -> int:
    """Return the cell where moves from a cell end."""
    for direction, length in moves:
        dx, dy = DIRECTIONS[direction]
        cell += length * (dx + dy * maze.lattice.width)
    return cell


def _cell_middle(maze: Maze, cell: int) -> Point:
    x, y = maze.lattice.position(cell)
    return x + 0.5, y + 0.5


def floor_plan(lattice: Lattice) -> list[str]:
    """Return the SVG shapes of the walls and the open cells."""
    size = lattice.width, lattice.height
    return [box("maze-wall", "#3b4252", 0, (0, 0), size), true_cells("maze-floor", "#fff", lattice.rows())]


def _path_data(maze: Maze, start: int, moves: Iterable[tuple[str, int]]) -> str:
    """Return the SVG path data of moves from a cell."""
    x, y = _cell_middle(maze, start)
    commands = {"up": "v-", "down": "v", "left": "h-", "right": "h"}
    return f"M{x} {y}" + "".join(f"{commands[direction]}{length}" for direction, length in moves)


def _shortest_path_svg(maze: Maze, line_width: float) -> str:
    directions = maze.lattice.shortest_path(maze.entrance, maze.exit) or ()
    moves = ((direction, length) for direction, _, length in runs_of_equal_cells(directions))
    dashes = f'stroke-dasharray="{1.2 * line_width:g} {line_width:g}"'
    line = _path_data(maze, maze.entrance, moves)
    return path("maze-shortest reference", "#e69f00", 0.5 * line_width, [line], dashes)


def _retraced_path_svg(maze: Maze, legs: Iterable[MazeLeg], line_width: float) -> str:
    """Return a pale, wide line below the trail where it goes more than once, which the trail alone does not show."""
    walk_counts: Counter[tuple[int, int]] = Counter()  # (upper or left cell, step to the other cell) -> times walked
    for leg in legs:
        cell = leg.start
        for move in leg.moves:
            end = _cell_after(maze, cell, [move])
            step = abs(end - cell) // move.cells  # 1, or a row
            walk_counts.update((first, step) for first in range(min(cell, end), max(cell, end), step))
            cell = end
    lines = (
        _path_data(maze, cell, [("right" if step == 1 else "down", 1)])
        for (cell, step), count in sorted(walk_counts.items())
        if count > 1
    )
    return path("maze-again", _TRAIL, 2.6 * line_width, lines, f'stroke-opacity="0.3" {ROUND}')


def _leg_svg(maze: Maze, leg: MazeLeg, line_width: float) -> str:
    """Return the shapes of a turn's leg, with a dot at its end or a cross where it hit an obstacle."""
    end = _cell_after(maze, leg.start, leg.moves)
    trail = [_path_data(maze, leg.start, leg.moves)] if leg.moves else []
    shapes = path("maze-trail", _TRAIL, line_width, trail, ROUND)
    if leg.to_obstacle is None:
        shapes += circle("maze-stop", _TRAIL, 0, _cell_middle(maze, end), line_width)
    else:
        direction, free_count = leg.to_obstacle
        (dx, dy), (x, y) = DIRECTIONS[direction], _cell_middle(maze, _cell_after(maze, end, [leg.to_obstacle]))
        # The cross is where the obstacle begins, but within the maze at its edge.
        cross_middle, hit_width = point((x + 0.4 * dx, y + 0.4 * dy)), 0.5 * line_width
        free_line = _path_data(maze, end, [leg.to_obstacle] if free_count else [])
        dots = f'{ROUND} stroke-dasharray="0 {2 * hit_width:g}"'
        shapes += path("maze-hit", _HIT, hit_width, [f"{free_line}L{cross_middle}"], dots)
        shapes += path("maze-hit", _HIT, hit_width, [f"M{cross_middle}{cross(1.2 * line_width)}"], ROUND)
    return walk_group(leg.turn, sum(length for _, length in leg.moves), shapes)


def _entrance_and_exit_svg(maze: Maze, line_width: float) -> Iterator[str]:
    """Yield the ring of the entrance and the square of the exit."""
    radius, stroke_width = max(0.34, 0.014 * maze.size), 0.6 * line_width  # in cells, visible in large mazes, too
    x, y = _cell_middle(maze, maze.exit)
    yield circle("maze-start", _OPENINGS, stroke_width, _cell_middle(maze, maze.entrance), radius)
    yield box("maze-exit", _OPENINGS, stroke_width, (x - radius, y - radius), (2 * radius, 2 * radius))


_WALL, _PATH, _UNSEEN = Tile("█", "#3b4252"), Tile("", "#ffffff"), Tile("░", "#9aa3b2")
_EXIT, _HERE = Tile("><", "#009e73"), Tile("()", "#e69f00", "@")
_TYPED_ACTIONS = [TypedAction(direction, key=direction, is_reply=False) for direction in DIRECTIONS]


def board(state: MazeState, turns: Sequence[TurnRecord]) -> Board:
    """Return the maze with its coordinates."""
    return maze_board(state.maze, state.at, lambda cell: True)


def maze_board(maze: Maze, at: int, is_known: Callable[[int], bool]) -> Board:
    """Return the board of a maze with the player at a cell; cells that are not known are hidden."""

    def tile_of_cell(cell: int) -> Tile:
        if cell == at:
            return _HERE
        if not is_known(cell):
            return _UNSEEN
        return _EXIT if cell == maze.exit else _PATH if maze.lattice.cells[cell] else _WALL

    width, (x, y) = maze.lattice.width, maze.lattice.position(at)
    tiles = list(map(tile_of_cell, range(len(maze.lattice.cells))))
    rows = [tiles[start : start + width] for start in range(0, len(tiles), width)]
    return Board(rows=rows, at=(y, x), numbered=True)


def typed_actions(state: MazeState) -> Sequence[TypedAction]:
    """Return a movement by one cell in each direction; a reply can have several."""
    return _TYPED_ACTIONS
