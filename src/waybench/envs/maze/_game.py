"""The rules of walking through a maze by plans of movements."""

from collections.abc import Sequence
from typing import NamedTuple

from waybench.core import DataError, End, Facts, Game, Json, Outcome, Stream, Transition, is_array
from waybench.envs.maze._instance import Maze, movements
from waybench.spaces import DIRECTIONS


class Movement(NamedTuple):
    """Some cells in one direction.

    Attributes:
        direction: "up", "down", "left" or "right".
        cells: How many, at least 1.
    """

    direction: str
    cells: int


MovePlan = tuple[Movement, ...]


class MazeState(NamedTuple):
    """The player's cell in a maze.

    Attributes:
        maze: The maze.
        at: The player's cell number.
    """

    maze: Maze
    at: int


class MazeGame(Game[Maze, MazeState, MovePlan]):
    """A plan's movements run in order, each as a whole or not at all; the first that hits an obstacle ends the plan.

    Standing on the exit ends the game, also in the middle of a movement. Events of a transition: `moved` (cells
    moved), `movements` (movements carried out), `at` ([x, y]) and, after an illegal movement, `illegal` with its
    number from 1, its direction and cells, and the obstacle, "wall" or "outside".
    """

    def __init__(self, requests: int) -> None:
        self.facts = Facts(deterministic=True, turns=requests, reward=(0.0, 1.0))

    def start(self, instance: Maze) -> MazeState:
        """Return the player standing on the entrance."""
        return MazeState(instance, instance.entrance)

    def legal(self, state: MazeState) -> Sequence[MovePlan]:
        """Return all plans of one movement, by direction and then by cells."""
        if self.terminal(state):
            return ()
        plans: list[MovePlan] = []
        for direction in DIRECTIONS:
            line = state.maze.lattice.line(state.at, direction)[: state.maze.lattice.free(state.at, direction)]
            cells = line.index(state.maze.exit) + 1 if state.maze.exit in line else len(line)
            plans += [(Movement(direction, count),) for count in range(1, cells + 1)]
        return plans

    def apply(self, state: MazeState, action: MovePlan, rng: Stream) -> Transition[MazeState]:
        """Carry out a plan; the reward is 1 for reaching the exit."""
        maze, at, moved = state.maze, state.at, 0
        for number, (direction, cells) in enumerate(action, start=1):
            line, free = maze.lattice.line(at, direction), maze.lattice.free(at, direction)
            if maze.exit in (walked := line[: min(cells, free)]):
                steps = moved + walked.index(maze.exit) + 1
                return self._stop(maze, maze.exit, steps, number, Outcome.OK)
            if cells > free:
                blocked: dict[str, Json] = {
                    "movement": number,
                    "direction": direction,
                    "cells": cells,
                    "obstacle": "outside" if free == len(line) else "wall",
                }
                return self._stop(maze, at, moved, number - 1, Outcome.ILLEGAL, illegal=blocked)
            at = line[cells - 1]
            moved += cells
        far = maze.lattice.distances(maze.exit)
        outcome = Outcome.OK if far[at] < far[state.at] else Outcome.UNPRODUCTIVE
        return self._stop(maze, at, moved, len(action), outcome)

    def _stop(
        self, maze: Maze, at: int, moved: int, carried_out: int, outcome: Outcome, **events: Json
    ) -> Transition[MazeState]:
        all_events = {"moved": moved, "movements": carried_out, "at": list(maze.lattice.position(at)), **events}
        return Transition(MazeState(maze, at), float(at == maze.exit), all_events, outcome)

    def terminal(self, state: MazeState) -> End | None:
        """Return SOLVED on the exit."""
        return End.SOLVED if state.at == state.maze.exit else None

    def encode(self, action: MovePlan) -> Json:
        """Return [[direction, cells], ...]."""
        return [list(movement) for movement in action]

    def decode(self, action: Json) -> MovePlan:
        """Read [[direction, cells], ...].

        Raises:
            DataError: If it is no such list.
        """
        plan: list[Movement] = []
        for entry in action if is_array(action) else [action]:
            match entry:
                case [str(direction), int(cells)] if direction in DIRECTIONS and cells >= 1 and cells is not True:
                    plan.append(Movement(direction, cells))
                case _:  # pyright: ignore[reportUnknownVariableType]
                    raise DataError('action: give [["down", 3], ["left", 2], ...], with whole numbers of at least 1')
        return tuple(plan)

    def cut(self, action: MovePlan, steps: int) -> tuple[MovePlan, int]:
        """Return the plan's first cells, each of which is a step."""
        kept: list[Movement] = []
        left = steps
        for direction, cells in action:
            if left:
                kept.append(Movement(direction, min(cells, left)))
                left -= kept[-1].cells
        return tuple(kept), steps - left

    def perturb(self, state: MazeState, action: MovePlan, rate: float, rng: Stream) -> MovePlan:
        """Walk the plan in mind, and at each cell turn with probability `rate` into some open direction instead.

        The rest of the plan stays the same, as if the player did not notice the error.
        """
        cell: int | None = state.at
        path: list[str] = []
        for direction, cells in action:
            for _ in range(cells):
                step = direction
                if cell is not None and rng.random() < rate:
                    step = rng.choice([name for name, _ in state.maze.lattice.exits(cell)])
                path.append(step)
                cell = None if cell is None else _next(state.maze, cell, step)
        return self.decode(movements(tuple(path)))


def _next(maze: Maze, cell: int, direction: str) -> int | None:
    neighbour = maze.lattice.step(cell, direction)
    return neighbour if neighbour is not None and maze.lattice.cells[neighbour] else None
