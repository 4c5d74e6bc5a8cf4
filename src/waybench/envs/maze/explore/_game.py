"""The rules of walking through a maze of which only a window is seen, and what was seen of it."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from waybench.core import DataError, End, Facts, Game, Json, Outcome, Stream, Transition
from waybench.envs.maze._game import Maze
from waybench.envs.spaces import DIRECTIONS, Lattice

CLOCKWISE = ("up", "right", "down", "left")


class Sight(NamedTuple):
    """What a player knows of a maze.

    Attributes:
        maze: The maze.
        at: The player's cell number.
        seen: The cells seen so far, as bits of a number.
        window: Cells along each side of what is seen, an odd number.
        before: The cell where the player stood before; -1 at the start.
    """

    maze: Maze
    at: int
    seen: int
    window: int
    before: int = -1

    def knows(self, cell: int) -> bool:
        """Return whether a cell was seen."""
        return bool(self.seen >> cell & 1)

    def moved(self, cell: int) -> "Sight":
        """Return what the player knows after a move to a cell."""
        seen = self.seen | window_mask(self.maze.size, cell, self.window)
        return Sight(self.maze, cell, seen, self.window, self.at)


def first_sight(maze: Maze, window: int) -> Sight:
    """Return what is known at the entrance."""
    return Sight(maze, maze.entrance, window_mask(maze.size, maze.entrance, window), window)


@lru_cache(maxsize=1 << 14)
def in_window(size: int, at: int, window: int) -> tuple[int, ...]:
    """Return the cell numbers in a window around a cell, without what lies outside the maze.

    Args:
        size: The maze's dimension.
        at: The cell in the middle.
        window: Cells along each side, an odd number.
    """
    x, y, half = at % size, at // size, window // 2
    return tuple(
        row * size + column
        for row in range(max(0, y - half), min(size, y + half + 1))
        for column in range(max(0, x - half), min(size, x + half + 1))
    )


@lru_cache(maxsize=1 << 14)
def window_mask(size: int, at: int, window: int) -> int:
    """Return the cells in a window around a cell as bits of a number."""
    return sum(1 << cell for cell in in_window(size, at, window))


@lru_cache(maxsize=256)
def directions_from(maze: Maze) -> tuple[str, ...]:
    """Return the four directions, the one into the maze first, then clockwise.

    Whoever tries directions in this order walks a rotated maze in the same way.
    """
    x, y = maze.lattice.position(maze.entrance)
    last = maze.size - 1
    inwards = {(True, False): "right", (False, True): "left"}.get((x == 0, x == last)) or ("down" if y == 0 else "up")
    first = CLOCKWISE.index(inwards)
    return CLOCKWISE[first:] + CLOCKWISE[:first]


def exit_side(maze: Maze) -> str:
    """Return the side that the exit is on: "top", "bottom", "left" or "right"."""
    x, y = maze.lattice.position(maze.exit)
    return "top" if y == 0 else "bottom" if y == maze.size - 1 else "left" if x == 0 else "right"


def known_ways(sight: Sight, start: int) -> dict[int, int]:
    """Return the distances over open cells that were seen, from a cell to all that can be reached, nearest first."""
    seen, neighbours = sight.seen, open_neighbours(sight.maze)
    far, todo = {start: 0}, [start]
    for cell in todo:
        for near in neighbours[cell]:
            if near not in far and seen >> near & 1:
                far[near] = far[cell] + 1
                todo.append(near)
    return far


@lru_cache(maxsize=64)
def open_neighbours(maze: Maze) -> tuple[tuple[int, ...], ...]:
    """Return the open neighbours of each cell, in the order of `directions_from`."""
    order = directions_from(maze)
    return tuple(
        tuple(near for direction in order if (near := maze.lattice.step(cell, direction)) is not None and cells[near])
        for cells in [maze.lattice.cells]
        for cell in range(len(cells))
    )


@lru_cache(maxsize=64)
def _around(size: int) -> tuple[int, ...]:
    """Return the cells next to each cell, as bits of a number."""
    lattice = Lattice(size, size, bytes(size * size))
    return tuple(
        sum(1 << near for direction in DIRECTIONS if (near := lattice.step(cell, direction)) is not None)
        for cell in range(size * size)
    )


def frontier(sight: Sight, far: dict[int, int]) -> list[int]:
    """Return the cells that can be reached and have a neighbour that was not seen, in the order of their distances.

    Args:
        sight: What is known.
        far: Distances from the player's cell.
    """
    around, unseen = _around(sight.maze.size), ~sight.seen
    return [cell for cell in far if around[cell] & unseen]


EXPLORING, EXPLOITING = "exploring", "exploiting"


class ExploreGame(Game[Maze, Sight, str]):
    """Each action is a move by one cell; a move into a wall or out of the maze is illegal and changes nothing.

    Events of each turn: `at` ([x, y]), `window`, and `seen`, how many of the cells that can be reached were seen so
    far. A move also has its `phase`: "exploiting" if the exit was seen and could be reached over cells that were seen,
    or else "exploring", and `error` (see `judge`). An illegal move has its `obstacle`: "wall" or "outside".

    Args:
        window: Cells along each side of what is seen, an odd number.
    """

    facts = Facts(deterministic=True, turns=None, reward=(0.0, 1.0))

    def __init__(self, window: int) -> None:
        self._window = window

    def start(self, instance: Maze) -> Sight:
        """Return the player standing on the entrance."""
        return first_sight(instance, self._window)

    def legal(self, state: Sight) -> Sequence[str]:
        """Return the directions of the open neighbours."""
        return () if self.terminal(state) else [direction for direction, _ in state.maze.lattice.exits(state.at)]

    def apply(self, state: Sight, action: str, rng: Stream) -> Transition[Sight]:
        """Move; the reward is 1 for reaching the exit, and an error is unproductive."""
        lattice = state.maze.lattice
        near = lattice.step(state.at, action)
        if near is None or not lattice.cells[near]:
            events = {**_facts(state), "obstacle": "outside" if near is None else "wall"}
            return Transition(state, 0.0, events, Outcome.ILLEGAL)
        phase, error = judge(state, near)
        following = state.moved(near)
        events = {**_facts(following), "phase": phase, "error": error}
        outcome = Outcome.UNPRODUCTIVE if error else Outcome.OK
        return Transition(following, float(near == state.maze.exit), events, outcome)

    def terminal(self, state: Sight) -> End | None:
        """Return SOLVED on the exit."""
        return End.SOLVED if state.at == state.maze.exit else None

    def encode(self, action: str) -> Json:
        """Return the direction."""
        return action

    def decode(self, action: Json) -> str:
        """Read a direction.

        Raises:
            DataError: If it is none.
        """
        if not isinstance(action, str) or action not in DIRECTIONS:
            raise DataError('action: give "up", "down", "left" or "right"')
        return action


def _facts(state: Sight) -> dict[str, Json]:
    seen = (state.seen & reachable(state.maze)).bit_count()
    return {"at": list(state.maze.lattice.position(state.at)), "window": state.window, "seen": seen}


@lru_cache(maxsize=64)
def reachable(maze: Maze) -> int:
    """Return the cells that can be reached from the entrance, as bits of a number."""
    return sum(1 << cell for cell, far in enumerate(maze.lattice.distances(maze.entrance)) if far >= 0)


def judge(sight: Sight, near: int) -> tuple[str, bool]:
    """Return the phase in which a move is made, and whether it is an error.

    A move is an error if it brings the player nearer to no sensible target, over the cells that were seen before it.
    While the exit is not known to be reachable, the targets are all frontiers: cells that can be reached and have a
    neighbour that was not seen. Afterwards they are the exit, and the frontiers over which a shorter way to it could
    still lead. So nothing is assumed about which of them a player should choose. Exploration and exploitation errors
    without access to a policy are the idea of J. Park et al., "Exploration and Exploitation Errors Are Measurable for
    Language Model Agents" (arXiv:2604.13151, 2026), which measures them in grids with tasks; these definitions for
    mazes are ours.

    Args:
        sight: What was known before the move.
        near: The open cell that the player moves to.

    Returns:
        `EXPLORING` or `EXPLOITING`, and whether the move is an error.
    """
    maze = sight.maze
    before, after = known_ways(sight, sight.at), known_ways(sight, near)
    targets = frontier(sight, before)
    phase, exit_ = EXPLORING, maze.exit
    if exit_ in before:
        phase = EXPLOITING
        far = maze.lattice.position(exit_)
        targets = [exit_] + [
            cell
            for cell in targets
            for x, y in [maze.lattice.position(cell)]
            if before[cell] + abs(x - far[0]) + abs(y - far[1]) < before[exit_]
        ]
    return phase, not any(after[cell] < before[cell] for cell in targets)
