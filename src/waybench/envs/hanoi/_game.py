"""The rules and the words of the puzzle (SmartPlay, section 3.4 and appendix C.3; shared/specs/smartplay.md, 5)."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from waybench.core import NOTHING, End, Field, Outcome, Stream
from waybench.envs.hanoi._instance import RODS, Towers
from waybench.envs.hanoi._solve import MOVES, Stacks, moved, stacks
from waybench.smartplay import Rules, Step

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

ACTIONS = tuple(_ACTION.format(source=RODS[source], target=RODS[target]) for source, target in MOVES)
_ACTION_SENTENCES = tuple(_ACTION_SENTENCE.format(action=name.lower()) for name in ACTIONS)

SOLVED_REWARD = 100.0
ILLEGAL_REWARD = -1.0


class Puzzle(NamedTuple):
    """The rods after some moves.

    Attributes:
        towers: The instance.
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
        Field[Towers]("start", "The rods at the start.", lambda towers: _rods_text(stacks(towers.positions[0]))),
        Field[Towers]("goal", "The rods as they have to be.", lambda towers: _rods_text(stacks(towers.positions[1]))),
    )
    scene_fields = (Field[Puzzle]("rods", "The rods now.", lambda puzzle: _rods_text(puzzle.rods)),)

    def begin(self, instance: Towers) -> Puzzle:
        """Return the rods at the start."""
        placed = sum(here == there for here, there in zip(instance.start, instance.goal, strict=True))
        return Puzzle(instance, stacks(instance.positions[0]), placed)

    def actions(self, instance: Towers) -> Sequence[str]:
        """Return the six moves."""
        return ACTIONS

    def legal(self, world: Puzzle) -> Sequence[int]:
        """Return the moves that are allowed."""
        return [action for action in range(len(MOVES)) if moved(world.rods, action)]

    def step(self, world: Puzzle, action: int, rng: Stream) -> Step[Puzzle]:
        """Try a move."""
        towers, rods, placed, _, _ = world
        after = moved(rods, action)
        if after is None:
            return Step(Puzzle(towers, rods, placed, action, False), ILLEGAL_REWARD, outcome=Outcome.ILLEGAL)
        source, target = MOVES[action]
        goal = RODS.index(towers.goal[rods[source][-1]])
        placed += (goal == target) - (goal == source)
        reward = SOLVED_REWARD if placed == len(towers.goal) else 0.0
        return Step(Puzzle(towers, after, placed, action), reward, NOTHING)

    def over(self, world: Puzzle) -> End | None:
        """Return SOLVED once every disk is where it has to go."""
        return End.SOLVED if world.placed == len(world.towers.goal) else None

    def score(self, world: Puzzle) -> float:
        """Return the number of disks on the rod where they have to go: with the published goal, on rod C."""
        return world.placed

    def manual(self, instance: Towers) -> str:
        """Return the manual, with the start and the goal."""
        return _manual(instance)

    def observe(self, world: Puzzle) -> str:
        """Return the move that was tried, and the rods."""
        action = "" if world.action < 0 else _ACTION_SENTENCES[world.action]
        refused = "" if world.allowed or self._published else _NOT_ALLOWED
        return f"{action}{refused}{_NOW}{_rods_text(world.rods)}"


@lru_cache(maxsize=256)  # there are few puzzles of few disks
def _manual(puzzle: Towers) -> str:
    start, goal = set(puzzle.start), set(puzzle.goal)
    towers = len(start) == len(goal) == 1
    here, there = puzzle.positions
    return _MANUAL.format(
        begins=_BEGINS.format(rod=min(start)) if len(start) == 1 else _BEGINS_ANYHOW,
        objective=_OBJECTIVE.format(rod=min(goal)) if towers else _OBJECTIVE_ANYHOW,
        start=_rods_text(stacks(here)),
        goal=_rods_text(stacks(there)),
    )


@lru_cache(maxsize=4096)  # the same few positions are seen again and again
def _rods_text(rods: Stacks) -> str:
    return "\n".join(f"- {name}: |bottom, {list(disks)}, top|" for name, disks in zip(RODS, rods, strict=True))
