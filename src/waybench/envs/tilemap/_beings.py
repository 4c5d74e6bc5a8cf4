"""Walkers and enemies: how they move after each action of the player."""

from functools import lru_cache

from waybench.core import Stream
from waybench.envs.tilemap._board import Board


def step_beings(
    board: Board, fenced: bytes, at: int, beings: tuple[int, ...], tick: int
) -> tuple[tuple[int, ...], bool]:
    """Let every being make a step after the player's action.

    A walker takes a random one of its four ways or stays where that is closed. An enemy comes nearer half of the time
    and wanders otherwise. Two beings are never in one place, and none steps on a hazard. Their luck depends on the map,
    their numbers and how many actions were taken: every player and every attempt meets the same.

    Args:
        board: The map.
        fenced: Its cells with a border of closed ones, a byte for each: 1 where one can stand.
        at: The player's cell of the fenced map, after its action.
        beings: Cells of walkers and, after them, of enemies.
        tick: Number of actions before this one.

    Returns:
        Their new cells, and whether an enemy has met the player.
    """
    crew = board.style.crew
    walkers, width = crew.walkers, board.case.width + 2
    if at in beings[walkers:]:
        return beings, True
    now = list(beings)
    for number, (way, nearer) in enumerate(_luck(board.seed, walkers, len(beings), tick)):
        cell = now[number]
        if nearer:
            rows, columns = at // width - cell // width, at % width - cell % width
            way = (rows > 0) if abs(rows) > abs(columns) else 2 + (columns > 0)
        target = cell + (-width, width, -1, 1)[way]
        free = fenced[target] and target not in now and target not in board.hazards
        if free and (target != at or number >= walkers):
            now[number] = target
            if target == at:
                return tuple(now), True
    return tuple(now), False


@lru_cache(maxsize=1 << 16)
def _luck(seed: str, walkers: int, count: int, tick: int) -> tuple[tuple[int, bool], ...]:
    """Return for each being a random way (up, down, left, right) and whether it comes nearer instead."""
    rng = Stream("tilemap", "beings", seed, walkers, count - walkers, tick)
    return tuple((rng.below(4), number >= walkers and rng.below(2) == 1) for number in range(count))
