"""What a person who plays sees of a game: the agent, and the entities by their names, whose roles are not known."""

from collections.abc import Sequence
from typing import Any

from waybench.core import Board, Tile, TurnRecord
from waybench.envs.messenger._engine import World
from waybench.smartplay import AgentState

_FLOOR, _AGENT = "#f0efe9", "#0072b2"
_COLOURS = ("#e69f00", "#cc79a7", "#56b4e9", "#f0e442", "#9ad0c2", "#c9b6e4")


def board(state: AgentState[Any, World], turns: Sequence[TurnRecord]) -> Board:
    """Return the cells with the first letters of the entities in them; entities of one name have one colour."""
    world, case = state.world, state.instance
    rows = [[Tile("", _FLOOR)] * case.size for _ in range(case.size)]
    names = sorted({actor.name for actor in case.actors})
    for actor, place in zip(case.actors, world.places, strict=True):
        if place is not None:
            colour = _COLOURS[names.index(actor.name) % len(_COLOURS)]
            rows[place[1] // 2][place[0] // 2] = Tile(actor.name[:2], colour)
    x, y = world.agent[0] // 2, world.agent[1] // 2
    rows[y][x] = Tile("@!" if world.carries else "@", _AGENT)
    entities = ", ".join(f"{name[:2]} {name}" for name in names)
    carried = "You have the message." if world.carries else "You do not have the message."
    return Board(rows=rows, at=(y, x), notes=[carried, f"@ is you. {entities}. The manual says which is which."])
