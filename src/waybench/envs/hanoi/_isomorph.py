"""Isomorphic puzzles: the same towers with the rods in another order."""

from itertools import permutations

from waybench.core import draw_appearance
from waybench.envs.hanoi._instance import RODS, Towers

_ORDERS = ["".join(order) for order in permutations(RODS)][1:]  # the first one is the original's


def isomorph(towers: Towers, key: str, number: int) -> Towers:
    """Return the puzzle with its rods exchanged, by one of five orders; five sets in a row have all of them.

    Args:
        towers: The puzzle.
        key: The key of its set.
        number: The number of the isomorphic set, from 1.
    """
    order = str.maketrans(RODS, draw_appearance(_ORDERS, number, "hanoi", key, towers.hash))
    return Towers(towers.start.translate(order), towers.goal.translate(order))
