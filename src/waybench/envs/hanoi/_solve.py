"""Shortest solutions, exactly and from any position to any other.

A position is the rod of each disk, the smallest first; rods are 0, 1 and 2. Every position is legal, for a rod's disks
have only one order.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import fsum

Position = tuple[int, ...]
Stacks = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]  # the disks on each rod, the lowest first

MOVES = ((0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1))  # (from, to) of each action

_MOST_WORK = 1_000_000  # positions times steps up to which the random player's score is computed: half a second


@lru_cache(maxsize=4096)
def stacks(position: Position) -> Stacks:
    """Return the disks on each rod, the lowest first."""
    rods: tuple[list[int], list[int], list[int]] = ([], [], [])
    for disk in reversed(range(len(position))):
        rods[position[disk]].append(disk)
    return tuple(rods[0]), tuple(rods[1]), tuple(rods[2])


def moved(rods: Stacks, action: int) -> Stacks | None:
    """Return the rods after a move; None if it is not allowed."""
    source, target = MOVES[action]
    from_, to = rods[source], rods[target]
    if not from_ or (to and to[-1] < from_[-1]):
        return None
    changed = list(rods)
    changed[source], changed[target] = from_[:-1], (*to, from_[-1])
    return changed[0], changed[1], changed[2]


def position_of(rods: Stacks) -> Position:
    """Return the rod of each disk, the smallest first."""
    rod_of = {disk: rod for rod, disks in enumerate(rods) for disk in disks}
    return tuple(rod_of[disk] for disk in range(len(rod_of)))


@lru_cache(maxsize=4096)
def distance(start: Position, goal: Position) -> int:
    """Return the number of moves of a shortest solution from one position to another.

    Of the largest disk whose rod differs it is known that it moves once, straight to its goal, or twice, over the third
    rod, and that no larger disk moves (A. M. Hinz, "The Tower of Hanoi", L'Enseignement mathématique 35, 1989). Before,
    between and after its moves all smaller disks have to stand on one rod.
    """
    largest = next((disk for disk in reversed(range(len(start))) if start[disk] != goal[disk]), None)
    if largest is None:
        return 0
    here, there = start[largest], goal[largest]
    third = 3 - here - there
    once = _to_tower(start, largest, third) + 1 + _to_tower(goal, largest, third)
    twice = _to_tower(start, largest, there) + (1 << largest) + 1 + _to_tower(goal, largest, here)
    return min(once, twice)


def _to_tower(position: Sequence[int], count: int, rod: int) -> int:
    """Return the fewest moves that bring the smallest disks, so many of them, together on a rod."""
    moves = 0
    for disk in reversed(range(count)):
        if position[disk] != rod:
            moves += 1 << disk  # itself, and all smaller ones from the third rod, where they have to be by then
            rod = 3 - rod - position[disk]
    return moves


def best_moves(rods: Stacks, goal: Sequence[int]) -> list[int]:
    """Return the actions with which a shortest solution begins; there can be two."""
    left = distance(position_of(rods), goal)
    successors = [(action, moved(rods, action)) for action in range(len(MOVES))]
    return [action for action, after in successors if after and distance(position_of(after), goal) == left - 1]


def random_score(start: Position, goal: Position, steps: int) -> float | None:
    """Return the expected number of disks at their goal after so many random moves, or when it is solved before.

    All legal moves are equally likely.

    Returns:
        The exact value; None where it would take too long.
    """
    if 3 ** len(start) * steps > _MOST_WORK:
        return None
    return _random_scores(goal, steps)[_number(start)]


@lru_cache(maxsize=32)
def _random_scores(goal: Position, steps: int) -> tuple[float, ...]:
    """Return the random player's score from each position, by backward induction over the steps."""
    following = _following(len(goal))
    end, score = _number(goal), [0.0] * len(following)
    for number in range(len(following)):
        rest = number
        for rod in goal:
            rest, at = divmod(rest, 3)
            score[number] += at == rod
    for _ in range(steps):
        score = [fsum([score[after] for after in afters]) / len(afters) for afters in following]
        score[end] = float(len(goal))
    return tuple(score)


@lru_cache(maxsize=4)
def _following(disks: int) -> tuple[tuple[int, ...], ...]:
    """Return, for each position by its number, the numbers of those that one move leads to."""
    successors: list[tuple[int, ...]] = []
    for number in range(3**disks):
        position = tuple([number // 3**disk % 3 for disk in range(disks)])
        afters = [after for action in range(len(MOVES)) if (after := moved(stacks(position), action))]
        successors.append(tuple(_number(position_of(after)) for after in afters))
    return tuple(successors)


def _number(position: Sequence[int]) -> int:
    return sum(rod * 3**disk for disk, rod in enumerate(position))
