"""Best solutions of rooms with too many positions to list them: A* over pushes.

A node is a position just after a push, and its successors are the pushes within the player's reach. What remains is at
least what the boxes need alone: the pushes of each from where it is to the nearest goal. Boxes on dead cells, from
which no goal can be reached even alone, and squares of four walls and boxes with a box that is on no goal, have no
solution and are not entered.
"""

import heapq
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from waybench._compile import compiled
from waybench.core import DataError

if TYPE_CHECKING:
    from waybench.envs.sokoban._rooms import Position

SIZES = (1 << 14, 1 << 18, 1 << 21)  # nodes of a search; one that takes more begins again with the next size
_NONE, _TOO_MANY = 1, 2


class RoomMap:
    """A room as the search reads it.

    Args:
        state: A position in it.
        floor: The cells that are connected with the player's, as if there were no boxes: at most 64.
        ways: Move -> what it adds to a cell, for up, down, left and right in this order.
        pushes: Cell -> the fewest pushes of a box that is alone from there to a goal; dead cells are left out.
    """

    def __init__(
        self, state: "Position", floor: Collection[int], ways: Mapping[str, int], pushes: Mapping[int, int]
    ) -> None:
        cells = sorted(floor)
        number_of = {cell: number for number, cell in enumerate(cells)}
        self._moves = list(ways)
        self._beside = [[number_of.get(cell + way, -1) for way in ways.values()] for cell in cells]
        self._goals = np.array([state.plan[cell] == "." for cell in cells], np.bool_)
        self._estimates = np.array([pushes.get(cell, -1) for cell in cells], np.int64)
        self._boxes = [number_of[cell] for cell in state.boxes]
        self._player = number_of[state.player]

    def fewest_pushes(self) -> int | None:
        """Return the fewest pushes of a solution; None without one. DataError if the search takes too many nodes."""
        path = self._pushes_of_solution(1, exactly=False)
        return None if path is None else len(path)

    def solve(self, push: int) -> list[str] | None:
        """Return the moves of a best solution, where a push costs `push` more than a move; None if there is none.

        Raises:
            DataError: If the search takes too many nodes.
        """
        # That there is no solution is faster to know if it does not matter where within its reach the player stands.
        path = None if self.fewest_pushes() is None else self._pushes_of_solution(push + 1, exactly=True)
        if path is None:
            return None
        solution: list[str] = []
        occupied, player = set(self._boxes), self._player
        for pushed in path:
            box, move = divmod(pushed, 4)
            solution += [
                self._moves[step]
                for step in _shortest_walk(self._beside, occupied, player, self._beside[box][move ^ 1])
            ]
            solution.append(self._moves[move])
            occupied, player = occupied - {box} | {self._beside[box][move]}, box
        return solution

    def _pushes_of_solution(self, push: int, *, exactly: bool) -> list[int] | None:
        """Return the pushes of a best solution, as 4 * cell of the box + move; None if there is none."""
        beside, boxes = np.array(self._beside, np.int64), np.array(self._boxes, np.int64)
        for most in SIZES:
            status, path = _search_pushes(
                beside, self._goals, self._estimates, boxes, self._player, push, exactly, most
            )
            if status != _TOO_MANY:
                return None if status == _NONE else path.tolist()
        raise DataError(f"room: a solution takes a search of more than {SIZES[-1]:,} positions: give a smaller room")


def _shortest_walk(beside: list[list[int]], occupied: set[int], start: int, end: int) -> list[int]:
    """Return the moves of a shortest walk between two cells."""
    ways: dict[int, list[int]] = {start: []}
    for cell in (waiting := [start]):  # the list grows meanwhile
        for move, after in enumerate(beside[cell]):
            if after >= 0 and after not in occupied and after not in ways:
                ways[after] = [*ways[cell], move]
                waiting.append(after)
    return ways[end]


@compiled
def _set_distances(
    beside: Any, occupied: Any, start: Any, distances: Any, queue: Any
) -> int:  # pragma: no cover  compiled
    """Write the distance of each cell from `start`, -1 out of reach; return the first cell within reach."""
    distances[:] = -1
    distances[start] = 0
    queue[0] = start
    first, ahead, behind = start, 0, 1
    while ahead < behind:
        cell = queue[ahead]
        ahead += 1
        first = min(first, cell)
        for move in range(4):
            after = beside[cell, move]
            if after >= 0 and distances[after] < 0 and not occupied[after]:
                distances[after] = distances[cell] + 1
                queue[behind] = after
                behind += 1
    return first


@compiled
def _is_stuck(beside: Any, goals: Any, occupied: Any, box: int) -> bool:  # pragma: no cover  compiled
    """Return whether a box is in a square of four walls and boxes with one box off its goal."""
    for along in range(2):
        for across in range(2, 4):
            side, end, corner = beside[box, along], beside[box, across], -1
            if side >= 0:
                corner = beside[side, across]
            elif end >= 0:
                corner = beside[end, along]
            full = (side < 0 or occupied[side]) and (end < 0 or occupied[end]) and (corner < 0 or occupied[corner])
            placed = (side < 0 or goals[side]) and (end < 0 or goals[end]) and (corner < 0 or goals[corner])
            if full and not (placed and goals[box]):
                return True
    return False


@compiled
def _search_pushes(  # pragma: no cover  compiled
    beside: Any, goals: Any, estimates: Any, start: Any, player: int, push: int, exactly: bool, most: int
) -> Any:
    """Return 0 and the pushes of a solution, as 4 * cell of the box + move; 1 if there is none; 2 if that is too much.

    A position is a number: 6 bits for the player, then 6 for each box, in rising order. Unless `exactly`, the player
    stands for all cells within its reach, and its ways cost nothing.
    """
    count, mask = len(start), np.uint64(4 * most - 1)
    slots = np.full(4 * most, -1, np.int32)
    keys, known = np.empty(most, np.uint64), np.empty(most, np.int64)
    parents, pushed = np.empty(most, np.int32), np.empty(most, np.int16)
    done, occupied = np.zeros(most, np.bool_), np.zeros(len(goals), np.bool_)
    boxes, moved = np.sort(start), np.sort(start)
    distances, around, queue = np.empty(len(goals), np.int64), np.empty(len(goals), np.int64), np.empty(64, np.int64)
    bits, low, spread, shift = np.uint64(6), np.uint64(63), np.uint64(0x9E3779B97F4A7C15), np.uint64(40)
    path = np.empty(0, np.int16)
    bound, key = 0, np.uint64(player)
    for box in boxes:
        if estimates[box] < 0:
            return 1, path
        bound += estimates[box] * push
        key = key << bits | np.uint64(box)
    keys[0], known[0], parents[0], nodes = key, 0, -1, 1
    slots[(key * spread >> shift) & mask] = 0
    heap = [np.int64(bound) << 22]
    while len(heap) > 0:
        node = heapq.heappop(heap) & ((1 << 22) - 1)
        if done[node]:
            continue
        done[node] = True
        key = keys[node]
        for place in range(count - 1, -1, -1):
            boxes[place] = np.int64(key & low)
            key >>= bits
        solved, rest = True, 0
        occupied[:] = False
        for box in boxes:
            occupied[box] = True
            solved = solved and goals[box]
            rest += estimates[box] * push
        if solved:
            length, at = 0, node
            while parents[at] >= 0:
                length, at = length + 1, parents[at]
            path, at = np.empty(length, np.int16), node
            for place in range(length - 1, -1, -1):
                path[place], at = pushed[at], parents[at]
            return 0, path
        _set_distances(beside, occupied, np.int64(key), distances, queue)
        for place in range(count):
            box = boxes[place]
            for move in range(4):
                behind, beyond = beside[box, move ^ 1], beside[box, move]
                if behind < 0 or distances[behind] < 0 or beyond < 0 or occupied[beyond] or estimates[beyond] < 0:
                    continue
                occupied[box], occupied[beyond] = False, True
                stuck, here = _is_stuck(beside, goals, occupied, beyond), box
                if not exactly and not stuck:
                    here = _set_distances(beside, occupied, box, around, queue)
                occupied[box], occupied[beyond] = True, False
                if stuck:
                    continue
                moved[:] = boxes
                moved[place] = beyond
                moved.sort()
                key = np.uint64(here)
                for after_box in moved:
                    key = key << bits | np.uint64(after_box)
                total = known[node] + push + (distances[behind] if exactly else 0)
                slot = (key * spread >> shift) & mask
                while slots[slot] >= 0 and keys[slots[slot]] != key:
                    slot = (slot + np.uint64(1)) & mask
                after = slots[slot]
                if after < 0:
                    if nodes == most:
                        return 2, path
                    after = nodes
                    slots[slot], keys[after] = after, key
                    nodes += 1
                elif known[after] <= total:
                    continue
                known[after], parents[after], pushed[after] = total, node, 4 * box + move
                estimate = rest + (estimates[beyond] - estimates[box]) * push
                heapq.heappush(heap, np.int64(total + estimate) << 22 | np.int64(after))
    return 1, path
