"""A tile map as a drawing (SVG) and as a board for people."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from colorsys import hls_to_rgb
from html import escape
from typing import NamedTuple

from waybench._svg import path, ruled_board, texts, walk
from waybench.core import Board, DataError, Picture, Tile, TurnRecord, TypedAction, is_object, plural
from waybench.envs.tilemap._board import MOVES, Location, MovePlan
from waybench.envs.tilemap._instance import PLAYER, TileMap, outside, tile_list

_WIDE = 48  # columns; a wider map's drawing takes two columns of the page
_STEPS = {"move_up": "v-1", "move_down": "v1", "move_left": "h-1", "move_right": "h1"}


class Leg(NamedTuple):
    """The effect of one plan.

    Attributes:
        start: (row, column) of its beginning.
        moves: Names of the moves that changed the place.
        end: (row, column) of its end.
        goal: Number of the objective, from 0.
        reached: Whether it ended there.
        turn: Number of the turn, from 1.
    """

    start: tuple[int, int]
    moves: tuple[str, ...]
    end: tuple[int, int]
    goal: int
    reached: bool
    turn: int = 0


def draw(case: TileMap, turns: Sequence[TurnRecord] = (), *, board_id: str = "", reuse: bool = False) -> str:
    """Draw a map, its objectives in their order, a shortest tour, and the ways that plans led.

    The map's characters are escaped; nothing of a reply reaches the drawing but moves that were made.

    Args:
        case: The map.
        turns: Turns of an episode that a simulation has confirmed.
        board_id: An id in the page for the drawing of the map, which is most of the bytes.
        reuse: Whether the page holds a drawing with this id already, whose map is shown again.

    Returns:
        An `<svg>` element. Classes: tiles, maze-large (wide maps), tiles-wall, tiles-floor, tiles-sign, tiles-tour,
        tiles-trail, tiles-stop, tiles-goal, tiles-number, tiles-start.
    """
    legs = list(trail(case, turns))
    size = f"{plural(case.height, 'row')} and {plural(case.width, 'column')}"
    label = f"Map of {size} with {plural(len(case.objectives), 'objective')}"
    if legs:
        label += f", {sum(leg.reached for leg in legs)} reached in {plural(len(legs), 'plan')}"
    if reuse:
        board = f'<use href="#{board_id}"/>'
    else:
        identity = f' id="{board_id}"' if board_id else ""
        board = f"<g{identity}>{_board(case)}</g>"
    classes = "tiles maze-large" if case.width > _WIDE else "tiles"
    return (
        f'<svg class="{classes}" viewBox="0 0 {case.width} {case.height}" role="img" aria-label="{label}">{board}'
        f"{_tour(case)}{''.join(map(_leg, legs))}{_goals(case)}</svg>"
    )


def trail(case: TileMap, turns: Iterable[TurnRecord]) -> Iterator[Leg]:
    """Yield where each plan led that was carried out."""
    at = divmod(case.start, case.width)
    for number, turn in enumerate(turns, start=1):
        if "at" not in turn.events:
            continue
        action = turn.carried_out
        names: list[str] = action["action"] if is_object(action) else action
        end = (turn.events["at"][0], turn.events["at"][1])
        moves = tuple(_moves_made(case, at, names, end, turn.events["steps"]))
        yield Leg(at, moves, end, turn.events["goal"], list(turn.events["off"]) == [0, 0], number)
        at = end


def _moves_made(
    case: TileMap, at: tuple[int, int], names: Sequence[str], end: tuple[int, int], steps: int
) -> Iterable[str]:
    """Return the moves that were made: by the list of walkable tiles or, as published, by its text."""
    for walkable in (_listed(case), "".join(sign for row in case.rows for sign in row if sign in case.walkable)):
        moves: list[str] = []
        place = at
        for name in names:
            if len(moves) == steps:
                break
            rows, columns = MOVES.get(name, (0, 0))
            row, column = place[0] + rows, place[1] + columns
            free = 0 <= row < case.height and 0 <= column < case.width
            if (rows or columns) and free and case.rows[row][column] in walkable + PLAYER:
                place = (row, column)
                moves.append(name)
        if place == end:
            return moves
    return []  # something that moves or was taken away was in the way; the end alone is certain


def _listed(case: TileMap) -> str:
    try:
        return tile_list(case.walkable)
    except DataError:
        return ""


def _board(case: TileMap) -> str:
    walkable = _listed(case) + PLAYER
    floor = "".join(
        f"M{column} {row}.5h1"
        for row, signs in enumerate(case.rows)
        for column, sign in enumerate(signs)
        if sign in walkable
    )
    numbered = {(objective.row, objective.column) for objective in case.objectives}
    signs = "".join(
        f'<text x="0" y="{row + 0.78:g}" textLength="{case.width}" xml:space="preserve">'
        + escape(
            "".join(" " if sign == PLAYER or (row, column) in numbered else sign for column, sign in enumerate(line))
        )
        + "</text>"
        for row, line in enumerate(case.rows)
    )
    return (
        f'<path class="tiles-wall" fill="#3b4252" d="M0 0h{case.width}v{case.height}h-{case.width}z"/>'
        f'<path class="tiles-floor" fill="none" stroke="#fff" stroke-width="1.02" d="{floor}"/>'
        f'<g class="tiles-sign" fill="#888" font-family="monospace" font-size="0.8">{signs}</g>'
    )


def _middle(place: tuple[int, int]) -> str:
    return f"{place[1]}.5 {place[0]}.5"


def _tour(case: TileMap) -> str:
    floor, width = case.floor(_listed(case)), case.width
    missing, at, parts = set(outside(case)), case.start, list[str]()
    for number, objective in enumerate(case.objectives):
        goal = objective.row * width + objective.column
        path = None if number in missing else floor.shortest_path(at, goal)
        if path is None:
            continue
        parts.append(f"M{_middle(divmod(at, width))}" + "".join(f"L{_middle(divmod(cell, width))}" for cell in path))
        at = goal
    return (
        f'<path class="tiles-tour reference" fill="none" stroke="#e69f00" stroke-width="0.14" '
        f'stroke-dasharray="0.3 0.25" d="{"".join(parts)}"/>'
    )


def _leg(leg: Leg) -> str:
    row, column = leg.end
    line = "".join(_STEPS[name] for name in leg.moves) or f"L{_middle(leg.end)}"
    path = (
        f'<path class="tiles-trail" fill="none" stroke="#0072b2" stroke-width="0.22" stroke-linejoin="round" '
        f'stroke-linecap="round" d="M{_middle(leg.start)}{line}"/>'
    )
    stop = f'<circle class="tiles-stop" fill="#0072b2" cx="{column}.5" cy="{row}.5" r="0.24"/>'
    return walk(leg.turn, len(leg.moves), path + stop)


def _goals(case: TileMap) -> str:
    row, column = divmod(case.start, case.width)
    marks = [
        f'<circle class="tiles-start" fill="none" stroke="#009e73" stroke-width="0.16" cx="{column}.5" cy="{row}.5" '
        'r="0.42"/>'
    ]
    missing = set(outside(case))
    for number, objective in enumerate(case.objectives):
        if number not in missing:
            marks.append(
                f'<path class="tiles-goal" fill="none" stroke="#009e73" stroke-width="0.12" '
                f'd="M{objective.column}.06 {objective.row}.06h.88v.88h-.88z"/>'
                f'<text class="tiles-number" fill="#009e73" font-family="sans-serif" font-weight="bold" '
                f'font-size="0.62" x="{objective.column}.5" y="{objective.row + 0.73:g}" '
                f'text-anchor="middle">{number + 1}</text>'
            )
    return "".join(marks)


def draw_picture(picture: Picture) -> str:
    """Draw the map as a request has it: the character of each tile, the tiles that can be walked on, and the agent."""
    state: Location = picture.state
    rows, walkable = state.rows(), state.board.walkable
    width, height = state.board.case.width, state.board.case.height
    tiles = [(row, column, sign) for row, line in enumerate(rows) for column, sign in enumerate(line)]
    agent = (state.row, state.column)
    floor = [tile for tile in tiles if tile[2] in walkable or tile[:2] == agent]
    rest = [tile for tile in tiles if tile not in floor]
    parts = [
        f'<path fill="#3b4252" d="M0 0h{width}v{height}h-{width}z"/>',
        path("tiles-floor", "#fff", 1, (f"M{column} {row}.5h1" for row, column, _ in floor)),
        f'<circle fill="#e69f00" cx="{agent[1]}.5" cy="{agent[0]}.5" r="0.46"/>',
        *(
            texts("tiles-sign", _middles(some), 0.72, colour=colour)
            for some, colour in ((floor, "#111"), (rest, "#fff"))
        ),
    ]
    return ruled_board("tiles", width, height, f"Map of {height} by {width} tiles", parts, grid=picture.grid)


def _middles(tiles: Iterable[tuple[int, int, str]]) -> Iterator[tuple[float, float, str]]:
    return ((column + 0.5, row + 0.75, sign) for row, column, sign in tiles)


HELP = "Type moves as u3 l2 or up 3, left 2 (u, d, l, r), or the reply itself."
SINGLE_HELP = "Type a move: u, d, l or r, or the reply itself."
REPLY_HELP = "Type the reply itself: JSON with the moves and the map after them."

_NAMES = {name.removeprefix("move_"): name for name in MOVES}
_DIRECTION = {name[0]: full for name, full in _NAMES.items()} | _NAMES | {name: name for name in MOVES}
_WORDS = "|".join(sorted(_DIRECTION, key=len, reverse=True))
_MOVE = re.compile(rf"({_WORDS})[ :]*([1-9][0-9]{{0,3}})?[\s,;.]*", re.IGNORECASE)
_MOST = 2_000  # moves, and characters
_WALL, _GOAL, _PLAYER = "#3b4252", "#f0e442", "#0072b2"


def parse_typed(text: str, state: Location) -> MovePlan | None:
    """Return the plan that ``u3 l2``, ``up 3, left 2`` or ``uuu`` stands for; None for any other text."""
    names: list[str] = []
    at, text = 0, text.strip()
    while at < len(text):
        match = _MOVE.match(text, at)
        if match is None or len(text) > _MOST or len(names) > _MOST:
            return None
        names += [_DIRECTION[match[1].lower()]] * int(match[2] or 1)
        at = match.end()
    return MovePlan(tuple(names)) if 0 < len(names) <= _MOST else None


def format_typed(plan: MovePlan) -> Sequence[str]:
    """Return the moves of a plan as a person types them."""
    return [name.removeprefix("move_") for name in plan.names]


def typed_actions(*, single: bool) -> Callable[[Location], Sequence[TypedAction]]:
    """Return the function that lists the four moves, each a reply or a part of one."""
    actions = [TypedAction(name, key=name, whole=single) for name in _NAMES]
    return lambda state: actions


def board(state: Location, turns: Sequence[TurnRecord]) -> Board:
    """Return the map as the messages describe it, with the target of the present objective."""
    case, walkable = state.board.case, set(state.board.walkable)
    goals = state.board.goals
    target = goals[state.goal] if state.goal < len(goals) else None
    used = sorted({sign for row in case.rows for sign in row if sign in walkable})

    def tile(row: int, column: int, sign: str) -> Tile:
        if sign == PLAYER:
            return Tile(PLAYER, _PLAYER)
        if (row, column) == target:
            return Tile(sign, _GOAL)
        return Tile(sign, _pale(used.index(sign), len(used)) if sign in walkable else _WALL)

    rows = [[tile(y, x, sign) for x, sign in enumerate(line)] for y, line in enumerate(state.rows())]
    notes = [f"Objective {min(state.goal + 1, len(goals))} of {len(goals)}: {state.reached} reached."]
    if target is not None:
        notes[0] += f" The target is yellow, at row {target[0]} and column {target[1]}; dark tiles block the way."
    return Board(rows=rows, at=(state.row, state.column), numbered=True, notes=notes)


def _pale(number: int, count: int) -> str:
    red, green, blue = hls_to_rgb(number / max(count, 1), 0.88, 0.45)
    return f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"
