"""Keys and doors on a map: where they are, what picking up and opening does, and shortest tours among them."""

from collections.abc import Collection, Iterator, Sequence
from heapq import heappop, heappush
from itertools import accumulate
from typing import NamedTuple

from waybench.core import Stream
from waybench.envs.tilemap._protocols import MOVES

PICK_UP, OPEN_DOOR = "pick_up", "open_door"
LOCK_ACTIONS = (PICK_UP, OPEN_DOOR)
_TRIES = 10  # to find room for all doors
MOST_DOORS = 3  # each has three states, not taken, taken and opened, so the search looks at up to 27 states of a cell


class Lock(NamedTuple):
    """A door and its key, as cells of the fenced map, with their signs (the map's characters for them)."""

    key: int
    door: int
    key_sign: str
    door_sign: str


def place_locks(
    fenced: bytes, width: int, start: int, goals: Collection[int], signs: str, count: int, rng: Stream
) -> tuple[tuple[Lock, ...], tuple[int, ...]]:
    """Lock goals in: of the cells beside such a goal, one gets a door, and the others get bars.

    The bars part no other goal from the start. Each key is within reach with the keys before it. There are fewer doors
    than `count` where bars would part the map. The result is the doors with their keys, and the cells with bars.

    `fenced` is the map in rows of `width` cells, a byte for each cell: 1 where one can stand. `goals` are the cells of
    the goals that can be reached from the start. `signs` has a sign for the first key, the first door, the second key,
    and so on.
    """
    keys, doors, bars = list[int](), list[int](), list[int]()
    for _ in range(_TRIES):
        attempt = _draw_doors(fenced, width, start, goals, count, rng)
        if len(attempt[0]) > len(keys):
            keys, doors, bars = attempt
        if len(keys) == count:
            break
    locks = zip(keys, doors, signs[::2], signs[1::2], strict=False)
    return tuple(Lock(*lock) for lock in locks), tuple(bars)


def _draw_doors(
    fenced: bytes, width: int, start: int, goals: Collection[int], count: int, rng: Stream
) -> tuple[list[int], list[int], list[int]]:
    """Return random cells of keys, doors and bars, with fewer doors than `count` where there is no room."""
    free, keys, doors, bars = bytearray(fenced), list[int](), list[int](), list[int]()
    kept_free = {start, *goals}  # cells without doors, bars and keys
    candidates = sorted(set(goals) - {start})
    rng.shuffle(candidates)
    for goal in candidates:
        beside = [cell for cell in _neighbours(goal, width) if free[cell]]
        if len(doors) == count or not beside or kept_free.intersection(beside):
            continue
        rng.shuffle(beside)
        door, *new_bars = beside
        free_after = free.copy()
        for cell in new_bars:
            free_after[cell] = 0
        if kept_free <= cell_distances(free_after, width, start).keys():
            free, bars = free_after, bars + new_bars
            doors.append(door)
            kept_free.add(door)
    for door in doors:
        free[door] = 0
    for door in doors:
        candidates = sorted(cell_distances(free, width, start).keys() - kept_free)
        if not candidates:
            return [], [], []
        keys.append(rng.choice(candidates))
        kept_free.add(keys[-1])
        free[door] = 1  # the next key can be behind this door
    return keys, doors, bars


def _neighbours(cell: int, width: int) -> tuple[int, ...]:
    return cell - width, cell + width, cell - 1, cell + 1


def gone_bits(locks: Sequence[Lock], removed: Collection[int]) -> int:
    """Return which keys and doors are among removed cells, as bits: 1 and 2 for the first key and door, and so on."""
    return sum(
        _key_bit(number) * (lock.key in removed) | _door_bit(number) * (lock.door in removed)
        for number, lock in enumerate(locks)
    )


def _key_bit(number: int) -> int:
    return 1 << 2 * number


def _door_bit(number: int) -> int:
    return 2 << 2 * number


def cells_to_ground(locks: Sequence[Lock], at: int, name: str, gone: int, width: int) -> dict[int, int]:
    """Return the cells that an action at a cell makes ground, by their bits in `gone_bits`.

    Picking up takes a key at the cell; opening opens adjacent doors whose keys are `gone`, that is, carried.
    """
    cells: dict[int, int] = {}
    for number, lock in enumerate(locks):
        if name == PICK_UP and lock.key == at:
            cells[_key_bit(number)] = lock.key
        elif name == OPEN_DOOR and lock.door in _neighbours(at, width) and gone & _key_bit(number):
            cells[_door_bit(number)] = lock.door
    return {bit: cell for bit, cell in cells.items() if not gone & bit}


class TourNode(NamedTuple):
    """A state of a tour: how many goals are done with, the player's cell, and the keys and doors that are gone."""

    done: int
    cell: int
    gone: int


def shortest_locked_tour(
    fenced: bytes, width: int, locks: Sequence[Lock], start: TourNode, goals: Sequence[int]
) -> list[tuple[TourNode, str]]:
    """Return a shortest tour of the remaining goals that picks up keys and opens doors: states and actions.

    A* search; the lower bound is the length of the tour with all doors open. A state is left out if an earlier state at
    the same cell cost no more and has done all its goals, keys and doors, or more: what can be done from the one can be
    done from the other.

    `fenced` is the map with hazards and doors closed, in rows of `width` cells, a byte for each cell: 1 where one can
    stand. `goals` are the cells of all goals, in their order.

    Raises:
        ValueError: If there is no tour.
    """
    opened = bytearray(fenced)
    for lock in locks:
        opened[lock.door] = 1
    distances = [cell_distances(opened, width, goal) for goal in goals]
    legs = [distances[number][goals[number - 1]] for number in range(len(goals) - 1, 0, -1)]
    moves_after = [*accumulate(legs, initial=0)][::-1]  # from each goal to the last
    offsets = [(name, rows * width + columns) for name, (rows, columns) in MOVES.items()]
    door_bits = {lock.door: _door_bit(number) for number, lock in enumerate(locks)}

    def node_after_goals(done: int, cell: int, gone: int) -> TourNode:
        """Return the node with all goals at its cell counted as done."""
        while done < len(goals) and goals[done] == cell:
            done += 1
        return TourNode(done, cell, gone)

    def least_actions_left(node: TourNode) -> int:
        return distances[node.done][node.cell] + moves_after[node.done] if node.done < len(goals) else 0

    def successors(node: TourNode) -> Iterator[tuple[str, TourNode]]:
        for name, offset in offsets:
            cell = node.cell + offset
            if fenced[cell] or node.gone & door_bits.get(cell, 0):
                yield name, node_after_goals(node.done, cell, node.gone)
        for name in LOCK_ACTIONS:
            if cells_by_bit := cells_to_ground(locks, node.cell, name, node.gone, width):
                yield name, node_after_goals(node.done, node.cell, node.gone | sum(cells_by_bit))

    first = node_after_goals(*start)
    costs = {first: 0}
    predecessors: dict[TourNode, tuple[TourNode, str]] = {}
    expanded_by_cell: dict[int, list[tuple[int, TourNode]]] = {}
    queue = [(least_actions_left(first), 0, first)]
    while queue:
        *_, node = heappop(queue)
        if node.done == len(goals):
            steps: list[tuple[TourNode, str]] = []
            while node != first:
                steps.append(predecessors[node])
                node = predecessors[node][0]
            return steps[::-1]
        cost, expanded = costs[node], expanded_by_cell.setdefault(node.cell, [])
        if any(c <= cost and n.done >= node.done and n.gone & node.gone == node.gone for c, n in expanded):
            continue
        expanded.append((cost, node))
        for name, successor in successors(node):
            if cost + 1 < costs.get(successor, cost + 2):
                costs[successor], predecessors[successor] = cost + 1, (node, name)
                actions_left = least_actions_left(successor)
                heappush(queue, (cost + 1 + actions_left, actions_left, successor))
    raise ValueError("no tour picks up the keys to all of these goals")


def cell_distances(free: bytearray, width: int, start: int) -> dict[int, int]:
    """Return the moves from a cell to each cell within reach; `free` has 1 for each cell where one can stand."""
    distances, queue = {start: 0}, [start]
    for cell in queue:  # the list grows meanwhile
        for neighbour in _neighbours(cell, width):
            if free[neighbour] and neighbour not in distances:
                distances[neighbour] = distances[cell] + 1
                queue.append(neighbour)
    return distances
