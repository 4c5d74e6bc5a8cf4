"""The two readings of the rules: what ending somewhere is worth, what a move costs, and what counts as a reply."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

GIVEN_UP = 100  # points that a goal costs that was given up or lost; a goal given up also costs the path length
_RINGS = ((0, 200), (1, 100), (3, 50), (5, 25), (8, -50))  # greatest distance, reward
_LEAST_LOSS = 100  # points that a plan loses at least if it does not end on its objective, by both tables of rewards


class Worth(NamedTuple):
    """The reward for ending at a distance from the goal, and whether it counts for Top-0, Top-1 and Top-5."""

    reward: int
    top: tuple[int, int, int]


def published_worth(rows: int, columns: int) -> Worth:
    """Return the published reward for ending so many rows and columns away.

    Its conditions are not exclusive and leave gaps: 9 rows and 6 columns away cost 150, 3 and 3 nothing at all, and
    straight 3 to 5 away is worth 50 where the prompt promises 25. Top-0, Top-1 and Top-5 exclude each other.
    """
    longer, shorter = max(rows, columns), min(rows, columns)
    reward = 0
    if longer > 8:
        reward -= 100
    if 5 < rows < 8 or 5 < columns < 8:
        reward -= 50
    if shorter >= 4 and longer <= 5:
        reward += 25
    if rows == columns == 2:
        reward += 50
    is_on_cross = shorter <= 1 and 2 <= longer <= 5
    is_beside = longer == 1
    is_there = longer == 0
    reward += 50 * is_on_cross + 100 * is_beside + 200 * is_there
    return Worth(reward, (int(is_there), int(is_beside), int(is_on_cross)))


def ring_worth(rows: int, columns: int) -> Worth:
    """Return the reward that the prompt promises: by rings of distance, where a diagonal step counts as one.

    It is 200 on the goal, 100 beside it, 50 up to 3 away, 25 up to 5, -50 up to 8, -100 beyond. Top-1 includes Top-0,
    and Top-5 includes Top-1.
    """
    distance = max(rows, columns)
    reward = next((points for limit, points in _RINGS if distance <= limit), -100)
    return Worth(reward, (int(distance == 0), int(distance <= 1), int(distance <= 5)))


def moves_per_point(length: int) -> int:
    """Return the number of moves that cost one point together, on a map whose shortest tour has this length.

    It is the first of 1, 2, 5, 10, 20, 50, ... for which the whole tour costs less than 100 points, so that the tour is
    the best play: a play that misses an objective loses at least 100 points there, and saves at most the cost of the
    tour. Only coarse steps are used, as the prompt names the cost of a move, which must not reveal the tour's length.
    """
    power = 1
    while True:
        for digit in (1, 2, 5):
            if length < _LEAST_LOSS * digit * power:
                return digit * power
        power *= 10


@dataclass(frozen=True, slots=True, kw_only=True)
class TileProtocol:
    """One reading of the rules.

    Attributes:
        substring: A tile can be walked on if its character occurs anywhere in the text of the list, comments included;
            otherwise if the list names it.
        literal: The reply's first innermost {...} that is a Python literal counts, whatever it is; otherwise its last
            JSON object with "action".
        crashes: An "action" that is no sequence of plain values ends the map, as the published program's error did,
            with the reward so far; otherwise it is an unparsed reply.
        objects: pick_object and hit_enemy are carried out, though the prompt does not name them; otherwise they are
            unknown actions.
        unreachable: Objectives that cannot be reached are requested too; otherwise they are left out.
        stored_length: The score is scaled by the record's path length; otherwise by the shortest tour's.
        scaled_moves: The cost of a move falls with the length of the map's shortest tour (see `moves_per_point`);
            otherwise every move costs 1 point.
        clipped: The score is cut at 0 and 100.
        explains: The prompt says what coordinates and directions mean.
        worth: (rows, columns) from the goal to the end of a plan -> its worth.
    """

    substring: bool = False
    literal: bool = False
    crashes: bool = False
    objects: bool = False
    unreachable: bool = False
    stored_length: bool = False
    scaled_moves: bool = False
    clipped: bool = False
    explains: bool = False
    worth: Callable[[int, int], Worth]


PROTOCOLS = {
    "paper": TileProtocol(
        substring=True,
        literal=True,
        crashes=True,
        objects=True,
        unreachable=True,
        stored_length=True,
        worth=published_worth,
    ),
    "sound": TileProtocol(scaled_moves=True, clipped=True, explains=True, worth=ring_worth),
}


MOVES: Mapping[str, tuple[int, int]] = {
    "move_up": (-1, 0),
    "move_down": (1, 0),
    "move_left": (0, -1),
    "move_right": (0, 1),
}
"""Name -> (rows, columns)."""
