"""How the oracle comes to its next move."""

from waybench.envs.hanoi._game import Puzzle
from waybench.envs.hanoi._instance import Towers
from waybench.envs.hanoi._solve import MOVES, best_moves, distance, position_of
from waybench.smartplay import AgentState

_RODS = "ABC"


def reasoning(state: AgentState[Towers, Puzzle]) -> str:
    """Return the largest disk that has to move, what is in its way, and the first move of a shortest solution."""
    goal = state.instance.positions[1]
    rods = state.world.rods
    position = position_of(rods)
    largest = max(disk for disk in range(len(position)) if position[disk] != goal[disk])
    away = [disk for disk in range(largest) if position[disk] in (position[largest], goal[largest])]
    way = f"Disks {', '.join(map(str, away))} have to leave these rods first. " if away else ""
    start, end = MOVES[best_moves(rods, goal)[0]]
    return (
        f"The largest disk that is not where it has to be is {largest}: from rod {_RODS[position[largest]]} to "
        f"{_RODS[goal[largest]]}. {way}A shortest solution has {distance(position, goal)} moves left and "
        f"begins with the top disk of {_RODS[start]} to {_RODS[end]}."
    )
