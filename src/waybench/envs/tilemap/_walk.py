"""Carrying out a plan, name by name."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from waybench.envs.tilemap._beings import step_beings
from waybench.envs.tilemap._board import MOVES, Board, Location, MovePlan
from waybench.envs.tilemap._instance import tile_list

OBJECT_ACTIONS = ("pick_object", "hit_enemy")
ENEMY = "#"
CRASH = "(no name)"  # stands for a value at which the published program ended with an error


class Walked(NamedTuple):
    """The result of a plan; `moves` also counts the moves that were not made."""

    row: int
    column: int
    steps: int
    blocked: int
    moves: int
    unknown: bool
    crashed: bool
    removed: tuple[tuple[int, int], ...]
    beings: tuple[int, ...] = ()
    tick: int = 0
    death: str = ""


def walk(state: Location, names: Sequence[str]) -> Walked:
    """Return where a plan leads; it ends before the first name that is no action. Beings step after each action.

    Args:
        state: Where it begins.
        names: The plan.
    """
    width = state.board.case.width + 2
    fenced, at = fenced_now(state.board, state.removed), state.cell
    offsets = _offsets(width)
    removed = state.removed
    crew, beings, tick, death = state.board.style.crew, state.beings, state.tick, ""
    steps = blocked = 0
    unknown = crashed = False
    actions_done = 0
    for name in names:
        actions_done += 1
        move = offsets.get(name)
        if move is not None:
            if fenced[at + move] and at + move not in beings[: crew.walkers]:
                at += move
                steps += 1
            else:
                blocked += 1
        elif name in OBJECT_ACTIONS and state.board.style.protocol.objects:
            object_cell = _object_beside(state._replace(removed=removed), at, width, name)
            if object_cell is not None:
                removed = (*removed, object_cell)
                fenced = _opened(fenced, (object_cell,), width)
        elif name == CRASH and state.board.style.protocol.crashes:
            crashed = True
            break
        else:
            unknown = True
            break
        if at in state.board.hazards:
            death = "hazard"
            break
        if beings:
            beings, caught = step_beings(state.board, fenced, at, beings, tick)
            tick += 1
            if caught:
                death = "enemy"
                break
    row, column = divmod(at, width)
    moves = steps + blocked + sum(name in MOVES for name in names[actions_done:])
    return Walked(row - 1, column - 1, steps, blocked, moves, unknown, crashed, removed, beings, tick, death)


@lru_cache(maxsize=256)
def _offsets(width: int) -> dict[str, int]:
    return {name: rows * width + columns for name, (rows, columns) in MOVES.items()}


def fenced_now(board: Board, removed: Sequence[tuple[int, int]]) -> bytes:
    """Return the fenced map's cells where objects have become ground, a byte for each: 1 where one can stand."""
    return _opened(board.fenced, removed, board.case.width + 2) if removed else board.fenced


def _opened(fenced: bytes, cells: Sequence[tuple[int, int]], width: int) -> bytes:
    changed = bytearray(fenced)
    for row, column in cells:
        changed[(row + 1) * width + column + 1] = 1
    return bytes(changed)


def _object_beside(state: Location, at: int, width: int, name: str) -> tuple[int, int] | None:
    """Return the cell that an object action turns into ground, rows and columns swapped as in the published program.

    It reads the map at [y][x] with x a row and y a column, and compares x with the width and y with the height.
    """
    case = state.board.case
    signs = set(tile_list(case.interactive)) if name == "pick_object" else {ENEMY}
    lines = state.rows()
    row, column = at // width - 1, at % width - 1
    for rows, columns in ((0, -1), (0, 1), (-1, 0), (1, 0)):
        x, y = row + rows, column + columns
        if 0 <= x < case.width and 0 <= y < case.height and lines[y][x] in signs:
            return y, x
    return None


def plan_of(state: Location, names: Sequence[str]) -> MovePlan:
    """Return some actions as a plan in the requested form."""
    if state.board.style.single:
        names = names[:1]
    if not state.board.style.predicts:
        return MovePlan(tuple(names))
    end = walk(state, names)
    return MovePlan(tuple(names), "\n".join(state._replace(row=end.row, column=end.column, removed=end.removed).rows()))
