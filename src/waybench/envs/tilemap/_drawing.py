"""A tile map as a scene with the turns of an episode, as a picture, and as a board for people."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from colorsys import hls_to_rgb
from html import escape
from typing import NamedTuple

from waybench._svg import (
    ROUND,
    Point,
    board_with_grid,
    box,
    circle,
    group,
    line,
    path,
    point,
    texts,
    true_cells,
    walk_group,
)
from waybench.core import Board, DataError, Picture, Scene, Tile, TurnRecord, TypedAction, is_object, plural
from waybench.envs.tilemap._board import MovePlan, TileState
from waybench.envs.tilemap._instance import PLAYER, TileMap, objectives_outside, tile_list
from waybench.envs.tilemap._locks import LOCK_ACTIONS
from waybench.envs.tilemap._protocols import MOVES

_GOALS = "#009e73"
_WIDE = 48  # columns; a wider map's drawing takes two columns of the page
_PATH_COMMANDS = {"move_up": "v-1", "move_down": "v1", "move_left": "h-1", "move_right": "h1"}


class PlanLeg(NamedTuple):
    """The effect of one plan.

    Attributes:
        start: (row, column) where it began.
        moves: Names of the moves that led to another cell.
        end: (row, column) where it ended.
        reached: Whether it ended at its goal.
        turn: Number of the turn, from 1.
    """

    start: tuple[int, int]
    moves: tuple[str, ...]
    end: tuple[int, int]
    reached: bool
    turn: int = 0


def scene(case: TileMap, turns: Sequence[TurnRecord]) -> Scene:
    """Return a map with its objectives, a shortest tour, and the paths of plans."""
    legs = list(plan_legs(case, turns))
    size = f"{plural(case.height, 'row')} and {plural(case.width, 'column')}"
    label = f"Map of {size} with {plural(len(case.objectives), 'objective')}"
    if legs:
        label += f", {sum(leg.reached for leg in legs)} reached in {plural(len(legs), 'plan')}"
    return Scene(
        "tiles maze-large" if case.width > _WIDE else "tiles",
        label,
        (case.width, case.height),
        board=_ground_shapes(case),
        parts=[_shortest_tour_svg(case), *map(_leg_svg, legs), *_goal_shapes(case)],
    )


def plan_legs(case: TileMap, turns: Iterable[TurnRecord]) -> Iterator[PlanLeg]:
    """Yield the leg of each plan that was carried out."""
    at = divmod(case.start, case.width)
    for number, turn in enumerate(turns, start=1):
        if "at" not in turn.events:
            continue
        action = turn.carried_out
        names: list[str] = action["action"] if is_object(action) else action
        end = (turn.events["at"][0], turn.events["at"][1])
        moves = tuple(_moves_made(case, at, names, end, turn.events["steps"]))
        yield PlanLeg(at, moves, end, list(turn.events["off"]) == [0, 0], number)
        at = end


def _moves_made(
    case: TileMap, at: tuple[int, int], names: Sequence[str], end: tuple[int, int], steps: int
) -> Iterable[str]:
    """Return the moves that a plan made from a cell; [] if they are not known.

    They are those of the first `steps` moves over walkable tiles, as the list says or, in "paper", its text with
    comments, whichever leads to the end.
    """
    for walkable in (
        _walkable_signs(case),
        "".join(sign for row in case.rows for sign in row if sign in case.walkable),
    ):
        moves: list[str] = []
        cell = at
        for name in names:
            if len(moves) == steps:
                break
            rows, columns = MOVES.get(name, (0, 0))
            row, column = cell[0] + rows, cell[1] + columns
            is_on_map = 0 <= row < case.height and 0 <= column < case.width
            if name in MOVES and is_on_map and case.rows[row][column] in walkable + PLAYER:
                cell = (row, column)
                moves.append(name)
        if cell == end:
            return moves
    return []  # creatures or doors were in the way, or were gone; only the end is certain


def _walkable_signs(case: TileMap) -> str:
    """Return the characters that a map's list says can be walked on; "" where it cannot be read."""
    try:
        return tile_list(case.walkable)
    except DataError:
        return ""


def _ground_shapes(case: TileMap) -> Iterator[str]:
    """Yield the shapes of walls, floor and tile characters."""
    walkable = _walkable_signs(case) + PLAYER
    goals = {(objective.row, objective.column) for objective in case.objectives}  # which have numbers instead
    yield _background_box(case)
    # Cells are a little too wide, so that no lines are seen between them.
    yield true_cells("tiles-floor", "#fff", ([sign in walkable for sign in row] for row in case.rows), 1.02)
    lines = (
        "".join(" " if sign == PLAYER or (row, column) in goals else sign for column, sign in enumerate(signs))
        for row, signs in enumerate(case.rows)
    )
    attributes = f'textLength="{case.width}" xml:space="preserve"'
    rows = (f'<text x="0" y="{row + 0.78:g}" {attributes}>{escape(line)}</text>' for row, line in enumerate(lines))
    yield group("tiles-sign", rows, 'fill="#888" font-family="monospace" font-size="0.8"')


def _background_box(case: TileMap) -> str:
    return box("tiles-wall", "#3b4252", 0, (0, 0), (case.width, case.height))


def _cell_middle(position: tuple[int, int]) -> Point:
    """Return the (x, y) of the middle of a cell (row, column)."""
    row, column = position
    return column + 0.5, row + 0.5


def _shortest_tour_svg(case: TileMap) -> str:
    """Return the lines of shortest paths from objective to objective; those out of reach are passed over."""
    floor, width = case.floor(_walkable_signs(case)), case.width
    outside, at, lines = set(objectives_outside(case)), case.start, list[str]()
    for number, objective in enumerate(case.objectives):
        goal = objective.row * width + objective.column
        cells = None if number in outside else floor.shortest_path(at, goal)
        if cells is not None:
            lines.append(line(_cell_middle(divmod(cell, width)) for cell in (at, *cells)))
            at = goal
    return path("tiles-tour reference", "#e69f00", 0.14, lines, 'stroke-dasharray="0.3 0.25"')


def _leg_svg(leg: PlanLeg) -> str:
    """Return the shapes of a plan: its moves, or a straight line where they are not known, and a dot at its end."""
    trail = "".join(_PATH_COMMANDS[name] for name in leg.moves) or f"L{point(_cell_middle(leg.end))}"
    shapes = path("tiles-trail", "#0072b2", 0.22, [f"M{point(_cell_middle(leg.start))}{trail}"], ROUND)
    shapes += circle("tiles-stop", "#0072b2", 0, _cell_middle(leg.end), 0.24)
    return walk_group(leg.turn, len(leg.moves), shapes)


def _goal_shapes(case: TileMap) -> Iterator[str]:
    """Yield the ring of the start and the numbered squares of the objectives."""
    yield circle("tiles-start", _GOALS, 0.16, _cell_middle(divmod(case.start, case.width)), 0.42)
    outside = set(objectives_outside(case))
    goals = [(number, goal) for number, goal in enumerate(case.objectives, 1) if number - 1 not in outside]
    for _, goal in goals:
        yield box("tiles-goal", _GOALS, 0.12, (goal.column + 0.06, goal.row + 0.06), (0.88, 0.88))
    numbers = ((goal.column + 0.5, goal.row + 0.73, number) for number, goal in goals)
    yield texts("tiles-number", numbers, 0.6, colour=_GOALS, more='font-weight="bold"')


def draw_picture(picture: Picture) -> str:
    """Draw the map of a request: the character of each tile, the walkable tiles, and the agent."""
    state: TileState = picture.state
    rows, walkable, case = state.rows(), state.board.walkable + PLAYER + _key_signs(state), state.board.case
    labels = [(column + 0.5, row + 0.75, sign) for row, line in enumerate(rows) for column, sign in enumerate(line)]
    floor_labels = [label for label in labels if label[2] in walkable]
    wall_labels = [label for label in labels if label[2] not in walkable]
    parts = [
        _background_box(case),
        path("tiles-floor", "#fff", 1, (f"M{x - 0.5:g} {y - 0.25:g}h1" for x, y, _ in floor_labels)),
        circle("tiles-agent", "#e69f00", 0, _cell_middle((state.row, state.column)), 0.46),
        texts("tiles-sign", floor_labels, 0.72, colour="#111"),
        texts("tiles-sign", wall_labels, 0.72, colour="#fff"),
    ]
    label = f"Map of {case.height} by {case.width} tiles"
    return Scene("tiles", label, *board_with_grid((case.width, case.height), parts, grid=picture.grid)).svg()


def _key_signs(state: TileState) -> str:
    return "".join(lock.key_sign for lock in state.board.locks)


HELP = "Type moves as u3 l2 or up 3, left 2 (u, d, l, r; with doors also p and o), or the reply itself."
SINGLE_HELP = "Type a move: u, d, l or r (with doors also p and o), or the reply itself."
REPLY_HELP = "Type the reply itself: JSON with the moves and the map after them."

_DIRECTIONS = {name.removeprefix("move_"): name for name in MOVES}
# What a person types, whole names or first letters -> the name of the action.
_TYPED_NAMES = {
    **{word[0]: name for word, name in _DIRECTIONS.items()},
    **_DIRECTIONS,
    **{name[0]: name for name in LOCK_ACTIONS},
    **{name: name for name in (*MOVES, *LOCK_ACTIONS)},
}
_WORDS = "|".join(sorted(_TYPED_NAMES, key=len, reverse=True))
_TYPED_MOVE = re.compile(rf"({_WORDS})[ :]*([1-9][0-9]{{0,3}})?[\s,;.]*", re.IGNORECASE)
_MOST_TYPED = 2_000  # moves, and characters
_WALL, _GOAL, _PLAYER = "#3b4252", "#f0e442", "#0072b2"


def parse_typed(text: str, state: TileState) -> MovePlan | None:
    """Return the plan of a text such as ``u3 l2``, ``up 3, left 2`` or ``uuu``; None for any other text."""
    names: list[str] = []
    position, text = 0, text.strip()
    while position < len(text):
        match = _TYPED_MOVE.match(text, position)
        if match is None or len(text) > _MOST_TYPED or len(names) > _MOST_TYPED:
            return None
        names += [_TYPED_NAMES[match[1].lower()]] * int(match[2] or 1)
        if names[-1] not in state.board.style.actions:  # an action with keys, on a map without doors
            return None
        position = match.end()
    return MovePlan(tuple(names)) if 0 < len(names) <= _MOST_TYPED else None


def format_typed(plan: MovePlan) -> Sequence[str]:
    """Return the moves of a plan as a person types them."""
    return [name.removeprefix("move_") for name in plan.names]


def typed_actions(*, single: bool) -> Callable[[TileState], Sequence[TypedAction]]:
    """Return the function that lists the moves and, with doors, two actions; `single` if each is a reply."""
    actions = [TypedAction(name, key=name, is_reply=single) for name in _DIRECTIONS]
    lock_actions = [TypedAction(name, key=name[0], is_reply=single) for name in LOCK_ACTIONS]
    return lambda state: actions + lock_actions if state.board.locks else actions


def board(state: TileState, turns: Sequence[TurnRecord]) -> Board:
    """Return the board for people: the map now, with the target of the present objective."""
    case, walkable = state.board.case, {*state.board.walkable, *_key_signs(state)}
    goals = state.board.goals
    target = goals[state.goal] if state.goal < len(goals) else None
    floor_signs = sorted({*"".join(case.rows), *_key_signs(state)} & walkable)

    def tile_of_cell(row: int, column: int, sign: str) -> Tile:
        if sign == PLAYER:
            return Tile(PLAYER, _PLAYER)
        if (row, column) == target:
            return Tile(sign, _GOAL)
        if sign not in walkable:
            return Tile(sign, _WALL)
        return Tile(sign, _pale_colour(floor_signs.index(sign), len(floor_signs)))

    rows = [[tile_of_cell(y, x, sign) for x, sign in enumerate(line)] for y, line in enumerate(state.rows())]
    notes = [f"Objective {min(state.goal + 1, len(goals))} of {len(goals)}: {state.reached} reached."]
    if target is not None:
        notes[0] += f" The target is yellow, at row {target[0]} and column {target[1]}; dark tiles block the way."
    return Board(rows=rows, at=(state.row, state.column), numbered=True, notes=notes)


def _pale_colour(number: int, count: int) -> str:
    """Return the n-th, from 0, of `count` pale colours of different hues."""
    red, green, blue = hls_to_rgb(number / max(count, 1), 0.88, 0.45)  # hue, lightness, saturation
    return f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"
