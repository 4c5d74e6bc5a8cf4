"""Scripted players of tile maps. They see what is read of the map, and no more of it than the prompt tells."""

from functools import lru_cache

from waybench.core import Stream
from waybench.envs.tilemap._board import MOVES, Location, MovePlan
from waybench.envs.tilemap._foresight import foresee
from waybench.envs.tilemap._instance import TileMap, tile_list
from waybench.envs.tilemap._walk import plan_of
from waybench.spaces import Floor

_BY_STEP = {step: name for name, step in MOVES.items()}
LONGEST_RANDOM = 90  # moves; 264 for a published map then, where the published player of this kind has 278


@lru_cache(maxsize=1024)
def _floor(case: TileMap) -> Floor:
    # What the list names, also where the rules read more into it: the player sees that list.
    return case.floor(tile_list(case.walkable))


def _path(state: Location) -> list[str]:
    """Return the moves of a shortest path to the goal; none if there is no path."""
    board = state.board
    row, column = board.goals[state.goal]
    case = board.case
    if not (0 <= row < case.height and 0 <= column < case.width):
        return []
    floor = _floor(case)
    for trap in board.hazards:
        row_, column_ = divmod(trap, case.width + 2)
        floor = Floor(case.width, case.height, floor.open & ~(1 << (row_ - 1) * case.width + column_ - 1))
    cells = floor.shortest_path(state.row * case.width + state.column, row * case.width + column) or []
    names: list[str] = []
    at = (state.row, state.column)
    for cell in cells:
        following = divmod(cell, case.width)
        names.append(_BY_STEP[following[0] - at[0], following[1] - at[1]])
        at = following
    return names


def oracle(state: Location, rng: Stream) -> MovePlan:
    """Take a shortest path, or stay where there is none. Among beings, take the next leg of the best tour foreseen."""
    return plan_of(state, foresee(state).plans[0] if state.beings else _path(state))


def stay(state: Location, rng: Stream) -> MovePlan:
    """Make no move."""
    return plan_of(state, [])


def greedy(state: Location, rng: Stream) -> MovePlan:
    """Go straight for the target, rows first, and stop at the first obstacle in both ways."""
    board, at = state.board, (state.row, state.column)
    target = board.goals[state.goal]
    width = board.case.width + 2
    names: list[str] = []
    while at != target:
        rows, columns = target[0] - at[0], target[1] - at[1]
        ways = [((rows > 0) - (rows < 0), 0), (0, (columns > 0) - (columns < 0))]
        for step in ways:
            following = (at[0] + step[0], at[1] + step[1])
            if step != (0, 0) and board.fenced[(following[0] + 1) * width + following[1] + 1]:
                names.append(_BY_STEP[step])
                at = following
                break
        else:
            break
    return plan_of(state, names)


def random_fixed(state: Location, rng: Stream) -> MovePlan:
    """Make as many random moves as the record's path length allows for each objective (Random-FP)."""
    count = state.board.case.path_length // max(1, len(state.board.case.objectives))
    return plan_of(state, [rng.choice(tuple(MOVES)) for _ in range(count)])


def random_length(state: Location, rng: Stream) -> MovePlan:
    """Make a random number of random moves, from 1 to 90 (Random-RP)."""
    return plan_of(state, [rng.choice(tuple(MOVES)) for _ in range(1 + rng.below(LONGEST_RANDOM))])


PLAYERS = {
    "oracle": oracle,
    "heuristic": greedy,
    "greedy": greedy,
    "stay": stay,
    "random": random_fixed,
    "random-fp": random_fixed,
    "random-rp": random_length,
}
