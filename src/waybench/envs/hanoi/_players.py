"""Players of the puzzle."""

from waybench.core import Stream
from waybench.envs.hanoi._game import HanoiRules, Puzzle
from waybench.envs.hanoi._instance import Towers
from waybench.envs.hanoi._solve import MOVES, best_moves

_RULES = HanoiRules(published=True)


def oracle(towers: Towers, world: Puzzle, rng: Stream) -> int:
    """Make the next move of a shortest solution from where it is, the first in the list where there are two."""
    return best_moves(world.rods, towers.positions[1])[0]


def greedy(towers: Towers, world: Puzzle, rng: Stream) -> int:
    """Make an allowed move after which most disks are where they have to go, and never take the last one back."""
    back = MOVES.index(MOVES[world.action][::-1]) if world.action >= 0 and world.allowed else None
    scored = [
        (_RULES.step(world, action, rng).world.placed, action) for action in _RULES.legal(world) if action != back
    ]
    most = max(placed for placed, _ in scored)
    return rng.choice([action for placed, action in scored if placed == most])


PLAYERS = {"oracle": oracle, "heuristic": greedy}
