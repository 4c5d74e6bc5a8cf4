"""Carrying out a plan, name by name."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from waybench.core import Stream
from waybench.envs.tilemap._board import MOVES, Board, Place, Plan
from waybench.envs.tilemap._map import tile_list

OBJECT_ACTIONS = ("pick_object", "hit_enemy")
ENEMY = "#"
CRASH = "(no name)"  # stands for a value at which the published program ended with an error


class Walked(NamedTuple):
    """Where a plan leads, and what became of its names; `moves` counts those of moves that were not made, too."""

    row: int
    column: int
    steps: int
    blocked: int
    moves: int
    unknown: bool
    crashed: bool
    removed: tuple[tuple[int, int], ...]
    beings: tuple[int, ...] = ()
    death: str = ""


def walk(state: Place, names: Sequence[str], rng: Stream | None = None) -> Walked:
    """Return where a plan leads; it ends before the first name that is no action.

    Args:
        state: Where it begins.
        names: The plan.
        rng: What moves the beings, one step for each action; without it they stand still.
    """
    width = state.board.case.width + 2
    fenced, at = state.board.fenced, (state.row + 1) * width + state.column + 1
    by = _offsets(width)
    removed = state.removed
    if removed:
        fenced = _opened(fenced, removed, width)
    crew, beings, death = state.board.style.crew, state.beings, ""
    lively = any(crew)
    steps = blocked = 0
    unknown = crashed = False
    done = 0
    for name in names:
        done += 1
        move = by.get(name)
        if move is not None:
            if fenced[at + move] and at + move not in beings[: crew.walkers]:
                at += move
                steps += 1
            else:
                blocked += 1
        elif name in OBJECT_ACTIONS and state.board.style.protocol.objects:
            found = _object_beside(state._replace(removed=removed), at, width, name)
            if found is not None:
                removed = (*removed, found)
                fenced = _opened(fenced, (found,), width)
        elif name == CRASH and state.board.style.protocol.crashes:
            crashed = True
            break
        else:
            unknown = True
            break
        if lively:
            beings, death = _live(state.board, fenced, at, beings, rng)
            if death:
                break
    row, column = divmod(at, width)
    moves = steps + blocked + sum(name in MOVES for name in names[done:])
    return Walked(row - 1, column - 1, steps, blocked, moves, unknown, crashed, removed, beings, death)


@lru_cache(maxsize=256)
def _offsets(width: int) -> dict[str, int]:
    return {name: rows * width + columns for name, (rows, columns) in MOVES.items()}


def _live(
    board: Board, fenced: bytes, at: int, beings: tuple[int, ...], rng: Stream | None
) -> tuple[tuple[int, ...], str]:
    """Let every being make a step after the player's; return where they are, and what has ended the map, if anything.

    A walker takes a random one of its four ways or stays where that is closed. An enemy comes nearer half of the time
    and wanders otherwise. Two beings are never in one place.
    """
    walkers, width = board.style.crew.walkers, board.case.width + 2
    ways = (-width, width, -1, 1)
    if at in board.hazards:
        return beings, "hazard"
    now = list(beings)
    for number, cell in enumerate(beings):
        if rng is None or at in now[walkers:]:
            break
        way = ways[rng.below(4)]
        if number >= walkers and rng.below(2):
            rows, columns = at // width - cell // width, at % width - cell % width
            way = (width if rows > 0 else -width) if abs(rows) > abs(columns) else 1 if columns > 0 else -1
        other = cell + way
        free = fenced[other] and other not in now and other not in board.hazards
        if free and (other != at or number >= walkers):
            now[number] = other
    return tuple(now), "enemy" if at in now[walkers:] else ""


def _opened(fenced: bytes, cells: Sequence[tuple[int, int]], width: int) -> bytes:
    changed = bytearray(fenced)
    for row, column in cells:
        changed[(row + 1) * width + column + 1] = 1
    return bytes(changed)


def _object_beside(state: Place, at: int, width: int, name: str) -> tuple[int, int] | None:
    """Return the cell that an object action turns into ground, rows and columns swapped as in the published program.

    It reads the map at [y][x] with x a row and y a column, and compares x with the width and y with the height.
    """
    case = state.board.case
    wanted = set(tile_list(case.interactive)) if name == "pick_object" else {ENEMY}
    drawn = state.rows()
    row, column = at // width - 1, at % width - 1
    for rows, columns in ((0, -1), (0, 1), (-1, 0), (1, 0)):
        x, y = row + rows, column + columns
        if 0 <= x < case.width and 0 <= y < case.height and drawn[y][x] in wanted:
            return y, x
    return None


def plan_of(state: Place, names: Sequence[str]) -> Plan:
    """Return some actions as a plan of the form that is asked for."""
    if state.board.style.single:
        names = names[:1]
    if not state.board.style.predicts:
        return Plan(tuple(names))
    end = walk(state, names)
    return Plan(tuple(names), "\n".join(state._replace(row=end.row, column=end.column, removed=end.removed).rows()))
