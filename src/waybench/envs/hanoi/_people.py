"""What a person who plays sees of the puzzle: the rods and the disks on them."""

from collections.abc import Sequence
from typing import Any

from waybench.core import Board, Tile, TurnRecord
from waybench.envs.hanoi._game import Puzzle
from waybench.envs.hanoi._instance import RODS
from waybench.envs.hanoi._solve import stacks
from waybench.smartplay import AgentState

_COLOURS = ("#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#0072b2", "#d55e00")  # after Okabe and Ito
_POST, _GROUND = "#8a8a8a", "#5a6372"


def board(state: AgentState[Any, Puzzle], turns: Sequence[TurnRecord]) -> Board:
    """Return the rods side by side; a disk is as many cells wide as its size, twice over, and one more."""
    towers = state.instance
    rows = _rows(state.world.rods, towers.level)
    goal = ", ".join(
        f"{rod} holds {' '.join(map(str, stack))}"
        for rod, stack in zip(RODS, stacks(towers.positions[1]), strict=True)
        if stack
    )
    notes = [f"Goal, from bottom to top: {goal}."]
    if not state.world.allowed:
        notes.insert(0, "The last move is not allowed: nothing has moved.")
    return Board(rows=rows, width=2 if towers.level < 5 else 1, notes=notes)


def _rows(rods: Sequence[Sequence[int]], disks: int) -> list[list[Tile]]:
    half = disks  # cells on each side of a post
    rows: list[list[Tile]] = []
    for height in range(disks, -1, -1):
        row: list[Tile] = []
        for rod in rods:
            disk = rod[height] if height < len(rod) else None
            for place in range(-half, half + 1):
                if disk is not None and abs(place) <= disk + (disks < 3):
                    row.append(Tile(str(disk) if place == 0 else "", _COLOURS[disk % len(_COLOURS)]))
                else:
                    row.append(Tile("", _POST) if place == 0 else Tile())
            row.append(Tile())
        rows.append(row[:-1])
    wide = 2 * half + 1
    rows.append(
        [Tile() if place % (wide + 1) == wide else Tile(_name(place, wide), _GROUND) for place in range(3 * wide + 2)]
    )
    return rows


def _name(place: int, wide: int) -> str:
    """Return the name of a rod below its post."""
    rod, column = divmod(place, wide + 1)
    return RODS[rod] if column == wide // 2 else ""
