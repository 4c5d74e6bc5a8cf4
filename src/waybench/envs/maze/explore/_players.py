"""Scripted players of the partly seen maze. None of them knows more than was seen and the rules say."""

from waybench.core import Stream
from waybench.envs.maze.explore._plans import best_step, nearest_step
from waybench.envs.maze.explore._sight import Sight


def oracle(state: Sight, rng: Stream) -> str:
    """Take the best step that is known: see `best_step`."""
    return best_step(state)


def nearest_frontier(state: Sight, rng: Stream) -> str:
    """Walk to the nearest frontier until the exit can be reached."""
    return nearest_step(state)


def wanderer(state: Sight, rng: Stream) -> str:
    """Walk at random, turning back only in dead ends."""
    ways = [(way, cell) for way, cell in state.maze.lattice.exits(state.at) if cell != state.before]
    return rng.choice(ways or list(state.maze.lattice.exits(state.at)))[0]


PLAYERS = {"heuristic": nearest_frontier, "oracle": oracle, "random": wanderer}
