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
MOST_DOORS = 3  # the search looks at three states of each key and its door: not taken, taken, and opened


class Lock(NamedTuple):
    """A door and its key, as cells of the fenced map, with their signs."""

    key: int
    door: int
    key_sign: str
    door_sign: str


def place_locks(
    fenced: bytes, width: int, start: int, goals: Collection[int], signs: str, count: int, rng: Stream
) -> tuple[tuple[Lock, ...], tuple[int, ...]]:
    """Lock goals in: of the cells beside one, a door is on one, and bars are on the others.

    All other goals can be reached without the bars. Each key is where the player can be with the keys before it.

    Args:
        fenced: The map, a byte for each cell: 1 where one can stand.
        width: Cells of a row.
        start: The player's cell.
        goals: The cells of the goals that can be reached from there.
        signs: The signs of the first key, the first door, the second key, and so on.
        count: Number of doors; fewer where bars would part the map.
        rng: Random numbers.

    Returns:
        The doors with their keys, and the cells with bars.
    """
    most: tuple[list[int], list[int], list[int]] = [], [], []
    for _ in range(_TRIES):
        attempt = _draw_doors(fenced, width, start, goals, count, rng)
        most = max(most, attempt, key=lambda keys_and_doors: len(keys_and_doors[0]))
        if len(most[0]) == count:
            break
    keys, doors, bars = most
    pairs = zip(keys, doors, signs[::2], signs[1::2], strict=False)
    return tuple(Lock(*pair) for pair in pairs), tuple(bars)


def _draw_doors(
    fenced: bytes, width: int, start: int, goals: Collection[int], count: int, rng: Stream
) -> tuple[list[int], list[int], list[int]]:
    """Return random cells of keys, doors and bars, with fewer doors than `count` where there is no room."""
    inside, keys, doors, bars = bytearray(fenced), list[int](), list[int](), list[int]()
    kept_free = {start, *goals}
    candidates = sorted(set(goals) - {start})
    rng.shuffle(candidates)
    for goal in candidates:
        beside = [cell for cell in _neighbours(goal, width) if inside[cell]]
        if len(doors) == count or not beside or kept_free.intersection(beside):
            continue
        rng.shuffle(beside)
        closed = inside.copy()
        for cell in beside[1:]:
            closed[cell] = 0
        if kept_free <= _distances(closed, width, start).keys():
            inside, bars = closed, bars + beside[1:]
            doors.append(beside[0])
            kept_free.add(beside[0])
    for door in doors:
        inside[door] = 0
    for door in doors:
        free = sorted(_distances(inside, width, start).keys() - kept_free)
        if not free:
            return [], [], []
        keys.append(rng.choice(free))
        kept_free.add(keys[-1])
        inside[door] = 1
    return keys, doors, bars


def _neighbours(cell: int, width: int) -> tuple[int, ...]:
    return cell - width, cell + width, cell - 1, cell + 1


def gone_bits(locks: Sequence[Lock], removed: Collection[int]) -> int:
    """Return which keys and doors are among removed cells, as bits: 1 and 2 for the first lock, and so on."""
    return sum((lock.key in removed) << 2 * n | (lock.door in removed) << 2 * n + 1 for n, lock in enumerate(locks))


def cells_to_ground(locks: Sequence[Lock], at: int, name: str, gone: int, width: int) -> dict[int, int]:
    """Return the cells that an action makes ground, by `gone_bits`: a key's, or adjacent doors with carried keys."""
    if name == PICK_UP:
        bits = {1 << 2 * number: lock.key for number, lock in enumerate(locks) if lock.key == at}
    else:
        beside = _neighbours(at, width)
        bits = {
            2 << 2 * number: lock.door
            for number, lock in enumerate(locks)
            if lock.door in beside and gone >> 2 * number & 1
        }
    return {bit: cell for bit, cell in bits.items() if not gone & bit}


class TourNode(NamedTuple):
    """A state of a tour: how many goals are done with, the player's cell, and the keys and doors that are gone."""

    done: int
    cell: int
    gone: int


def shortest_locked_tour(
    fenced: bytes, width: int, locks: Sequence[Lock], start: TourNode, goals: Sequence[int]
) -> list[tuple[TourNode, str]]:
    """Return a shortest tour of the remaining goals that picks up keys and opens doors: states and actions.

    A* search; the lower bound is the length of the tour with all doors open. A state is left out where one of the same
    cell came before it that cost no more and has as many goals, keys and doors behind it, or more: what can be done
    from here can be done from there.

    Args:
        fenced: The map without hazards, and with its doors closed, a byte for each cell: 1 where one can stand.
        width: Cells of a row.
        locks: The doors with their keys.
        start: Where it begins.
        goals: The cells of all goals, in their order.

    Raises:
        ValueError: If there is no tour.
    """
    opened = bytearray(fenced)
    for lock in locks:
        opened[lock.door] = 1
    distances = [_distances(opened, width, goal) for goal in goals]
    legs = [distances[number][goals[number - 1]] for number in range(len(goals) - 1, 0, -1)]
    moves_after = [*accumulate(legs, initial=0)][::-1] if goals else []
    moves = [(name, rows * width + columns) for name, (rows, columns) in MOVES.items()]
    door_bits = {lock.door: 2 << 2 * number for number, lock in enumerate(locks)}

    def node_after_goals(done: int, cell: int, gone: int) -> TourNode:
        """Return the node with all goals at its cell counted as done."""
        while done < len(goals) and goals[done] == cell:
            done += 1
        return TourNode(done, cell, gone)

    def least_actions_left(now: TourNode) -> int:
        return distances[now.done][now.cell] + moves_after[now.done] if now.done < len(goals) else 0

    def successors(now: TourNode) -> Iterator[tuple[str, TourNode]]:
        for name, way in moves:
            cell = now.cell + way
            if fenced[cell] or now.gone & door_bits.get(cell, 0):
                yield name, node_after_goals(now.done, cell, now.gone)
        for name in LOCK_ACTIONS:
            if bits := cells_to_ground(locks, now.cell, name, now.gone, width):
                yield name, node_after_goals(now.done, now.cell, now.gone | sum(bits))

    first = node_after_goals(*start)
    costs = {first: 0}
    before: dict[TourNode, tuple[TourNode, str]] = {}
    looked_at: dict[int, list[tuple[int, TourNode]]] = {}
    waiting = [(least_actions_left(first), 0, first)]
    while waiting:
        *_, now = heappop(waiting)
        if now.done == len(goals):
            steps: list[tuple[TourNode, str]] = []
            while now != first:
                steps.append(before[now])
                now = before[now][0]
            return steps[::-1]
        cost, others = costs[now], looked_at.setdefault(now.cell, [])
        if any(c <= cost and o.done >= now.done and o.gone & now.gone == now.gone for c, o in others):
            continue
        others.append((cost, now))
        for name, following in successors(now):
            if cost + 1 < costs.get(following, cost + 2):
                costs[following], before[following] = cost + 1, (now, name)
                left = least_actions_left(following)
                heappush(waiting, (cost + 1 + left, left, following))
    raise ValueError("no tour picks up the keys to all of these goals")


def _distances(inside: bytearray, width: int, goal: int) -> dict[int, int]:
    """Return the moves from a cell to each cell within reach."""
    distances, cells = {goal: 0}, [goal]
    for cell in cells:  # the list grows meanwhile
        for neighbour in _neighbours(cell, width):
            if inside[neighbour] and neighbour not in distances:
                distances[neighbour] = distances[cell] + 1
                cells.append(neighbour)
    return distances
