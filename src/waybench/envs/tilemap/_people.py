"""What a person who plays sees of a map and types: the tiles as they are now, and moves by keys."""

import re
from collections.abc import Callable, Sequence
from colorsys import hls_to_rgb

from waybench.core import Board, Tile, TurnRecord, TypedAction
from waybench.envs.tilemap._board import MOVES, Location, MovePlan
from waybench.envs.tilemap._instance import PLAYER

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
