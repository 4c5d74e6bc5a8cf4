"""The Tower of Hanoi: puzzles, their shortest solutions, rules, wording, players and sets by key."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from math import fsum
from operator import eq
from typing import NamedTuple

from waybench.core import (
    NOTHING,
    DataError,
    End,
    Field,
    Instance,
    Json,
    KeyedSource,
    Option,
    Outcome,
    Stream,
    UsageError,
    isomorphic_appearance,
)
from waybench.envs.smartplay import ActionEffect, Rules, field_values

Position = tuple[int, ...]
Stacks = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]  # the disks on each rod, the lowest first

MOVES = ((0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1))  # (from, to) of each action

_MOST_WORK = 1_000_000  # positions times steps up to which the random player's score is computed: half a second


@lru_cache(maxsize=4096)
def stacks_of_position(position: Position) -> Stacks:
    """Return the disks on each rod of a position, the lowest first."""
    rods: tuple[list[int], list[int], list[int]] = ([], [], [])
    for disk in reversed(range(len(position))):
        rods[position[disk]].append(disk)
    return tuple(rods[0]), tuple(rods[1]), tuple(rods[2])


def move_disk(rods: Stacks, action: int) -> Stacks | None:
    """Return the rods after a move; None if it is not allowed."""
    source, target = MOVES[action]
    source_disks, target_disks = rods[source], rods[target]
    if not source_disks or (target_disks and target_disks[-1] < source_disks[-1]):
        return None
    changed = list(rods)
    changed[source], changed[target] = source_disks[:-1], (*target_disks, source_disks[-1])
    return changed[0], changed[1], changed[2]


def position_of(rods: Stacks) -> Position:
    """Return the rod of each disk, the smallest first."""
    rod_of = {disk: rod for rod, disks in enumerate(rods) for disk in disks}
    return tuple(rod_of[disk] for disk in range(len(rod_of)))


@lru_cache(maxsize=4096)
def shortest_distance(start: Position, goal: Position) -> int:
    """Return the number of moves of a shortest solution from one position to another.

    Of the largest disk whose rod differs it is known that it moves once, straight to its goal, or twice, over the third
    rod, and that no larger disk moves (A. M. Hinz, "The Tower of Hanoi", L'Enseignement mathématique 35, 1989). Before,
    between and after its moves all smaller disks have to stand on one rod.
    """
    largest = next((disk for disk in reversed(range(len(start))) if start[disk] != goal[disk]), None)
    if largest is None:
        return 0
    here, there = start[largest], goal[largest]
    third = 3 - here - there  # the rods are 0, 1 and 2
    once = _moves_to_tower(start, largest, third) + 1 + _moves_to_tower(goal, largest, third)
    twice = _moves_to_tower(start, largest, there) + (1 << largest) + 1 + _moves_to_tower(goal, largest, here)
    return min(once, twice)


def _moves_to_tower(position: Sequence[int], count: int, rod: int) -> int:
    """Return the fewest moves that bring the smallest `count` disks together on a rod."""
    moves = 0
    for disk in reversed(range(count)):
        if position[disk] != rod:
            moves += 1 << disk  # this disk, and all smaller ones from the third rod, where they have to be by then
            rod = 3 - rod - position[disk]
    return moves


def best_moves(rods: Stacks, goal: Sequence[int]) -> list[int]:
    """Return the actions, one or two, with which a shortest solution begins."""
    distance_after = shortest_distance(position_of(rods), goal) - 1
    successors = [(action, move_disk(rods, action)) for action in range(len(MOVES))]
    return [
        action
        for action, after in successors
        if after and shortest_distance(position_of(after), goal) == distance_after
    ]


def expected_random_score(start: Position, goal: Position, steps: int) -> float | None:
    """Return the expected number of disks at their goal after random legal moves, up to the solution.

    All legal moves are equally likely. The value is exact; None is returned where computing it would take too long.
    """
    if 3 ** len(start) * steps > _MOST_WORK:
        return None
    return _expected_random_scores(goal, steps)[_position_number(start)]


@lru_cache(maxsize=32)
def _expected_random_scores(goal: Position, steps: int) -> tuple[float, ...]:
    """Return, by a position's number, the random player's expected score: backward induction over the steps."""
    successors = _successor_numbers(len(goal))
    scores = [float(sum(map(eq, _position_of_number(number, len(goal)), goal))) for number in range(len(successors))]
    for _ in range(steps):
        scores = [fsum([scores[after] for after in afters]) / len(afters) for afters in successors]
        scores[_position_number(goal)] = float(len(goal))  # the episode ends here
    return tuple(scores)


@lru_cache(maxsize=4)
def _successor_numbers(disk_count: int) -> tuple[tuple[int, ...], ...]:
    """Return, by a position's number, the numbers of the positions one move away."""
    successors: list[tuple[int, ...]] = []
    for number in range(3**disk_count):
        rods = stacks_of_position(_position_of_number(number, disk_count))
        afters = [after for action in range(len(MOVES)) if (after := move_disk(rods, action))]
        successors.append(tuple(_position_number(position_of(after)) for after in afters))
    return tuple(successors)


def _position_number(position: Sequence[int]) -> int:
    """Return a position as a number whose digits in base 3 are the rods, that of the smallest disk last."""
    return sum(rod * 3**disk for disk, rod in enumerate(position))


def _position_of_number(number: int, disk_count: int) -> Position:
    """Return the position that `_position_number` has made a number of."""
    return tuple([number // 3**disk % 3 for disk in range(disk_count)])


ROD_NAMES = "ABC"
MOST_DISKS = 20


@dataclass(frozen=True, slots=True)
class Towers(Instance):
    """A puzzle: the rod of each disk at the start and at the end, as letters, the smallest disk first; they differ."""

    start: str
    goal: str

    @property
    def level(self) -> int:
        return len(self.start)

    @property
    def setting(self) -> str | None:
        """The published name of the setting, such as "Hanoi3Disk", if the puzzle is a published one; otherwise None."""
        published = self.level in (3, 4) and set(self.start) == {"A"} and set(self.goal) == {"C"}
        return f"Hanoi{self.level}Disk" if published else None

    @property
    def positions(self) -> tuple[Position, Position]:
        """Start and goal, with numbers for the rods."""
        return _position_of_letters(self.start), _position_of_letters(self.goal)

    @property
    def placed_disks(self) -> int:
        """The number of disks that start on the rod where they have to go."""
        return sum(map(eq, self.start, self.goal))

    def canonical(self) -> str:
        return f"{self.start} {self.goal}"

    def to_json(self) -> Json:
        """Return {"start": "AAA", "goal": "CCC"}, the smallest disk first."""
        return {"start": self.start, "goal": self.goal}


@lru_cache(maxsize=4096)  # the same few positions are asked for again and again
def _position_of_letters(letters: str) -> Position:
    return tuple(map(ROD_NAMES.index, letters))


def decode(data: Json) -> Towers:
    """Read {"start": "AAA", "goal": "CCC"}, the smallest disk first; raise DataError for anything else."""
    form = 'instance: give {"start": "AAA", "goal": "CCC"}, the rod of each disk, the smallest first'
    match field_values(data, ("start", "goal"), form):
        case [str(start), str(goal)] if set(start + goal) <= set(ROD_NAMES):
            if start != goal and 1 <= len(start) == len(goal) <= MOST_DISKS:
                return Towers(start, goal)
            raise DataError(
                f"instance: start and goal have 1 to {MOST_DISKS} letters, as many as each other, and differ"
            )
        case _:
            raise DataError(form)


_ROD_ORDERS = ["".join(order) for order in permutations(ROD_NAMES)][1:]  # without ABC, which exchanges nothing


def isomorph(towers: Towers, key: str, number: int) -> Towers:
    """Return the puzzle with its rods exchanged by one of five orders; five sets in a row have all orders."""
    order = isomorphic_appearance(_ROD_ORDERS, number, "hanoi", key, towers.hash)
    new_rods = str.maketrans(ROD_NAMES, order)
    return Towers(towers.start.translate(new_rods), towers.goal.translate(new_rods))


# Protocol text: the published program's, blanks at the ends of lines included. Two sentences of it are only true of
# towers, and are replaced for other positions.
_MANUAL = """\
The game consists of three rods (A,B,C) and a number of disks of various sizes, which can go onto any rod.\x20
{begins}\x20
{objective}, obeying the following rules:

 - Only one disk may be moved at a time.
 - Each move consists of taking the top disk from one of the stacks and placing it on top of another stack or on an \
empty rod.
 - You cannot place a bigger disk on top of a smaller disk.

For example, considering movements from B under the following setting:
- A: |bottom, [0], top|
- B: |bottom, [1], top|
- C: |bottom, [2], top|
You are only allowed to move from B to C but not A, since the top of B (1) is smaller than the top of C (2) but bigger \
than the top of A (0).

Finally, the starting configuration is:
{start}

and the goal configuration is:
{goal}
with top on the right and bottom on the left"""
_BEGINS = (
    "The game begins with the disks stacked on rod {rod} in order of decreasing size, the smallest at the top "
    "(righthand side)."
)
_OBJECTIVE = "The objective is to move the entire stack to rod {rod}"
_ACTION = "Move the top disk of rod {source} to the top of rod {target}"
_ACTION_SENTENCE = "You tried to {action}. "
_NOW = "Current configuration:\n"

# Ours.
_BEGINS_ANYHOW = (
    "The game begins with the disks on several rods, on each in order of decreasing size, the smallest at the top "
    "(righthand side)."
)
_OBJECTIVE_ANYHOW = "The objective is to bring all disks into the goal configuration"
_NOT_ALLOWED = "This move is not allowed, so nothing was moved. "

ACTIONS = tuple(_ACTION.format(source=ROD_NAMES[source], target=ROD_NAMES[target]) for source, target in MOVES)
_ACTION_SENTENCES = tuple(_ACTION_SENTENCE.format(action=name.lower()) for name in ACTIONS)

SOLVED_REWARD = 100.0
ILLEGAL_REWARD = -1.0


class Puzzle(NamedTuple):
    """The rods after some moves.

    Attributes:
        rods: The disks on each rod, the lowest first; the smallest disk is 0.
        placed: Number of disks that are on the rod where they have to go.
        action: The last move that was tried; -1 at the start.
        allowed: Whether it was allowed.
    """

    towers: Towers
    rods: Stacks
    placed: int
    action: int = -1
    allowed: bool = True


class HanoiRules(Rules[Towers, Puzzle]):
    """Moves of single disks. One that is not allowed changes nothing and costs 1; the solution is worth 100.

    Args:
        published: Whether feedback omits that a move was not allowed, as in the published program.
    """

    manual_fields = (
        Field[Towers](
            "start", "The rods at the start.", lambda towers: _rods_text(stacks_of_position(towers.positions[0]))
        ),
        Field[Towers](
            "goal", "The rods as they have to be.", lambda towers: _rods_text(stacks_of_position(towers.positions[1]))
        ),
    )
    scene_fields = (Field[Puzzle]("rods", "The rods now.", lambda puzzle: _rods_text(puzzle.rods)),)

    def begin(self, instance: Towers) -> Puzzle:
        return Puzzle(instance, stacks_of_position(instance.positions[0]), instance.placed_disks)

    def actions(self, instance: Towers) -> Sequence[str]:
        return ACTIONS

    def legal(self, world: Puzzle) -> Sequence[int]:
        return [action for action in range(len(MOVES)) if move_disk(world.rods, action)]

    def step(self, world: Puzzle, action: int, rng: Stream) -> ActionEffect[Puzzle]:
        towers, rods, placed, _, _ = world
        after = move_disk(rods, action)
        if after is None:
            return ActionEffect(Puzzle(towers, rods, placed, action, False), ILLEGAL_REWARD, outcome=Outcome.ILLEGAL)
        source, target = MOVES[action]
        goal_rod = ROD_NAMES.index(towers.goal[rods[source][-1]])  # of the disk that moves
        placed += (goal_rod == target) - (goal_rod == source)
        reward = SOLVED_REWARD if placed == len(towers.goal) else 0.0
        return ActionEffect(Puzzle(towers, after, placed, action), reward, NOTHING)

    def ending(self, world: Puzzle) -> End | None:
        return End.SOLVED if world.placed == len(world.towers.goal) else None

    def score(self, world: Puzzle) -> float:
        """Return the number of disks on their goal rod."""
        return world.placed

    def manual(self, instance: Towers) -> str:
        return _manual_text(instance)

    def observe(self, world: Puzzle) -> str:
        action = "" if world.action < 0 else _ACTION_SENTENCES[world.action]
        refused = "" if world.allowed or self._published else _NOT_ALLOWED
        return f"{action}{refused}{_NOW}{_rods_text(world.rods)}"


@lru_cache(maxsize=256)  # there are few puzzles of few disks
def _manual_text(puzzle: Towers) -> str:
    start_rods, goal_rods = set(puzzle.start), set(puzzle.goal)
    moves_one_stack = len(start_rods) == len(goal_rods) == 1
    start, goal = puzzle.positions
    return _MANUAL.format(
        begins=_BEGINS.format(rod=min(start_rods)) if len(start_rods) == 1 else _BEGINS_ANYHOW,
        objective=_OBJECTIVE.format(rod=min(goal_rods)) if moves_one_stack else _OBJECTIVE_ANYHOW,
        start=_rods_text(stacks_of_position(start)),
        goal=_rods_text(stacks_of_position(goal)),
    )


@lru_cache(maxsize=4096)  # the same few positions are seen again and again
def _rods_text(rods: Stacks) -> str:
    return "\n".join(f"- {name}: |bottom, {list(disks)}, top|" for name, disks in zip(ROD_NAMES, rods, strict=True))


VERSION = 1  # of the generator; part of every item's key
FEWEST_DISKS = 3  # with fewer disks, random moves solve it

OPTIONS = (
    Option(
        name="positions",
        default="published",
        choices=("published", "free"),
        doc="Start and goal: all disks on rod A and then on rod C, or two positions drawn from the key, at least half "
        "of the greatest distance apart.",
    ),
)


class HanoiSource(KeyedSource[Towers]):
    """Puzzles drawn by key; the level is the number of disks (UsageError for fewer than 3 or more than 20)."""

    def __init__(self, key: str, level: int, options: Mapping[str, Json]) -> None:
        if not FEWEST_DISKS <= level <= MOST_DISKS:
            raise UsageError(f"level {level}: give a number of disks from {FEWEST_DISKS} to {MOST_DISKS}")
        super().__init__(key, level, prove)
        self._draws_positions = options["positions"] == "free"

    @property
    def space(self) -> int | None:
        """The number of different items: 1, the published puzzle; None if positions are drawn."""
        return None if self._draws_positions else 1

    def instance(self, index: int) -> Towers:
        if not self._draws_positions:
            return Towers(ROD_NAMES[0] * self.level, ROD_NAMES[2] * self.level)
        rng = Stream("hanoi", VERSION, self.key, self.level, index)
        while True:
            start, goal = ("".join(rng.choice(ROD_NAMES) for _ in range(self.level)) for _ in range(2))
            towers = Towers(start, goal)
            if shortest_distance(*towers.positions) >= 1 << self.level - 1:  # half of 2^n - 1, the greatest distance
                return towers


def prove(towers: Towers) -> dict[str, Json]:
    """Return the number of moves of a shortest solution as "minimum"."""
    return {"minimum": shortest_distance(*towers.positions)}


def oracle(towers: Towers, world: Puzzle, rng: Stream) -> int:
    """Make the next move of a shortest solution from where it is, the first in the list where there are two."""
    return best_moves(world.rods, towers.positions[1])[0]


def greedy(towers: Towers, world: Puzzle, rng: Stream) -> int:
    """Make an allowed move that leaves most disks on their goal rods, never taking the last one back."""
    rules = HanoiRules(published=True)
    has_moved = world.action >= 0 and world.allowed
    reverse = MOVES.index(MOVES[world.action][::-1]) if has_moved else None
    actions = [action for action in rules.legal(world) if action != reverse]
    placed = {action: rules.step(world, action, rng).world.placed for action in actions}
    return rng.choice([action for action, count in placed.items() if count == max(placed.values())])


PLAYERS = {"oracle": oracle, "heuristic": greedy}
