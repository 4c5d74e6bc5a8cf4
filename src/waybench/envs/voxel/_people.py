"""What a person who plays sees of a search: the way so far, by the coordinates that the messages give."""

from collections.abc import Sequence
from math import floor
from typing import Any

from waybench.core import Board, Tile, TurnRecord
from waybench.envs.voxel._game import World
from waybench.smartplay import AgentState

_CELL = 8  # blocks along each side of a cell
_ACROSS, _DOWN = 12, 6  # cells shown to each side of the walker
_GROUND, _WAY, _START, _HERE = "#e9e6dd", "#9cc3e0", "#009e73", "#0072b2"


def board(state: AgentState[Any, World], turns: Sequence[TurnRecord]) -> Board:
    """Return the surroundings from above, north at the top, with the places where the walker has been."""
    body = state.world.body
    way = [(turn.events["at"][0], turn.events["at"][2]) for turn in turns if "at" in turn.events]
    here = floor(body.x / _CELL), floor(body.z / _CELL)
    been = {(floor(x / _CELL), floor(z / _CELL)) for x, z in way}
    start = floor(state.instance.x / _CELL), floor(state.instance.z / _CELL)

    def tile(place: tuple[int, int]) -> Tile:
        if place == here:
            return Tile("@", _HERE)
        return Tile("o", _START) if place == start else Tile("·", _WAY) if place in been else Tile("", _GROUND)

    columns = range(here[0] - _ACROSS, here[0] + _ACROSS + 1)
    rows = [[tile((column, row)) for column in columns] for row in range(here[1] - _DOWN, here[1] + _DOWN + 1)]
    notes = [
        f"Goal: {state.instance.goal}. You are at ({body.x:.0f}, {body.y:.0f}, {body.z:.0f}).",
        f"@ you, o the start, · where steps ended; a cell is {_CELL} by {_CELL} blocks, north is up.",
    ]
    return Board(rows=rows, at=(_DOWN, _ACROSS), notes=notes)
