"""The rules of walking through a maze, cell by cell, of which only a window is seen."""

from collections.abc import Sequence
from functools import lru_cache

from waybench.core import DataError, End, Facts, Game, Json, Outcome, Stream, Transition
from waybench.envs.maze._instance import Maze
from waybench.envs.maze.explore._sight import Sight, first_sight, frontier, known_ways
from waybench.spaces import DIRECTIONS

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
