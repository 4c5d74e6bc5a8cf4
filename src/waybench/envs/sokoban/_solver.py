"""Best solutions of rooms with too many positions to list them: A* over pushes.

A node is a position just after a push, and its successors are the pushes within the player's reach. The lower bound of
the remaining cost is the sum over boxes of the pushes that each would need if it were alone, to the nearest goal.
Positions without a solution are left out: those with a box on a dead cell, from which even a lone box reaches no goal,
and those with a square of four walls and boxes of which a box is on no goal.
"""

import heapq
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from waybench._compile import compiled
from waybench.core import DataError

if TYPE_CHECKING:
    from waybench.envs.sokoban._rooms import Position

SIZES = (1 << 14, 1 << 18, 1 << 21)  # most nodes of a search; if they are too few, it begins again with the next size
_NO_SOLUTION, _TOO_MANY = 1, 2  # what a search without a result returns in place of 0


class RoomMap:
    """A room as the search reads it.

    Args:
        state: A position in it.
        floor: The cells that are connected with the player's, as if there were no boxes: at most 64.
        ways: Move -> what it adds to a cell, for up, down, left and right in this order.
        pushes: Cell -> the fewest pushes of a lone box from this cell to a goal; dead cells are left out.
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
        # Whether there is a solution is faster to find out with all cells within the player's reach taken for one.
        path = None if self.fewest_pushes() is None else self._pushes_of_solution(push + 1, exactly=True)
        if path is None:
            return None
        solution: list[str] = []
        occupied, player = set(self._boxes), self._player
        for pushed in path:
            box, move = divmod(pushed, 4)
            cell_behind = self._beside[box][move ^ 1]  # from which the player pushes: ^ 1 is the opposite move
            walk = _shortest_walk(self._beside, occupied, player, cell_behind)
            solution += [self._moves[step] for step in (*walk, move)]
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
                return None if status == _NO_SOLUTION else path.tolist()
        raise DataError(f"room: a solution takes a search of more than {SIZES[-1]:,} positions: give a smaller room")


def _shortest_walk(beside: list[list[int]], occupied: set[int], start: int, end: int) -> list[int]:
    """Return the moves of a shortest walk between two cells."""
    walks: dict[int, list[int]] = {start: []}
    for cell in (waiting := [start]):  # the list grows meanwhile
        for move, after in enumerate(beside[cell]):
            if after >= 0 and after not in occupied and after not in walks:
                walks[after] = [*walks[cell], move]
                waiting.append(after)
    return walks[end]


@compiled
def _set_distances(
    beside: Any, occupied: Any, start: Any, distances: Any, queue: Any
) -> int:  # pragma: no cover  compiled
    """Write the distance of each cell from `start`, -1 out of reach, by breadth-first search.

    The lowest cell within reach is returned, which stands for all of them.
    """
    distances[:] = -1
    distances[start] = 0
    queue[0] = start
    lowest, head, tail = start, 0, 1
    while head < tail:
        cell = queue[head]
        head += 1
        lowest = min(lowest, cell)
        for move in range(4):
            after = beside[cell, move]
            if after >= 0 and distances[after] < 0 and not occupied[after]:
                distances[after] = distances[cell] + 1
                queue[tail] = after
                tail += 1
    return lowest


@compiled
def _is_stuck(beside: Any, goals: Any, occupied: Any, box: int) -> bool:  # pragma: no cover  compiled
    """Return whether a box is in a square of four walls and boxes of which a box is on no goal."""
    for vertical in range(2):  # up, down
        for horizontal in range(2, 4):  # left, right
            side, end, corner = beside[box, vertical], beside[box, horizontal], -1
            if side >= 0:
                corner = beside[side, horizontal]
            elif end >= 0:
                corner = beside[end, vertical]
            is_full = (side < 0 or occupied[side]) and (end < 0 or occupied[end]) and (corner < 0 or occupied[corner])
            on_goals = (side < 0 or goals[side]) and (end < 0 or goals[end]) and (corner < 0 or goals[corner])
            if is_full and not (on_goals and goals[box]):
                return True
    return False


@compiled
def _search_pushes(  # pragma: no cover  compiled
    beside: Any, goals: Any, estimates: Any, start: Any, player: int, push: int, exactly: bool, most: int
) -> Any:
    """Return 0 and the pushes of a best solution, or 1 if there is none, or 2 if it takes more than `most` nodes.

    A push is 4 * cell of the box + move. A position has a number as its key: 6 bits for the player, then 6 for each
    box, in rising order. Unless `exactly`, the player stands for all cells within its reach, and walks cost nothing.
    """
    n_boxes, n_cells, slot_mask = len(start), len(goals), np.uint64(4 * most - 1)
    slots = np.full(4 * most, -1, np.int32)  # a hash table with open addressing: node, or -1
    keys, costs = np.empty(most, np.uint64), np.empty(most, np.int64)
    parents, last_pushes = np.empty(most, np.int32), np.empty(most, np.int16)
    done, occupied = np.zeros(most, np.bool_), np.zeros(n_cells, np.bool_)
    boxes, boxes_after = np.sort(start), np.sort(start)
    distances, distances_after, queue = np.empty(n_cells, np.int64), np.empty(n_cells, np.int64), np.empty(64, np.int64)
    cell_bits, cell_mask = np.uint64(6), np.uint64(63)
    hash_factor, hash_shift = np.uint64(0x9E3779B97F4A7C15), np.uint64(40)  # 2^64 / golden ratio: Fibonacci hashing
    node_bits = 22  # the low bits of a heap entry, which is the estimated cost of a solution, then the node
    path = np.empty(0, np.int16)
    bound, key = 0, np.uint64(player)
    for box in boxes:
        if estimates[box] < 0:
            return 1, path
        bound += estimates[box] * push
        key = key << cell_bits | np.uint64(box)
    keys[0], costs[0], parents[0], n_nodes = key, 0, -1, 1
    slots[(key * hash_factor >> hash_shift) & slot_mask] = 0
    heap = [np.int64(bound) << node_bits]
    while len(heap) > 0:
        node = heapq.heappop(heap) & ((1 << node_bits) - 1)
        if done[node]:  # it was pushed again at a lower cost
            continue
        done[node] = True
        key = keys[node]
        for index in range(n_boxes - 1, -1, -1):
            boxes[index] = np.int64(key & cell_mask)
            key >>= cell_bits  # in the end the player's cell is left
        solved, bound = True, 0
        occupied[:] = False
        for box in boxes:
            occupied[box] = True
            solved = solved and goals[box]
            bound += estimates[box] * push
        if solved:
            length, ancestor = 0, node
            while parents[ancestor] >= 0:
                length, ancestor = length + 1, parents[ancestor]
            path, ancestor = np.empty(length, np.int16), node
            for index in range(length - 1, -1, -1):
                path[index], ancestor = last_pushes[ancestor], parents[ancestor]
            return 0, path
        _set_distances(beside, occupied, np.int64(key), distances, queue)
        for index in range(n_boxes):
            box = boxes[index]
            for move in range(4):
                behind, beyond = beside[box, move ^ 1], beside[box, move]
                if behind < 0 or distances[behind] < 0 or beyond < 0 or occupied[beyond] or estimates[beyond] < 0:
                    continue
                occupied[box], occupied[beyond] = False, True
                stuck, player_after = _is_stuck(beside, goals, occupied, beyond), box
                if not exactly and not stuck:
                    player_after = _set_distances(beside, occupied, box, distances_after, queue)
                occupied[box], occupied[beyond] = True, False
                if stuck:
                    continue
                boxes_after[:] = boxes
                boxes_after[index] = beyond
                boxes_after.sort()
                key = np.uint64(player_after)
                for box_after in boxes_after:
                    key = key << cell_bits | np.uint64(box_after)
                cost = costs[node] + push + (distances[behind] if exactly else 0)
                slot = (key * hash_factor >> hash_shift) & slot_mask
                while slots[slot] >= 0 and keys[slots[slot]] != key:
                    slot = (slot + np.uint64(1)) & slot_mask
                after = slots[slot]
                if after < 0:
                    if n_nodes == most:
                        return 2, path
                    after = n_nodes
                    slots[slot], keys[after] = after, key
                    n_nodes += 1
                elif costs[after] <= cost:
                    continue
                costs[after], parents[after], last_pushes[after] = cost, node, 4 * box + move
                bound_after = bound + (estimates[beyond] - estimates[box]) * push
                heapq.heappush(heap, np.int64(cost + bound_after) << node_bits | np.int64(after))
    return 1, path
